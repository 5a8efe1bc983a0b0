"""Documents of `json.loads` and `ast.literal_eval`: read as Python reads them, whatever of them is used."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows.bodies import LEFT, Memory, run_in
from rows.ptx_rows import by_ptx

import colkern as ck
from colkern.kernels import row_documents, row_items
from colkern.kernels.primitives import float_of_bits, get_word
from colkern.kernels.row_values import JSON_DECODE_ERROR, get_text

# Bodies

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([-0.0, 1e300, 2**63, 0.1 + 0.2])
    | st.text(st.sampled_from("ab é\"'\\\n\x7f\x00😀"), max_size=5)
)
NESTED = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)
PIECES = st.lists(
    st.sampled_from([*"[]{},: 'a\"\\\n\t", "é", "1", "-1.5e3", "01", "null", "True", "nan", "a'"])
    | st.sampled_from([r"\n", r"\/", r"\u00e9", r"\ud83d", r"\ude00", r"\u12", r"\u+123", r"\x"])
    | st.sampled_from(["NaN", "-Infinity", "-0", "1.", "[[", '{"a":', "false", "\ufeff", "\\\0"]),
    max_size=6,
).map("".join)
DOCUMENTS = (
    PIECES
    | PIECES.map('["{}"]'.format)
    | PIECES.map("[{}]".format)
    | PIECES.map("{{'a': '{}'}}".format)
    | st.builds(json.dumps, NESTED, indent=st.sampled_from([None, 1]), ensure_ascii=st.booleans())
    | NESTED.map(repr)
    | st.builds(
        lambda text, end, more: text[:end].replace(*more),
        NESTED.map(json.dumps),
        st.integers(1, 40),
        st.sampled_from(
            [("b", "a"), (" ", ""), (",", ",,"), ("}", ",}"), ("1", "01"), (".", ".e"), ("e", "E")]
        ),
    )
)


def value_at(memory: Memory, node: int) -> Any:
    """The value of a document at an address."""
    if node == 0:
        return None
    word = int(get_word(node + 8))
    match get_word(node):
        case row_items.OF_BOOL:
            return bool(word)
        case row_items.OF_INT:
            return word
        case row_items.OF_FLOAT:
            return float(float_of_bits(word))
        case row_items.OF_STR:
            return memory.result(get_text(node + 8))
        case row_items.OF_LIST:
            items = int(get_word(word))
            return [
                value_at(memory, get_word(items + 8 * k)) for k in range(int(get_word(word + 8)))
            ]
    entries = [int(get_word(word)) + 32 * k for k in range(int(get_word(word + 8)))]
    return {
        memory.result(get_text(entry + 8)): value_at(memory, get_word(entry + 24))
        for entry in entries
    }


def read(memory: Memory, text: str, is_python: bool) -> Any:
    """The address of a document, or why there is none."""
    return run_in(memory, row_documents.read_document, text, int(is_python))


@pytest.mark.parametrize("original", [json.loads, ast.literal_eval])
@given(text=DOCUMENTS)
def test_documents_are_read_as_python_reads_them(original: Any, text: str) -> None:
    memory = Memory()
    node = read(memory, text, original is ast.literal_eval)
    if node == LEFT:
        return
    try:
        with warnings.catch_warnings(action="ignore"):
            want = original(text)
    except json.JSONDecodeError:
        assert node is JSON_DECODE_ERROR or node == JSON_DECODE_ERROR
    else:
        assert repr(value_at(memory, node)) == repr(want)


FORMS: dict[int, Callable[[Any], str]] = {
    row_documents.PYTHON: repr,
    row_documents.ASCII_JSON: json.dumps,
    row_documents.JSON: lambda value: json.dumps(value, ensure_ascii=False),
}


@given(NESTED.map(json.dumps), st.sampled_from(sorted(FORMS)))
def test_documents_are_written_as_python_writes_them(text: str, form: int) -> None:
    memory = Memory()
    node = read(memory, text, is_python=False)
    if node == LEFT:
        return
    words = row_documents.WORDS[form], ", ", ": "
    written = run_in(memory, row_documents.text_of_node, node, form, *words)
    assert written in (LEFT, FORMS[form](json.loads(text)))


@given(st.lists(st.integers(-9, 9) | st.booleans() | st.floats(-9, 9) | st.just(2**62)))
def test_sums_are_python_s(values: list[Any]) -> None:
    memory = Memory()
    node = read(memory, json.dumps(values), is_python=False)
    if node == LEFT:
        return
    header = get_word(node + 8)
    compensates = int(sum([0.1] * 10) == 1)
    total = run_in(memory, row_documents.sum_of_nodes, 0, header, compensates)
    assert total == LEFT or repr(total[1 + total[0]]) == repr(sum(values))


VALUES: list[Any] = [True, False, 0, 1, -1, 1.0, 0.5, 2**53 + 1, float(2**53), "", "a", "b"]


@pytest.mark.parametrize("left", VALUES)
@pytest.mark.parametrize("right", [*VALUES, None, [], {}, [1]])
def test_values_are_compared_as_in_python(left: Any, right: Any) -> None:
    memory = Memory()
    items = get_word(get_word(read(memory, json.dumps([left, right]), is_python=False) + 8))
    places = items, items + 8
    equal = run_in(memory, row_items.equal_words, row_items.NODE, *places)
    assert equal in (row_items.UNKNOWN, left == right)
    less = run_in(memory, row_items.less_words, row_items.NODE, *places)
    with suppress(TypeError):
        assert less in (row_items.UNKNOWN, left < right)


# Functions


@dataclass
class Point:
    x: float
    y: float


def of_path(s: str) -> str | None:
    return json.loads(s).get("user", {}).get("address", {}).get("city")


def of_first(s: str) -> float:
    return json.loads(s)["items"][0]["price"]


def of_total(s: str) -> float:
    return sum(item["qty"] * item["price"] for item in json.loads(s)["items"])


def of_count(s: str) -> int:
    return sum(item["qty"] for item in json.loads(s)["items"])


def of_type(s: str) -> str:
    value = json.loads(s)
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "scalar"


def of_tags(s: str) -> str:
    return ",".join(json.loads(s).get("tags") or [])


def of_pairs(s: str) -> str:
    return "&".join(f"{key}={value}" for key, value in json.loads(s).items())


def of_text(s: str) -> str:
    document = json.loads(s)
    return f"{document}{document['items']!r}" + json.dumps(document, separators=(",", ":"))


def of_change(s: str) -> str:
    document = json.loads(s)
    same = document["items"]
    document["id"] = "***"
    document["items"].append([document["id"], 5, None])
    del document["user"]
    return json.dumps(document) + str(len(same))


def of_addition(s: str) -> str:
    document = json.loads(s)
    document["id"] += 1
    document["items"][0]["price"] *= 2
    return f"{document['id']} {document['items'][0]['price']}"


def of_set(s: str) -> str:
    return ";".join(sorted({item["sku"] for item in json.loads(s)["items"]}))


def of_map(s: str) -> dict[str, int]:
    return {item["sku"]: item["qty"] for item in json.loads(s)["items"]}


def of_list(s: str) -> list[float]:
    return [item["price"] for item in json.loads(s)["items"]]


def of_lists(s: str) -> list[list[str]]:
    return [[item["sku"], *json.loads(s)["tags"]] for item in json.loads(s)["items"]]


def of_row(s: str) -> tuple[int, float | None, list[str]]:
    document = json.loads(s)
    return document["id"], document["items"][0].get("price"), document["tags"]


def of_member(s: str) -> bool:
    document = json.loads(s)
    return "x" in document["tags"] or 1 in document["tags"] or "zip" in document["user"]


def of_extremes(s: str) -> str:
    prices = [item["price"] for item in json.loads(s)["items"]]
    return f"{min(prices)} {max(prices)} {sorted(prices)}"


def of_point(s: str) -> float:
    point = Point(**json.loads(s)["point"])
    return point.x - point.y


def of_either(s: str) -> str:
    document = json.loads(s)
    value = document["note"] if document["note"] is not None else document["id"]
    for tag in document["tags"]:
        value = tag
    return str(value)


def of_error(s: str) -> str:
    try:
        return json.loads(s)["user"]["address"]["city"]
    except json.JSONDecodeError:
        return "broken"
    except (KeyError, TypeError):
        return "other"


def of_missing(s: str) -> str:
    try:
        return json.loads(s).get("user", "nobody")
    except AttributeError:
        return "other"


def of_counts(s: str) -> str:
    counts: dict[str, int] = {}
    for item in json.loads(s)["items"]:
        if item["sku"] not in counts:
            counts[item["sku"]] = 0
        counts[item["sku"]] = counts.get(item["sku"], 0) + 1
    return str(sorted(counts.items()))


def of_flags(s: str) -> str:
    document = json.loads(s)
    more = {**document, "ok": True}
    tags = [tag for tag in document["tags"] if isinstance(tag, str)] or ["-"]
    return f"{more['ok'] is True} {document['note'] is False} {len(more)} {tags}"


def of_keys(s: str) -> str:
    document = json.loads(s)
    found = ""
    for key in document:
        if isinstance(document[key], list) and not key.startswith("_"):
            found = f"{key}{len(document[key])}"
        document[key] = None
    words = [*sorted(document), max(document, key=len), *list(document)[:1]]
    return found + ",".join(words) + str(sum(len(key) for key in document))


def of_new_keys(s: str) -> str:
    """A dictionary that changes within a loop over it, or a list that grows."""
    document = json.loads(s)
    for key in document:
        if isinstance(document, dict):
            document[str(key) + "+"] = key
        elif len(document) < 4:
            document.append(key)
    return json.dumps(document)


def of_iterator(s: str) -> str:
    items = json.loads(s)["items"]
    rest = (item["sku"] for item in items)
    items.append({"sku": "last"})
    return ",".join(rest)


FUNCTIONS: list[Callable[[str], Any]] = [
    *(of_path, of_first, of_total, of_count, of_type, of_tags, of_pairs, of_text, of_change),
    *(of_addition, of_set, of_map, of_list, of_lists, of_row, of_member, of_extremes, of_point),
    *(of_either, of_error, of_counts, of_flags, of_keys),
]


def document(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "user": {"address": {"city": ["Köln", "Rom", '"'][number % 3], "geo": [1, [2.5]]}},
        "items": [
            {"sku": f"s{n}", "qty": n + 1, "price": n * 1.5 if number % 2 else n}
            for n in range(1 + number % 3)
        ],
        "tags": ["x", "y"][number % 3 :],
        "note": None if number % 2 else "n",
        "point": {"x": 1.5, "y": number},
    }


GOOD = [json.dumps(document(n), ensure_ascii=n % 2 == 0) for n in range(6)]
ODD = [
    *("", "{}", "[]", "null", "5", '"items"', "{", '{"items": 5}', '{"items": [5]}', GOOD[0] + "x"),
    *(GOOD[1][:-1], '{"items": [{"price": "x", "qty": 2, "sku": null}], "tags": [1, [2]]}'),
    *('{"a": 1, "a": {"b": NaN}}', '{"user": {"address": {"city": 7}}, "items": [{"sku": []}]}'),
    *('{"items": [{"qty": 99999999999999999999}]}', '{"user": {"address": null}}', '{"a": [{}]}'),
    *(
        "[" * 99 + "]" * 99,
        '{"point": {"x": 1}}',
        '{"point": {"x": 1, "z": 2}}',
        '{"id": "\\ud800"}',
    ),
]


def results(function: Callable[[str], Any], texts: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What Python returns, by text; and the texts for which it raises."""
    returned: dict[str, Any] = {}
    for text in texts:
        try:
            returned[text] = function(text)
        except Exception:  # noqa: BLE001
            continue
    return returned, [text for text in texts if text not in returned]


