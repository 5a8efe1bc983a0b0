"""The processor, the limits of control groups, and the threads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from colkern.commands.checks import processor
from colkern.commands.checks.finding import Finding, Mark

Groups = Callable[[str, dict[str, str]], None]


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Groups:
    """Has the system say which group this process is in, and what the files of groups say."""
    monkeypatch.setattr(processor, "_ROOT", tmp_path)
    monkeypatch.setattr(processor, "_GROUPS", tmp_path / "own")

    def put(own: str, files: dict[str, str]) -> None:
        (tmp_path / "own").write_text(own)
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    return put


def test_no_limit(groups: Groups) -> None:
    groups("0::/\n", {"cpu.max": "max 100000", "memory.max": "max"})
    assert processor.cpu_quota() is None
    assert processor.memory_limit(1000) is None


def test_no_control_groups() -> None:
    quota = processor.cpu_quota()
    assert quota is None or quota > 0


def test_the_tightest_of_nested_groups_counts(groups: Groups) -> None:
    files = {
        "pod/cpu.max": "150000 100000",
        "pod/worker/cpu.max": "400000 100000",
        "pod/memory.max": "max",
        "pod/worker/memory.max": "700",
    }
    groups("0::/pod/worker\n", files)
    assert processor.cpu_quota() == 1.5
    assert processor.memory_limit(1000) == 700
    assert processor.memory_limit(600) is None


def test_a_container_sees_its_group_as_the_root(groups: Groups) -> None:
    groups("0::/of/the/host\n", {"cpu.max": "200000 100000"})
    assert processor.cpu_quota() == 2


def test_groups_of_the_first_version(groups: Groups) -> None:
    own = "5:memory:/pod\n3:cpu,cpuacct:/pod\n0::/\n"
    files = {
        "cpu/pod/cpu.cfs_quota_us": "50000",
        "cpu/pod/cpu.cfs_period_us": "100000",
        "cpu/cpu.cfs_quota_us": "-1",
        "cpu/cpu.cfs_period_us": "100000",
        "memory/pod/memory.limit_in_bytes": "900",
        "memory/memory.limit_in_bytes": "9223372036854771712",
    }
    groups(own, files)
    assert processor.cpu_quota() == 0.5
    assert processor.memory_limit(1000) == 900


@pytest.fixture
def look(
    monkeypatch: pytest.MonkeyPatch, named: Callable[..., dict[str, Finding]]
) -> Callable[..., dict[str, Finding]]:
    """The findings about the processor, on a machine with those features and that quota."""

    def look_at(features: tuple[str, ...] = (), quota: float | None = None) -> dict[str, Finding]:
        monkeypatch.setattr(processor, "ask", lambda question: sorted(features))
        monkeypatch.setattr(processor, "cpu_quota", lambda: quota)
        return named(processor.findings())

    return look_at


def test_instructions_that_kernels_use(look: Callable[..., dict[str, Finding]]) -> None:
    result = look(("avx2", "popcnt", "neon"))
    assert {result[name].mark for name in ("avx2", "popcnt", "neon")} == {Mark.OK}


@pytest.mark.parametrize(("quota", "advised"), [(1.5, 2), (0.3, 1)])
def test_threads_that_share_few_cores(
    quota: float,
    advised: int,
    look: Callable[..., dict[str, Finding]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLKERN_NUM_THREADS", "64")
    threads = look(quota=quota)["threads"]
    assert threads.mark is Mark.MISSING
    assert threads.found == f"64, which share {quota:g} cores' time"
    assert threads.remedy == f"set COLKERN_NUM_THREADS={advised}"


def test_threads_within_the_quota(
    look: Callable[..., dict[str, Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLKERN_NUM_THREADS", "2")
    assert look(quota=1.5)["threads"].mark is Mark.OK


def test_a_number_of_threads_that_is_none(
    look: Callable[..., dict[str, Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLKERN_NUM_THREADS", "many")
    threads = look()["threads"]
    assert threads.mark is Mark.PROBLEM
    assert "expected a positive number, got 'many'" in threads.found
