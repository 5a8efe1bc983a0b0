"""A machine for the PTX that kernels compile to: proves what a GPU would compute, without one.

Each thread of a block is a Python generator, made from the PTX's text, that stops at barriers. Addresses
are those of this process, and every access is checked: it must be aligned, and within one of the
allocations that the machine was told of. What an operation means is in the PTX ISA's manual; one that
no kernel has needed yet raises `NotImplementedError`.
"""

from __future__ import annotations

import ctypes
import math
import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from typing import Any

from cuda.races import Races

Allocation = tuple[int, int]
"""The address of the first byte, and past the last one."""

Load = Callable[[int], Any]

_LABEL = re.compile(r"^(\$L\w+):")
_INSTRUCTION = re.compile(r"^(?:@(!?)%(p\d+)\s+)?([a-z0-9_.:]+)\s*(.*?);$", re.S)
_PARAMETER = re.compile(r"\.param \.(\w+) (\w+)")
_SYMBOL = re.compile(
    r"\.(shared|global|local)\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(\w+)(?:\[(\d+)\])?"
)
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNORDERED = {"equ": "==", "neu": "!=", "ltu": "<", "leu": "<=", "gtu": ">", "geu": ">="}
_UNSIGNED_COMPARISONS = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_END = -1
"""The place of a thread that has ended."""

