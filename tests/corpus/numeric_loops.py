"""Row functions that loop over numbers."""

from __future__ import annotations

import math

from . import values
from .case import case

PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31]
COEFFICIENTS = (1.5, -2.0, 0.25, 3.0)


@case(
    rows=[values.between(1, 0, 5000), values.between(2, 0, 5000)], covers="while, tuple assignment"
)
def gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


@case(rows=[values.integers(3), values.integers(4)], covers="math.gcd, division, extremes")
def lcm(a: int, b: int) -> int:
    if a == 0 or b == 0:
        return 0
    return abs(a) // math.gcd(a, b) * abs(b)


@case(rows=[values.between(5, 1, 3000)], covers="while with two branches")
def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@case(rows=[values.reals(6, 0, 1e6, (-1.0,))], covers="Newton, for with break, abs")
def square_root(x: float) -> float:
    if x <= 0:
        return 0.0
    guess = x
    for _ in range(60):
        better = (guess + x / guess) / 2
        if abs(better - guess) < 1e-12 * guess:
            break
        guess = better
    return guess


@case(rows=[values.between(7, -2, 5000)], covers="for/else, range with a step, isqrt")
def is_prime(n: int) -> bool:
    if n < 2 or n % 2 == 0:
        return n == 2
    for d in range(3, math.isqrt(n) + 1, 2):
        if n % d == 0:
            break
    else:
        return True
    return False


@case(rows=[values.between(8, 1, 10000)], covers="while/else, list of factors")
def factors(n: int) -> list[int]:
    actual = []
    d = 2
    while d * d <= n:
        while n % d == 0:
            actual.append(d)
            n //= d
        d += 1
    if n > 1:
        actual.append(n)
    return actual


@case(rows=[values.between(9, 0, 100)], covers="Fibonacci past 64 bits")
def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@case(rows=[values.between(10, 0, 22)], covers="product loop past 64 bits")
def factorial(n: int) -> int:
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


@case(rows=[values.integers(11)], covers="digits by str and sum")
def digit_sum(n: int) -> int:
    return sum(int(d) for d in str(abs(n)))


@case(rows=[values.integers(12)], covers="digital root, while nested")
def digital_root(n):
    n = abs(n)
    while n >= 10:
        total = 0
        while n:
            total += n % 10
            n //= 10
        n = total
    return n


@case(rows=[values.reals(13, -2, 2)], covers="Horner over a constant tuple, reversed")
def polynomial(x: float) -> float:
    result = 0.0
    for c in reversed(COEFFICIENTS):
        result = result * x + c
    return result


@case(
    rows=[values.reals(14, -2, 1), values.reals(15, -1.2, 1.2)], covers="Mandelbrot, early return"
)
def escape(cr: float, ci: float) -> int:
    x = y = 0.0
    for n in range(50):
        if x * x + y * y > 4:
            return n
        x, y = x * x - y * y + cr, 2 * x * y + ci
    return 50


@case(rows=[values.between(16, 0, 60), values.between(17, 0, 9)], covers="pow with modulus")
def modular(base: int, exponent: int) -> int:
    return pow(base, exponent, 1_000_007)


@case(rows=[values.between(18, -20, 20), values.between(19, 0, 14)], covers="int ** int")
def power(base: int, exponent: int) -> int:
    return base**exponent


@case(rows=[values.integers(20)], covers="int.bit_count, bit_length, shifts, masks")
def bits(n: int) -> int:
    return (n & 0xFF).bit_count() * 100 + n.bit_length() + (n >> 3 & 1)


@case(
    rows=[values.integers(21), values.integers(22)],
    covers="// and % with negative operands",
    raises=True,
)
def quotient(a: int, b: int) -> int:
    return a // b * 10 + a % b


@case(rows=[values.floats(23), values.floats(24)], covers="float // and %", raises=True)
def remainder(a: float, b: float) -> float:
    return a % b + a // b


@case(rows=[values.reals(25, 0, 3)], covers="bisection, while with a tolerance")
def cube_root(x: float) -> float:
    low, high = 0.0, 3.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if middle**3 < x:
            low = middle
        else:
            high = middle
    return round(low, 6)


@case(rows=[values.reals(26, -3, 3)], covers="Taylor series, continue, float of int")
def sine(x: float) -> float:
    term, total = x, 0.0
    for n in range(1, 30):
        if n % 2 == 0:
            continue
        total += term
        term = -term * x * x / ((n + 1) * (n + 2))
    return total


@case(rows=[values.between(27, 0, 200)], covers="nested loops, count, any over constant list")
def smooth(n: int) -> bool:
    rest = n
    for p in PRIMES:
        while rest and rest % p == 0:
            rest //= p
    return rest == 1 and not any(n % (p * p) == 0 for p in PRIMES[:3])


@case(rows=[values.number_lists(28)], covers="largest sum of neighbours, max of two")
def best_run(numbers: list[int]) -> int:
    best = current = 0
    for n in numbers:
        current = max(n, current + n)
        best = max(best, current)
    return best


@case(rows=[values.floats(29)], covers="math.floor, ceil, trunc, isfinite")
def rounded_ways(x: float) -> int:
    if not math.isfinite(x) or abs(x) > 1e9:
        return 0
    return math.floor(x) + math.ceil(x) * 10 + math.trunc(x) * 100


@case(
    rows=[values.floats(30)],
    covers="math.sqrt, log, exp that raise ValueError, OverflowError",
    raises=True,
)
def scaled(x: float) -> float:
    return math.exp(x / 10) + math.sqrt(abs(x))


@case(
    rows=[values.integers(31), values.floats(32)],
    covers="int and float comparison, mixed arithmetic",
)
def compared(i: int, x: float) -> float:
    if i > x:
        return i - x
    return x * 0.5 if x == x else -1.0


@case(rows=[values.integers(33)], covers="int / int, float of a large int")
def half(n: int) -> float:
    return n / 2 + float(n) / 4


@case(rows=[values.floats(34), values.flags(34)], covers="sign, copysign, bool as a number")
def signed(x: float, up: bool) -> float:
    return math.copysign(1.5, x) * (1 + up)


@case(
    rows=[values.between(35, 0, 10**6), values.between(36, 1, 12)],
    covers="no hints, nested while, base conversion",
)
def to_base(number, base):
    if base < 2:
        return "1" * (number % 7)
    out = ""
    while True:
        out = "0123456789ab"[number % base] + out
        number //= base
        if number == 0:
            return out


@case(
    rows=[values.reals(37, -5, 5), values.reals(38, -5, 5)], covers="complex by hand, ** 0.5, trig"
)
def polar(x: float, y: float) -> tuple[float, float]:
    return (x**2 + y**2) ** 0.5, math.atan2(y, x)
