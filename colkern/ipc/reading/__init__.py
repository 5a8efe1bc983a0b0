"""Reading: sources, messages, schemas, dictionaries, batches, and the readers over them."""
