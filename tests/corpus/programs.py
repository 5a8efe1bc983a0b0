"""Random row functions: valid Python that terminates, the same for each seed, with columns for them.

    program = generated(17)
    program.source                       # `def program_17(a: int, b: str | None) -> float: …`
    program.columns                      # a `Column` for each parameter
    compare(program.case(), run_colkern) # as for a case of the corpus

`python -m tests.corpus.programs 0 300` compares colkern with Python on 300 of them, and prints what
differs, after making it smaller; `--show` prints them all. `make fuzz-rows SECONDS=600 SEED=0` does so
for as long, each over 200 batches, and prints the seeds and the programs as they are.

Loops are short, and what they add up is made of what stays the same in them: nothing grows without end.
"""

from __future__ import annotations

import argparse
import linecache
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import count
from random import Random
from time import monotonic
from typing import Any
from zlib import crc32

from . import values
from .case import Case, Column
from .expressions import Expressions, Variable
from .runner import ENGINES, Comparison, Raised, Run, compare, expected, summary
from .shrinking import smaller

NAMESPACE = {"math": math, "date": date, "datetime": datetime, "timedelta": timedelta, "re": re}
NAMESPACE["Decimal"] = Decimal
"""The globals of programs."""

PARAMETERS: dict[str, tuple[Callable[[int], Column], ...]] = {
    "int": (values.integers, lambda seed: values.between(seed, 0, 20), values.hhmm),
    "float": (values.floats, values.amounts, lambda seed: values.reals(seed, -10, 10)),
    "bool": (values.flags,),
    "str": (
        values.words,
        values.sentences,
        values.numerals,
        values.key_values,
        values.csv_lines,
        values.iso_days,
        values.tokens,
    ),
    "date": (values.dates,),
    "datetime": (values.timestamps,),
    "list[int]": (values.number_lists,),
    "list[str]": (values.word_lists,),
    "timedelta": (values.spans,),
    "Decimal": (values.money,),
    "bytes": (values.raw_bytes,),
}
READINGS = {
    "int": ("len(str(error))", "len(type(error).__name__)", "sum(map(ord, f'{error}'))"),
    "str": ("str(error)", "f'{type(error).__name__}: {error}'", "'%s!' % error"),
}
"""The expressions by which a handler reads its exception, by the kind of the result."""

ITERATORS = ("iter({})", "(x for x in {})", "reversed({})", "filter(None, {})")

RESULTS = ("int", "int", "float", "float", "bool", "str", "str", "str", "date", "datetime")
RESULTS += ("timedelta", "bytes", "list[int]", "list[str]")  # type: ignore[assignment]
WEIGHTED = [
    kind
    for kind, weight in zip(PARAMETERS, (5, 4, 1, 6, 2, 1, 1, 1, 1, 1, 1))
    for _ in range(weight)
]
COMPOUND = ("list[int]", "list[str]", "set[str]", "dict", "timedelta", "Decimal", "bytes")
WRONG = {NameError, TypeError, AttributeError, UnboundLocalError}
"""Exceptions that no program raises."""

EMPTY = {"list[int]": "[]", "dict": "{}", "set[str]": "set()"}
INDENT = "    "


@dataclass(frozen=True)
class Program:
    """A row function's source, its name and seed, and what makes a column for each parameter."""

    source: str
    name: str
    seed: int
    makers: tuple[Callable[[int], Column], ...]

    def function(self) -> Callable[..., Any]:
        """The function; `inspect.getsource` finds its source."""
        return function_of(self.source, self.name)

    def runs(self, source: str) -> bool:
        """Whether another source, made of this one, is a program too, with results of the same kinds."""
        try:
            results = _kinds(replace(self, source=source).case())
        except SyntaxError:
            return False
        return results <= _kinds(self.case()) and results.isdisjoint(WRONG)

    def case(self, batch: int = 0) -> Case:
        """It as a case of the corpus, with the columns of one of many batches."""
        first = self.seed * 10 + batch * 10**9
        columns = tuple(make(first + place) for place, make in enumerate(self.makers))
        return Case(self.function(), columns, "", True, self.name)


def _kinds(case: Case) -> set[Any]:
    """The types of a program's results and of what they hold, and of exceptions."""
    return set(map(_kind, expected(case)))


