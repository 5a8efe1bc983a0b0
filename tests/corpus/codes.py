"""Row functions over codes: check digits and look-ups."""

from __future__ import annotations

import operator
import re
import string
from enum import Enum, IntEnum

from . import values
from .case import case

CONTINENTS = {"DE": "Europe", "FR": "Europe", "GB": "Europe", "US": "America", "JP": "Asia"}
EURO = {"DE", "FR", "IT", "ES"}
SWISS = ("CH", "LI")
MORSE = {"S": "...", "O": "---", "E": ".", "T": "-", "A": ".-", "N": "-."}
VOWELS = frozenset("aeiou")
COMPLEMENT = {"A": "T", "C": "G", "G": "C", "T": "A"}
UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


CRC_64 = [(byte * 0xC96C5795D7870F42 ^ byte << 56) & 0xFFFFFFFFFFFFFFFF for byte in range(256)]


class Size(Enum):
    SMALL = "S"
    MEDIUM = "M"
    LARGE = "L"


class Priority(IntEnum):
    LOW = 1
    NORMAL = 5
    URGENT = 9


@case(rows=[values.countries(1)], covers="dict.get, strip, upper")
def continent(code: str) -> str:
    return CONTINENTS.get(code.strip().upper(), "elsewhere")


@case(rows=[values.countries(2)], covers="set and tuple membership")
def currency_of(code: str) -> str:
    if code in EURO:
        return "EUR"
    if code in SWISS:
        return "CHF"
    return "other"


@case(rows=[values.countries(3)], covers="nested dict, subscript twice, KeyError", raises=True)
def capital(code: str) -> str:
    known = {"DE": ("Berlin", 3.7), "FR": ("Paris", 2.1), "US": ("Washington", 0.7)}
    known.update({"GB": ("London", 8.9), "JP": ("Tokyo", 14.0), "CH": ("Bern", 0.1)})
    return known[code.upper().strip()][0]


@case(rows=[values.cards(4)], covers="Luhn: reversed, enumerate, isdigit")
def luhn(number: str) -> bool:
    digits = number.replace(" ", "")
    if not digits.isdigit():
        return False
    total = 0
    for i, ch in enumerate(reversed(digits)):
        d = int(ch)
        if i % 2 == 1:
            d *= 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0


@case(rows=[values.cards(5)], covers="startswith tuple, len, in range")
def card_brand(number: str) -> str:
    number = number.replace(" ", "")
    if number.startswith("4") and len(number) in (13, 16):
        return "visa"
    if number[:2] in ("51", "52", "53", "54", "55") and len(number) == 16:
        return "mastercard"
    if number.startswith(("34", "37")) and len(number) == 15:
        return "amex"
    return "unknown"


@case(rows=[values.cards(6)], covers="negative slices, repetition, join of groups")
def masked_card(number: str) -> str:
    hidden = "*" * max(len(number) - 4, 0) + number[-4:]
    return " ".join(hidden[i : i + 4] for i in range(0, len(hidden), 4))


@case(rows=[values.ibans(7)], covers="IBAN: rotate, ord of letters, big integer modulo")
def iban(text: str) -> bool:
    text = text.replace(" ", "").upper()
    if len(text) < 5 or not text.isalnum() or not text.isascii():
        return False
    digits = "".join(str(int(ch, 36)) for ch in text[4:] + text[:4])
    return int(digits) % 97 == 1


@case(rows=[values.ibans(8)], covers="running remainder, ord")
def iban_remainder(text: str) -> int:
    rest = 0
    moved = text.replace(" ", "")
    for ch in moved[4:] + moved[:4]:
        if ch in string.digits:
            rest = (rest * 10 + ord(ch) - 48) % 97
        elif "A" <= ch <= "Z":
            rest = (rest * 100 + ord(ch) - 55) % 97
        else:
            return -1
    return rest


@case(rows=[values.isbns(9)], covers="enumerate, conditional, generator sum")
def isbn10(number: str) -> bool:
    number = number.replace("-", "").upper()
    if len(number) != 10 or not number[:9].isdecimal() or number[9] not in "0123456789X":
        return False
    total = sum((10 - i) * (10 if c == "X" else int(c)) for i, c in enumerate(number))
    return total % 11 == 0


@case(rows=[values.eans(10)], covers="slices with a step, map int, sum", raises=True)
def ean13(number: str) -> bool:
    if len(number) != 13:
        raise ValueError(f"expected 13 digits, got {len(number)}")
    odd = sum(map(int, number[::2]))
    even = sum(map(int, number[1::2]))
    return (odd + 3 * even) % 10 == 0


