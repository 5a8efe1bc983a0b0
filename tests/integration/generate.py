"""Arrow's integration JSON with random data: the 32 cases that archery generates, by code of our own.

A `Column` is a field's entry and a function that fills a column of a length with random members.
"""

from __future__ import annotations

import builtins
import random
import string
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

DAY_MS = 86_400_000
# Years 1 to 9999, in seconds.
FIRST, LAST = -62_135_596_800, 253_402_214_400
PER_SECOND = {"SECOND": 1, "MILLISECOND": 10**3, "MICROSECOND": 10**6, "NANOSECOND": 10**9}
# One, two, three and four bytes in UTF-8.
LETTERS = string.ascii_lowercase + "é€𝄞"


@dataclass
class Column:
    """A kind of column: its field's `type`, `children`, `dictionary`, and how it is filled."""

    type: Json
    fill: Callable[[int, bool], Json]
    children: list[Json] = field(default_factory=list)
    dictionary: Json | None = None


@dataclass
class Named:
    """A column with what its field says besides the type."""

    name: str
    column: Column
    nullable: bool = True
    metadata: list[tuple[str, str]] = field(default_factory=list)

    def field(self) -> Json:
        entry: Json = {
            "name": self.name,
            "type": self.column.type,
            "nullable": self.nullable,
            "children": self.column.children,
        }
        if self.column.dictionary is not None:
            entry["dictionary"] = self.column.dictionary
        if self.metadata:
            entry["metadata"] = pairs(self.metadata)
        return entry

    def fill(self, count: int) -> Json:
        return {"name": self.name, "count": count, **self.column.fill(count, self.nullable)}


def pairs(metadata: Iterable[tuple[str, str]]) -> list[Json]:
    return [{"key": key, "value": value} for key, value in metadata]


