"""A case beside the original: how many are taken, and what differs. As a program, it prints both."""

from __future__ import annotations

import collections
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from pyspark.sql.functions import pandas_udf

from colkern.spark import accelerate
from colkern.spark.acceleration.compiled import Compiled
from colkern.spark.acceleration.original import Original, Settings

from .case import RETURNS, Case, benign, extreme, with_nulls
from .cases import CASES


@dataclass
class Outcome:
    """Why a case is not taken, for the kinds of batches where it is not; and where it differs."""

    refusals: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    @property
    def is_taken(self) -> bool:
        return not self.refusals.keys() & {"driver", "benign", "nulls"}


def compare(case: Case, *, safely: bool) -> Outcome:
    """Run a case over ordinary values, over nulls and over extremes, accelerated and not."""
    outcome = Outcome()
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        returns = RETURNS[case.returns]
        original = Original(
            case.function, returns, Settings(safely=safely), over_batches=case.over_batches
        )
        if not hasattr(_accelerated(case).func, "compiled"):  # type: ignore[attr-defined]
            outcome.refusals["driver"] = _reason(said)
        compiled = Compiled(case.name, original, returns)
        for kind, columns in (
            ("benign", benign(case.columns)),
            ("nulls", with_nulls(case.columns)),
            ("extremes", extreme(case.columns, nulls=False)),
            ("extremes and nulls", extreme(case.columns, nulls=True)),
        ):
            said.clear()
            expected = _results(original, columns)
            try:
                result = compiled.attempt(columns)
            except Exception as error:  # noqa: BLE001 Functions may raise anything.
                result = type(error)
            if result is None and not isinstance(expected, pa.Array):
                # What the original refuses, it refuses itself.
                continue
            if result is None:
                outcome.refusals[kind] = _reason(said)
            elif not _same(result, expected):
                outcome.differences.append(f"{kind}: {result}, not {expected}")
    return outcome


def _accelerated(case: Case) -> object:
    return accelerate(pandas_udf(case.function, RETURNS[case.returns]))


def _results(original: Original, columns: Sequence[pa.Array]) -> pa.Array | type[Exception]:
    try:
        return original(columns)
    except Exception as error:  # noqa: BLE001 As above.
        return type(error)


def _same(actual: object, expected: object) -> bool:
    if not isinstance(actual, pa.Array) or not isinstance(expected, pa.Array):
        return actual is expected
    # Texts of Python's tell NaN, signs of zeros and nulls apart, in nested values too.
    return actual.type == expected.type and repr(actual.to_pylist()) == repr(expected.to_pylist())


def _reason(said: list[warnings.WarningMessage]) -> str:
    reasons = [str(w.message) for w in said if "not accelerated" in str(w.message)]
    return reasons[-1].partition("as before: ")[2][:150] if reasons else "as before"


def main() -> None:
    """Print the cases that are not taken, the differences, and the counts by style."""
    taken: collections.Counter[str] = collections.Counter()
    wanted = sys.argv[1:]
    cases = [c for c in CASES if not wanted or c.name in wanted]
    for case in cases:
        outcome = compare(case, safely=True)
        taken[case.style] += outcome.is_taken
        for kind, reason in list(outcome.refusals.items())[: None if wanted else 1]:
            print(f"{case.name}: {kind}: {reason}")
        for difference in outcome.differences:
            print(f"{case.name}: DIFFERENT: {difference}")
    for style, count in collections.Counter(case.style for case in cases).items():
        print(f"{style}: {taken[style]} of {count}")
    print(f"{sum(taken.values())} of {len(cases)}")


if __name__ == "__main__":
    main()
