"""Habits of users of pandas, polars and pyarrow: they work, or the error says what to write."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import colkern as ck
from colkern import habits
from colkern.cuda import stand_in

ORDERS: dict[str, Any] = {
    "id": [1, 2, 2, 3, 4],
    "city": ["Oslo", "Bergen", "Bergen", None, "Oslo"],
    "price": [9.5, None, 3.0, 4.0, 1.0],
}
TABLE = ck.concat(
    [
        ck.table({k: v[:2] for k, v in ORDERS.items()}),
        ck.table({k: v[2:] for k, v in ORDERS.items()}),
    ]
)
BATCH = ck.record_batch(ORDERS)
FRAME = pd.DataFrame(ORDERS)


# Names


@pytest.mark.parametrize(
    ("owner", "names"),
    [(ck.array([1]), habits.OF_COLUMNS), (BATCH, habits.OF_TABLES), (ck, habits.OF_PACKAGE)],
    ids=["columns", "tables", "package"],
)
def test_names_of_other_libraries_lead_to_those_that_exist(
    owner: Any, names: dict[str, str]
) -> None:
    for name, hint in names.items():
        assert not hasattr(owner, name), name
        assert name not in dir(owner)
        with pytest.raises(AttributeError, match="instead: " + re.escape(hint)):
            getattr(owner, name)
        for method in re.findall(r"(?<![\w.])([a-z]\w+)\(", hint):
            assert method in ("len", "range") or hasattr(owner, method), f"{name}: {hint}"
        for function in re.findall(r"colkern\.(\w+)", hint):
            assert hasattr(ck, function), f"{name}: {hint}"


def test_functions_of_ascii_lead_to_those_of_all_characters() -> None:
    with pytest.raises(AttributeError, match=r"'Array' object has no .*'ascii_upper'.*utf8_upper"):
        ck.array(["a"]).ascii_upper()  # type: ignore[attr-defined]


def test_an_option_of_another_name_is_told_from_those_that_there_are() -> None:
    message = (
        r"clip: got an unexpected keyword argument 'upper'; its parameters are values, low=None"
    )
    with pytest.raises(TypeError, match=message):
        ck.clip(ck.array([1.0]), upper=2)  # type: ignore[call-arg]


# Rows


def test_distinct_rows_are_those_of_some_columns_or_of_all() -> None:
    assert TABLE.unique("id").to_pandas().equals(FRAME.drop_duplicates("id", ignore_index=True))
    assert TABLE.unique(["city", "id"]).num_rows == 4
    assert BATCH.unique().num_rows == 5
    assert isinstance(BATCH.unique("id"), ck.RecordBatch)


def test_rows_without_nulls_are_those_of_some_columns_or_of_all() -> None:
    assert TABLE.drop_null()["id"].to_pylist() == FRAME.dropna()["id"].tolist()
    assert TABLE.drop_null("city")["id"].to_pylist() == FRAME.dropna(subset="city")["id"].tolist()


def test_nulls_are_filled_by_column() -> None:
    filled = TABLE.fill_null({"city": "?", "price": 0})
    assert filled.to_pandas().equals(FRAME.fillna({"city": "?", "price": 0}))
    with pytest.raises(TypeError, match="column 'city': value: expected str, got int 0"):
        TABLE.fill_null(0)
    with pytest.raises(KeyError, match="nope"):
        TABLE.fill_null({"nope": 0})


def test_the_greatest_rows_come_first() -> None:
    result = TABLE.top_k(2, "price").to_pandas()
    assert result.equals(FRAME.nlargest(2, "price").reset_index(drop=True))


def test_lists_become_rows() -> None:
    table = ck.table({"k": [1, 2], "l": [["a", "b"], ["c"]]})
    assert table.explode("l").to_pydict() == {"k": [1, 1, 2], "l": ["a", "b", "c"]}


def test_columns_are_named_one_by_one_or_in_a_list() -> None:
    assert TABLE.select("id", "city").schema == TABLE.select(["id", "city"]).schema
    assert TABLE.drop("id", "city").column_names == ["price"]
    assert TABLE.group_by("id", "city").count("price").num_rows == 4
    with pytest.raises(
        TypeError, match="keys: expected names or positions of columns, got a Chunked"
    ):
        TABLE.group_by(TABLE["id"])


def test_a_join_takes_on() -> None:
    lands = ck.table({"city": ["Oslo"], "land": ["NO"]})
    assert TABLE.join(lands, on="city").equals(TABLE.join(lands, "city"))
    with pytest.raises(TypeError, match="as either `keys` or `on`, and `right_keys`"):
        TABLE.join(lands)


def test_description_is_that_of_pandas() -> None:
    actual = TABLE.describe().to_pandas().set_index("column")
    expected = FRAME.describe().T
    names = ["count", "mean", "min", "25%", "50%", "75%", "max"]
    numbers = actual.loc[["id", "price"]]
    pd.testing.assert_frame_equal(numbers[names].astype(float), expected[names], check_names=False)
    assert numbers["stddev"].tolist() == pytest.approx(expected["std"].tolist())
    assert actual.loc["city", ["type", "count", "null_count"]].tolist() == ["string", 4, 1]


def test_bytes_that_several_columns_share_count_once() -> None:
    column = ck.array([1, 2, 3])
    assert column.nbytes == ck.chunked_array([column, column]).nbytes == 24
    assert ck.table({"a": column, "b": column, "c": [None, 2, 3]}).nbytes == 24 + 24 + 1


def test_rows_are_made_of_dicts_and_of_structs() -> None:
    rows = [{"a": 1}, {"b": "x"}]
    assert ck.table(rows).to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": "x"}]
    assert ck.record_batch(rows[1:], {"a": "int8", "b": "utf8"}).to_pydict() == {
        "a": [None],
        "b": ["x"],
    }
    with pytest.raises(ValueError, match="columns"):
        ck.table(rows, {"a": "int8"})
    structs = ck.array([{"a": 1}, None])
    assert ck.Table.from_struct_array(structs).to_pydict() == {"a": [1, None]}
    assert ck.RecordBatch.from_struct_array(structs).to_pydict() == {"a": [1, None]}
    with pytest.raises(TypeError, match="from_struct_array"):
        ck.table(structs)
    assert structs["a"].to_pylist() == [1, None]


@pytest.mark.parametrize(
    "name",
    ["t.parquet", "t.csv", "t.csv.gz", "t.arrow", "memory://t.csv", "memory://t.arrow"],
)
def test_what_is_written_is_read(name: str, tmp_path: Path) -> None:
    path = name if "://" in name else str(tmp_path / name)
    table = TABLE.fill_null({"city": "?"})
    if "csv" in name:
        table.write_csv(path, delimiter=";")
        read = ck.read_csv(path, delimiter=";")
    elif "parquet" in name:
        table.write_parquet(path, compression="zstd")
        assert pq.read_table(path).equals(table.to_pyarrow())
        read = ck.read_parquet(path)
    else:
        table.write_ipc(path)
        read = ck.ipc.read_table(path)
    assert read.to_pydict() == table.to_pydict()


# Groups


def test_aggregates_have_the_names_that_are_asked_for() -> None:
    groups = TABLE.group_by("city")
    named = groups.agg([("id", "max")], total=("price", "sum"), rows=([], "count_all"))
    expected = FRAME.groupby("city", sort=False, dropna=False).agg(
        id_max=("id", "max"), total=("price", "sum"), rows=("id", "size")
    )
    assert named.to_pandas()[["id_max", "total", "rows"]].equals(expected.reset_index(drop=True))
    by_name = groups.aggregate({"price": ["min", "max"], "id": "sum"})
    assert by_name.column_names == ["city", "price_min", "price_max", "id_sum"]
    with pytest.raises(
        TypeError, match=r"price: expected a column and a function, as \('price', 'sum'\)"
    ):
        groups.agg(price="sum")  # type: ignore[arg-type]


def test_aggregates_of_all_columns_but_the_keys() -> None:
    groups = TABLE.select("city", "price").group_by("city")
    for name in ("count", "sum", "mean", "min", "max", "first", "last"):
        expected = groups.aggregate([("price", name)])
        assert getattr(groups, name)().equals(expected)
        assert getattr(groups, name)("price").equals(expected)


def test_groups_as_lists() -> None:
    result = TABLE.group_by("city").aggregate([("price", "list")]).to_pyarrow()
    # Threads of pyarrow give groups in any order.
    groups = TABLE.to_pyarrow().group_by("city", use_threads=False)
    expected = groups.aggregate([("price", "list")])
    assert result.equals(expected.select(result.column_names))


# Values


def test_lists_stand_for_columns() -> None:
    column = TABLE["id"]
    assert (column * [1, 1, 1, 1, 0.5]).to_pylist() == [1.0, 2.0, 2.0, 3.0, 2.0]
    assert ([1, 1, 1, 1, 1] - column).to_pylist() == [0, -1, -1, -2, -3]
    assert (column == [1, 1, 2, 3, 5]).to_pylist() == [True, False, True, True, False]
    assert column.take([0, 4]).to_pylist() == TABLE.take([0, 4])["id"].to_pylist() == [1, 4]
    mask = [True, False, False, None, True]
    assert column.filter(mask).to_pylist() == TABLE.filter(mask)["id"].to_pylist() == [1, 4]
    with pytest.raises(TypeError, match="array: expected an Array, got list"):
        ck.abs([1])  # type: ignore[call-overload]


def test_numbers_of_two_types_become_those_of_one() -> None:
    whole = ck.array([1, None, 3])
    mask = pa.array([True, False, True])
    for other in (0.5, ck.array([0.5, 1.5, 2.5]), ck.array([1, 2, 3], "int32")):
        theirs = other if isinstance(other, float) else pa.array(other)
        expected = pc.if_else(mask, pa.array(whole), theirs)
        for item in (ck.if_else(mask, whole, other), ck.case_when([mask], whole, other)):
            assert pa.array(item).equals(expected)
        expected = pc.coalesce(pa.array(whole), theirs)
        for item in (ck.fill_null(whole, other), ck.coalesce(whole, other)):
            assert pa.array(item).equals(expected)
    assert ck.fill_null(ck.array([1, None], "int8"), 5).type == ck.int8()


def test_the_value_that_does_not_fit_is_named() -> None:
    with pytest.raises(TypeError, match=r"^value: expected str, got int 0"):
        ck.fill_null(ck.array(["a", None]), 0)
    with pytest.raises(TypeError, match=r"^values\[1\]: expected str, got int 0"):
        ck.coalesce(ck.array(["a", None]), 0)


@pytest.mark.parametrize("values", [["b", None, "a"], [b"b", b"a"], [None]], ids=str)
def test_extremes_of_text_and_bytes(values: list[Any]) -> None:
    type_ = "binary" if isinstance(values[0], bytes) else "utf8"
    for column in (ck.array(values, type_), ck.chunked_array([values[:1], values[1:]], type_)):
        expected = pc.min_max(pa.array(values, type_)).as_py()
        assert column.min_max() == expected == {"min": column.min(), "max": column.max()}
    assert ck.array(values, type_).min(min_count=3) is None


def test_groups_say_what_their_names_are_and_which_column_has_no_aggregate() -> None:
    groups = TABLE.group_by("id")
    with pytest.raises(AttributeError, match="'size'; instead: aggregate"):
        groups.size()
    with pytest.raises(ck.UnsupportedError, match=r"^city: sum: no sum of the values of string"):
        groups.sum()


def test_log_lines_have_moments() -> None:
    texts = [
        "02/Jan/2026:10:00:01 +0100",
        None,
        "02/Jan/2026:10:00:01 -03:30",
        "02/Jan/2026:10:00:01 Z",
    ]
    actual = ck.array(texts).strptime("%d/%b/%Y:%H:%M:%S %z", "s")
    hours = [(9, 0), None, (13, 30), (10, 0)]
    assert actual.type == ck.timestamp("s", "UTC")
    assert [each and (each.hour, each.minute) for each in actual.to_pylist()] == hours
    for text in ("02/Jan/2026:10:00:01", "", "02/Jan/2026:10:00:01 +1xxx"):
        with pytest.raises(ValueError, match="row 0"):
            ck.array([text]).strptime("%d/%b/%Y:%H:%M:%S %z", "s")


def test_nan_has_no_row_that_was_there_before() -> None:
    left = ck.table({"t": [1.0, float("nan")]})
    right = ck.table({"t": [float("nan"), 0.5], "v": [1, 2]})
    for strategy in ("backward", "nearest"):
        assert left.join_asof(right, "t", strategy=strategy)["v"].to_pylist() == [2, None]


def results(table: ck.Table) -> Iterator[Any]:
    """The results for a table, computed where its bytes are."""
    yield table.describe()
    yield table.group_by("city").agg({"id": "list", "price": ["sum", "quantile"]})
    yield (
        table.with_column("cost", table["id"].cast("decimal128(9, 2)"))
        .group_by("city")
        .mean("cost")
    )
    yield table.unique("city").drop_null("price").fill_null({"price": 0})
    yield ck.Table.from_struct_array(ck.make_struct([table["id"]], ["x"]))
    yield table["id"].take([0, 3]) * [0.5, 2]
    yield table["city"].min(), table["city"].count_distinct(), table["price"].stddev()
    yield (table["id"] * dt.timedelta(hours=1)) / dt.timedelta(minutes=1)


def test_on_a_device_the_results_are_those_of_the_host() -> None:
    expected = [each.to_pylist() if hasattr(each, "to_pylist") else each for each in results(TABLE)]
    with stand_in.installed():
        collected = list(results(ck.to_device(TABLE)))
        plain = [
            ck.to_host(each).to_pylist() if hasattr(each, "to_pylist") else each
            for each in collected
        ]
    assert plain == expected
