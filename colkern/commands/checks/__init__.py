"""The checks of `colkern doctor`: a module for each concern, whose functions yield findings.

The packages and drivers under test may be broken in any way. A check that could crash or hang runs in a
process of its own (`children`), and a check that fails becomes a finding (`finding.checked`).
"""