@case(rows=[values.strands(11)], covers="dict subscript in a join, reversed slice", raises=True)
def reverse_complement(strand: str) -> str:
    return "".join(COMPLEMENT[base] for base in strand[::-1])


@case(rows=[values.strands(12)], covers="count, float division guarded")
def gc_content(strand: str) -> float:
    if not strand:
        return 0.0
    s = strand.upper()
    return round((s.count("G") + s.count("C")) / len(s) * 100, 1)


@case(rows=[values.romans(13)], covers="Roman numerals, dict, zip of neighbours")
def roman(text: str) -> int:
    digits = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    previous = 0
    for ch in reversed(text.upper()):
        value = digits.get(ch, 0)
        total += value if value >= previous else -value
        previous = max(previous, value)
    return total


@case(rows=[values.between(14, 1, 3999)], covers="Roman out: zip of tuples, while")
def to_roman(number: int) -> str:
    steps = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
    letters = ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I")
    out = []
    for step, letter in zip(steps, letters):
        while number >= step:
            out.append(letter)
            number -= step
    return "".join(out)


@case(
    rows=[values.one_of(15, ["S", "M", "L"], ("XL", "", "é"))],
    covers="Enum members, comparison of value",
)
def size_factor(size: str) -> float:
    if size == Size.SMALL.value:
        return 0.8
    if size == Size.LARGE.value:
        return 1.3
    return 1.0


@case(rows=[values.between(16, 0, 10)], covers="IntEnum comparison")
def is_urgent(priority: int) -> bool:
    return priority >= Priority.URGENT or priority == Priority.NORMAL + 2


@case(rows=[values.colours(17)], covers="int with base 16, slices, tuple, except")
def rgb(colour: str) -> tuple[int, int, int] | None:
    if len(colour) != 7 or not colour.startswith("#"):
        return None
    try:
        return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
    except ValueError:
        return None


@case(
    rows=[values.between(18, 0, 255), values.between(19, 0, 255), values.between(20, 0, 255)],
    covers="hex format specifications",
)
def hex_colour(r: int, g: int, b: int) -> str:
    return f"#{r:02x}{g:02X}{b:02x}"


@case(rows=[values.sizes(21)], covers="split, float, dict subscript, int", raises=True)
def file_size(text: str) -> int:
    number, unit = text.split()
    return int(float(number) * UNITS[unit.upper()])


@case(rows=[values.versions(22)], covers="tuple of ints, tuple comparison, try")
def newer_than_ten(version: str) -> bool:
    try:
        parts = tuple(int(p) for p in version.lstrip("v").split("."))
    except ValueError:
        return False
    return parts >= (10, 2, 0)


@case(rows=[values.words(23)], covers="dict get in join, space between")
def morse(word: str) -> str:
    return " ".join(MORSE.get(c, "?") for c in word.upper())


@case(rows=[values.words(24)], covers="Soundex: dict, state, zfill alike")
def soundex(word: str) -> str:
    codes = {"b": "1", "f": "1", "p": "1", "v": "1", "c": "2", "g": "2", "j": "2", "k": "2"}
    codes |= {"q": "2", "s": "2", "x": "2", "z": "2", "d": "3", "t": "3", "l": "4", "m": "5"}
    codes |= {"n": "5", "r": "6"}
    word = word.lower()
    if not word:
        return ""
    out, last = word[0].upper(), codes.get(word[0], "")
    for ch in word[1:]:
        code = codes.get(ch, "")
        if code and code != last:
            out += code
        last = code
    return (out + "000")[:4]


@case(rows=[values.tokens(25)], covers="polynomial hash, ord, modulo")
def hashed(token: str) -> int:
    h = 5381
    for ch in token:
        h = (h * 33 + ord(ch)) % 4294967296
    return h


@case(rows=[values.tokens(26)], covers="xor and shifts, & mask")
def fnv(token: str) -> int:
    h = 0x811C9DC5
    for byte in token.encode("utf-8"):
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h


@case(rows=[values.tokens(26)], covers="hash of 64 bits, in steps")
def fnv_of_64_bits(token: str) -> int:
    h = 14695981039346656037
    for byte in token.encode("utf-8"):
        h ^= byte
        h *= 1099511628211
        h &= 0xFFFFFFFFFFFFFFFF
    return h


@case(rows=[values.tokens(25)], covers="hash whose mask comes last, bucket")
def bucket(token: str) -> int:
    h = 5381
    for ch in token:
        h = (h << 5) + h + ord(ch)
    return (h & 0xFFFFFFFF) % 64


