"""Row functions that clean text."""

from __future__ import annotations

import re
import string

from . import values
from .case import case

STOP_WORDS = {"the", "and", "of", "with", "a", "in"}
REPLACEMENTS = {"&": "and", "@": "at", "%": "percent"}
PUNCTUATION = str.maketrans("", "", string.punctuation)
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@case(rows=[values.names(1)], covers="str.strip str.title")
def tidy_name(name: str) -> str:
    return name.strip().title()


@case(rows=[values.sentences(2)], covers="str.split str.join")
def squeeze_spaces(text: str) -> str:
    return " ".join(text.split())


@case(rows=[values.sentences(3)], covers="str.lower str.translate table")
def without_punctuation(text: str) -> str:
    return text.lower().translate(PUNCTUATION)


@case(rows=[values.sentences(4)], covers="str.replace chain")
def slug(text: str) -> str:
    s = text.lower().strip()
    s = s.replace(" ", "-").replace(",", "").replace(".", "")
    while "--" in s:
        s = s.replace("--", "-")
    return s.strip("-")


@case(rows=[values.sentences(5)], covers="re.sub str.strip chars")
def slugify(text):
    text = re.sub(r"[^a-z0-9]+", "-", text.lower())
    return text.strip("-")


@case(rows=[values.sentences(6)], covers="list comprehension set membership join")
def drop_stop_words(text: str) -> str:
    kept = [w for w in text.lower().split() if w not in STOP_WORDS]
    return " ".join(kept)


@case(rows=[values.words(7)], covers="str.isupper str.islower str.istitle")
def casing(word: str) -> str:
    if word.isupper():
        return "upper"
    elif word.islower():
        return "lower"
    elif word.istitle():
        return "title"
    return "mixed"


@case(rows=[values.names(8)], covers="str.split indexing f-string")
def initials(name: str) -> str:
    return "".join(part[0].upper() + "." for part in name.split())


@case(rows=[values.names(9)], covers="str.partition conditional expression")
def last_name_first(name: str) -> str:
    first, _, last = name.strip().partition(" ")
    return f"{last}, {first}" if last else first


@case(rows=[values.emails(10)], covers="str.count str.rsplit str.startswith")
def plausible_email(address: str) -> bool:
    if address.count("@") != 1:
        return False
    user, host = address.rsplit("@", 1)
    return bool(user) and "." in host and not host.startswith(".") and " " not in address


@case(rows=[values.emails(11)], covers="str.find slicing None result")
def email_domain(address: str) -> str | None:
    at = address.find("@")
    if at < 0:
        return None
    return address[at + 1 :].lower()


@case(rows=[values.emails(12)], covers="slicing string repetition")
def masked_email(address: str) -> str:
    user, at, host = address.partition("@")
    if not at or len(user) < 2:
        return "***"
    return user[0] + "*" * (len(user) - 2) + user[-1] + at + host


@case(rows=[values.phones(13)], covers="str.isdigit generator join")
def phone_digits(phone: str) -> str:
    return "".join(c for c in phone if c.isdigit())


@case(rows=[values.phones(14)], covers="slicing f-string early return None")
def formatted_phone(phone: str) -> str | None:
    digits = "".join([c for c in phone if c in "0123456789"])
    if len(digits) == 11 and digits[0] == "1":
        digits = digits[1:]
    if len(digits) != 10:
        return None
    return f"({digits[:3]}) {digits[3:6]}-{digits[6:]}"


@case(rows=[values.sentences(15), values.between(15, 0, 40)], covers="slicing rfind ellipsis")
def shorten(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    cut = text.rfind(" ", 0, width)
    return text[: cut if cut > 0 else width] + "…"


@case(rows=[values.sentences(16)], covers="loop over dict.items str.replace")
def spelled_out(text: str) -> str:
    for symbol, word in REPLACEMENTS.items():
        text = text.replace(symbol, f" {word} ")
    return text


@case(rows=[values.words(17)], covers="str.translate dict table str.casefold")
def ascii_german(word: str) -> str:
    return word.casefold().translate(UMLAUTS)


@case(rows=[values.words(18), values.between(18, 0, 12)], covers="str.ljust rjust center zfill")
def boxed(word: str, width: int) -> str:
    return "|" + word.ljust(width) + "|" + word.center(width, ".") + "|" + word.rjust(width, "-")


@case(rows=[values.sentences(19)], covers="str.isascii str.isprintable ord generator")
def only_printable(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if 32 <= ord(c) < 127 else "?" for c in text)


@case(rows=[values.words(20)], covers="str.removeprefix removesuffix endswith tuple")
def stem(word: str) -> str:
    word = word.lower().removeprefix("un")
    if word.endswith(("ing", "ers")):
        return word[:-3]
    return word.removesuffix("er").removesuffix("s")


@case(rows=[values.words(21)], covers="no hints, or-chain, default text")
def or_unknown(word):
    return word.strip() or "unknown"


@case(rows=[values.sentences(22)], covers="str.splitlines expandtabs len")
def line_count(text: str) -> int:
    return len(text.expandtabs(4).splitlines())


@case(rows=[values.names(23), values.names(24)], covers="two texts, comparison, str.swapcase")
def merged(a: str, b: str | None) -> str:
    if b is None or not b.strip():
        return a
    return a if a.strip().lower() == b.strip().lower() else a + " / " + b.swapcase()


@case(rows=[values.sentences(25)], covers="capitalise after full stop, loop with state")
def sentence_case(text: str) -> str:
    out = ""
    start = True
    for ch in text.lower():
        if start and ch.isalpha():
            ch = ch.upper()
            start = False
        elif ch in ".!?":
            start = True
        out += ch
    return out
