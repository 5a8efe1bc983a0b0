"""The data source before any file is opened: its options, and which files a path stands for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.datasource import CaseInsensitiveDict

import colkern as ck
from colkern.spark.source.listing import list_files
from colkern.spark.source.options import ReadOptions, WriteOptions, local_path

# Options


def test_names_of_options_have_no_case() -> None:
    given = CaseInsensitiveDict({"path": "in", "PARTITIONBYTES": "5", "mergeschema": "TRUE"})
    actual = ReadOptions.of(given)
    assert (actual.partition_bytes, actual.merge_schema) == (5, True)


def test_spark_passes_one_path_as_path_and_several_as_json() -> None:
    assert ReadOptions.of({"path": "/a,b"}).paths == ("/a,b",)
    assert ReadOptions.of({"paths": '["/a", "/b"]'}).paths == ("/a", "/b")


def test_relative_paths_begin_at_the_directory_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ReadOptions.of({"path": "rows/*.arrow"}).paths == (f"{tmp_path}/rows/*.arrow",)
    assert WriteOptions.of({"path": "./rows"}).path == f"{tmp_path}/rows"


def test_columns_have_commas_between_them_or_stand_in_json() -> None:
    assert ReadOptions.of({"path": "p", "columns": "a, b"}).columns == ("a", "b")
    assert ReadOptions.of({"path": "p", "columns": '["a,b"]'}).columns == ("a,b",)
    assert ReadOptions.of({"path": "p"}).columns is None


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("partitionBytes", "0", "partitionBytes: expected a number from 1 on, got '0'"),
        ("partitionBytes", "1 MB", "partitionBytes: expected a number"),
        ("mergeSchema", "yes", "mergeSchema: expected true or false, got 'yes'"),
        ("columns", "[1]", "columns: expected a JSON list of strings"),
        ("path", "", "path: expected a file or a directory"),
    ],
)
def test_a_wrong_option_is_named(option: str, value: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReadOptions.of({"path": "p", option: value})


@pytest.mark.parametrize("of", [ReadOptions.of, WriteOptions.of])
@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("colums", "did you mean columns?"),
        ("merge_schema", "did you mean mergeSchema?"),
        ("compresion", "did you mean compression?"),
        ("batchrow", "did you mean batchRows?"),
        ("header", "there are columns, partitionBytes, "),
    ],
)
def test_a_misspelt_option_is_refused_with_what_was_meant(of: Any, option: str, meant: str) -> None:
    with pytest.raises(
        ValueError, match=rf"option {option}: there is no such option; {re.escape(meant)}"
    ):
        of({"path": "p", option: "x"})


@pytest.mark.parametrize(
    "option",
    [
        "queryName",
        "asyncProgressTrackingEnabled",
        "asyncProgressTrackingCheckpointIntervalMs",
        "checkpointLocation",
    ],
)
def test_options_of_a_streaming_query_are_spark_s(option: str) -> None:
    # Spark passes them all to the sink, in lower case.
    assert WriteOptions.of({"path": "p", option.lower(): "x"}).path.endswith("p")


def test_a_misspelt_option_of_a_streaming_query_is_refused() -> None:
    with pytest.raises(ValueError, match="did you mean asyncProgressTrackingEnabled"):
        WriteOptions.of({"path": "p", "asyncProgresTrackingEnabled": "true"})


def test_properties_of_a_table_in_the_catalog_are_no_misspelt_options() -> None:
    # What Spark passes for CREATE TABLE t USING colkern OPTIONS (path 'p').
    properties = {"owner": "me", "provider": "colkern", "option.path": "p", "comment": "orders"}
    assert ReadOptions.of({"path": "p", **properties}).columns is None


def test_options_of_a_write() -> None:
    assert WriteOptions.of({"path": "p"}).compression is None
    assert WriteOptions.of({"path": "p", "compression": "ZSTD"}).compression == "zstd"
    with pytest.raises(
        ValueError, match="compression: expected one of none, lz4, zstd, got 'gzip'"
    ):
        WriteOptions.of({"path": "p", "compression": "gzip"})
    with pytest.raises(ValueError, match="one directory to write to, got 2"):
        WriteOptions.of({"paths": '["a", "b"]'})


# Files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "below").mkdir()
    (tmp_path / "_staging").mkdir()
    for name in ("b.arrow", "a.arrow", ".a.part", "_SUCCESS", "c.txt", "below/d.arrow"):
        (tmp_path / name).touch()
    (tmp_path / "_staging" / "e.arrow").touch()
    return tmp_path


def names(folder: Path, *paths: str, **options: str) -> list[str]:
    import json

    given = {"paths": json.dumps([str(folder / path) for path in paths]), **options}
    return [str(Path(path).relative_to(folder)) for path in list_files(ReadOptions.of(given))]


def test_a_directory_is_its_files_that_are_not_hidden(folder: Path) -> None:
    assert names(folder, "") == ["a.arrow", "b.arrow", "c.txt"]


def test_names_in_directories_can_be_chosen_by_a_pattern(folder: Path) -> None:
    assert names(folder, "", pathGlobFilter="*.arrow") == ["a.arrow", "b.arrow"]
    assert names(folder, "c.txt", pathGlobFilter="*.arrow") == ["c.txt"]


def test_directories_below_are_read_if_asked_for(folder: Path) -> None:
    actual = names(folder, "", recursiveFileLookup="true")
    assert actual == ["a.arrow", "b.arrow", "c.txt", "below/d.arrow"]


def test_globs_and_repeated_paths_give_each_file_once(folder: Path) -> None:
    assert names(folder, "b*", "*.arrow") == ["b.arrow", "below/d.arrow", "a.arrow"]


def test_globs_pass_over_hidden_names_unless_they_ask_for_them(folder: Path) -> None:
    assert names(folder, "*") == ["a.arrow", "b.arrow", "below/d.arrow", "c.txt"]
    assert names(folder, "**/*.arrow") == ["a.arrow", "b.arrow", "below/d.arrow"]
    assert names(folder, "_stag*/*") == ["_staging/e.arrow"]


def test_a_name_with_a_bracket_is_no_glob_where_there_is_such_a_file(folder: Path) -> None:
    (folder / "x[1].arrow").touch()
    assert names(folder, "x[1].arrow") == ["x[1].arrow"]


def test_a_path_without_a_file_is_an_error(folder: Path) -> None:
    for path in ("none.arrow", "none*"):
        with pytest.raises(FileNotFoundError, match=r"none.*: no such file or directory"):
            names(folder, path)


def test_a_link_back_to_a_directory_around_it_is_refused_in_words(folder: Path) -> None:
    (folder / "below" / "again").symlink_to(folder)
    assert names(folder, "below") == ["below/d.arrow"]
    with pytest.raises(ValueError, match=r"below/again: a symbolic link back to .*read again"):
        names(folder, "", recursiveFileLookup="true")


def test_a_link_to_itself_is_refused_in_words(folder: Path) -> None:
    (folder / "loop").symlink_to(folder / "loop")
    for options in ({}, {"recursiveFileLookup": "true"}):
        with pytest.raises(ValueError, match=r"loop: a symbolic link that leads to itself"):
            names(folder, "", **options)


def test_a_link_to_another_directory_is_followed(folder: Path) -> None:
    (folder / "below" / "other").symlink_to(folder / "_staging")
    actual = names(folder, "below", recursiveFileLookup="true")
    assert actual == ["below/d.arrow", "below/other/e.arrow"]


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///data/a%20b", "/data/a b"),
        ("file:/data/a", "/data/a"),
        ("file://localhost/data/a", "/data/a"),
        ("/data/a:b", "/data/a:b"),
    ],
)
def test_addresses_of_local_files(address: str, path: str) -> None:
    assert local_path(address) == path


def test_other_file_systems_are_refused() -> None:
    with pytest.raises(ck.UnsupportedError, match=r"hdfs://host/a: .* mount this one"):
        local_path("hdfs://host/a")