class Generator:
    """Columns whose data comes from one source of randomness."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dictionaries: list[Json] = []

    # What columns are made of

    def validity(self, count: int, nullable: bool) -> list[int]:
        return [int(not nullable or self.random.random() > 0.4) for _ in range(count)]

    def leaf(self, type_: Json, value: Callable[[], Any]) -> Column:
        def fill(count: int, nullable: bool) -> Json:
            data = [value() for _ in range(count)]
            return {"VALIDITY": self.validity(count, nullable), "DATA": data}

        return Column(type_, fill)

    def number(self, bits: int, low: int, high: int) -> Callable[[], Any]:
        """Numbers, often the extreme ones; as strings where they have 64 bits."""

        def value() -> Any:
            number = self.random.choice([low, high, self.random.randint(low, high)])
            return str(number) if bits == 64 else number

        return value

    def int(self, bits: int, signed: bool = True) -> Column:
        low = -(2 ** (bits - 1)) if signed else 0
        high = 2 ** (bits - signed) - 1
        type_ = {"name": "int", "isSigned": signed, "bitWidth": bits}
        return self.leaf(type_, self.number(bits, low, high))

    def bool(self) -> Column:
        return self.leaf({"name": "bool"}, lambda: self.random.random() < 0.5)

    def float(self, precision: str) -> Column:
        # A half has few digits: what is said must be what it can hold.
        step, most = {"HALF": (1 / 8, 2**8), "SINGLE": (0.001, 10**6), "DOUBLE": (0.001, 10**6)}[
            precision
        ]

        def value() -> float:
            return round(self.random.randint(-most, most) * step, 3)

        return self.leaf({"name": "floatingpoint", "precision": precision}, value)

    def null(self) -> Column:
        return Column({"name": "null"}, lambda count, nullable: {})

    def decimal(self, bits: builtins.int, precision: builtins.int, scale: builtins.int) -> Column:
        most = 10**precision - 1
        type_ = {"name": "decimal", "precision": precision, "scale": scale, "bitWidth": bits}
        return self.leaf(type_, lambda: str(self.random.randint(-most, most)))

    def date(self, unit: str) -> Column:
        low, high = FIRST // 86_400, LAST // 86_400
        days = self.number(32, low, high)
        value = days if unit == "DAY" else lambda: str(days() * DAY_MS)
        return self.leaf({"name": "date", "unit": unit}, value)

    def time(self, unit: str) -> Column:
        bits = 32 if unit in ("SECOND", "MILLISECOND") else 64
        value = self.number(bits, 0, 86_400 * PER_SECOND[unit] - 1)
        return self.leaf({"name": "time", "unit": unit, "bitWidth": bits}, value)

    def timestamp(self, unit: str, zone: str | None = None) -> Column:
        low, high = FIRST * PER_SECOND[unit], LAST * PER_SECOND[unit]
        value = self.number(64, max(low, -(2**63)), min(high, 2**63 - 1))
        type_ = {"name": "timestamp", "unit": unit}
        return self.leaf(type_ | ({"timezone": zone} if zone else {}), value)

    def duration(self, unit: str) -> Column:
        return self.leaf({"name": "duration", "unit": unit}, self.number(64, -(2**63), 2**63 - 1))

    def interval(self, unit: str, **parts: builtins.int) -> Column:
        """Parts by name with their bits; without any, the months themselves."""
        limits = {name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for name, bits in parts.items()}

        def value() -> Any:
            if not parts:
                return self.random.randint(-120_000, 120_000)
            return {name: self.random.randint(*limit) for name, limit in limits.items()}

        return self.leaf({"name": "interval", "unit": unit}, value)

    def text(self) -> str:
        return "".join(self.random.choices(LETTERS, k=self.random.randint(0, 7)))

    def raw(self, size: builtins.int | None = None) -> bytes:
        return self.random.randbytes(self.random.randint(0, 7) if size is None else size)

    def fixed_size_binary(self, width: builtins.int) -> Column:
        type_ = {"name": "fixedsizebinary", "byteWidth": width}
        return self.leaf(type_, lambda: self.raw(width).hex().upper())

    def binary(self, name: str) -> Column:
        """binary, largebinary, utf8 or largeutf8."""
        is_text, is_large = name.endswith("utf8"), name.startswith("large")

        def fill(count: int, nullable: bool) -> Json:
            validity = self.validity(count, nullable)
            values = [(self.text().encode() if is_text else self.raw()) * v for v in validity]
            return {
                "VALIDITY": validity,
                "OFFSET": offsets(map(len, values), is_large),
                "DATA": [v.decode() if is_text else v.hex().upper() for v in values],
            }

        return Column({"name": name}, fill)

    def view(self, name: str) -> Column:
        """utf8view or binaryview: short values inlined, long ones in two data buffers."""
        is_text = name == "utf8view"

        def fill(count: int, nullable: bool) -> Json:
            validity = self.validity(count, nullable)
            buffers = [bytearray(b"before"), bytearray()]
            views = [self.view_of(is_text, buffers) if v else NULL_VIEW for v in validity]
            data = [bytes(buffer).hex().upper() for buffer in buffers]
            return {"VALIDITY": validity, "VIEWS": views, "VARIADIC_DATA_BUFFERS": data}

        return Column({"name": name}, fill)

    def view_of(self, is_text: builtins.bool, buffers: list[bytearray]) -> Json:
        times = self.random.choice([1, 1, 4])
        value = self.text().encode() * times if is_text else self.raw() * times
        if len(value) <= 12:
            inlined = value.decode() if is_text else value.hex().upper()
            return {"SIZE": len(value), "INLINED": inlined}
        index = self.random.randrange(len(buffers))
        start = len(buffers[index])
        buffers[index] += value
        return {
            "SIZE": len(value),
            "PREFIX_HEX": value[:4].hex().upper(),
            "BUFFER_INDEX": index,
            "OFFSET": start,
        }

    # Nested columns

    def list(self, name: str, item: Named) -> Column:
        """list, largelist or, with entries as items, map."""
        type_ = {"name": name} | ({"keysSorted": False} if name == "map" else {})

        def fill(count: int, nullable: bool) -> Json:
            validity = self.validity(count, nullable)
            sizes = [self.random.randint(0, 4) * v for v in validity]
            return {
                "VALIDITY": validity,
                "OFFSET": offsets(sizes, name == "largelist"),
                "children": [item.fill(sum(sizes))],
            }

        return Column(type_, fill, [item.field()])

    def list_view(self, name: str, item: Named) -> Column:
        """listview or largelistview: anywhere in the child, in any order, also overlapping."""
        write = str if name == "largelistview" else int

        def fill(count: int, nullable: bool) -> Json:
            length = 2 * count
            starts = [self.random.randint(0, length) for _ in range(count)]
            sizes = [self.random.randint(0, min(4, length - start)) for start in starts]
            return {
                "VALIDITY": self.validity(count, nullable),
                "OFFSET": list(map(write, starts)),
                "SIZE": list(map(write, sizes)),
                "children": [item.fill(length)],
            }

        return Column({"name": name}, fill, [item.field()])

    def fixed_size_list(self, item: Named, size: builtins.int) -> Column:
        def fill(count: int, nullable: bool) -> Json:
            validity = self.validity(count, nullable)
            return {"VALIDITY": validity, "children": [item.fill(count * size)]}

        return Column({"name": "fixedsizelist", "listSize": size}, fill, [item.field()])

    def struct(self, *members: Named) -> Column:
        def fill(count: int, nullable: bool) -> Json:
            validity = self.validity(count, nullable)
            return {"VALIDITY": validity, "children": [m.fill(count) for m in members]}

        return Column({"name": "struct"}, fill, [m.field() for m in members])

    def map(self, key: str = "key", value: str = "value", entries: str = "entries") -> Column:
        key_field = Named(key, self.binary("utf8"), nullable=False)
        entry = self.struct(key_field, Named(value, self.int(32)))
        return self.list("map", Named(entries, entry, nullable=False))

    def union(self, mode: str, codes: builtins.list[builtins.int], *members: Named) -> Column:
        def fill(count: int, nullable: bool) -> Json:
            ids = self.random.choices(codes, k=count)
            if mode == "SPARSE":
                return {"TYPE_ID": ids, "children": [m.fill(count) for m in members]}
            return {
                "TYPE_ID": ids,
                "OFFSET": [ids[:slot].count(code) for slot, code in enumerate(ids)],
                "children": [
                    m.fill(ids.count(code)) for m, code in zip(members, codes, strict=True)
                ],
            }

        type_ = {"name": "union", "mode": mode, "typeIds": codes}
        return Column(type_, fill, [m.field() for m in members])

    def run_end_encoded(self, bits: builtins.int, values: Named) -> Column:
        ends = Named("run_ends", self.int(bits), nullable=False)

        def fill(count: int, nullable: bool) -> Json:
            results: list[int] = []
            while count and (not results or results[-1] < count):
                results.append((results[-1] if results else 0) + self.random.randint(1, 4))
            run_ends = {
                "name": "run_ends",
                "count": len(results),
                "VALIDITY": [1] * len(results),
                "DATA": list(map(str, results)) if bits == 64 else results,
            }
            return {"children": [run_ends, values.fill(len(results))]}

        return Column({"name": "runendencoded"}, fill, [ends.field(), values.field()])

    def new_dictionary(
        self, values: Column, count: builtins.int
    ) -> tuple[builtins.int, Column, builtins.int]:
        """A dictionary with random values: its id, what they are, and how many."""
        id_ = len(self.dictionaries)
        column = Named(f"DICT{id_}", values).fill(count)
        self.dictionaries.append({"id": id_, "data": {"count": count, "columns": [column]}})
        return id_, values, count

    def indices(
        self,
        bits: builtins.int,
        dictionary: tuple[builtins.int, Column, builtins.int],
        signed: builtins.bool = True,
    ) -> Column:
        id_, values, count = dictionary
        write = str if bits == 64 else int
        index = self.leaf(
            {"name": "int", "isSigned": signed, "bitWidth": bits},
            lambda: write(self.random.randrange(count)),
        )
        encoding = {"id": id_, "indexType": index.type, "isOrdered": False}
        return Column(values.type, index.fill, values.children, encoding)


NULL_VIEW: Json = {"SIZE": 0, "INLINED": ""}


def offsets(sizes: Iterable[int], large: bool) -> list[Any]:
    result = [0]
    for size in sizes:
        result.append(result[-1] + size)
    return list(map(str, result)) if large else result


# The cases

Fields = list[Named]
Case = Callable[[Generator], tuple[Fields, list[int]]]


def both(name: str, column: Column) -> Fields:
    return [Named(f"{name}_nullable", column), Named(f"{name}_nonnullable", column, nullable=False)]


def _primitive(g: Generator) -> Fields:
    columns = {"bool": g.bool()}
    columns |= {f"int{bits}": g.int(bits) for bits in (8, 16, 32, 64)}
    columns |= {f"uint{bits}": g.int(bits, False) for bits in (8, 16, 32, 64)}
    columns |= {"float32": g.float("SINGLE"), "float64": g.float("DOUBLE")}
    return [named for name, column in columns.items() for named in both(name, column)]


def _binary(g: Generator) -> Fields:
    columns = {name: g.binary(name) for name in ("binary", "utf8")}
    columns |= {f"fixed_{width}": g.fixed_size_binary(width) for width in (0, 19, 120)}
    return [named for name, column in columns.items() for named in both(name, column)]


def _decimals(bits: int, precisions: Iterable[int], scale: int) -> Case:
    return lambda g: (
        [Named(f"f{p}", g.decimal(bits, p, scale)) for p in precisions],
        [7, 10],
    )


def _numbered(columns: Iterable[Column]) -> Fields:
    return [Named(f"f{i}", column) for i, column in enumerate(columns)]


def _datetime(g: Generator) -> Fields:
    units = list(PER_SECOND)
    zones = ["UTC", "US/Eastern", "Europe/Paris", "US/Pacific"]
    return _numbered(
        [
            g.date("DAY"),
            g.date("MILLISECOND"),
            *map(g.time, units),
            *map(g.timestamp, units),
            *(g.timestamp(unit, zone) for unit, zone in zip(units, zones, strict=True)),
        ]
    )


def _nested(g: Generator) -> Fields:
    item = Named("item", g.int(32))
    members = Named("f1", g.int(32)), Named("f2", g.binary("utf8"))
    return [
        Named("list_nullable", g.list("list", item)),
        Named("fixedsizelist_nullable", g.fixed_size_list(item, 4)),
        Named("struct_nullable", g.struct(*members)),
    ]


def _recursive_nested(g: Generator) -> Fields:
    inner = Named("inner_list", g.list("list", Named("item", g.int(16))))
    struct = g.struct(Named("f1", g.int(32)), Named("f2", g.binary("utf8")))
    return [
        Named("lists_list", g.list("list", inner)),
        Named("structs_list", g.list("list", Named("inner_struct", struct))),
    ]


def _nested_large_offsets(g: Generator) -> Fields:
    large = g.list("largelist", Named("item", g.int(32)))
    inner = Named("inner_list", g.list("list", Named("item", g.int(16))))
    return [*both("large_list", large), Named("large_list_nested", g.list("largelist", inner))]


def _union(g: Generator) -> Fields:
    f1, f2 = Named("f1", g.int(32)), Named("f2", g.binary("utf8"))
    g1, g2 = Named("f1", g.float("SINGLE"), nullable=False), Named("f2", g.bool())
    d1, d2 = Named("f1", g.int(8, False), nullable=False), Named("f2", g.int(16, False))
    return [
        Named("sparse", g.union("SPARSE", [5, 7], f1, f2)),
        Named("dense", g.union("DENSE", [10, 20], f1, f2)),
        Named("sparse", g.union("SPARSE", [5, 7], g1, g2), nullable=False),
        Named("dense", g.union("DENSE", [42, 43, 44], d1, d2, Named("f3", g.null())), False),
    ]


def _custom_metadata(g: Generator) -> Fields:
    extension = [
        ("ARROW:extension:name", "!nonexistent"),
        ("ARROW:extension:metadata", ""),
        ("ARROW:integration:allow_unregistered_extension", "true"),
    ]
    item = Named("item", g.int(32), metadata=[("odd_values", "{}")])
    return [
        Named("sort_of_pandas", g.int(8), metadata=[("pandas", "{}")]),
        Named("lots_of_meta", g.int(8), metadata=[(key, "{}") for key in "abcdwxyz"]),
        Named("unregistered_extension", g.int(8), metadata=extension),
        Named("list_with_odd_values", g.list("list", item)),
    ]


def _duplicate_fieldnames(g: Generator) -> Fields:
    struct = g.struct(Named("", g.int(32)), Named("", g.binary("utf8")))
    return [Named("ints", g.int(8)), Named("ints", g.int(32)), Named("struct", struct)]


def _dictionary(g: Generator) -> Fields:
    return _numbered(
        [
            g.indices(8, g.new_dictionary(g.binary("utf8"), 10)),
            g.indices(32, g.new_dictionary(g.binary("utf8"), 5)),
            g.indices(16, g.new_dictionary(g.int(64), 50)),
        ]
    )


def _dictionary_unsigned(g: Generator) -> Fields:
    values = [g.new_dictionary(g.binary("utf8"), 5) for _ in range(4)]
    return _numbered(
        g.indices(bits, v, signed=False) for bits, v in zip((8, 16, 32, 64), values, strict=True)
    )


def _nested_dictionary(g: Generator) -> Fields:
    inner = g.new_dictionary(g.binary("utf8"), 10)
    item = Named("str_dict", g.indices(8, inner))
    lists = g.new_dictionary(g.list("list", item), 30)
    struct = g.struct(Named("a", g.indices(8, inner)), Named("b", g.indices(8, inner)))
    structs = g.new_dictionary(struct, 30)
    return [
        Named("list_dict", g.indices(8, lists)),
        Named("struct_dict", g.indices(8, structs)),
    ]


def _run_end_encoded(g: Generator) -> Fields:
    values = {16: g.int(32), 32: g.binary("utf8"), 64: g.float("SINGLE")}
    return [
        Named(f"ree{bits}", g.run_end_encoded(bits, Named("values", column)))
        for bits, column in values.items()
    ]


def _extension(g: Generator) -> Fields:
    def keys(name: str) -> list[tuple[str, str]]:
        serialized = f"{name}-serialized"
        return [("ARROW:extension:name", name), ("ARROW:extension:metadata", serialized)]

    encoded = g.indices(8, g.new_dictionary(g.binary("utf8"), 5))
    return [
        Named("uuids", g.fixed_size_binary(16), metadata=keys("test-uuid")),
        Named("dict_exts", encoded, metadata=keys("dict-extension")),
    ]


def _views(g: Generator) -> Fields:
    columns = {name: g.view(name) for name in ("binaryview", "utf8view")}
    return [named for name, column in columns.items() for named in both(name, column)]


def _list_views(g: Generator) -> Fields:
    columns = {
        "lv": g.list_view("listview", Named("item", g.float("SINGLE"))),
        "llv": g.list_view("largelistview", Named("item", g.binary("utf8"))),
    }
    return [named for name, column in columns.items() for named in both(name, column)]


def _fixed(fields: Callable[[Generator], Fields], *sizes: int) -> Case:
    return lambda g: (fields(g), list(sizes))


CASES: dict[str, Case] = {
    "primitive_no_batches": _fixed(_primitive),
    "primitive": _fixed(_primitive, 17, 20),
    "primitive_zerolength": _fixed(_primitive, 0, 0, 0),
    "binary_no_batches": _fixed(_binary),
    "binary": _fixed(_binary, 17, 20),
    "binary_zerolength": _fixed(_binary, 0, 0, 0),
    "large_binary": _fixed(
        lambda g: [n for name in ("largebinary", "largeutf8") for n in both(name, g.binary(name))],
        17,
        20,
    ),
    "null": _fixed(
        lambda g: _numbered([g.null(), g.int(32), g.null(), g.float("DOUBLE"), g.null()]), 10, 0
    ),
    "null_trivial": _fixed(lambda g: [Named("f0", g.null())], 0, 0),
    "decimal": _decimals(128, range(3, 39), 2),
    "decimal256": _decimals(256, range(37, 77), 5),
    "decimal32": _decimals(32, range(3, 10), 4),
    "decimal64": _decimals(64, range(10, 19), 4),
    "datetime": _fixed(_datetime, 7, 10),
    "duration": _fixed(lambda g: _numbered(map(g.duration, PER_SECOND)), 7, 10),
    "interval": _fixed(
        lambda g: _numbered(
            [g.interval("YEAR_MONTH"), g.interval("DAY_TIME", days=32, milliseconds=32)]
        ),
        7,
        10,
    ),
    "interval_mdn": _fixed(
        lambda g: _numbered([g.interval("MONTH_DAY_NANO", months=32, days=32, nanoseconds=64)]),
        7,
        10,
    ),
    "map": _fixed(lambda g: [Named("map_nullable", g.map())], 7, 10),
    "map_non_canonical": _fixed(
        lambda g: [Named("map_other_names", g.map("some_key", "some_value", "some_entries"))], 7
    ),
    "nested": _fixed(_nested, 7, 10),
    "recursive_nested": _fixed(_recursive_nested, 7, 10),
    "nested_large_offsets": _fixed(_nested_large_offsets, 0, 13),
    "union": _fixed(_union, 0, 11),
    "custom_metadata": _fixed(_custom_metadata, 1),
    "duplicate_fieldnames": _fixed(_duplicate_fieldnames, 1),
    "dictionary": _fixed(_dictionary, 7, 10),
    "dictionary_unsigned": _fixed(_dictionary_unsigned, 7, 10),
    "nested_dictionary": _fixed(_nested_dictionary, 10, 13),
    "run_end_encoded": _fixed(_run_end_encoded, 0, 7, 10),
    "binary_view": _fixed(_views, 0, 7, 256),
    "list_view": _fixed(_list_views, 0, 7, 256),
    "extension": _fixed(_extension, 0, 13),
}

# Those that archery leaves out.
MORE_CASES: dict[str, Case] = {
    "float16": _fixed(lambda g: both("half", g.float("HALF")), 0, 9),
}


def generate(case: str, seed: int) -> Json:
    """A document of a case; the same for the same seed."""
    generator = Generator(seed)
    fields, sizes = (CASES | MORE_CASES)[case](generator)
    batches = [{"count": size, "columns": [f.fill(size) for f in fields]} for size in sizes]
    schema: Json = {"fields": [f.field() for f in fields]}
    if case == "custom_metadata":
        schema["metadata"] = pairs([("schema_custom_0", "{}"), ("schema_custom_1", "{}")])
    document = {"schema": schema, "batches": batches}
    if generator.dictionaries:
        document["dictionaries"] = generator.dictionaries
    return document
