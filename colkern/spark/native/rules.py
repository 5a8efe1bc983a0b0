"""The table of rules: the Spark expression that means the same as a row of the table of methods."""

from __future__ import annotations

from colkern.spark.native import container_rules, date_rules, format_rules, number_rules, text_rules
from colkern.spark.native.rule import Rules

RULES: Rules = {
    **number_rules.RULES,
    **text_rules.RULES,
    **date_rules.RULES,
    **container_rules.RULES,
    **format_rules.RULES,
}
"""The rules, by the name and the signature of their rows."""
