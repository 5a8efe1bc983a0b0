"""The subcommands of `colkern`, one module each.

A module offers `add_command(commands)`: it adds its parser to argparse's subparsers and sets
`run=`, a function of the parsed options that returns the exit status, or None for 0. `colkern.cli`
lists them. A parser is made for every command at every start, so modules import what they work with
in the functions that need it.
"""
