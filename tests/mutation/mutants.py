"""Small faults for source text: a flipped comparison, a number off by one, a dropped `not`, …"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}

OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.Div: "*",
    ast.Mod: "//",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "|",
}


@dataclass(frozen=True)
class Mutant:
    """One changed place of a file.

    Args:
        path: The file, from the root of the repository on.
        line: Where the place begins.
        begin, end: The bytes that are replaced.
        before, after: What they are, and what they become.
    """

    path: str
    line: int
    begin: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.line}: {before}  ->  {after}"

    def applied(self, source: bytes) -> bytes:
        """The text of the file with the fault."""
        return source[: self.begin] + self.after.encode() + source[self.end :]


class Source:
    """A file, and the places in it that can be changed."""

    def __init__(self, path: str, text: bytes) -> None:
        self.path = path
        self.text = text

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def mutants(self) -> list[Mutant]:
        """All mutants of the file."""
        return list(self._of(ast.parse(self.text)))

    def _of(self, node: ast.AST) -> Iterator[Mutant]:
        yield from self._here(node)
        for name, value in ast.iter_fields(node):
            # Annotations are no behaviour.
            if name in ("annotation", "returns", "type_params"):
                continue
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self._of(child)

    def _here(self, node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield self._joined(left, COMPARISONS[type(op)], right)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                yield self._joined(left, OPERATORS[type(op)], right)
            case ast.BoolOp(op=op, values=[*_, left, right]):
                yield self._joined(left, "or" if isinstance(op, ast.And) else "and", right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield self._replaced(node, self._text(operand))
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield self._replaced(test, f"(not ({self._text(test)}))")
            case ast.Constant(value=bool(value)):
                yield self._replaced(node, str(not value))
            case ast.Constant(value=int(value)):
                yield self._replaced(node, str(value + 1))
                yield self._replaced(node, f"({value - 1})")

    def _joined(self, left: ast.expr, operator: str, right: ast.expr) -> Mutant:
        """The operator between two operands is replaced, but not their parentheses."""
        begin, end = self._span(left)[1], self._span(right)[0]
        between = self.text[begin:end].decode()
        closing = between[: len(between) - len(between.lstrip(") \n"))]
        opening = between[len(between.rstrip("( \n")) :]
        return self._mutant(left, begin, end, f"{closing} {operator} {opening}")

    def _replaced(self, node: ast.expr, text: str) -> Mutant:
        return self._mutant(node, *self._span(node), text)

    def _mutant(self, node: ast.expr, begin: int, end: int, after: str) -> Mutant:
        before = self.text[begin:end].decode()
        return Mutant(self.path, node.lineno, begin, end, before, after)

    def _text(self, node: ast.expr) -> str:
        begin, end = self._span(node)
        return self.text[begin:end].decode()

    def _span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = self._line_starts[node.lineno - 1] + node.col_offset
        return begin, self._line_starts[node.end_lineno - 1] + node.end_col_offset


def chosen(root: Path, count: int, seed: int, package: str = "colkern") -> list[Mutant]:
    """So many mutants of a package, at random: of each file as many as its lines let expect."""
    sources = [
        Source(path.relative_to(root).as_posix(), path.read_bytes())
        for path in sorted((root / package).rglob("*.py"))
    ]
    rng = random.Random(seed)
    weights = [source.text.count(b"\n") for source in sources]
    mutants: list[Mutant] = []
    while len(mutants) < count:
        (source,) = rng.choices(sources, weights)
        if (places := source.mutants()) and (mutant := rng.choice(places)) not in mutants:
            mutants.append(mutant)
    return mutants
