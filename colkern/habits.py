"""Names that other libraries use, and what to write in their place.

Functions and methods have pyarrow's names only. A name of pandas or polars raises an `AttributeError`
that gives colkern's name: `colkern.methods` binds a `names.Elsewhere` to each. `docs/cheat_sheet.md`
has more.
"""

from __future__ import annotations

from collections.abc import Mapping

_TEXT = "the column's own utf8_upper(), utf8_trim_whitespace(), match_substring(text), …"
_TIMES = "the column's own year(), floor_temporal(1, 'day'), strftime(format), …"
_LISTS = "the column's own list_value_length(), list_element(0), list_contains(value), …"

OF_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("apply", "map", "map_elements"), "colkern.udf(function)(column)"),
    **dict.fromkeys(("arg_max", "argmax", "idxmax"), "top_k(1)[0]"),
    **dict.fromkeys(("arg_min", "argmin", "idxmin"), "select_k(1)[0]"),
    **dict.fromkeys(("arg_sort", "argsort"), "sort_indices()"),
    "astype": "cast(type)",
    **dict.fromkeys(("bfill", "backward_fill"), "fill_null_backward()"),
    **dict.fromkeys(("cat", "codes"), "dictionary_encode()"),
    **dict.fromkeys(("clone", "copy"), "the column itself, which never changes"),
    **dict.fromkeys(("cum_max", "cummax"), "cumulative_max()"),
    **dict.fromkeys(("cum_min", "cummin"), "cumulative_min()"),
    **dict.fromkeys(("cum_prod", "cumprod"), "cumulative_prod()"),
    **dict.fromkeys(("cum_sum", "cumsum"), "cumulative_sum()"),
    "contains": "match_substring(text)",
    "describe": "colkern.table({'name': column}).describe()",
    "diff": "pairwise_diff()",
    **dict.fromkeys(("div", "truediv"), "column / other"),
    "dot": "(column * other).sum()",
    "drop_duplicates": "unique()",
    **dict.fromkeys(("drop_nulls", "dropna"), "drop_null()"),
    "dt": _TIMES,
    "dtype": "type",
    "endswith": "ends_with(text)",
    **dict.fromkeys(("eq", "ge", "gt", "le", "lt", "ne"), "column == other, column < other, …"),
    "explode": "list_flatten(), or table.explode(name)",
    **dict.fromkeys(("ffill", "forward_fill"), "fill_null_forward()"),
    "field": "struct_field(name)",
    **dict.fromkeys(("extract", "extract_groups"), "extract_regex(pattern)"),
    "fill_nan": "colkern.if_else(column.is_nan(), value, column)",
    "fillna": "fill_null(value)",
    **dict.fromkeys(("has_nulls", "hasnans"), "null_count > 0, or is_nan().any()"),
    "head": "column[:5]",
    "flatten": "list_flatten()",
    "index_of": "index(value)",
    "is_between": "between(low, high)",
    "is_unique": "count_distinct() == len(column)",
    "isin": "is_in(values)",
    **dict.fromkeys(("is_not_null", "notna", "notnull"), "is_valid()"),
    **dict.fromkeys(("isna", "isnull"), "is_null()"),
    "item": "column[0]",
    **dict.fromkeys(("len", "shape", "size"), "len(column)"),
    "list": _LISTS,
    "list_length": "list_value_length()",
    "log": "ln()",
    **dict.fromkeys(("mul", "sub"), "column * other, column - other"),
    **dict.fromkeys(("n_unique", "nunique"), "count_distinct()"),
    "nlargest": "column.take(column.top_k(5))",
    "pow": "power(exponent)",
    "prod": "product()",
    "replace": "replace_substring(pattern, replacement), or colkern.case_when(conditions, …)",
    "rolling": "rolling_mean(window), rolling_sum(window), …",
    **dict.fromkeys(("sort", "sort_values"), "column[column.sort_indices()]"),
    "split": "split_pattern(pattern), utf8_split_whitespace(), …",
    "startswith": "starts_with(text)",
    "std": "stddev(ddof=1)",
    "str": _TEXT,
    **dict.fromkeys(("lower", "strip", "to_lowercase", "to_uppercase", "upper"), _TEXT),
    "struct": "struct_field(name)",
    "tail": "column[-5:]",
    **dict.fromkeys(("to_list", "tolist"), "to_pylist()"),
    "to_arrow": "to_pyarrow()",
    "values": "to_numpy()",
    "var": "variance(ddof=1)",
    "weekday": "day_of_week()",
    "where": "colkern.if_else(condition, column, other)",
}
"""Name in another library → what to write, for arrays and chunked arrays."""

