"""The stub of the methods of columns is what the operations say."""

from __future__ import annotations

import operation_stubs


def test_the_stub_of_columns_is_that_of_the_operations() -> None:
    assert operation_stubs.STUB.read_text() == operation_stubs.text(), (
        "run: python tests/operation_stubs.py"
    )
