"""Functions that are generated: tracebacks show them, and their namespace is what they read."""

from __future__ import annotations

import ast
import traceback

import pytest

from colkern.generated import function_of_text, function_of_tree

SOURCE = "def quotient(a, b):\n    return a / b + offset\n"


def test_the_namespace_is_the_functions_globals() -> None:
    namespace: dict[str, object] = {"__name__": "somewhere", "offset": 1}
    function = function_of_text("quotient", SOURCE, namespace, "kernel quotient")
    namespace["offset"] = 2
    assert function(6, 3) == 4
    assert function.__module__ == "somewhere"


def test_a_traceback_shows_the_line() -> None:
    function = function_of_text("quotient", SOURCE, {"offset": 1}, "kernel quotient")
    with pytest.raises(ZeroDivisionError) as failure:
        function(1, 0)
    text = "".join(traceback.format_exception(failure.value))
    assert "return a / b + offset" in text
    assert "<colkern kernel quotient " in text


def test_texts_under_one_title_are_told_apart() -> None:
    one = function_of_text("quotient", SOURCE, {}, "kernel quotient")
    same = function_of_text("quotient", SOURCE, {}, "kernel quotient")
    other = function_of_text("quotient", SOURCE.replace("/", "//"), {}, "kernel quotient")
    assert one.__code__.co_filename == same.__code__.co_filename
    assert one.__code__.co_filename != other.__code__.co_filename


def test_a_tree_keeps_its_file_and_lines() -> None:
    tree = ast.increment_lineno(ast.parse(SOURCE), 40)
    function = function_of_tree("quotient", tree, {"offset": 0}, "body.py")
    assert function(4, 2) == 2
    assert (function.__code__.co_filename, function.__code__.co_firstlineno) == ("body.py", 41)
