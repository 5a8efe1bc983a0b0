"""Regular expressions: makes matchers from constant patterns, and the functions that use them."""
