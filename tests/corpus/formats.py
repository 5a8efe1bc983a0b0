"""Row functions with f-strings and formats."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from . import values
from .case import case


@case(rows=[values.floats(1)], covers="two digits")
def two_digits(x: float) -> str:
    return f"{x:.2f}"


@case(rows=[values.floats(2)], covers="general and exponent formats")
def general(x: float) -> str:
    return f"{x:g}|{x:.3e}|{x:.4g}"


@case(rows=[values.integers(3)], covers="widths, signs, separators of integers")
def wide(n: int) -> str:
    return f"[{n:8d}][{n:<8}][{n:^+9}][{n:08,}]"


@case(rows=[values.integers(4)], covers="bases in formats")
def bases(n: int) -> str:
    return f"{n:x} {n:#o} {n:b}"


@case(rows=[values.words(5)], covers="alignment and cut of text")
def aligned(word: str) -> str:
    return f"<{word:>10}|{word:*^12}|{word:.3}>"


@case(rows=[values.words(6), values.integers(6)], covers="str.format with places and names")
def by_format(word: str, n: int) -> str:
    return "{0}-{1:03d}-{0!r} {name}".format(word, n, name=word[:1])


@case(rows=[values.words(7), values.floats(7)], covers="percent formatting")
def by_percent(word: str, x: float) -> str:
    return "%-8s|%6.1f|%s%%" % (word, x, word)


@case(rows=[values.dates(8)], covers="date in an f-string, with a format")
def day_text(day: date) -> str:
    return f"{day} is {day:%d/%m/%Y}"


@case(rows=[values.timestamps(9)], covers="datetime attributes with padding")
def clock_text(when: datetime) -> str:
    return f"{when.hour:02d}h{when.minute:02d} ({when:%A})"


@case(rows=[values.between(10, 0, 200000)], covers="divmod and padding")
def hms(seconds: int) -> str:
    m, s = divmod(seconds, 60)
    h, m = divmod(m, 60)
    return f"{h:d}:{m:02d}:{s:02d}"


@case(rows=[values.between(11, 0, 2**45)], covers="units in a loop, one digit")
def human_size(size: int) -> str:
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


@case(rows=[values.between(12, 0, 130)], covers="ordinals, modulo, in of a tuple")
def ordinal(n: int) -> str:
    if n % 100 in (11, 12, 13):
        return f"{n}th"
    return f"{n}" + {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")


@case(
    rows=[values.between(13, 0, 5), values.words(13)],
    covers="plural by a conditional in an f-string",
)
def plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


@case(rows=[values.reals(14, 0, 1)], covers="bar of repeated text, int of float")
def bar(share: float) -> str:
    full = int(share * 10)
    return "[" + "#" * full + "." * (10 - full) + f"] {share:.0%}"


@case(
    rows=[values.words(15), values.between(15, 0, 15)],
    covers="width from a variable in an f-string",
)
def padded(word: str, width: int) -> str:
    return f"{word:>{width}}|{len(word):0{max(width, 1)}d}"


@case(
    rows=[values.words(16), values.floats(16), values.flags(16)],
    covers="repr conversion, = specifier, bool",
)
def debug(name: str, x: float, ok: bool) -> str:
    return f"{name!r} {x=} {ok}"


@case(
    rows=[values.words(17), values.integers(17), values.dates(17)],
    covers="no hints, many kinds by str",
)
def line(word, n, day):
    return ";".join([word, str(n), str(day)])


@case(rows=[values.spans(18)], covers="str of a timedelta")
def span_text(span: timedelta) -> str:
    return str(span)


@case(rows=[values.score_lists(19)], covers="join of formatted items")
def scores(items: list[float]) -> str:
    return "[" + ", ".join(f"{x:.1f}" for x in items) + "]"


@case(rows=[values.words(20), values.words(21)], covers="None-able text in an f-string")
def greeting(title: str | None, name: str | None) -> str:
    return f"Dear {title + ' ' if title else ''}{name}"
