"""What `colkern doctor` looks at: a module for each concern, whose functions yield findings.

What is imported or called there may be broken in any way. So what could crash or hang is asked in a
process of its own (`children`), and a check that fails is a finding (`finding.checked`).
"""
