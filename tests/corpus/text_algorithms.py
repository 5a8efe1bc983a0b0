"""Row functions with small algorithms over text."""

from __future__ import annotations

from . import values
from .case import case

PAIRS = {")": "(", "]": "[", "}": "{"}
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SCORES = {"a": 1, "e": 1, "i": 1, "o": 1, "r": 1, "s": 1, "t": 1, "n": 1, "k": 5, "x": 8, "z": 10}


@case(rows=[values.words(1), values.words(2)], covers="lists as rows of a table, nested loops, min")
def edit_distance(a: str, b: str) -> int:
    a, b = a[:12], b[:12]
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i]
        for j, cb in enumerate(b, 1):
            cost = 0 if ca == cb else 1
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost))
        previous = current
    return previous[-1]


@case(rows=[values.strands(3)], covers="run-length: while within while, str of int")
def run_length(text: str) -> str:
    out = ""
    i = 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out += text[i] + (str(j - i) if j - i > 1 else "")
        i = j
    return out


@case(
    rows=[
        values.texts(
            4,
            lambda r: "".join(f"{r.choice('ABC')}{r.randint(1, 9)}" for _ in range(4)),
            ("", "A", "é2", "3", "A٢"),
        )
    ],
    covers="inverse of run-length, isdigit, int",
)
def expanded(text: str) -> str:
    out, last = [], ""
    for ch in text:
        if ch.isdecimal():
            out.append(last * int(ch))
            last = ""
        else:
            out.append(last)
            last = ch
    return "".join(out) + last


@case(rows=[values.words(5)], covers="palindrome by reversed slice, filter of letters")
def palindrome(text: str) -> bool:
    letters = [c.lower() for c in text if c.isalnum()]
    return letters == letters[::-1]


@case(rows=[values.words(6)], covers="two indices, while")
def palindrome_by_index(s: str) -> bool:
    i, j = 0, len(s) - 1
    while i < j:
        if s[i] != s[j]:
            return False
        i += 1
        j -= 1
    return True


@case(rows=[values.sentences(7)], covers="sum of a generator of bools")
def vowels(text: str) -> int:
    return sum(c in "aeiouAEIOU" for c in text)


@case(rows=[values.words(8), values.between(8, -30, 30)], covers="Caesar: ord, chr, modulo")
def caesar(text: str, shift: int) -> str:
    out = ""
    for ch in text:
        if "a" <= ch <= "z":
            out += chr((ord(ch) - ord("a") + shift) % 26 + ord("a"))
        elif "A" <= ch <= "Z":
            out += chr((ord(ch) - ord("A") + shift) % 26 + ord("A"))
        else:
            out += ch
    return out


@case(rows=[values.brackets(9)], covers="stack: append, pop, dict of pairs")
def well_nested(text: str) -> bool:
    stack = []
    for ch in text:
        if ch in "([{":
            stack.append(ch)
        elif ch in PAIRS:
            if not stack or stack.pop() != PAIRS[ch]:
                return False
    return not stack


@case(rows=[values.brackets(10)], covers="depth counter, max, early return")
def deepest(text: str) -> int:
    depth = most = 0
    for ch in text:
        if ch in "([{":
            depth += 1
            most = max(most, depth)
        elif ch in ")]}":
            depth -= 1
            if depth < 0:
                return -1
    return most


@case(rows=[values.words(11), values.words(12)], covers="common prefix, zip, break")
def common_prefix(a: str, b: str) -> str:
    n = 0
    for x, y in zip(a, b):
        if x != y:
            break
        n += 1
    return a[:n]


@case(rows=[values.words(13), values.words(14)], covers="sorted text comparison")
def anagrams(a: str, b: str) -> bool:
    return sorted(a.lower()) == sorted(b.lower())


@case(rows=[values.words(15), values.words(16)], covers="Hamming distance, zip, len difference")
def hamming(a: str, b: str) -> int:
    return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))


@case(rows=[values.sentences(17)], covers="longest by max with key, default")
def longest_word(text: str) -> str:
    return max(text.split(), key=len, default="")


@case(rows=[values.words(18)], covers="look-up sum, dict.get")
def word_score(word: str) -> int:
    return sum(SCORES.get(letter, 2) for letter in word.lower())


@case(rows=[values.words(19)], covers="all with nested any over constant tuple")
def one_row(word: str) -> bool:
    return any(all(c in row for c in word.lower()) for row in KEYBOARD)


@case(rows=[values.words(20)], covers="pig latin: loop with index, slices")
def pig_latin(word: str) -> str:
    for i, ch in enumerate(word.lower()):
        if ch in "aeiou":
            return word[i:] + word[:i] + "ay"
    return word + "ay"


@case(rows=[values.words(21)], covers="camel to snake, isupper, generator with index")
def snake(name: str) -> str:
    out = []
    for i, ch in enumerate(name):
        if ch.isupper() and i > 0 and not name[i - 1].isupper():
            out.append("_")
        out.append(ch.lower())
    return "".join(out)


@case(rows=[values.sentences(22)], covers="camel case, split, capitalize, join")
def camel(text: str) -> str:
    first, *rest = text.replace(",", " ").replace(".", "").lower().split() or [""]
    return first + "".join(w.capitalize() for w in rest)


@case(rows=[values.strands(23)], covers="sliding window, set of slices, len")
def distinct_triplets(strand: str) -> int:
    return len({strand[i : i + 3] for i in range(len(strand) - 2)})


@case(rows=[values.strands(24)], covers="count overlaps with find from a start")
def overlaps(strand: str) -> int:
    count = start = 0
    while (at := strand.find("AA", start)) != -1:
        count += 1
        start = at + 1
    return count


@case(rows=[values.strands(25)], covers="range with a step, slices, list membership, break")
def codons_to_stop(strand: str) -> int:
    n = 0
    for i in range(0, len(strand) - 2, 3):
        if strand[i : i + 3] in ["TAA", "TAG", "TGA"]:
            break
        n += 1
    return n


@case(rows=[values.words(26)], covers="every second letter, step slices, join of zip")
def rail_fence(word: str) -> str:
    return word[::2] + word[1::2] + "".join(a + b for a, b in zip(word, word[::-1]))


@case(rows=[values.sentences(27)], covers="reversed words, split by text, list reversal")
def reversed_words(text: str) -> str:
    return " ".join(reversed(text.split(" ")))


@case(rows=[values.tokens(28)], covers="counts of classes, tuple result, str methods")
def classes(token: str) -> tuple[int, int, int]:
    digits = sum(1 for c in token if c.isdigit())
    upper = sum(1 for c in token if c.isupper())
    return digits, upper, len(token) - digits - upper


@case(rows=[values.tokens(29)], covers="password strength, any over chars, points")
def strength(password: str) -> str:
    points = 0
    points += len(password) >= 8
    points += any(c.isdigit() for c in password)
    points += any(c.isupper() for c in password)
    points += any(not c.isalnum() for c in password)
    return ("weak", "weak", "fair", "good", "strong")[points]


@case(rows=[values.words(30), values.words(31)], covers="subsequence with iterator and index")
def subsequence(short: str, text: str) -> bool:
    i = 0
    for ch in text:
        if i < len(short) and short[i] == ch:
            i += 1
    return i == len(short)


@case(rows=[values.sentences(32)], covers="no hints, wrap of lines, list of lists")
def wrapped(text):
    lines, line = [], ""
    for w in text.split():
        if line and len(line) + 1 + len(w) > 20:
            lines.append(line)
            line = w
        else:
            line = f"{line} {w}" if line else w
    return "\n".join(lines + [line])