@case(rows=[values.tokens(26)], covers="mixer of 64 bits, shifts, base 36")
def mixed(token: str) -> str:
    z = 0x9E3779B97F4A7C15
    for ch in token:
        z = (z + ord(ch)) * 0xBF58476D1CE4E5B9 % 2**64
        z ^= z >> 27
    code = ""
    while z:
        z, digit = divmod(z, 36)
        code = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + code
    return code


@case(rows=[values.tokens(25)], covers="table of 64-bit constants, hexadecimal")
def checksum(token: str) -> str:
    crc = 0xFFFFFFFFFFFFFFFF
    for byte in token.encode("utf-8"):
        crc = CRC_64[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return f"{crc ^ 0xFFFFFFFFFFFFFFFF:016x}"


@case(rows=[values.tokens(26)], covers="signed 64 bits, as Java's hash codes")
def hash_code(token: str) -> int:
    h = 0
    for ch in token:
        h = (31 * h + ord(ch)) & 0xFFFFFFFFFFFFFFFF
    return h - (1 << 64) if h >> 63 else h


@case(rows=[values.between(27, 200, 599)], covers="match on ranges by guards and literals")
def reason(status: int) -> str:
    match status:
        case 200 | 201 | 204:
            return "fine"
        case 404:
            return "not found"
        case code if 300 <= code < 400:
            return "moved"
        case code if code >= 500:
            return f"server error {code}"
        case _:
            return "other"


@case(rows=[values.between(28, 0, 2**40, (2**53,))], covers="while, divmod, base 62")
def short_code(number: int) -> str:
    alphabet = string.digits + string.ascii_letters
    if number == 0:
        return alphabet[0]
    out = ""
    while number:
        number, digit = divmod(number, 62)
        out = alphabet[digit] + out
    return out


@case(rows=[values.raw_bytes(29)], covers="bytes: index, len, slices, comparison")
def packet(data: bytes) -> int:
    if len(data) < 2:
        return -1
    kind, size = data[0], data[1]
    if kind == 0 or len(data) < 2 + size:
        return 0
    return sum(data[2 : 2 + size]) % 256


@case(rows=[values.raw_bytes(30)], covers="bytes: hex, int.from_bytes, startswith")
def peek(data: bytes) -> str:
    if data.startswith(b"\x01"):
        return "one:" + data[1:4].hex()
    return str(int.from_bytes(data[:3], "big"))


COUNTRIES = {
    "DE": {"name": "Germany", "vat": 19, "euro": True},
    "FR": {"name": "France", "vat": 20, "euro": True},
    "GB": {"name": "United Kingdom", "vat": 20, "euro": False},
}
OPERATIONS = {"A": operator.add, "S": operator.sub, "M": lambda a, b: a * b}


@case(rows=[values.countries(31)], covers="table of dictionaries of several kinds, get, None")
def vat_of(code: str) -> str:
    actual = COUNTRIES.get(code.strip().upper())
    if actual is None:
        return "?"
    return f"{actual['name']}: {actual['vat']} %" + (" EUR" if actual["euro"] else "")


@case(
    rows=[values.one_of(32, "A S M".split()), values.between(32, -9, 9)],
    covers="table of functions, KeyError",
    raises=True,
)
def operated(code: str, n: int) -> int:
    return OPERATIONS[code](n, 3)


@case(rows=[values.ips(33)], covers="unpacking of a generator expression, ValueError caught")
def address_as_number(text: str) -> int | None:
    try:
        a, b, c, d = (int(part) for part in text.split("."))
    except ValueError:
        return None
    return (a << 24) + (b << 16) + (c << 8) + d


@case(rows=[values.raw_bytes(34)], covers="bytes of a generator, bytes.hex")
def masked(data: bytes) -> str:
    return bytes(byte ^ 0x55 for byte in data[:8]).hex()


@case(rows=[values.ibans(60)], covers="int of a long text, a remainder")
def iban_ok(s: str) -> bool:
    s = s.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{8,30}", s):
        return False
    moved = s[4:] + s[:4]
    digits = "".join(str(int(c, 36)) for c in moved)
    return int(digits) % 97 == 1


@case(rows=[values.colours(63)], covers="bytes into three names", raises=True)
def luminance(s: str) -> float:
    r, g, b = bytes.fromhex(s.lstrip("#").zfill(6)[:6])
    return round(0.2126 * r + 0.7152 * g + 0.0722 * b, 2)
