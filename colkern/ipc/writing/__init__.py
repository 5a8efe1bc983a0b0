"""Writing: sinks, messages, schemas, dictionaries, batches, and the writers over them."""
