"""Functions of the standard library that are compiled in C, as plain Python, which is compiled with the user's.

Each gives what the library's gives, or leaves the row: by an exception that no code knows. What gives items
one after the other is a generator.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Uncovered(Exception):
    """What leaves the row to Python."""


def bisect_left(a: Any, x: Any, lo: int = 0, hi: int | None = None) -> int:
    """`bisect.bisect_left`, without a key."""
    if lo < 0:
        raise ValueError
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if a[middle] < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def bisect_right(a: Any, x: Any, lo: int = 0, hi: int | None = None) -> int:
    """`bisect.bisect_right`, without a key."""
    if lo < 0:
        raise ValueError
    if hi is None:
        hi = len(a)
    while lo < hi:
        middle = (lo + hi) // 2
        if x < a[middle]:
            hi = middle
        else:
            lo = middle + 1
    return lo


def insort(a: Any, x: Any) -> None:
    """`bisect.insort`, without bounds and key."""
    a.insert(bisect_right(a, x), x)


def nlargest(n: int, iterable: Any, key: Any = None) -> Any:
    """`heapq.nlargest`."""
    if key is None:
        return sorted(iterable, reverse=True)[: max(n, 0)]
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def nsmallest(n: int, iterable: Any, key: Any = None) -> Any:
    """`heapq.nsmallest`."""
    if key is None:
        return sorted(iterable)[: max(n, 0)]
    return sorted(iterable, key=key)[: max(n, 0)]


def prod(iterable: Any, start: Any = 1) -> Any:
    """`math.prod`."""
    result = start
    for item in iterable:
        result *= item
    return result


def dist(p: Any, q: Any) -> float:
    """`math.dist` of two dimensions at most."""
    if len(p) != len(q):
        raise ValueError
    if len(p) == 1:
        return abs(float(p[0] - q[0]))
    if len(p) != 2:
        raise Uncovered
    return math.hypot(p[0] - q[0], p[1] - q[1])


def partials_of(iterable: Any) -> list[float]:
    """Floats whose exact sum is that of others, the largest last, of which none has digits of another's."""
    partials: list[float] = []
    for item in iterable:
        x = float(item)
        count = 0
        for k in range(len(partials)):
            y = partials[k]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partials[count] = low
                count += 1
            x = high
        while len(partials) > count:
            partials.pop()
        if x != 0.0:
            if not math.isfinite(x):
                raise Uncovered
            partials.append(x)
    return partials


def fsum(seq: Any) -> float:
    """`math.fsum`: the exact sum, rounded once."""
    partials = partials_of(seq)
    if not partials:
        return 0.0
    k = len(partials) - 1
    high = partials[k]
    low = 0.0
    while k > 0 and low == 0.0:
        k -= 1
        x = high
        high = x + partials[k]
        low = partials[k] - (high - x)
    # Half of a last digit is rounded by what is beyond it.
    if k > 0 and ((low < 0.0 and partials[k - 1] < 0.0) or (low > 0.0 and partials[k - 1] > 0.0)):
        twice = low * 2.0
        x = high + twice
        if twice == x - high:
            high = x
    return high


def fmean(data: Any) -> float:
    """`statistics.fmean`, without weights."""
    if len(data) == 0:
        raise Uncovered
    return fsum(data) / len(data)


def mean(data: Any) -> Any:
    """`statistics.mean` of integers, and of floats whose sum is one."""
    if len(data) == 0:
        raise Uncovered
    if isinstance(data[0], float):
        partials = partials_of(data)
        if len(partials) > 1:
            raise Uncovered
        return (partials[0] if partials else 0.0) / len(data)
    if not isinstance(data[0], int):
        raise Uncovered
    total = sum(data)
    return total / len(data) if total % len(data) else total // len(data)


def median(data: Any) -> Any:
    """`statistics.median`."""
    ordered = sorted(data)
    count = len(ordered)
    if count == 0:
        raise Uncovered
    if count % 2 == 1:
        return ordered[count // 2]
    return (ordered[count // 2 - 1] + ordered[count // 2]) / 2


def mode(data: Any) -> Any:
    """`statistics.mode`."""
    counts: dict[Any, int] = {}
    for item in data:
        counts[item] = counts.get(item, 0) + 1
    if not counts:
        raise Uncovered
    return max(counts, key=lambda item: counts[item])


def from_keys(iterable: Any, value: Any = None) -> Any:
    """`dict.fromkeys`."""
    made = {}
    for key in iterable:
        made[key] = value
    return made


def combinations(iterable: Any, r: int) -> Iterator[Any]:
    """`itertools.combinations` of two or three."""
    pool = list(iterable)
    if r == 2:
        for i in range(len(pool)):
            for j in range(i + 1, len(pool)):
                yield pool[i], pool[j]
    elif r == 3:
        for i in range(len(pool)):
            for j in range(i + 1, len(pool)):
                for k in range(j + 1, len(pool)):
                    yield pool[i], pool[j], pool[k]
    else:
        raise Uncovered


def compress(data: Any, selectors: Any) -> Iterator[Any]:
    """`itertools.compress`."""
    for item, is_chosen in zip(data, selectors, strict=False):
        if is_chosen:
            yield item


def drop_while(predicate: Any, iterable: Any) -> Iterator[Any]:
    """`itertools.dropwhile`."""
    is_dropping = True
    for item in iterable:
        if is_dropping and predicate(item):
            continue
        is_dropping = False
        yield item


def repeat(object: Any, times: int) -> Iterator[Any]:
    """`itertools.repeat` of so many times."""
    for _ in range(times):
        yield object


def zip_longest(left: Any, right: Any, fillvalue: Any = None) -> Iterator[Any]:
    """`itertools.zip_longest` of two."""
    first = list(left)
    second = list(right)
    for k in range(max(len(first), len(second))):
        a = first[k] if k < len(first) else fillvalue
        b = second[k] if k < len(second) else fillvalue
        yield a, b


REPLACED: dict[str, Callable[..., Any]] = {
    "bisect.bisect": bisect_right,
    "bisect.bisect_left": bisect_left,
    "bisect.bisect_right": bisect_right,
    "bisect.insort": insort,
    "bisect.insort_right": insort,
    "heapq.nlargest": nlargest,
    "heapq.nsmallest": nsmallest,
    "itertools.combinations": combinations,
    "itertools.compress": compress,
    "itertools.dropwhile": drop_while,
    "itertools.repeat": repeat,
    "itertools.zip_longest": zip_longest,
    "math.dist": dist,
    "math.fsum": fsum,
    "math.prod": prod,
    "statistics.fmean": fmean,
    "statistics.mean": mean,
    "statistics.median": median,
    "statistics.mode": mode,
}
"""By the name of the library's function."""


def public_name(function: Any, names: Iterable[str]) -> str:
    """That of some names of functions of modules which a function has; empty if it has none."""
    for name in names:
        module, _, attribute = name.rpartition(".")
        # A module that was never imported has no function that anybody could name.
        if vars(sys.modules.get(module, sys)).get(attribute) is function:
            return name
    return ""


def replacement(function: Any) -> Any:
    """What a function of the standard library is compiled as; other values as they are."""
    name = public_name(function, REPLACED) if callable(function) else ""
    if not name and function == dict.fromkeys:
        return from_keys
    return REPLACED.get(name, function)
