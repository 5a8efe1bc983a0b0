"""Regular expressions: from a constant pattern to matchers, and what is done with what they find."""
