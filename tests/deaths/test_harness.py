"""A few runs of the harness of `make deaths`: either side of a stream is killed."""

from __future__ import annotations

import mmap
import os
from collections import Counter

import numpy as np
import pytest
from deaths.harness import WAYS, run
from deaths.holdings import holdings
from deaths.numbered import check, made

from colkern import record_batch
from colkern.dissociated.shared.segments import Segment

# Another slice every so often would do no harm; a failure has to come again for whoever looks at it.
SEED = 1


def test_either_side_is_killed_in_every_way() -> None:
    report = run(SEED, 0, 2 * len(WAYS))
    assert report.findings == {}
    assert report.runs == report.outcomes.total() == 2 * len(WAYS)


def test_a_segment_that_is_kept_shows() -> None:
    before = holdings()
    segment = Segment.anonymous(mmap.PAGESIZE)
    kept = segment.bytes()
    # Python's mmap has a descriptor of its own.
    more = {"descriptors": Counter({"segment": 2}), "mappings": 1}
    assert holdings().beyond(before) == more
    del segment, kept
    assert holdings().beyond(before) == {}


def test_a_descriptor_that_is_kept_shows() -> None:
    before = holdings()
    ends = os.pipe()
    assert holdings().beyond(before) == {"descriptors": Counter({"pipe": 2})}
    for end in ends:
        os.close(end)
    assert holdings().beyond(before) == {}


def test_a_wrong_value_shows() -> None:
    check(made(3), 3)
    columns = {name: np.from_dlpack(made(3).column(name)).copy() for name in ("n", "half")}
    columns["n"][-1] += 1
    with pytest.raises(AssertionError, match="batch 3: wrong data in 'n'"):
        check(record_batch(columns), 3)
