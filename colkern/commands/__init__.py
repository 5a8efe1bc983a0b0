"""The subcommands of `colkern`, one module each.

Each module has `add_command(commands)`, which adds its parser by `colkern.commands.parser.new_command`.
`colkern.cli` lists them. Every start makes the parsers of all commands, so modules import what they work
with in the functions that need it.
"""
