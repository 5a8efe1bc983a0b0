"""The canonical extension types: their storage and their parameters.

A type with a known name is checked when its values are shown, built or validated, not when it is read.
A type that breaks its own rules passes through unchanged, like an unknown type: its values are those of
its storage, and `validate` says what is wrong. No extension type runs code.

`storage` and `metadata` have the rules, `text` the reprs, `canonical` the table of all types, `making` the
constructors.

Format: "Canonical Extension Types".
"""