_C_TYPES = {
    **{f"u{8 * n}": getattr(ctypes, f"c_uint{8 * n}") for n in (1, 2, 4, 8)},
    **{f"b{8 * n}": getattr(ctypes, f"c_uint{8 * n}") for n in (1, 2, 4, 8)},
    **{f"s{8 * n}": getattr(ctypes, f"c_int{8 * n}") for n in (1, 2, 4, 8)},
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


class Memory:
    """The memory that a kernel may touch.

    Args:
        allocations: The memory of its arrays. A GPU's allocations begin and end at multiples of far
            more than eight bytes, so the words at their ends are within them.
    """

    def __init__(self, allocations: list[Allocation]) -> None:
        self._ranges = sorted((begin & -8, (end + 7) & -8) for begin, end in allocations)
        self._begins = [begin for begin, _ in self._ranges]

    def place(self, kind: str, address: int) -> Any:
        """The number of that PTX type at an address, as ctypes has it."""
        c_type = _C_TYPES[kind]
        size = ctypes.sizeof(c_type)
        at = bisect_right(self._begins, address) - 1
        if at < 0 or address + size > self._ranges[at][1]:
            raise MemoryError(f"{kind} at {address:#x}, which is in no array")
        if address % size:
            raise MemoryError(f"{kind} at {address:#x}, which is not aligned")
        return c_type.from_address(address)


class Kernel:
    """The kernel of a PTX module.

    Args:
        text: The module.
        followed: Whether whoever looks on is told of each basic block that a thread comes to.
    """

    def __init__(self, text: str, followed: bool = False) -> None:
        text = re.sub(r"//[^\n]*", "", text)
        head, _, rest = text.partition(".entry")
        signature, _, body = rest.partition("{")
        self.parameters = _PARAMETER.findall(signature)
        code = body.rpartition("}")[0]
        matches = _SYMBOL.findall(head + code)
        self._sizes = {
            name: int(count or 1) * (int(kind[1:]) // 8) for _, kind, name, count in matches
        }
        self._locals = {name for space, _, name, _ in matches if space == "local"}
        places = {name: k for k, (_, name) in enumerate(self.parameters)}
        source = _Source(places, set(self._sizes), followed)
        text = source.of(code)
        self.blocks = source.blocks
        namespace: dict[str, Any] = {"math": math, "addressof": ctypes.addressof, **_HELPERS}
        exec(compile(text, "<PTX>", "exec"), namespace)
        self._thread = namespace["thread"]

    def launch(
        self,
        blocks: int,
        threads: int,
        values: list[Any],
        memory: list[Allocation],
        races: Races | None = None,
    ) -> None:
        """Run the grid, one block after the other; `values` are the parameters'; `races` looks on."""
        assert len(values) == len(self.parameters), (len(values), self.parameters)
        for block in range(blocks):
            if races is not None:
                races.begin(block, threads)
            passing: list[Any] = []
            shared = self._memory(self._sizes.keys() - self._locals)
            running, shown = [], [0] * threads
            for thread in range(threads):
                symbols = shared | self._memory(self._locals)
                own = [
                    (ctypes.addressof(b), ctypes.addressof(b) + ctypes.sizeof(b))
                    for b in symbols.values()
                ]
                passing += symbols.values()
                at = Memory([*memory, *own]).place
                accesses = (at, at) if races is None else races.accesses(thread, at)
                visit = None if races is None else races.visits(thread)
                place = (thread, threads, block, blocks)
                running.append(self._thread(values, symbols, at, *accesses, visit, shown, *place))
            _run(running, races)
            if races is not None:
                for symbol in passing:
                    races.forget(symbol)

    def _memory(self, names: Collection[str]) -> dict[str, Any]:
        """Memory for the symbols of a block or of a thread; in whole words, so that it is aligned."""
        return {name: (ctypes.c_uint64 * -(-self._sizes[name] // 8))() for name in names}


def _run(threads: list[Iterator[int | None]], races: Races | None) -> None:
    """Run the threads of a block, which tell at each barrier which threads of their warp are to come.

    None stands for all threads of the block; they stay there until all that have not ended have come.
    A complement stands for threads that show each other registers, which orders nothing in memory.
    """
    running = dict(enumerate(threads))
    waiting: dict[int, Iterator[int | None]] = {}
    while running:
        stopped = {number: next(thread, _END) for number, thread in running.items()}
        joined: set[int] = set()
        for number, lanes in stopped.items():
            if lanes is None:
                waiting[number] = running[number]
            elif lanes is not _END:
                first = number & -32
                mask = lanes if lanes >= 0 else ~lanes
                group = {first + lane for lane in range(32) if mask >> lane & 1}
                if any(stopped.get(other, _END) != lanes for other in group | {number}):
                    raise RuntimeError(f"thread {number} waits for {group}, not all of which come")
                if races is not None and lanes >= 0 and number not in joined:
                    races.join(group)
                    joined |= group
        running = {n: running[n] for n, lanes in stopped.items() if lanes not in (None, _END)}
        if not running:
            if races is not None:
                races.join(waiting)
            running, waiting = waiting, {}


class _Source:
    """Python's source of one thread.

    blocks: The instructions of each basic block.
    """

    def __init__(self, parameters: dict[str, int], symbols: set[str], followed: bool) -> None:
        self._parameters = parameters
        self._symbols = symbols
        self._followed = followed
        self.blocks: list[list[str]] = [[]]

    def of(self, code: str) -> str:
        blocks: list[list[str]] = [[]]
        labels: dict[str, int] = {}

        def begin() -> None:
            blocks.append([])
            self.blocks.append([])

        statements = []
        for line in self._lines(code):
            if result := _LABEL.match(line):
                statements.append(("label", result[1]))
                continue
            statements.append(("instruction", line))
        for what, text in statements:
            if what == "label":
                begin()
                labels[text] = len(blocks) - 1
            else:
                blocks[-1] += self._statement(text)
                self.blocks[-1].append(text)
                if " bra" in f" {text}":
                    begin()
        lines = [
            "def thread(P, S, at, read, write, visit, shown, tid, ntid, ctaid, nctaid):",
            " go = 0",
            " while True:",
        ]
        for number, block in enumerate(blocks):
            lines.append(f"  if go <= {number}:")
            lines += [f"   visit({number})"] if self._followed else []
            lines += [f"   {line}" for line in block] or ["   pass"]
        # A function without a barrier is a generator, too.
        text = "\n".join([*lines, "  return", "  yield"])
        # A label is known by its number only once all blocks are there.
        return re.sub(r"@(\$L\w+)@", lambda result: str(labels[result[1]]), text)

    def _lines(self, code: str) -> Iterator[str]:
        for statement in re.split(r"(?<=;)|(?<=:)\n", code):
            # A scope of registers of its own begins or ends.
            line = " ".join(statement.split()).lstrip("{} ")
            while result := _LABEL.match(line):
                yield result[0]
                line = line[result.end() :].strip()
            if line and not line.startswith(
                (".reg", ".pragma", ".shared", ".local", ".loc", ".file")
            ):
                yield line

    def _statement(self, line: str) -> list[str]:
        result = _INSTRUCTION.match(line)
        if result is None:
            raise NotImplementedError(line)
        negated, predicate, name, rest = result.groups()
        matches = self._made(name, [p.strip() for p in re.split(r",(?![^{]*\})", rest)], line)
        if not predicate:
            return matches
        return [f"if {'not ' if negated else ''}{predicate}:", *(f" {part}" for part in matches)]

    def _value(self, text: str) -> str:
        """An operand as an expression."""
        special = {"%tid.x": "tid", "%ntid.x": "ntid", "%ctaid.x": "ctaid", "%nctaid.x": "nctaid"}
        if text in special:
            return special[text]
        if text[:-1] in ("%tid.", "%ctaid."):
            return "0"
        if text[:-1] in ("%ntid.", "%nctaid."):
            return "1"
        if text.startswith("%"):
            if not re.fullmatch(r"%[A-Za-z]\w*", text):
                raise NotImplementedError(text)
            return text[1:]
        if text.startswith("0d"):
            return repr_float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
        if text.startswith("0f"):
            return repr_float(struct.unpack(">f", bytes.fromhex(text[2:]))[0])
        if text in self._symbols:
            return f"addressof(S[{text!r}])"
        return str(int(text, 0))

    def _address(self, text: str) -> str:
        base, sign, offset = re.fullmatch(
            r"\[([^+\]]+)(\+?)(-?\d*)\]", text.replace(" ", "")
        ).groups()  # type: ignore[union-attr]
        return f"{self._value(base)} + {offset}" if sign else self._value(base)

    def _made(self, name: str, operands: list[str], line: str) -> list[str]:
        op, *mods = name.split(".")
        kind = mods[-1] if mods else ""
        if op == "ret" or op == "exit":
            return ["return"]
        if op == "bra":
            return [f"go = @{operands[0]}@", "continue"]
        if op in ("bar", "barrier"):
            # `bar.warp.sync` is followed by a mask of threads.
            lanes = f"({self._value(operands[0])}) & 0xFFFFFFFF" if "warp" in mods else None
            return [f"yield {lanes}"]
        if op == "shfl":
            return self._shuffle(operands, mods)
        if op == "ld" and "param" in mods:
            return [f"{operands[0][1:]} = P[{self._parameters[operands[1][1:-1]]}]"]
        if op == "ld":
            return self._load(operands, kind, self._address(operands[1]))
        if op == "st":
            return self._store(operands, kind, self._address(operands[0]))
        if op == "atom":
            return self._atom(operands, mods, kind)
        target, *given = operands
        if op == "mov" and kind == "b64" and "{" in line and "{" not in given[0]:
            # The halves of a register, of which `_` is not wanted.
            low, high = target.strip("{}").split(",")
            halves = zip((low.strip(), high.strip()), (0, 32), strict=True)
            value = _reinterpreted(self._value(given[0]), "rd", given[0][1:])
            return [f"{t[1:]} = ({value} >> {k}) & 0xFFFFFFFF" for t, k in halves if t != "_"]
        if op == "mov" and kind == "b64" and "{" in line:
            low, high = (self._value(part.strip()) for part in given[0].strip("{}").split(","))
            return [f"{target[1:]} = {_reinterpreted(f'{low} | {high} << 32', target[1:], 'rd')}"]
        if "{" in line:
            raise NotImplementedError(line)
        values = [self._value(operand) for operand in given]
        if op == "cvt":
            return [f"{target[1:]} = {_converted(values[0], mods, line)}"]
        if op in ("mov", "cvta") and kind[0] == "b" and target[1] != given[0][1]:
            return [f"{target[1:]} = {_reinterpreted(values[0], target[1:], given[0][1:])}"]
        expression = _expression(op, mods, kind, values, line)
        return [f"{target[1:]} = {_masked(expression, op, mods, kind)}"]

    def _load(self, operands: list[str], kind: str, address: str) -> list[str]:
        targets = operands[0].strip("{}").split(",")
        size = ctypes.sizeof(_C_TYPES[kind])
        bits = 64 if targets[0].strip().startswith("%rd") else 32
        results = []
        for k, target in enumerate(targets):
            value = f"read({kind!r}, {address} + {k * size}).value"
            if kind[0] == "s":
                value += f" & {(1 << bits) - 1}"
            results.append(f"{target.strip()[1:]} = {value}")
        return results

    def _store(self, operands: list[str], kind: str, address: str) -> list[str]:
        values = [self._value(v.strip()) for v in operands[1].strip("{}").split(",")]
        size = ctypes.sizeof(_C_TYPES[kind])
        return [
            f"write({kind!r}, {address} + {k * size}).value = {value}"
            for k, value in enumerate(values)
        ]

    def _shuffle(self, operands: list[str], mods: list[str]) -> list[str]:
        """The register of the thread of the warp whose number differs in some bits."""
        if "bfly" not in mods:
            raise NotImplementedError(mods)
        target, value, away, _, mask = operands
        wait = f"yield ~(({self._value(mask)}) & 0xFFFFFFFF)"
        shows = f"shown[tid] = {self._value(value)}"
        # The second time, so that nobody shows the next one before all have seen this one.
        return [
            shows,
            wait,
            f"{target.partition('|')[0][1:]} = shown[tid ^ {self._value(away)}]",
            wait,
        ]

    def _atom(self, operands: list[str], mods: list[str], kind: str) -> list[str]:
        """Threads run one after the other, so that what one does to memory is not interrupted."""
        choose = next(mod for mod in mods if mod in ("min", "max"))
        place = f"at({kind!r}, {self._address(operands[1])})"
        given = _of_kind(self._value(operands[2]), kind)
        return [
            f"{operands[0][1:]} = {place}.value",
            f"{place}.value = {choose}({operands[0][1:]}, {given})",
        ]


def repr_float(number: float) -> str:
    return f"float({str(number)!r})"


def _bits(kind: str) -> int:
    return 1 if kind == "pred" else int(kind[1:])


def _signed(value: str, bits: int) -> str:
    """The number of a register's lowest bits in two's complement."""
    mask, sign = (1 << bits) - 1, 1 << bits - 1
    return f"((({value}) & {mask} ^ {sign}) - {sign})"


def _of_kind(value: str, kind: str) -> str:
    if kind[0] == "s":
        return _signed(value, _bits(kind))
    if kind[0] in "ub":
        return f"(({value}) & {(1 << _bits(kind)) - 1})"
    return value


def _masked(expression: str, op: str, mods: list[str], kind: str) -> str:
    """The value cut to the register that is written; predicates and floating-point numbers as they are."""
    if op in ("setp", "testp") or kind == "pred":
        return expression
    if kind[0] == "f":
        return f"single({expression})" if kind == "f32" else expression
    bits = _bits(kind) * (2 if "wide" in mods else 1)
    return f"({expression}) & {(1 << bits) - 1}"


# Whose lowest bits follow from those of the operands alone.
_MODULAR = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "and": "{} & {}",
    "or": "{} | {}",
    "xor": "{} ^ {}",
    "neg": "-{}",
    "not": "~{}",
}
_ARITHMETIC = {
    "abs": "abs({})",
    "min": "min({}, {})",
    "max": "max({}, {})",
    "rem": "math.fmod({}, {})",
}


def _expression(op: str, mods: list[str], kind: str, values: list[str], line: str) -> str:
    if op in ("mov", "cvta"):
        # A predicate is set by -1.
        return f"bool({values[0]})" if kind == "pred" else values[0]
    if kind == "pred":
        logic = {"and": "{} and {}", "or": "{} or {}", "xor": "{} != {}", "not": "not {}"}
        return logic[op].format(*values)
    if op == "setp":
        return _comparison(mods[0], [_of_kind(value, kind) for value in values], kind, line)
    if op == "selp":
        return f"{values[0]} if {values[2]} else {values[1]}"
    if op in _MODULAR and "hi" not in mods and "wide" not in mods:
        return _MODULAR[op].format(*values)
    typed = [_of_kind(value, kind) for value in values]
    floating = kind[0] == "f"
    if op == "shl":
        return f"({typed[0]} << {values[1]} if {values[1]} < {_bits(kind)} else 0)"
    if op == "shr":
        return f"({typed[0]} >> min({values[1]}, {_bits(kind)}))"
    if op == "div":
        return ("quotient({}, {})" if floating else "divided({}, {})").format(*typed)
    if op == "rem" and not floating:
        return "remainder({}, {})".format(*typed)
    if op in ("min", "max") and floating:
        return f"{op}_number({typed[0]}, {typed[1]})"
    if op == "mul":
        product = "{} * {}".format(*typed)
        return f"({product}) >> {_bits(kind)}" if "hi" in mods else product
    if op in ("mad", "fma"):
        return "fused({}, {}, {})".format(*typed) if floating else "{} * {} + {}".format(*typed)
    if op == "copysign":
        return "math.copysign({1}, {0})".format(*typed)
    if op in ("popc", "clz", "brev", "bfi", "bfe", "prmt", "sqrt", "rcp"):
        return f"{op}({', '.join(typed)}, bits={_bits(kind)})"
    if op in _ARITHMETIC:
        return _ARITHMETIC[op].format(*typed)
    raise NotImplementedError(line)


def _comparison(how: str, values: list[str], kind: str, line: str) -> str:
    left, right = values
    if how in _COMPARISONS:
        # A NaN is not even unequal, in PTX.
        ordered = f" and {left} == {left} and {right} == {right}" if kind[0] == "f" else ""
        return f"({left} {_COMPARISONS[how]} {right}{ordered})"
    if how in _UNSIGNED_COMPARISONS:
        return f"({left} {_UNSIGNED_COMPARISONS[how]} {right})"
    if how in _UNORDERED:
        return f"({left} {_UNORDERED[how]} {right} or {left} != {left} or {right} != {right})"
    if how in ("num", "nan"):
        return f"(({left} == {left} and {right} == {right}) is {how == 'num'})"
    raise NotImplementedError(line)


def _converted(value: str, mods: list[str], line: str) -> str:
    """A `cvt`: its last two modifiers are the types."""
    to, of = mods[-2:]
    if to[0] == of[0] == "f":
        whole = {"rni": "round_even({})", "rzi": "whole(math.trunc, {})"}
        whole |= {"rmi": "whole(math.floor, {})", "rpi": "whole(math.ceil, {})"}
        result = next((whole[m].format(value) for m in mods if m in whole), value)
        return f"single({result})" if to == "f32" else result
    if to[0] == "f":
        result = f"float({_of_kind(value, of)})"
        return f"single({_of_kind(value, of)})" if to == "f32" else result
    if of[0] == "f":
        return f"integer({value}, {to!r}, {mods[0]!r})"
    return f"{_of_kind(value, of)} & {(1 << _bits(to)) - 1}"


def _reinterpreted(value: str, target: str, source: str) -> str:
    codes = {"fd": "d", "f": "f", "rd": "Q", "r": "I", "rs": "H"}
    to, of = (codes[re.match(r"[a-z]+", name)[0]] for name in (target, source))  # type: ignore[index]
    return value if to in "QIH" and of in "QIH" else f"reinterpreted({value}, {of!r}, {to!r})"


# What the generated code calls.


def divided(left: int, right: int) -> int:
    """Towards zero; a division by zero has some result on a GPU, and no trap."""
    return int(abs(left) // abs(right)) * (1 if (left < 0) == (right < 0) else -1) if right else -1


def remainder(left: int, right: int) -> int:
    return left - divided(left, right) * right if right else left


def quotient(left: float, right: float) -> float:
    if right == 0 and not math.isnan(right):
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1, right)
    return left / right


def single(number: float) -> float:
    """The nearest float32."""
    return ctypes.c_float(number).value


def integer(number: float, kind: str, rounding: str) -> int:
    """As PTX converts: to the nearest that the type has, a NaN to 0."""
    if math.isnan(number):
        return 0
    bits, signed = _bits(kind), kind[0] == "s"
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if math.isinf(number):
        return (high if number > 0 else low) & ((1 << bits) - 1)
    ways: dict[str, Callable[[float], int]] = {
        "rzi": math.trunc,
        "rni": round,
        "rmi": math.floor,
        "rpi": math.ceil,
    }
    how = ways[rounding]
    return min(max(how(number), low), high) & ((1 << bits) - 1)


def whole(how: Callable[[float], int], number: float) -> float:
    result = float(how(number)) if math.isfinite(number) else number
    return math.copysign(result, number)


def round_even(number: float) -> float:
    return whole(round, number)


def min_number(left: float, right: float) -> float:
    """The other one where one is NaN."""
    return right if math.isnan(left) else left if math.isnan(right) else min(left, right)


def max_number(left: float, right: float) -> float:
    return right if math.isnan(left) else left if math.isnan(right) else max(left, right)


def fused(left: float, right: float, more: float) -> float:
    from fractions import Fraction

    if not all(map(math.isfinite, (left, right, more))):
        return left * right + more
    exact = Fraction(left) * Fraction(right) + Fraction(more)
    return float(exact) if exact else left * right + more


def reinterpreted(value: Any, of: str, to: str) -> Any:
    return struct.unpack(f"<{to}", struct.pack(f"<{of}", value))[0]


def popc(value: int, bits: int) -> int:
    return value.bit_count()


def clz(value: int, bits: int) -> int:
    return bits - value.bit_length()


def brev(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def bfi(field: int, into: int, position: int, length: int, bits: int) -> int:
    mask = ((1 << (length & 255)) - 1) << (position & 255)
    return into & ~mask | field << (position & 255) & mask


def bfe(value: int, position: int, length: int, bits: int) -> int:
    return value >> (position & 255) & ((1 << (length & 255)) - 1)


def prmt(low: int, high: int, selector: int, bits: int) -> int:
    """Bytes of two words; the highest bit of a selector repeats the byte's sign."""
    both = low | high << 32
    result = 0
    for k in range(4):
        chosen = selector >> 4 * k & 15
        byte = both >> 8 * (chosen & 7) & 255
        result |= ((255 if byte & 128 else 0) if chosen & 8 else byte) << 8 * k
    return result


def sqrt(number: float, bits: int) -> float:
    return math.sqrt(number) if number >= 0 else math.nan


def rcp(number: float, bits: int) -> float:
    return quotient(1.0, number)


_HELPERS = {
    function.__name__: function
    for function in (
        divided,
        remainder,
        quotient,
        single,
        integer,
        whole,
        round_even,
        min_number,
        max_number,
        fused,
        reinterpreted,
        popc,
        clz,
        brev,
        bfi,
        bfe,
        prmt,
        sqrt,
        rcp,
    )
}
