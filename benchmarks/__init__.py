"""How fast colkern is: side by side with its peers (`compare`), and on a GPU (`gpu`)."""
