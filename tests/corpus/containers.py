"""Row functions that make lists, dictionaries and sets in a row."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from itertools import groupby

from . import values
from .case import case


@case(rows=[values.sentences(1)], covers="dict counts, sorted by a tuple key")
def commonest(text: str) -> str:
    counts = {}
    for w in text.lower().split():
        counts[w] = counts.get(w, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ranked[0][0] if ranked else ""


@case(rows=[values.words(2)], covers="Counter, most_common")
def commonest_letter(word: str) -> str | None:
    if not word:
        return None
    letter, count = Counter(word.lower()).most_common(1)[0]
    return f"{letter}{count}"


@case(rows=[values.words(3)], covers="set of text, len")
def distinct_letters(word: str) -> int:
    return len(set(word.lower()))


@case(rows=[values.words(4), values.words(5)], covers="set operations, sorted, join")
def shared_letters(a: str, b: str) -> str:
    return "".join(sorted(set(a.lower()) & set(b.lower())))


@case(rows=[values.sentences(6), values.sentences(7)], covers="Jaccard: & and | of sets, division")
def similarity(a: str, b: str) -> float:
    x, y = set(a.lower().split()), set(b.lower().split())
    if not x and not y:
        return 1.0
    return len(x & y) / len(x | y)


@case(rows=[values.number_lists(8)], covers="list column: comprehension with condition")
def positive(numbers: list[int]) -> list[int]:
    return [n for n in numbers if n > 0]


@case(rows=[values.number_lists(9)], covers="sorted, index by half, None")
def median(numbers: list[int]) -> float | None:
    if not numbers:
        return None
    ordered = sorted(numbers)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[half])
    return (ordered[half - 1] + ordered[half]) / 2


@case(rows=[values.number_lists(10)], covers="min, max, sum of a list, dict result")
def summary(numbers: list[int]):
    return {
        "least": min(numbers, default=0),
        "most": max(numbers, default=0),
        "sum": sum(numbers),
        "count": len(numbers),
    }


@case(rows=[values.number_lists(11)], covers="dict of ints, in, duplicates")
def first_duplicate(numbers: list[int]) -> int | None:
    seen = set()
    for n in numbers:
        if n in seen:
            return n
        seen.add(n)
    return None


@case(
    rows=[values.number_lists(12), values.between(12, -4, 6)],
    covers="two sum: dict of places, tuple",
)
def pair_with_sum(numbers: list[int], target: int) -> tuple[int, int] | None:
    places: dict[int, int] = {}
    for i, n in enumerate(numbers):
        if target - n in places:
            return places[target - n], i
        places[n] = i
    return None


@case(rows=[values.number_lists(13)], covers="cumulative sums, list of a loop")
def running_totals(numbers: list[int]) -> list[int]:
    totals = []
    total = 0
    for n in numbers:
        total += n
        totals.append(total)
    return totals


@case(rows=[values.number_lists(14)], covers="bubble sort in place, item assignment")
def bubbled(numbers: list[int]) -> list[int]:
    items = list(numbers)
    for i in range(len(items)):
        for j in range(len(items) - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items


@case(rows=[values.number_lists(15)], covers="slices of lists, concatenation, reversal")
def rotated(numbers: list[int]) -> list[int]:
    k = 2 % len(numbers) if numbers else 0
    return (numbers[-k:] + numbers[:-k])[::-1]


@case(rows=[values.word_lists(16)], covers="list of texts: join, sorted, len")
def sorted_words(words: list[str]) -> str:
    return ", ".join(sorted(words, key=lambda w: (len(w), w)))


@case(rows=[values.word_lists(17)], covers="dict of lists by setdefault, sorted keys")
def by_length(words: list[str]) -> str:
    groups = {}
    for w in words:
        groups.setdefault(len(w), []).append(w)
    return "; ".join(f"{n}: {' '.join(groups[n])}" for n in sorted(groups))


@case(rows=[values.word_lists(18)], covers="defaultdict of int, items in order")
def letter_starts(words: list[str]) -> str:
    counts = defaultdict(int)
    for w in words:
        counts[w[:1]] += 1
    return " ".join(f"{k}{v}" for k, v in counts.items())


@case(rows=[values.word_lists(19), values.words(19)], covers="in of a list, index, no hints")
def position_of(words, word):
    return words.index(word) if word in words else -1


@case(rows=[values.score_lists(20)], covers="best two dropped: sorted, slices, sum")
def trimmed_mean(scores: list[float]) -> float:
    kept = sorted(s for s in scores if s == s)[1:-1]
    return sum(kept) / len(kept) if kept else 0.0


@case(rows=[values.score_lists(21)], covers="list index that may raise IndexError", raises=True)
def first_score(scores: list[float]) -> float:
    return scores[0]


@case(rows=[values.score_lists(22)], covers="enumerate with start, max of tuples")
def best_place(scores: list[float]) -> int:
    best = 0
    for place, score in enumerate(scores, start=1):
        if best == 0 or score > scores[best - 1]:
            best = place
    return best


@case(rows=[values.posts(23)], covers="list comprehension of slices with condition")
def hashtags(post: str) -> list[str]:
    return [w[1:].lower() for w in post.split() if w.startswith("#") and len(w) > 1]


@case(rows=[values.posts(24)], covers="set comprehension, sorted list result")
def mentions(post: str) -> list[str]:
    return sorted({w.strip(",.!") for w in post.split() if w[0] == "@"})


@case(rows=[values.between(25, 0, 9)], covers="nested comprehension, matrix, sum")
def triangle(n: int) -> int:
    rows = [[i * j for j in range(i + 1)] for i in range(n)]
    return sum(max(row) for row in rows) if rows else 0


@case(rows=[values.between(26, 0, 60)], covers="sieve: list of bools, slice assignment by loop")
def primes_below(n: int) -> list[int]:
    sieve = [True] * (n + 1)
    actual = []
    for i in range(2, n):
        if sieve[i]:
            actual.append(i)
            for j in range(i * i, n, i):
                sieve[j] = False
    return actual


@case(rows=[values.strands(27)], covers="itertools.groupby, list of a group")
def longest_run(strand: str) -> int:
    return max((len(list(group)) for _, group in groupby(strand)), default=0)


@case(rows=[values.sentences(28)], covers="dict comprehension over enumerate, values")
def last_places(text: str) -> int:
    places = {ch: i for i, ch in enumerate(text[:20])}
    return sum(places.values())


@case(
    rows=[values.number_lists(29), values.number_lists(30)],
    covers="zip, dot product, None-able lists",
)
def dot(a: list[int] | None, b: list[int] | None) -> int:
    return sum(x * y for x, y in zip(a or [], b or []))


@case(
    rows=[values.integers(31), values.integers(32), values.integers(33)],
    covers="sorted of a tuple literal, middle",
)
def middle(a: int, b: int, c: int) -> int:
    return sorted((a, b, c))[1]


@case(rows=[values.number_lists(34)], covers="while with pop, insert, extend")
def interleaved(numbers: list[int]) -> list[int]:
    rest = numbers[:]
    out: list[int] = []
    while rest:
        out.append(rest.pop(0))
        if rest:
            out.append(rest.pop())
    out.extend([len(out)])
    return out


@case(rows=[values.word_lists(35)], covers="dict from zip, comparison of lists, del")
def numbered(words: list[str]) -> str:
    table = dict(zip(words, range(len(words))))
    if "the" in table:
        del table["the"]
    return repr(sorted(table)) if len(table) < 3 else str(len(table))


@case(rows=[values.number_lists(21)], covers="deque with maxlen")
def dq(xs: list[int]):
    d = deque((x for x in xs if x is not None), maxlen=4)
    d.appendleft(len(xs))
    return [d[0], d[-1], len(d), *d]


@case(rows=[values.word_lists(23)], covers="OrderedDict, move_to_end, popitem")
def lru(ws: list[str]) -> list[str]:
    cache: OrderedDict[str, int] = OrderedDict()
    evicted = []
    for w in ws:
        if w is None:
            continue
        if w in cache:
            cache.move_to_end(w)
            cache[w] += 1
            continue
        cache[w] = 1
        if len(cache) > 2:
            old, n = cache.popitem(last=False)
            evicted.append(f"{old}{n}")
    return evicted


@case(rows=[values.number_lists(51)], covers="deque of tuples, a set of what was seen")
def hops(xs: list[int]) -> int:
    queue = deque([(0, 0)])
    seen = {0}
    while queue:
        i, d = queue.popleft()
        if i >= len(xs) - 1:
            return d
        for step in (1, 2):
            j = i + step
            if j < len(xs) and j not in seen and xs[j] is not None and xs[j] % 3:
                seen.add(j)
                queue.append((j, d + 1))
    return -1


@case(rows=[values.words(30)], covers="slices that are assigned to and deleted")
def slices(s: str) -> str:
    c = list(s)
    c[1:2] = ["<", ">"]
    c[-1:] = "!!"
    c[len(c) :] = list("end")
    c[:0] = [str(len(c))]
    del c[2:4]
    del c[-1]
    return "".join(c)


@case(rows=[values.number_lists(32)], covers="zip of rows")
def transposed(xs: list[int]) -> list[int]:
    rows = [[x, x * 2 % 7, x + 1] for x in xs if x is not None and abs(x) < 10**9]
    return [sum(col) for col in zip(*rows)]


@case(rows=[values.number_lists(31)], covers="zip of rows into names")
def pairs(xs: list[int]) -> str:
    ps = [(x, str(x)) for x in xs if x is not None]
    if not ps:
        return "-"
    nums, texts = zip(*ps)
    return f"{max(nums)} {''.join(texts)} {nums[0]}"


@case(rows=[values.number_lists(69)], covers="sets that change in place")
def set_ops(xs: list[int]) -> list[int]:
    a = {x % 5 for x in xs if x is not None}
    b = set(range(3))
    a |= {7}
    a -= {1}
    b.discard(9)
    return sorted(a ^ b) + sorted(a & b) + [len(a | b), int(a <= b), int(a.isdisjoint(b))]


@case(rows=[values.number_lists(68)], covers="views in `in` and len")
def dict_views(xs: list[int]) -> str:
    d = {x: x % 3 for x in xs if x is not None}
    actual = f"{2 in d.values()} {(5, 2) in d.items()} {len(d.items())}"
    return f"{list(d.values())[:2]} {actual} {max(d, default=0)}"


@case(rows=[values.words(39)], covers="defaultdict of sets")
def dd_set(s: str) -> list[str]:
    d = defaultdict(set)
    for i, c in enumerate(s):
        d[c].add(i % 3)
    return [f"{k}{len(x)}" for k, x in sorted(d.items())]
