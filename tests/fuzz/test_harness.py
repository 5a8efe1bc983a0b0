"""The harness of `make fuzz`: a short slice of it, and that it sees what it is there to see."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import time
from collections.abc import Callable

import fuzz.harness
import pytest
from fuzz.corpus import corpus
from fuzz.examination import FindingError, examine
from fuzz.harness import run
from fuzz.mutations import Case, make_case
from fuzz.recording import BATCH, as_file, as_stream, take_apart
from fuzz.sites import sites

import colkern.ipc
from colkern.ipc.wire import MESSAGE

# Another slice every so often would do no harm; a failure has to come again for whoever looks at it.
SEED = 1
CASES = 2500


def test_a_slice_of_the_mutations_ends_cleanly() -> None:
    report = run(SEED, 0, CASES, seconds=200)
    assert report.findings == {}
    assert report.cases == CASES
    # Enough gets past the first checks of the reader to mean something.
    assert report.outcomes["read"] > CASES // 10
    assert report.outcomes["invalid"] > CASES // 50


def test_the_same_seed_and_number_are_the_same_case() -> None:
    assert [make_case(7, number) for number in range(50)] == [
        make_case(7, number) for number in range(50)
    ]
    assert make_case(7, 1) != make_case(8, 1)


@pytest.mark.parametrize("name", corpus())
def test_what_is_mutated_is_sound(name: str) -> None:
    parts = corpus()[name]
    stream = as_stream(parts)
    assert take_apart(stream) == parts
    outcome, values = examine(stream)
    assert outcome == "read"
    assert len(values) == sum(part.kind == BATCH for part in parts)
    if name != "growing dictionary":
        assert examine(as_file(parts, parts[0])) == (outcome, values)


def test_a_walk_finds_the_numbers_of_a_message() -> None:
    batch = corpus()["utf8_view"][1]
    actual = {site.path: site for site in sites(MESSAGE, batch.metadata)}
    body = actual["Message.bodyLength"]
    stated = batch.metadata[body.position : body.position + body.width]
    assert int.from_bytes(stated, "little") == len(batch.body)
    count = actual["Message.header.variadicBufferCounts[0]"]
    assert batch.metadata[count.position] == 1
    assert "Message.header.nodes[0].null_count" in actual
    assert "Message.header vtable[0]" in actual


def kill(case: Case) -> str:
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGSEGV)
    return "read"


def hang(case: Case) -> str:
    time.sleep(60)
    return "read"


def allocate(case: Case) -> str:
    return str(len(bytearray(1 << 30)))


def crash(case: Case) -> str:
    faulthandler.disable()
    ctypes.string_at(0)
    return "read"


def escape(case: Case) -> str:
    raise IndexError("an index that nobody checked")


def disagree(case: Case) -> str:
    raise FindingError("as a stream and as a file: 1 and 2")


@pytest.mark.parametrize(
    ("what", "finding"),
    [
        (kill, "killed by SIGSEGV"),
        (crash, "killed by SIGSEGV"),
        (hang, "no end within 1 s"),
        (allocate, "MemoryError"),
        (escape, "IndexError at test_harness.py"),
        (disagree, "FindingError"),
    ],
)
def test_what_must_not_be_is_found(
    what: Callable[[Case], str], finding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fuzz.harness.read_case
    monkeypatch.setattr(
        fuzz.harness, "read_case", lambda case: what(case) if case.number == 3 else real(case)
    )
    monkeypatch.setattr(fuzz.harness, "HANG_SECONDS", 1)
    monkeypatch.setattr(fuzz.harness, "warm_up", lambda: None)
    report = run(SEED, 0, 6, seconds=60)
    assert report.cases == 6
    assert list(report.findings) == [3]
    assert finding in report.findings[3]


def test_a_finding_says_how_to_make_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.harness.main(["--seed", "1", "--case", "5"]) == 0
    printed = capsys.readouterr().out
    assert "made of" in printed
    assert "python -m fuzz --seed 1 --case 5" in printed


def test_examination_sees_values_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = as_stream(corpus()["int8"])
    monkeypatch.setattr("fuzz.examination.take", lambda array, _: array.slice(0, 1))
    with pytest.raises(FindingError, match="take"):
        examine(stream)
    assert colkern.ipc.open(stream)