def as_column(value: Any) -> Any:
    """A result as a column has it."""
    if isinstance(value, tuple):
        return {f"f{place}": item for place, item in enumerate(value)}
    return list(value.items()) if isinstance(value, dict) else value


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_of_documents_give_what_python_gives(function: Callable[[str], Any]) -> None:
    compiled = ck.udf(function)
    good, raising = results(function, GOOD)
    assert compiled(ck.array([*good])).to_pylist() == [*map(as_column, good.values())]
    assert not raising
    assert not compiled.report().left
    odd, raising = results(function, ODD)
    for text, want in odd.items():
        with suppress(TypeError, ValueError, OverflowError):
            # Python's own result may not be of the declared type.
            assert compiled(ck.array([text])).to_pylist() == [as_column(want)]
    for text in raising:
        with pytest.raises(Exception) as expected:  # noqa: PT011
            function(text)
        with pytest.raises(expected.type) as raised:
            compiled(ck.array([text]))
        assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("text", [GOOD[0], "{}", "[]", "[1]", '["a", "b"]', '"ab"', "5"])
def test_a_loop_over_a_document_that_changes(text: str) -> None:
    try:
        wanted = of_new_keys(text)
    except (RuntimeError, TypeError, AttributeError) as error:
        with pytest.raises(type(error), match=str(error).replace("(", r"\(")):
            ck.udf(of_new_keys)(ck.array([text]))
    else:
        assert ck.udf(of_new_keys)(ck.array([text])).to_pylist() == [wanted]


@pytest.mark.parametrize("function", [of_error, of_missing])
def test_what_is_no_dictionary_raises_in_compiled_code(function: Callable[[str], Any]) -> None:
    rows = ["{}", "[]", "1", "1.5", "true", "null", '"user"']
    compiled = ck.udf(function)
    assert compiled(ck.array(rows)).to_pylist() == [*map(function, rows)]
    assert not compiled.report().left


def test_an_iterator_reads_what_is_in_a_document_later() -> None:
    rows = [text for text in GOOD if "items" in text]
    assert ck.udf(of_iterator)(ck.array(rows)).to_pylist() == [*map(of_iterator, rows)]


@pytest.mark.parametrize(
    "function",
    [of_path, of_count, of_text, of_row, of_keys],
    ids=lambda function: function.__name__,
)
def test_functions_of_documents_give_it_on_a_device(function: Callable[[str], Any]) -> None:
    texts, _ = results(function, [*GOOD, *ODD[:7]])
    column = ck.array([*texts])
    result, _ = by_ptx(function, column.type).run([column])
    assert result.to_pylist() == [*map(as_column, texts.values())]