OF_TABLES: Mapping[str, str] = {
    **dict.fromkeys(
        ("add_column", "append_column", "assign", "insert", "set_column", "with_columns"),
        "with_column(name, column)",
    ),
    **dict.fromkeys(("append", "extend", "vstack"), "colkern.concat([table, other])"),
    **dict.fromkeys(("astype", "cast"), "with_column(name, table[name].cast(type))"),
    **dict.fromkeys(("at", "iat", "item", "row"), "table[name][position]"),
    **dict.fromkeys(("clone", "collect", "copy"), "the table itself, which never changes"),
    "count": "num_rows",
    **dict.fromkeys(("apply", "map", "map_rows"), "with_column(name, function)"),
    **dict.fromkeys(("distinct", "drop_duplicates"), "unique(keys)"),
    **dict.fromkeys(("drop_columns", "remove_column"), "drop(names)"),
    **dict.fromkeys(("drop_nulls", "dropna"), "drop_null(keys)"),
    **dict.fromkeys(("dtypes", "info", "types"), "schema"),
    "field": "schema.field(name)",
    "fillna": "fill_null(values)",
    "get_column": "table[name]",
    **dict.fromkeys(("flatten", "unnest"), "table[name].struct_field(field)"),
    "groupby": "group_by(keys)",
    **dict.fromkeys(("iloc", "loc", "where"), "table[positions], or table.filter(mask)"),
    **dict.fromkeys(("iter_rows", "iterrows", "itertuples", "rows", "to_dicts"), "to_pylist()"),
    **dict.fromkeys(("first", "limit"), "head(n)"),
    **dict.fromkeys(
        ("melt", "pivot", "pivot_table", "unpivot"), "to_pandas() or to_polars(), which have it"
    ),
    **dict.fromkeys(("isna", "isnull", "null_count"), "describe(), or table[name].null_count"),
    **dict.fromkeys(("from_pandas", "from_pydict", "from_pylist"), "colkern.table(data)"),
    **dict.fromkeys(
        ("max", "mean", "median", "min", "std", "sum"), "describe(), or table[name].sum()"
    ),
    "merge": "join(other, keys)",
    "n_unique": "unique().num_rows",
    "nunique": "table[name].count_distinct()",
    "nlargest": "top_k(k, column)",
    "query": "filter(lambda price: price > 1)",
    "rename_columns": "rename(names)",
    "sample": "take(positions)",
    "set_index": "sort_by(keys), or join(other, keys)",
    **dict.fromkeys(("sort", "sort_values"), "sort_by(keys)"),
    "to_arrow": "to_pyarrow()",
    "to_csv": "write_csv(path)",
    "to_numpy": "table[name].to_numpy()",
    "to_dict": "to_pydict()",
    **dict.fromkeys(("to_feather", "write_feather"), "write_ipc(path)"),
    "to_parquet": "write_parquet(path)",
    "with_row_index": "with_column('index', range(len(table)))",
}
"""Name in another library → what to write, for batches and tables."""

OF_PACKAGE: Mapping[str, str] = {
    **dict.fromkeys(
        ("arange", "full", "ones", "zeros"), "array(numpy.arange(start, stop, step)), …"
    ),
    **dict.fromkeys(("DataFrame", "from_dict", "from_pandas", "from_polars"), "table(data)"),
    "Series": "array(values)",
    **dict.fromkeys(("argsort", "arg_sort"), "sort_indices(values)"),
    "string": "utf8(), or 'string' as the name of a type",
    **dict.fromkeys(("lower", "strip", "upper"), "utf8_upper(strings), utf8_lower(strings), …"),
    "compute": "the functions of the package itself: sum(values), filter(values, mask), …",
    "concat_arrays": "concat(arrays)",
    "col": "a column, as table['name'], or a function of rows",
    "concat_tables": "concat(tables)",
    "date_trunc": "floor_temporal(times, 1, unit)",
    "date_range": "array(numpy.arange(start, stop, step))",
    "cut": "search_sorted(bounds, values)",
    **dict.fromkeys(("lit", "scalar"), "the value itself"),
    "merge": "join(left, right, keys)",
    **dict.fromkeys(("read_feather", "read_ipc"), "ipc.read_table(path)"),
    **dict.fromkeys(
        ("select_k_unstable", "top_k_unstable"), "select_k(values, k), or top_k(values, k)"
    ),
    "sort": "sort_indices(values), or table.sort_by(keys)",
    "to_datetime": "strptime(strings, format), or cast(strings, 'timestamp[us]')",
    "when": "case_when(conditions, value, …)",
    "where": "if_else(condition, value, other)",
    **dict.fromkeys(("write_feather", "write_ipc"), "ipc.write_file(path, table)"),
}
"""Name in another library → what to write, for functions of the package."""

OF_CSV: Mapping[str, str] = {
    **dict.fromkeys(("sep", "separator"), "delimiter"),
    "usecols": "columns",
    **dict.fromkeys(("dtype", "dtypes", "schema_overrides"), "types"),
    "na_values": "null_values",
    "skiprows": "skip_rows",
    "quotechar": "quote_char",
    "decimal": "decimal_point",
    "parse_dates": "types={name: type}, or timestamp_parsers=[format]",
    **dict.fromkeys(("header", "has_header"), "names=[name, …] where the file has no header"),
}
"""The options of `read_csv`."""
