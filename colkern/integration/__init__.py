"""Arrow's integration testing: its JSON format both ways, and testers for its runner.

`colkern integration` runs one conversion or comparison a process, as Arrow's runner asks of an
implementation; `colkern.integration.tester` does the same, and the C Data interface, in process.
Nothing is imported with the package, as the command's parser comes from here.

>>> from colkern.integration.documents import read_json
>>> document = read_json("generated_union.json.gz")  # doctest: +SKIP
>>> document.schema, document[0]  # doctest: +SKIP

Integration testing: "JSON test data format".
"""
