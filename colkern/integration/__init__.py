"""Arrow's integration tests: reads and writes their JSON format, and has testers for their runner.

`colkern integration` runs one conversion or comparison, as Arrow's runner requests in a process of its own.
`colkern.integration.tester` does the same, and the C Data interface, within the runner's process.

>>> from colkern.integration.documents import read_json
>>> document = read_json("generated_union.json.gz")  # doctest: +SKIP
>>> document.schema, document[0]  # doctest: +SKIP

Integration testing: "JSON test data format".
"""
