"""Row functions whose variables have values of one of several classes, against the plain function."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

import colkern as ck

ROWS = [0, 1, 2, 3, 4, 5, -1]


class Shape:
    """A base whose methods and constants others have of their own."""

    SIDES = 0

    def __init__(self, n: int) -> None:
        self.n = n

    def area(self) -> float:
        return 0.0

    def shown(self) -> str:
        return f"{type(self).__name__} {self.area():.1f} {self.SIDES}"

    def __str__(self) -> str:
        return f"<{self.n}>"


class Circle(Shape):
    def area(self) -> float:
        return 3.0 * self.n**2


class Square(Shape):
    SIDES = 4

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.name = f"square {n}"

    def area(self) -> float:
        return float(self.n * self.n)

    def __len__(self) -> int:
        return self.n % 3

    def grow(self) -> None:
        self.n += 1


@dataclasses.dataclass
class Dog:
    """A data class without a base."""

    name: str

    def speak(self) -> str:
        return f"{self.name} barks"


@dataclasses.dataclass
class Cat:
    """A data class with other fields, of other kinds."""

    lives: int
    name: str = "tom"

    def speak(self) -> str:
        return f"{self.name} sleeps {self.lives}"


ANIMALS: list[Dog | Cat] = [Dog("rex"), Cat(7), Dog("fido")]

BY_NUMBER: dict[int, Dog | Cat] = {1: Dog("one"), 2: Cat(2)}


def animal(n: int) -> Dog | Cat | None:
    if n < 0:
        return None
    return Dog(str(n)) if n > 2 else Cat(n)


def by_condition(n: int) -> str:
    shape = Circle(n) if n % 2 else Square(n)
    return f"{shape.shown()} {shape.n} {shape.SIDES} {shape} {'some' if shape else 'none'}"


def by_branches(n: int) -> str:
    if n % 3 == 0:
        shape: Shape = Circle(n)
    elif n % 3 == 1:
        shape = Square(n)
    else:
        shape = Shape(1)
    return shape.shown()


def in_a_list(n: int) -> str:
    shapes: list[Shape] = []
    for k in range(n):
        shapes.append(Square(k) if k % 2 else Circle(k))
    largest = max(shapes, key=lambda shape: shape.area(), default=Shape(0))
    return " ".join(shape.shown() for shape in shapes) + largest.shown()


def in_a_dictionary(n: int) -> str:
    by_key = {k: Square(k) if k % 2 else Circle(k) for k in range(n)}
    return " ".join(f"{k} {shape}" for k, shape in by_key.items())


def by_a_loop(n: int) -> str:
    shape = None
    before = Circle(n) if n > 2 else Square(n)
    for k in range(n):
        shape = Square(k) if k % 2 else Circle(k)
    return f"{shape.shown() if shape is not None else '-'} {before.shown()}"


def of_constants(n: int) -> str:
    actual = BY_NUMBER.get(n)
    return ANIMALS[n % 3].speak() + (actual.speak() if actual is not None else "none")


def by_a_function(n: int) -> str:
    own = animal(n)
    if isinstance(own, Dog):
        return f"dog {own.name}"
    return f"cat {own.lives}" if own else f"none {own!r}"


def by_isinstance(n: int) -> str:
    shape = Square(n) if n % 2 else Circle(n)
    if not isinstance(shape, Square) or shape.name == "square 5":
        return f"no {isinstance(shape, Shape)} {isinstance(shape, (Dog, str))}"
    return shape.name


def by_pattern(n: int) -> str:
    match animal(n):
        case Dog(name=name):
            return f"dog {name}"
        case Cat(lives=lives, name=name):
            return f"cat {lives} {name}"
        case None:
            return "none"
    return "other"


def by_class(n: int) -> str:
    form = Circle if n % 2 else Square
    return form(n).shown()


def of_none(n: int) -> str:
    return animal(n).speak()  # type: ignore[union-attr]


def in_a_handler(n: int) -> str:
    shape: Shape = Circle(n)
    try:
        if n > 2:
            shape = Square(n)
        [0, 1][n - 1]
    except IndexError:
        return f"none {shape.shown()}"
    return shape.shown()


def outcome(function: Callable[..., Any], row: int) -> Any:
    try:
        return function(row)
    except Exception as error:  # noqa: BLE001
        return type(error), str(error)


@pytest.mark.parametrize(
    "function",
    [
        *(by_condition, by_branches, in_a_list, in_a_dictionary, by_a_loop, of_constants),
        *(by_a_function, by_isinstance, by_pattern, by_class, of_none, in_a_handler),
    ],
)
def test_an_instance_is_used_as_one_of_its_class(function: Callable[[int], str]) -> None:
    compiled = ck.udf(function)
    for row in ROWS:
        got = outcome(lambda row: compiled(ck.array([row])).to_pylist()[0], row)
        assert got == outcome(function, row)
    assert not compiled.report().left


def changed(n: int) -> str:
    shape = Square(n) if n % 2 else Circle(n)
    shape.n += 1
    return shape.shown()


def changed_by_a_method(n: int) -> str:
    shape = Square(n) if n % 2 else Square(n) if n else Circle(n)
    shape.grow()  # type: ignore[union-attr]
    return shape.shown()


def compared(n: int) -> bool:
    return Dog("2") == animal(n)


def returned(n: int) -> Any:
    return Dog("a") if n % 2 else Cat(n)


def lacking(n: int) -> str:
    shape = Square(n) if n % 2 else Circle(n)
    return shape.name  # type: ignore[union-attr]


@pytest.mark.parametrize("function", [changed, changed_by_a_method, compared, returned, lacking])
def test_what_needs_to_know_the_class_is_refused(function: Callable[[int], Any]) -> None:
    with pytest.raises((ck.CompileError, ck.UnsupportedError)):
        ck.udf(function)(ck.array(ROWS))


TEXTS = ["12", "-3.5", "true", "x", "", "0", "ab c"]


def parsed(s: str) -> bool | int | float | str:
    if s in ("true", "false"):
        return s == "true"
    try:
        return int(s)
    except ValueError:
        pass
    try:
        return float(s)
    except ValueError:
        return s


def narrowed(s: str) -> str:
    value = parsed(s)
    if isinstance(value, str):
        return value.upper()
    if not isinstance(value, int):
        return f"{value:.2f}"
    return str(value // 2)


def matched(s: str) -> str:
    match parsed(s):
        case bool() as flag:
            return f"bool {not flag}"
        case int(number):
            return f"int {number + 1}"
        case float():
            return "float"
        case str(text):
            return f"str {text.strip()}"
    return "none"


def shown(s: str) -> str:
    value = parsed(s)
    kinds = type(value).__name__ + ("+" if value else "-")
    return f"{kinds} {value} {value!s:>5} {value == 12} {value in ('x', True)} {value is None}"


def or_none(s: str) -> str:
    value = parsed(s) if s else None
    if value is None:
        return "none"
    return "number" if isinstance(value, (int, float)) else value


def turned_in_a_loop(s: str) -> str:
    value: int | str = s
    for _ in range(3):
        if isinstance(value, int):
            value = value * 2
        elif value.isdigit():
            value = int(value)
        else:
            value += "!"
    return f"{value}"


def in_containers(s: str) -> str:
    values = [parsed(part) for part in (s, "7", "y")]
    by_name = {"a": parsed(s), "b": parsed("2.5")}
    total = sum(value for value in values if isinstance(value, int))
    return f"{total} " + ",".join(f"{name}={value}" for name, value in by_name.items())


def of_an_expression(s: str) -> tuple[str, int]:
    value = int(s) if s.isdigit() else s
    return f"{value}", value if isinstance(value, int) else len(value)


def as_a_result(s: str) -> float:
    value = parsed(s)
    return 0.5 if isinstance(value, str) else value


def in_a_dictionary_that_changes(s: str) -> str:
    found = re.match(r"(?P<whole>\d*)(?P<rest>\w+)?", s)
    assert found is not None
    row: dict[str, Any] = found.groupdict()
    if not row["whole"]:
        row["whole"] = 0
    if not row["rest"]:
        row["rest"] = 7
    return "{whole} {rest}".format(**row) + str(isinstance(row["rest"], str))


@pytest.mark.parametrize(
    "function",
    [
        in_a_dictionary_that_changes,
        *(narrowed, matched, shown, or_none, turned_in_a_loop, in_containers, of_an_expression),
        as_a_result,
    ],
)
def test_a_variable_has_values_of_several_types(function: Callable[[str], Any]) -> None:
    compiled = ck.udf(function)
    got = [outcome(lambda row: compiled(ck.array([row])).to_pylist()[0], row) for row in TEXTS]
    pairs = [tuple(row.values()) if isinstance(row, dict) else row for row in got]
    assert pairs == [outcome(function, row) for row in TEXTS]
    assert not compiled.report().left


def added(s: str) -> Any:
    return str(parsed(s) + 1)  # type: ignore[operator]


def stripped(s: str) -> str:
    return parsed(s).strip()  # type: ignore[union-attr]


def ordered(s: str) -> bool:
    return parsed(s) < 3  # type: ignore[operator]


@pytest.mark.parametrize("function", [added, stripped, ordered])
def test_what_a_type_lacks_is_left_to_python(function: Callable[[str], Any]) -> None:
    compiled = ck.udf(function)
    for row in TEXTS:
        got = outcome(lambda row: compiled(ck.array([row])).to_pylist()[0], row)
        assert got == outcome(function, row)


def true_itself(s: str) -> bool:
    return parsed(s) is True


def keys(s: str) -> int:
    return len({parsed(s), 1})


@pytest.mark.parametrize("function", [true_itself, keys])
def test_what_needs_one_type_is_refused_or_left(function: Callable[[str], Any]) -> None:
    try:
        got = ck.udf(function)(ck.array(TEXTS)).to_pylist()
    except ck.CompileError:
        return
    assert got == list(map(function, TEXTS))


def number_or_none(s: str) -> int | None:
    return parsed(s) if s else None  # type: ignore[return-value]


def test_results_of_the_declared_type_are_compiled() -> None:
    compiled = ck.udf(number_or_none)
    assert compiled(ck.array(["12", "", None])).to_pylist() == [12, None, None]
    assert not compiled.report().left
    with pytest.raises(TypeError, match="fit"):
        compiled(ck.array(["12", "x"]))


def number_or_text(s: str) -> Any:
    value = int(s) if s.isdigit() else s
    return value if s else None


def test_results_of_several_types_need_a_declared_one() -> None:
    with pytest.raises(ck.CompileError):
        ck.udf(number_or_text)(ck.array(["12", "x", ""]))


def loaded(s: str) -> Any:
    return json.loads(s)


@pytest.mark.parametrize(
    ("type_", "row", "want"),
    [
        (ck.map_(ck.utf8(), ck.int64()), '{"a": 1}', [("a", 1)]),
        (ck.list_(ck.int64()), "[1, 2]", [1, 2]),
        (ck.utf8(), '"a"', "a"),
    ],
)
def test_results_of_json_are_of_the_declared_type(type_: ck.DataType, row: str, want: Any) -> None:
    assert ck.udf(loaded, returns=type_)(ck.array([row])).to_pylist() == [want]


# Documents with lists and objects in them


def of_matches(s: str) -> str:
    match json.loads(s):
        case {"a": []}:
            return "empty"
        case {"a": [first, *rest]}:
            return f"list {first} {len(rest)}"
        case {"a": {"x": str(x)}}:
            return f"x {x}"
        case {"a": {"x": _, **others}}:
            return f"other x {len(others)}"
        case {"a": dict() | str() | None}:
            return "no number"
        case {"a": _}:
            return "number"
    return "none"


def of_entries(s: str) -> str:
    inner = json.loads(s).get("a") or {}
    return ",".join(f"{key}={value}" for key, value in inner.items())


def of_items(s: str) -> str:
    return ";".join(f"{item['x']}:{len(item)}" for item in json.loads(s)["a"])


def of_texts(s: str) -> str:
    return ",".join(json.loads(s)["a"])


def of_pairs(s: str) -> str:
    first, second = json.loads(s)["a"]
    return f"{first} {second}"


def of_classes(s: str) -> str:
    value = json.loads(s).get("a")
    if isinstance(value, list):
        value.append(1)
        return f"list {len(value)} {value[-1]}"
    if isinstance(value, dict):
        return f"dict {'x' in value} {value.get('x')}"
    return f"{value is None} {bool(value)}"


def of_members(s: str) -> bool:
    return json.loads(s)["a"] in {"x", "y"}


def of_keys(s: str) -> int:
    return {"x": 1, "é": 2}.get(json.loads(s)["a"], 0)


def of_equals(s: str) -> bool:
    document = json.loads(s)
    return bool(document["a"] == [] or document["a"] != "x")


def of_sums(s: str) -> str:
    document = json.loads(s)
    same = document["a"]
    document["a"] += [3]
    return f"{len(same)}"


def of_dictionaries(s: str) -> int:
    return len(dict(json.loads(s)["a"]))


def of_list(s: str) -> str:
    document = json.loads(s)
    return f"{len(document)} {document[-1]}"


def of_objects_in_list(s: str) -> str:
    try:
        return str(sum(item["x"] == "a" for item in json.loads(s)))
    except (json.JSONDecodeError, KeyError, TypeError):
        return "none"


def of_literals(s: str) -> list[str]:
    result = []
    for number, item in enumerate(ast.literal_eval(s)):
        result.append(item["x"].strip() + str(number))
    return result


PARTS = [
    *(
        '"x"',
        '"é"',
        r'"\u00e9\n\"\ud83d\ude00"',
        r'"\u00e"',
        "null",
        "5",
        "2.5",
        "true",
        "[]",
        "[1, 2]",
        '["x", "é"]',
        "{}",
    ),
    *('{"x": "v"}', '{"ab": 1, "x": [2]}', '[{"x": null}, {"x": 1, "y": 2}]', '[[["deep"]]]'),
    *("01", "[1,]", "[1 2]", '{"x"}', '{"x": 1,}', "[", '"', "tru", "-", '[["a", 1]]'),
]
DOCUMENTS = [
    *(f'{{"a": {part}}}' for part in PARTS),
    *('{"b": 1}', ' { "a":[ ],"b" :{ } } ', '{"a": 1} x', "[]", "", '{"a": 1, "a": []}'),
]


LISTS = [
    "[]",
    "[1, 2]",
    '["\\n"]',
    '[{"x": "a"}]',
    "[{'x': ' b '}, {\"x\": \"c\"}]",
    "",
    "nan",
    "{}",
]


@pytest.mark.parametrize(
    ("function", "most_left"), [(of_list, 1), (of_objects_in_list, 4), (of_literals, 1)]
)
def test_documents_that_are_lists(function: Callable[[str], Any], most_left: int) -> None:
    compiled = ck.udf(function)
    want: list[Any] = []
    for document in LISTS:
        try:
            want.append((document, function(document)))
        except Exception as error:  # noqa: BLE001
            with pytest.raises(type(error)):
                compiled(ck.array([document]))
    before = sum(compiled.report().left.values())
    documents, results = zip(*want, strict=True)
    assert compiled(ck.array(documents)).to_pylist() == list(results)
    assert sum(compiled.report().left.values()) - before <= most_left


@pytest.mark.parametrize(
    ("function", "most_left"),
    [
        *((of, 9) for of in (of_matches, of_entries, of_items, of_texts, of_pairs, of_classes)),
        *((of, 9) for of in (of_members, of_keys, of_equals)),
        *((of, 99) for of in (of_sums, of_dictionaries)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_documents_with_lists_and_objects(function: Callable[[str], Any], most_left: int) -> None:
    compiled = ck.udf(function)
    want: dict[str, Any] = {}
    raised: dict[str, Exception] = {}
    for document in DOCUMENTS:
        try:
            want[document] = function(document)
        except Exception as error:  # noqa: BLE001
            raised[document] = error
    assert compiled(ck.array([*want])).to_pylist() == [*want.values()]
    assert sum(compiled.report().left.values()) <= most_left
    for document, expected in raised.items():
        with pytest.raises(type(expected), match=f"^{re.escape(str(expected))}"):
            compiled(ck.array([document]))


def list_or_text(s: str) -> int:
    value = s.split() if " " in s else s
    same = value
    if isinstance(same, list):
        same.append("!")
    return len(value)


def grown_in_place(s: str) -> int:
    value: Any = s.split() if " " in s else s
    same = value
    value += value
    return len(same)


def test_a_variable_may_be_a_list_or_a_text() -> None:
    rows = ["a b", "abc", ""]
    assert ck.udf(list_or_text)(ck.array(rows)).to_pylist() == [*map(list_or_text, rows)]
    with pytest.raises(ck.CompileError, match="__iadd__ of"):
        ck.udf(grown_in_place)


def test_a_list_is_not_looked_for_by_its_hash() -> None:
    def among(s: str) -> bool:
        return s.split() in {"a", "b"}  # type: ignore[comparison-overlap]

    with pytest.raises(ck.CompileError, match="not hashable"):
        ck.udf(among)


def same_after_change(s: str) -> bool:
    first, second = json.loads(s), json.loads(s)
    second["a"] = 3
    return bool(first == second)


def same_tuples(n: int) -> bool:
    first: Any = {}
    second: Any = {}
    for key in range(2):
        first[key] = None if n % 2 else (1, 2, n)
        second[key] = None if n % 2 else (1, 2, 6)
    return bool(first == second)


def test_dictionaries_of_values_in_forms_of_their_own_are_compared_as_in_python() -> None:
    texts = ['{"a": 0}', '{"a": 3}', '{"a": "b"}', '{"a": null}', '{"b": 3}']
    assert ck.udf(same_after_change)(ck.array(texts)).to_pylist() == [
        *map(same_after_change, texts)
    ]
    numbers = [0, 1, 2, 6]
    assert ck.udf(same_tuples)(ck.array(numbers)).to_pylist() == [*map(same_tuples, numbers)]


def least_digit(number: int) -> int:
    least = float("inf")
    while number > 0:
        least = min(number % 10, least)
        number //= 10
    return least  # type: ignore[return-value]


def best_sum(numbers: list[int]) -> int:
    best = float("-inf")
    now: int = 0
    for number in numbers:
        now = max(now + number, number)
        best = max(best, now)
    return best  # type: ignore[return-value]


def test_an_infinity_until_there_is_a_number_of_the_declared_type() -> None:
    digits = ck.udf(least_digit)
    assert digits(ck.array([7, 123, 2**62 + 1])).to_pylist() == [7, 1, 0]
    with pytest.raises(TypeError, match="inf does not fit int64"):
        digits(ck.array([0]))
    sums = ck.udf(best_sum, strict=True)
    rows = [[1, -2, 3], [2**62, 1], [-5]]
    assert sums(ck.array(rows)).to_pylist() == list(map(best_sum, rows))


def decoded(text: str) -> str:
    try:
        text = text.decode()  # type: ignore[attr-defined]
    except (UnicodeDecodeError, AttributeError):
        text += "?"
    return text + "!"


def assigned(text: str) -> str:
    row = [text, 1, 2.5]
    row[1] = len(text)
    return f"{row[0]}{row[1]}{row[2]}"


def codes(text: str) -> list[tuple[int, ...]]:
    return [(place, ord(character)) for place, character in enumerate(text)]


def arguments_of_what_is_lacking(text: str) -> int:
    items = [text]
    try:
        text.nothing(items.append(text))  # type: ignore[attr-defined,func-returns-value]
    except AttributeError:
        items.append("")
    return len(items)


def one_of_two(text: str) -> int:
    try:
        return text.nothing or len(text)  # type: ignore[attr-defined]
    except AttributeError:
        return -1


class Size(Enum):
    SMALL, LARGE = 1, 2


def of_a_member(text: str) -> str:
    size = Size.LARGE if len(text) > 2 else Size.SMALL
    return f"{hasattr(size, 'value')}{hasattr(size, 'nothing')}{getattr(size, 'name', '')}"


FAULTY = [*map(str, range(20)), "("]


def one_is_faulty(text: str) -> int:
    try:
        return sum(bool(re.search(pattern, text)) for pattern in FAULTY)
    except re.error:
        return -1


FEW_LETTERS = frozenset("ab")


@pytest.mark.parametrize(
    "function",
    [
        decoded,
        assigned,
        codes,
        lambda text: f"{hasattr(text, 'decode')}{hasattr(text, 'upper')}",
        lambda text: getattr(text, "no" + "thing", "default"),
        lambda text: len(set(text) - FEW_LETTERS),
        arguments_of_what_is_lacking,
        one_of_two,
        of_a_member,
        one_is_faulty,
    ],
)
def test_attributes_that_a_type_may_lack_and_items_of_several_types(
    function: Callable[[str], Any],
) -> None:
    texts = ["1,a,22", "", "é", "abc"]
    wanted = [function(text) for text in texts]
    lists = [[*map(list, each)] if isinstance(each, list) else each for each in wanted]
    strict = function not in (arguments_of_what_is_lacking, one_is_faulty)
    assert ck.udf(function, strict=strict)(ck.array(texts)).to_pylist() == lists


def of_an_item_that_is_taken(text: str) -> int:
    words = [text, text]
    return getattr(words.pop(), "nothing", len(words))


def of_a_local_function(text: str) -> bool:
    function = lambda: text  # noqa: E731
    return hasattr(function, "args")


def of_nothing(text: str) -> bool:
    return hasattr(text)  # type: ignore[call-arg]


@pytest.mark.parametrize("function", [of_an_item_that_is_taken, of_a_local_function, of_nothing])
def test_attributes_of_what_has_an_effect_or_is_a_function_are_refused(
    function: Callable[[str], Any],
) -> None:
    with pytest.raises(
        ck.CompileError, match=r"^of_\w+ does not compile: .*(get|has)attr\(\)(?!.*mistake)"
    ):
        ck.udf(function)