def _kind(result: Any) -> Any:
    if isinstance(result, Raised):
        return result.type
    return tuple(map(type, result)) if isinstance(result, tuple) else type(result)


@cache
def function_of(source: str, name: str) -> Callable[..., Any]:
    """The function of a name in a source text, whose lines tracebacks and `inspect` find."""
    filename = f"<{name} {crc32(source.encode()):x}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {**NAMESPACE, "__name__": __name__}
    exec(compile(source, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


def generated(seed: int, size: int = 6, without: Set[str] = frozenset()) -> Program:
    """The program of a seed.

    Args:
        seed: Chooses the program.
        size: How many statements it has at its top, at most.
        without: What it does not use: kinds but `int`, keys of `expressions.MARKS`, `f-string`, `optional`,
            names of statements. A compiler that lacks something is tested without it.
    """
    return _Writer(seed, size, without).program()


class _Writer:
    """Writes one program."""

    def __init__(self, seed: int, size: int, without: Set[str]) -> None:
        self.random = Random(f"program {seed}")
        self.seed, self.size, self.without = seed, size, without
        self.lines: list[str] = []
        self.indent = 1
        self.scope: list[Variable] = []
        self.expressions = Expressions(self.random, self.scope, without)
        self.in_loop = False
        count = self.random.choice((1, 1, 2, 3, 4))
        self.results = [self.kind(*RESULTS) for _ in range(count)]
        self.optional_result = "optional" not in without and self.random.random() < 0.25
        self.count = 0

    def program(self) -> Program:
        """The whole program."""
        kinds = [self.kind(*WEIGHTED) for _ in range(self.random.randint(1, 3))]
        hinted = self.random.random() < 0.9
        makers, heads = [], []
        for place, kind in enumerate(kinds):
            # Two are also names that the generated source has.
            name = ("t", "a", "code")[place]
            optional = hinted and "optional" not in self.without and self.random.random() < 0.3
            makers.append(self.random.choice(PARAMETERS[kind]))
            hint = f"{kind} | None" if optional else kind
            heads.append(f"{name}: {hint}" if hinted else name)
            self.scope.append(Variable(name, kind, optional))
        for _ in range(self.random.randint(1, self.size)):
            self.statement(depth=0)
        self.line(f"return {self.of_results()}")
        name = f"program_{self.seed}"
        hint = ", ".join(self.results)
        hint = f"tuple[{hint}]" if len(self.results) > 1 else hint
        arrow = f" -> {hint}{' | None' if self.optional_result else ''}" if hinted else ""
        head = f"def {name}({', '.join(heads)}){arrow}:"
        return Program("\n".join([head, *self.lines]) + "\n", name, self.seed, tuple(makers))

    def line(self, text: str) -> None:
        self.lines.append(INDENT * self.indent + text)

    def kind(self, *choices: str) -> str:
        return self.expressions.kind(*choices)

    def fresh(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A block: variables that it makes are gone behind it."""
        self.line(head)
        known = len(self.scope)
        self.indent += 1
        yield
        self.indent -= 1
        del self.scope[known:]

    def expression(self, kind: str, depth: int = 3) -> str:
        return self.expressions.of(kind, depth)

    def returned(self) -> str:
        if self.optional_result and self.random.random() < 0.2:
            return "None"
        return self.of_results()

    def of_results(self) -> str:
        """The value that is returned: mostly one that has been computed, lest that be for nothing."""
        parts = []
        for kind in self.results:
            actual = [variable for variable in self.scope if self.is_made(variable, kind)]
            if actual and self.random.random() < 0.7:
                parts.append(self.random.choice(actual[-3:]).name)
            else:
                parts.append(self.expression(kind))
        return ", ".join(parts)

    def is_made(self, variable: Variable, kind: str) -> bool:
        """Whether a variable is of a kind, and none that only loops read."""
        return variable.kind == kind and not variable.optional and not variable.sums

    # Statements

    def statement(self, depth: int) -> None:
        """One statement; deep ones have no blocks of their own."""
        choices = [self.assign, self.assign, self.update]
        if depth < 2:
            choices += [self.branch, self.branch, self.attempt, self.guard, self.walrus, self.match]
            choices += [self.over_range, self.over_items, self.while_, self.mix]
        if depth == 0:
            choices += [self.narrow, self.narrow, self.early, self.unpack, self.build, self.helper]
        if "str" in self.without:
            choices = [choice for choice in choices if choice not in (self.unpack, self.build)]
        if self.without >= {"str", "list[int]", "list[str]"}:
            choices = [choice for choice in choices if choice != self.over_items]
        allowed = [choice for choice in choices if choice.__name__ not in self.without]
        self.random.choice(allowed)(depth)

    def body(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth + 1)

    def assign(self, depth: int) -> None:
        kind = self.kind("int", "int", "float", "bool", "str", "str", *COMPOUND)
        text = self.expression(kind)
        name = self.fresh()
        self.line(f"{name} = {text}")
        self.scope.append(Variable(name, kind))

    def update(self, depth: int) -> None:
        """A new value for a variable; in a loop, only what is made to be added up there."""
        targets = [
            variable
            for variable in self.scope
            if not variable.optional
            and variable.kind in ("int", "float", "str", "bool")
            and variable.sums == self.in_loop
            and not variable.fixed
        ]
        if not targets:
            self.assign(depth)
            return
        variable = self.random.choice(targets)
        text = self.expression(variable.kind, 2)
        if self.in_loop and variable.kind == "int" and self.random.random() < 0.3:
            self.line(f"{variable.name} = ({variable.name} * 31 + {text}) % 1000003")
        elif variable.kind == "bool":
            self.line(f"{variable.name} = {text}")
        else:
            assign = (
                "+="
                if self.in_loop or variable.kind == "str"
                else self.random.choice(("+=", "-=", "="))
            )
            self.line(f"{variable.name} {assign} {text}")

    def branch(self, depth: int) -> None:
        with self.block(f"if {self.condition()}:"):
            self.body(depth)
        if self.random.random() < 0.3:
            with self.block(f"elif {self.condition()}:"):
                self.body(depth)
        if self.random.random() < 0.5:
            with self.block("else:"):
                self.body(depth)

    def walrus(self, depth: int) -> None:
        """A branch on what its condition assigns."""
        name, kind = self.fresh(), self.kind("int", "str")
        text = self.expression(kind, 2)
        test = f"({name} := {text})"
        if kind == "int":
            test += f" {self.random.choice(('<', '>', '!='))} {self.expression('int', 1)}"
        self.scope.append(Variable(name, kind))
        with self.block(f"if {test}:"):
            self.body(depth)

    def match(self, depth: int) -> None:
        if "str" in self.without or self.random.random() < 0.5:
            subject = f"{self.expression('int', 1)} % 4"
            patterns = ["0", "1 | 2", f"n if {self.expression('bool', 1)}"]
        else:
            subject = self.expression("str", 1)
            patterns = ["''", "'river' | 'a' | 'The'", f"w if {self.expression('bool', 1)}"]
        self.line(f"match {subject}:")
        self.indent += 1
        for pattern in [*patterns[: self.random.randint(1, 3)], "_"]:
            with self.block(f"case {pattern}:"):
                self.statement(2)
        self.indent -= 1

    def condition(self) -> str:
        """A condition, which may read what loops add up."""
        with self.expressions.reading_sums():
            return self.expression("bool", 2)

    def guard(self, depth: int) -> None:
        """An early return or, in a loop, its end."""
        if self.in_loop and self.random.random() < 0.7:
            with self.block(f"if {self.condition()}:"):
                self.line(self.random.choice(("break", "continue")))
            return
        self.early(depth)

    def early(self, depth: int) -> None:
        with self.block(f"if {self.condition()}:"):
            self.line(f"return {self.returned()}")

    def narrow(self, depth: int) -> None:
        """A check of a parameter for None, behind which it is none."""
        for place, variable in enumerate(self.scope):
            if variable.optional:
                break
        else:
            self.branch(depth)
            return
        with self.block(f"if {variable.name} is None:"):
            if self.random.random() < 0.5:
                self.line(f"return {self.returned()}")
            else:
                self.line(f"{variable.name} = {self.expression(variable.kind, 1)}")
        self.scope[place] = replace(variable, optional=False)

    def attempt(self, depth: int) -> None:
        """A conversion or a division that may fail, and what then holds."""
        risk, kind, error = self.expressions.risky()
        name = self.fresh()
        with self.block("try:"):
            self.line(f"{name} = {risk}")
        reading = READINGS.get(kind, ()) if "str" not in self.without else ()
        if reading and self.random.random() < 0.5:
            with self.block(f"except {error} as error:"):
                self.line(f"{name} = {self.random.choice(reading)}")
        else:
            with self.block(f"except {error}:"):
                self.line(f"{name} = {self.expression(kind, 1)}")
        if self.random.random() < 0.15:
            with self.block("finally:"):
                self.update(depth)
        self.scope.append(Variable(name, kind))

    def unpack(self, depth: int) -> None:
        first, second = self.fresh(), self.fresh()
        self.line(f"{first}, {second} = {self.expression('int', 2)}, {self.expression('str', 2)}")
        self.scope += [Variable(first, "int"), Variable(second, "str")]

    def build(self, depth: int) -> None:
        """A list, a dictionary or a set made step by step."""
        name, item = self.fresh("made"), self.fresh("item")
        form = self.kind("list[int]", "dict", "set[str]")
        self.line(f"{name} = {EMPTY[form]}")
        with self.loop(f"for {item} in {self.expression('str', 1)}[:12]:"):
            self.scope.append(Variable(item, "str", fixed=True))
            if form == "list[int]":
                self.line(f"{name}.append({self.expression('int', 2)})")
            elif form == "set[str]":
                self.line(f"{name}.add({self.expression('str', 1)})")
            else:
                self.line(f"{name}[{item}] = {name}.get({item}, 0) + {self.expression('int', 1)}")
        self.scope.append(Variable(name, form))

    def helper(self, depth: int) -> None:
        """A nested function and its use."""
        name, argument, used = self.fresh("helper"), self.fresh("x"), self.fresh()
        given, gives = (
            self.kind("int", "str"),
            self.kind("int", "str", "bool"),
        )
        with self.block(f"def {name}({argument}: {given}) -> {gives}:"):
            self.scope.append(Variable(argument, given))
            if self.random.random() < 0.5:
                with self.block(f"if {self.expression('bool', 1)}:"):
                    self.line(f"return {self.expression(gives, 1)}")
            self.line(f"return {self.expression(gives, 2)}")
        self.line(f"{used} = {name}({self.expression(given, 2)})")
        self.scope.append(Variable(used, gives))

    # Loops

    @contextmanager
    def loop(self, head: str) -> Iterator[None]:
        """A loop; variables before the outermost are fixed in it."""
        outer, self.in_loop = self.in_loop, True
        with self.block(head):
            yield
        self.in_loop = outer

    def sums(self) -> None:
        """Variables, before a loop, that it adds up."""
        if self.in_loop:
            return
        for _ in range(self.random.randint(1, 2)):
            name, kind = (
                self.fresh("sum"),
                self.kind("int", "int", "float", "str", "bool"),
            )
            start = {"int": "0", "float": "0.0", "str": "''", "bool": "False"}[kind]
            self.line(f"{name} = {start}")
            self.scope.append(Variable(name, kind, sums=True))

    def after(self, depth: int) -> None:
        """The sum of a loop is a variable like others behind the outermost loop."""
        if self.random.random() < 0.2:
            with self.block("else:"):
                self.statement(2)
        if not self.in_loop:
            self.scope[:] = [replace(variable, sums=False) for variable in self.scope]

    def over_range(self, depth: int) -> None:
        self.sums()
        name = self.fresh("i")
        count = self.random.choice(
            (f"{self.expression('int', 1)} % 6", str(self.random.randint(1, 6)))
        )
        bounds = self.random.choice((count, f"1, {count} + 1", f"{count}, 0, -1", f"0, {count}, 2"))
        with self.loop(f"for {name} in range({bounds}):"):
            self.scope.append(Variable(name, "int", fixed=True))
            self.body(depth)
        self.after(depth)

    def mix(self, depth: int) -> None:
        """A number of which only low bits are read, and which Python lets grow."""
        name = self.fresh("h")
        self.line(f"{name} = {self.expression('int', 1)}")
        with self.block(f"for {self.fresh('i')} in range({self.random.randint(1, 6)}):"):
            text = self.expression("int", 1)
            form = self.random.choice(("{0} = {0} * 33 + {1}", "{0} = ({0} << 5) - {0} ^ {1}"))
            self.line(form.format(name, text))
            if self.random.random() < 0.5:
                self.line(f"{name} *= 1099511628211")
                self.line(f"{name} &= 0xFFFFFFFFFFFFFFFF")
        mask = self.random.choice(("& 0xFFFF", "% 2**32", "& 0x7FFFFFFFFFFFFFFF"))
        self.line(f"{name} = {name} {mask}")
        self.scope.append(Variable(name, "int"))

    def over_items(self, depth: int) -> None:
        self.sums()
        place, name = self.fresh("i"), self.fresh("item")
        over = self.kind("str", "list[str]", "list[int]")
        kind, most = ("int" if over == "list[int]" else "str"), (15 if over == "str" else 5)
        items = f"{self.expression(over, 1)}[:{most}]"
        is_named = "generators" not in self.without and self.random.random() < 0.25
        iterator = self.fresh("left") if is_named else ""
        if iterator:
            self.line(f"{iterator} = {self.random.choice(ITERATORS).format(items)}")
            items = iterator
        if self.random.random() < 0.3:
            head = f"for {place}, {name} in enumerate({items}):"
        else:
            place, head = "", f"for {name} in {items}:"
        with self.loop(head):
            self.scope.append(Variable(name, kind, fixed=True))
            if place:
                self.scope.append(Variable(place, "int", fixed=True))
            if iterator and self.random.random() < 0.6:
                following = self.fresh("item")
                self.line(f"{following} = next({iterator}, {self.expression(kind, 1)})")
                self.scope.append(Variable(following, kind, fixed=True))
            self.body(depth)
        self.after(depth)
        if iterator:
            rest = self.fresh("rest")
            self.line(f"{rest} = list({iterator})")
            self.scope.append(Variable(rest, f"list[{kind}]"))

    def while_(self, depth: int) -> None:
        self.sums()
        name = self.fresh("k")
        self.line(f"{name} = 0")
        with self.loop(f"while {name} < {self.random.randint(1, 6)} and {self.condition()}:"):
            self.line(f"{name} += 1")
            self.scope.append(Variable(name, "int", fixed=True))
            self.body(depth)
        self.after(depth)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares an engine with Python on generated programs; prints those that differ."""
    parser = argparse.ArgumentParser(description="Generated row functions against Python.")
    parser.add_argument("start", type=int, nargs="?", default=0)
    parser.add_argument("stop", type=int, nargs="?", default=100)
    parser.add_argument("--seconds", type=float, help="how long, whatever `stop` says")
    parser.add_argument("--batches", type=int, default=1, help="how many for each program")
    parser.add_argument("--engine", choices=ENGINES, default="colkern")
    parser.add_argument("--size", type=int, default=6)
    parser.add_argument("--without", default="Decimal", help="what not to use, with commas between")
    parser.add_argument("--show", action="store_true", help="print every program, and run none")
    chosen = parser.parse_args(arguments)
    run = ENGINES[chosen.engine]
    without = frozenset(filter(None, chosen.without.split(",")))
    comparisons: list[Comparison] = []
    end = chosen.seconds and monotonic() + chosen.seconds
    for seed in count(chosen.start) if end else range(chosen.start, chosen.stop):
        if end and monotonic() > end:
            break
        program = generated(seed, chosen.size, without)
        if chosen.show:
            print(program.source)
            continue
        for batch in range(chosen.batches):
            comparison = compare(program.case(batch), run)
            comparisons.append(comparison)
            if _differs(comparison) or not comparison.compiled:
                break
        if _differs(comparison):
            if not end:
                program = _smaller(program, run, batch)
                comparison = compare(program.case(batch), run)
            print(f"seed {seed}:\n{program.source}{comparison.why}\n", flush=True)
        elif not comparison.compiled and not end:
            print(f"{program.name}: {comparison.why}", flush=True)
    print(summary(comparisons).splitlines()[0])
    print(summary(comparisons).splitlines()[-1])
    return int(any(map(_differs, comparisons)))


def _smaller(program: Program, run: Run, batch: int) -> Program:
    def differs(source: str) -> bool:
        return _differs(compare(replace(program, source=source).case(batch), run))

    return replace(program, source=smaller(program.source, program.runs, differs))


def _differs(comparison: Comparison) -> bool:
    return comparison.compiled and not comparison.equal


if __name__ == "__main__":
    sys.exit(main())
