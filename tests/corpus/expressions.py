"""Random expressions of Python, by the kind of their value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

LITERALS = {
    "int": ("0", "1", "2", "3", "-1", "7", "10", "100", "-13", "255", "1000", "2**31", "2**62"),
    "float": ("0.0", "-0.0", "0.5", "1.5", "2.0", "-3.25", "1e10", "100.0", "0.1", "1e-9"),
    "bool": ("True", "False"),
    "str": (
        "''",
        "' '",
        "'a'",
        "'e'",
        "'river'",
        "','",
        "'='",
        "'-'",
        "'é'",
        "'1'",
        "'The'",
        "';'",
    ),
    "hash": ("0x8000000000000000", "0xFFFFFFFFFFFFFFFF", "0", "5"),
    "date": ("date(2024, 2, 29)", "date(1970, 1, 1)", "date(1999, 12, 31)"),
    "datetime": ("datetime(2024, 2, 29, 12, 30)", "datetime(1970, 1, 1)"),
    "list[int]": ("[1, 2, 3]", "[0]", "[5, -5, 5]"),
    "list[str]": ("['a', 'b']", "['']", "['é', 'river', 'a']"),
    "set[str]": ("{'a', 'e', 'river'}", "set()", "{'1'}"),
    "dict": ("{'a': 1, 'e': 5}", "{}", "{'river': 10}"),
    "timedelta": ("timedelta(days=3)", "timedelta(hours=-5, seconds=1)", "timedelta(0)"),
    "Decimal": ("Decimal('1.25')", "Decimal('0')", "Decimal('-0.5')", "Decimal(3)"),
    "bytes": ("b''", "b'ab'", "b'\\x00\\xff'"),
}
BRIDGES: dict[tuple[str, str], tuple[str, ...]] = {
    ("str", "int"): ("len({})", "{}.count(' ')"),
    ("list[int]", "int"): ("len({})", "sum({})"),
    ("list[str]", "int"): ("len({})",),
    ("bool", "int"): ("({} + 1)",),
    ("date", "int"): ("{}.day", "{}.year"),
    ("datetime", "int"): ("{}.hour",),
    ("timedelta", "int"): ("{}.days",),
    ("Decimal", "int"): ("int({})",),
    ("bytes", "int"): ("len({})",),
    ("Decimal", "str"): ("str({})",),
    ("int", "Decimal"): ("Decimal({} % 1000)",),
    ("timedelta", "float"): ("{}.total_seconds()",),
    ("str", "bytes"): ("{}.encode()",),
    ("str", "set[str]"): ("set({})",),
    ("list[str]", "set[str]"): ("set({})",),
    ("set[str]", "list[str]"): ("sorted({})",),
    ("dict", "list[str]"): ("sorted({})",),
    ("list[str]", "dict"): ("{{w: len(w) for w in {}}}",),
    ("int", "float"): ("({} * 0.5)", "({} / 4)"),
    ("str", "float"): ("(len({}) * 1.5)",),
    ("list[int]", "float"): ("(len({}) / 2)",),
    ("int", "str"): ("str({})",),
    ("float", "str"): ("str({})", "f'{{{}:.2f}}'"),
    ("bool", "str"): ("str({})",),
    ("date", "str"): ("str({})",),
    ("list[str]", "str"): ("' '.join({})", "','.join({})"),
    ("datetime", "date"): ("{}.date()",),
    ("date", "datetime"): ("datetime({0}.year, {0}.month, {0}.day)",),
    ("str", "list[str]"): ("{}.split()", "{}.split(',')"),
    ("int", "list[int]"): ("[{}]", "[{0}, 1, {0}]"),
    ("list[str]", "list[int]"): ("[len(w) for w in {}]",),
}
"""The way something of one kind is made of a variable of another."""

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
NON_ZERO = ("2", "3", "7", "10", "-3", "100")

# A template has {int}, {str} … for expressions of these kinds, {?a b c} for one of some words.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "int": (
        "({int} + {int})",
        "({int} - {int})",
        "({int} * {int})",
        "({int} // {nonzero})",
        "({int} % {nonzero})",
        "(-{int})",
        "abs({int})",
        "({int} {?& | ^} {int})",
        "({int} << {int} % 8)",
        "({int} >> {int} % 8)",
        "({int} % 50) ** {?2 3}",
        "min({int}, {int})",
        "max({int}, {int}, 0)",
        "({int} if {bool} else {int})",
        "len({str})",
        "len({list[int]})",
        "len({list[str]})",
        "len(set({str}))",
        "{str}.find({str})",
        "{str}.{?count rfind}({text})",
        "int({bool})",
        "({int}).bit_length()",
        "{date}.{?year month day}",
        "{date}.weekday()",
        "{datetime}.{?hour minute second microsecond}",
        "({date} - {date}).days",
        "{date}.isocalendar()[1]",
        "divmod({int}, {nonzero})[{?0 1}]",
        "sum(x % 97 for x in {list[int]})",
        "sum(1 for ch in {str} if ch in 'aeiou')",
        "sum({list[int]})",
        "max({list[int]}, default={int})",
        "round({float} % 1000.0 if {float} < 1e9 else 2.5)",
        "{{'a': 1, 'river': 2, '': 3}}.get({str}, {int})",
        "ord(({str} or 'x')[0])",
        "[{int}, {int}, {int}][{int} % 3]",
        "math.gcd({int}, {int})",
        "len({set[str]})",
        "len({dict})",
        "{dict}.get({str}, {int})",
        "sum({dict}.values())",
        "max({dict}.values(), default={int})",
        "{timedelta}.{?days seconds microseconds}",
        "({timedelta} // timedelta({?hours=1 minutes=7 days=2}))",
        "int({Decimal})",
        "len({bytes})",
        "({bytes} or b'x')[{?0 -1}]",
        "sum({bytes})",
        "int.from_bytes({bytes}[:3], 'big')",
        "({hash} {?>>~1 %~97 &~0xFFFF //~3~>>~2})",
        "({hash} - 2**63)",
        "({hash}).{?bit_count bit_length}()",
        "(({int} * {int} - ({int} << {int} % 70) ^ ~{int}) & 0xFFFFFFFF)",
        "len(re.findall(r'{?[a-z]+ \\d \\w+ [^,;]+}', {str}))",
    ),
    "hash": (
        "(({int} * 11400714819323198485 + {int}) & 0xFFFFFFFFFFFFFFFF)",
        "(({hash} * {hash} + {int}) % 2**64)",
        "({hash} ^ ({hash} >> {int} % 70))",
        "(({hash} << 13 | {hash} >> 51) & 0xFFFFFFFFFFFFFFFF)",
        "({hash} {?& |} {hash})",
        "({hash} // {?3 10 255})",
        "(-{hash} & 0xFFFFFFFFFFFFFFFF)",
        "{?min max}({hash}, {hash})",
        "({hash} if {bool} else {hash})",
        "{?sorted list}([{hash}, {hash}])[{int} % 2]",
        "{{{hash}: {hash}}}.get({hash}, 7)",
    ),
    "float": (
        "({float} + {float})",
        "({float} - {float})",
        "({float} * {float})",
        "({float} / {?2 3 4.0 0.1})",
        "({int} / {nonzero})",
        "({float} * {int})",
        "({float} // {nonzero})",
        "({float} % {?3.5 2 -7.0})",
        "(-{float})",
        "abs({float})",
        "float({int})",
        "math.sqrt(abs({float}))",
        "math.{?floor ceil trunc}({float} % 1e6 if abs({float}) < 1e300 else 1.5) * 0.5",
        "math.atan2({float}, {float})",
        "math.copysign({float}, {float})",
        "round({float}, {?0 1 2 3})",
        "min({float}, {float})",
        "max({float}, {float})",
        "({float} if {bool} else {float})",
        "({float} % 10.0) ** {?2 3}",
        "sum(x * 0.5 for x in {list[int]})",
        "float('1.5' if {bool} else '-2')",
        "({datetime} - {datetime}).total_seconds()",
        "{timedelta}.total_seconds()",
        "({timedelta} / timedelta(minutes=1))",
        "float({Decimal})",
    ),
    "bool": (
        "({int} {compare} {int})",
        "({hash} {compare} {hash})",
        "({hash} {compare} {int})",
        "({float} {compare} {float})",
        "({int} {compare} {float})",
        "({str} {compare} {str})",
        "({date} {compare} {date})",
        "({int} <= {int} < {int})",
        "({bool} and {bool})",
        "({bool} or {bool})",
        "(not {bool})",
        "({text} {?in not~in} {str})",
        "({str} in {?('a',~'b') ['river',~''] {{'x',~'the'}}})",
        "({int} in {?(1,~2,~3) {{0,~7}} range(10)})",
        "({int} in {list[int]})",
        "({str} in {list[str]})",
        "{str}.{?isdigit isalpha isalnum isspace isupper islower istitle isascii isdecimal}()",
        "{str}.{?startswith endswith}({text})",
        "{str}.startswith(('a', 'The'))",
        "any(ch.{?isdigit isupper}() for ch in {str})",
        "all(x > {int} for x in {list[int]})",
        "bool({?int str float list[int]})",
        "math.{?isnan isinf isfinite}({float})",
        "({date}.weekday() < 5)",
        "({list[int]} == {list[int]})",
        "({str} in {set[str]})",
        "({set[str]} {?<= == <} {set[str]})",
        "({str} {?in not~in} {dict})",
        "any(n {compare} {int} for n in {dict}.values())",
        "({timedelta} {compare} {timedelta})",
        "({datetime} {compare} {datetime})",
        "({Decimal} {compare} {Decimal})",
        "({Decimal} {compare} {int})",
        "({bytes} {compare} {bytes})",
        "({bytes} in {bytes})",
        "{bytes}.startswith({bytes})",
        "bool(re.{?search match fullmatch}(r'{?\\d+ ^\\w+= [A-Z][a-z]* e|r .*\\s}', {str}))",
    ),
    "str": (
        "str({hash})",
        "{?hex bin}({hash})",
        "format({hash}, '{?016x , _d >25 #o}')",
        "({str} + {str})",
        "{str}.{?upper lower title capitalize swapcase casefold strip lstrip rstrip}()",
        "{str}.{?strip lstrip rstrip}({?'a' '.,' 'The~' '0'})",
        "{str}.replace({text}, {str})",
        "{str}.replace({text}, {text}, 1)",
        "{str}[{int} % 5:]",
        "{str}[:{int} % 9]",
        "{str}[{int}:{int}]",
        "{str}[::{?-1 2 -2 3}]",
        "({str} * ({int} % 4))",
        "({str} if {bool} else {str})",
        "({str} or {text})",
        "str({int})",
        "str({float})",
        "str({bool})",
        "str({date})",
        "repr({str})",
        "{str}.{?ljust rjust center}({?0 5 12}, {?'.' '~' '0'})",
        "{str}.zfill({?0 4 9})",
        "{str}.{?partition rpartition}({text})[{?0 1 2}]",
        "{str}.{?removeprefix removesuffix}({text})",
        "{text}.join({list[str]})",
        "''.join(ch for ch in {str} if ch.isalpha())",
        "''.join(sorted({str}))",
        "{str}.split({text} or '-')[0]",
        "{date}.isoformat()",
        "str({timedelta})",
        "str({Decimal})",
        "str(round({Decimal}, 1))",
        "{bytes}.hex()",
        "','.join(f'{{k}}={{n}}' for k, n in sorted({dict}.items()))",
        "{date}.strftime('{?%d/%m %Y-%m-%d %a %j %b~%d}')",
        "{datetime}.strftime('%H:%M:%S')",
        "('{?%d %5d %-4d| %03d}' % {int})",
        "('{?%s %-8s| %.2s}' % ({str},))",
        "'{{}}:{{!r}}'.format({int}, {str})",
        "{{1: 'one', 2: 'two', 0: ''}}.get({int} % 4, {str})",
        "chr(97 + {int} % 26)",
        "{f-string}",
        "{f-string}",
        "re.sub(r'{?\\d+ \\s+ [aeiou] ^\\w}', {text}, {str})",
    ),
    "date": (
        "{date}.replace(day={?1 28})",
        "({date} + timedelta(days={int} % 400 - 200))",
        "({date} - timedelta({?1 7 30}))",
        "min({date}, {date})",
        "({date} if {bool} else {date})",
        "date(2000 + {int} % 50, 1 + {int} % 12, {?1 15 28})",
        "{datetime}.date()",
    ),
    "datetime": (
        "{datetime}.replace({?minute=0 hour=23 microsecond=5})",
        "({datetime} + timedelta({?hours=5 days=-2 seconds=90}))",
        "datetime({date}.year, {date}.month, 1)",
    ),
    "timedelta": (
        "({date} - {date})",
        "({datetime} - {datetime})",
        "({timedelta} {?+ -} {timedelta})",
        "({timedelta} * ({int} % 7))",
        "({timedelta} // {?2 3 -4})",
        "({timedelta} / {?2 3 4})",
        "(-{timedelta})",
        "abs({timedelta})",
        "timedelta(days={int} % 100, minutes={int} % 5000)",
        "max({timedelta}, {timedelta})",
    ),
    "Decimal": (
        "({Decimal} {?+ - *} {Decimal})",
        "({Decimal} * ({int} % 10))",
        "({Decimal} / {?2 4 8})",
        "({Decimal} % {?3 7})",
        "abs({Decimal})",
        "(-{Decimal})",
        "round({Decimal}, {?0 1 2})",
        "{Decimal}.quantize(Decimal('{?0.1 0.01 1}'))",
        "Decimal({int} % 1000)",
        "Decimal('{?1.5 0.07 -2.250}')",
        "min({Decimal}, {Decimal})",
        "({Decimal} if {bool} else {Decimal})",
    ),
    "bytes": (
        "{str}.encode()",
        "({bytes} + {bytes})",
        "{bytes}[{?1: :2 ::-1 -3:}]",
        "({bytes} * ({int} % 3))",
        "bytes([{int} % 256, {int} % 256])",
        "{bytes}.{?upper strip}()",
    ),
    "set[str]": (
        "set({str})",
        "set({list[str]})",
        "{{w for w in {list[str]} if w {compare} {text}}}",
        "({set[str]} {?& | - ^} {set[str]})",
        "{set[str]}.{?union intersection difference}({list[str]})",
    ),
    "dict": (
        "{{w: len(w) for w in {list[str]}}}",
        "dict(zip({list[str]}, {list[int]}))",
        "{{ch: i for i, ch in enumerate({str}[:9])}}",
        "({dict} | {dict})",
        "{{k: n for k, n in {dict}.items() if n {compare} {int}}}",
    ),
    "list[int]": (
        "[{int}, {int}]",
        "[{int} for _ in range({int} % 4)]",
        "[x + 1 for x in {list[int]}]",
        "[x for x in {list[int]} if x {compare} {int}]",
        "[len(w) for w in {list[str]}]",
        "[ord(ch) for ch in {str}[:5]]",
        "list(range({int} % 6))",
        "sorted({list[int]})",
        "sorted({list[int]}, reverse=True)",
        "{list[int]}[{?1: :2 ::-1 -2:}]",
        "({list[int]} + {list[int]})",
        "[i * x for i, x in enumerate({list[int]})]",
        "[x - y for x, y in zip({list[int]}, {list[int]})]",
        "[x % 10 for x in {list[int]}]",
        "sorted({dict}.values())",
        "[*{list[int]}, {int}]",
        "list(map(abs, {list[int]}))",
    ),
    "list[str]": (
        "{str}.split()",
        "{str}.split({?',' ';' '=' '~' 'a'})",
        "{str}.split({?',' 'e'}, 1)",
        "{str}.rsplit({?',' 'e'}, 1)",
        "[w.{?upper strip title}() for w in {list[str]}]",
        "[w for w in {list[str]} if w]",
        "[ch for ch in {str}[:6] if ch != {text}]",
        "sorted({list[str]})",
        "sorted({set[str]})",
        "sorted({dict})",
        "list({dict})",
        "sorted(set({list[str]}))",
        "sorted({list[str]}, key=len)",
        "{list[str]}[{?1: :2 ::-1}]",
        "[str(x) for x in {list[int]}]",
        "list({str}[:4])",
        "{str}.splitlines()",
        "re.split(r'{?[,;]\\s* \\s+ =}', {str})",
        "re.findall(r'{?[a-z]+ \\d+ \\w\\w}', {str})",
    ),
}
RISKS: tuple[tuple[str, str, str], ...] = (
    ("int({str})", "int", "ValueError"),
    ("float({str})", "float", "ValueError"),
    ("int({str}[:3])", "int", "ValueError"),
    ("{str}.index({text})", "int", "ValueError"),
    ("{list[str]}[{int} % 5]", "str", "IndexError"),
    ("{str}[{int}]", "str", "IndexError"),
    ("{list[int]}[1]", "int", "IndexError"),
    ("({int} // ({int} % 5))", "int", "ZeroDivisionError"),
    ("({float} / ({int} % 3))", "float", "(ZeroDivisionError, OverflowError)"),
    ("int({float})", "int", "(ValueError, OverflowError)"),
    ("{{'a': 1, 'river': 2}}[{str}]", "int", "KeyError"),
    ("date.fromisoformat({str})", "date", "ValueError"),
    ("{dict}[{str}]", "int", "KeyError"),
    ("Decimal({str})", "Decimal", "ArithmeticError"),
    ("{bytes}.decode('ascii')", "str", "UnicodeDecodeError"),
    ("datetime.strptime({str}, '%Y-%m-%d').date()", "date", "ValueError"),
    ("max({list[int]})", "int", "ValueError"),
    ("math.log({float})", "float", "ValueError"),
    ("chr({int})", "str", "(ValueError, OverflowError)"),
)
MARKS = {
    "re": "re.",
    "generators": " for ",
    "percent": "' % ",
    "format": ".format(",
    "strftime": "strftime",
    "sorted": "sorted",
    "lookups": "{{",
    "reversed": "::-",
    "math": "math.",
}
"""The parts that programs can lack besides kinds and statements, as they look in a template."""

SPECIFICATIONS = {
    "int": ("", ":d", ":5d", ":<6", ":+d", ":,", ":03d", ":x", ":b", "!r"),
    "float": ("", ":.2f", ":.0f", ":8.3f", ":e", ":g", ":,.1f", ":+.1f", ":.1%", "!r"),
    "str": ("", ":>8", ":<5", ":^7", ":*^9", ":.3", "!r"),
    "bool": ("",),
    "date": ("", ":%Y/%m/%d", ":%d %b"),
}


@dataclass(frozen=True)
class Variable:
    """A variable that a program has made.

    Args:
        name: Its name.
        kind: The kind of its value.
        optional: Whether it may be None here.
        sums: Whether loops around this place add it up; then their other statements do not read it.
        fixed: Whether nothing is assigned to it.
    """

    name: str
    kind: str
    optional: bool = False
    sums: bool = False
    fixed: bool = False


class Expressions:
    """Makes expressions.

    Args:
        random: Chooses.
        scope: The variables that can be read; the owner changes it.
        without: Kinds, and keys of `MARKS`, that they do not use.
    """

    def __init__(
        self, random: Random, scope: list[Variable], without: Set[str] = frozenset()
    ) -> None:
        self._random = random
        self._scope = scope
        self._without = without
        self._templates = {
            kind: [template for template in templates if self._allowed(template)]
            for kind, templates in TEMPLATES.items()
        }
        self._risks = [risk for risk in RISKS if risk[1] not in without and self._allowed(risk[0])]
        self._sums = False
        self._special: dict[str, Callable[[int], str]] = {
            "nonzero": lambda depth: self._random.choice(NON_ZERO),
            "compare": lambda depth: self._random.choice(COMPARISONS),
            "text": lambda depth: self._random.choice(LITERALS["str"][1:]),
            "f-string": self._f_string,
        }

    def _allowed(self, template: str) -> bool:
        used = re.findall(r"{([^?{}]+)}", template)
        marks = (mark for name, mark in MARKS.items() if name in self._without)
        return self._without.isdisjoint(used) and not any(mark in template for mark in marks)

    def kind(self, *choices: str) -> str:
        """One of some kinds that can be used."""
        return self._random.choice([kind for kind in choices if kind not in self._without])

    @contextmanager
    def reading_sums(self) -> Iterator[None]:
        """While this lasts, what loops add up may be read."""
        self._sums = True
        yield
        self._sums = False

    def of(self, kind: str, depth: int) -> str:
        """An expression of a kind, nested at most so deep."""
        if kind in self._special:
            return self._special[kind](depth)
        if depth <= 0 or self._random.random() < 0.25:
            return self._leaf(kind)
        return self._filled(self._random.choice(self._templates[kind]), depth - 1)

    def risky(self) -> tuple[str, str, str]:
        """An expression that may raise, the kind of its value, and what it raises."""
        template, kind, error = self._random.choice(self._risks)
        return self._filled(template, 1), kind, error

    def _leaf(self, kind: str) -> str:
        actual = [
            variable
            for variable in self._scope
            if variable.kind == kind and (self._sums or not variable.sums)
        ]
        if not actual or self._random.random() < 0.15:
            return self._without_variable(kind)
        variable = self._random.choice(actual)
        if not variable.optional:
            return variable.name
        other = self._random.choice(LITERALS[kind])
        form = self._random.choice(
            ("({0} if {0} is not None else {1})", "({0} or {1})", "({1} if {0} is None else {0})")
        )
        return form.format(variable.name, other)

    def _without_variable(self, kind: str) -> str:
        """A literal or, better, something of a variable of another kind."""
        if kind == "bool" and self._random.random() < 0.9:
            other = self.kind("int", "int", "str", "float")
            return f"({self._leaf(other)} {self._random.choice(COMPARISONS)} {self._leaf(other)})"
        bridges = [
            bridge.format(variable.name)
            for variable in self._scope
            if not variable.optional and not variable.sums
            for bridge in BRIDGES.get((variable.kind, kind), ())
            if self._allowed(bridge)
        ]
        if bridges and self._random.random() < 0.7:
            return self._random.choice(bridges)
        return self._random.choice(LITERALS[kind])

    def _filled(self, template: str, depth: int) -> str:
        """A template with expressions in its places."""
        out, place = "", 0
        while place < len(template):
            ch = template[place]
            if ch == "{" and template[place + 1] != "{":
                end = self._end(template, place)
                out += self._place(template[place + 1 : end], depth)
                place = end + 1
            else:
                doubled = ch in "{}" and template[place + 1 : place + 2] == ch
                out += ch
                place += 1 + doubled
        return out

    @staticmethod
    def _end(template: str, place: int) -> int:
        """Where a place ends. Doubled braces are of a choice."""
        if template[place + 1] != "?":
            return template.index("}", place)
        end = place + 1
        while template[end] != "}" or template[end + 1 : end + 2] == "}":
            end += 1 + (template[end] == "}")
        return end

    def _place(self, text: str, depth: int) -> str:
        if not text.startswith("?"):
            return self.of(text, depth)
        words = text[1:].replace("{{", "{").replace("}}", "}").split(" ")
        word = self._random.choice(words)
        return self.of(word, depth) if word in LITERALS else word.replace("~", " ")

    def _f_string(self, depth: int) -> str:
        """A formatted text of variables: Python 3.11 takes no quotes within its fields."""
        actual = [
            variable
            for variable in self._scope
            if variable.kind in SPECIFICATIONS and not variable.optional and not variable.sums
        ]
        if not actual:
            return "f'{1 + 1:03d}'"
        parts = []
        for _ in range(self._random.randint(1, 3)):
            variable = self._random.choice(actual)
            specification = self._random.choice(SPECIFICATIONS[variable.kind])
            parts.append(f"{{{variable.name}{specification}}}")
        start, between = self._random.choice(("", "-", "is ")), self._random.choice((" ", "|", ""))
        return f"f'{start}{between.join(parts)}'"
