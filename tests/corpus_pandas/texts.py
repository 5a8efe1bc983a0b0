"""Text: cleaning, parsing, classes."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd

from .case import case

TITLES = {"anna Smith": "Dr", "eve": "Ms"}
FREE = {"mail0.example.org", "mail1.example.org"}


@case("string", name="name")
def tidy(name: pd.Series) -> pd.Series:
    return name.str.strip().str.title()


@case("string", name="name")
def slug(name: pd.Series) -> pd.Series:
    return name.str.lower().str.replace(r"[^a-z0-9]+", "-", regex=True).str.strip("-")


@case("string", name="name")
def first_name(name: pd.Series) -> pd.Series:
    return name.str.split(" ").str[0]


@case("string", name="name")
def last_name(name: pd.Series) -> pd.Series:
    return name.str.strip().str.split().str.get(-1)


@case("string", name="name")
def initials(name: pd.Series) -> pd.Series:
    return name.apply(lambda n: "".join(part[0].upper() for part in n.split()))


@case("string", email="email")
def domain(email: pd.Series) -> pd.Series:
    return email.str.split("@").str[1].str.lower()


@case("string", email="email")
def domain_extracted(email: pd.Series) -> pd.Series:
    return email.str.extract(r"@(.+)$", expand=False)


@case("boolean", email="email")
def free_mail(email: pd.Series) -> pd.Series:
    return email.str.lower().str.split("@").str[-1].isin(FREE)


@case("string", email="email")
def masked(email: pd.Series) -> pd.Series:
    return email.str.replace(r"(?<=.).(?=[^@]*@)", "*", regex=True)


@case("boolean", email="email")
def valid_email(email: pd.Series) -> pd.Series:
    return email.str.match(r"^[\w.]+@[\w.]+\.\w+$")


@case("string", phone="phone")
def digits(phone: pd.Series) -> pd.Series:
    return phone.str.replace(r"\D", "", regex=True)


@case("string", phone="phone")
def phone_formatted(phone: pd.Series) -> pd.Series:
    d = phone.str.replace(r"\D", "", regex=True)
    return "+" + d.str[:2] + " " + d.str[2:4] + " " + d.str[4:]


@case("string", code="code")
def prefix(code: pd.Series) -> pd.Series:
    return code.str[:2]


@case("int", code="code")
def serial(code: pd.Series) -> pd.Series:
    return code.str.extract(r"(\d+)")[0].astype(float)


@case("string", code="code")
def swapped(code: pd.Series) -> pd.Series:
    parts = code.str.extract(r"(?P<head>\w+)-(?P<number>\d+)-(?P<tail>\w)")
    return parts["tail"] + parts["number"] + parts["head"]


@case("string", code="code")
def normal_code(code: pd.Series) -> pd.Series:
    return code.str.upper().str.replace("-", "_").str.pad(14, side="left", fillchar="0")


@case("boolean", code="code")
def is_x(code: pd.Series) -> pd.Series:
    return code.str.endswith("x") | code.str.contains("-00", regex=False)


@case("boolean", name="name")
def has_van(name: pd.Series) -> pd.Series:
    return name.str.contains(r"\bvan\b", case=False, regex=True)


@case("int", name="name")
def words(name: pd.Series) -> pd.Series:
    return name.str.count(" ") + 1


@case("int", name="name")
def length(name: pd.Series) -> pd.Series:
    return name.str.len().fillna(0).astype(int)


@case("double", name="name")
def vowel_share(name: pd.Series) -> pd.Series:
    return name.str.count("[aeiou]") / name.str.len()


@case("string", name="name")
def title_of(name: pd.Series) -> pd.Series:
    return name.map(TITLES).fillna("") + name


@case("string", country="country")
def region(country: pd.Series) -> pd.Series:
    c = country.str.strip().str.upper()
    return pd.Series(np.select([c.isin(["DE", "FR", "GB"]), c == "US"], ["EU", "NA"], "other"))


@case("string", country="country")
def replaced(country: pd.Series) -> pd.Series:
    return country.replace({"us": "US", "GB ": "GB"})


@case("string", country="country")
def other_where(country: pd.Series) -> pd.Series:
    return country.where(country.isin(["DE", "FR"]), "other")


@case("string", country="country")
def masked_text(country: pd.Series) -> pd.Series:
    return country.mask(country.str.len() > 2, "long").fillna("none")


@case("string", address="address")
def host(address: pd.Series) -> pd.Series:
    return address.str.replace(r"^https?://(www\.)?", "", regex=True).str.partition("/")[0]


@case("string", address="address")
def parameter(address: pd.Series) -> pd.Series:
    actual = re.compile(r"[?&]id=(\d+)")

    def of(text):
        match = actual.search(text)
        return match.group(1) if match else None

    return address.map(of, na_action="ignore")


@case("int", address="address")
def depth(address: pd.Series) -> pd.Series:
    return address.apply(lambda a: a.split("?")[0].count("/") if isinstance(a, str) else 0)


@case("string", name="name")
def null_safe(name: pd.Series) -> pd.Series:
    return name.apply(lambda n: n.strip().lower() if pd.notna(n) else "unknown")


@case("string", name="name", country="country")
def joined(name: pd.Series, country: pd.Series) -> pd.Series:
    return name.str.cat(country, sep="/")


@case("string", name="name", code="code")
def either_text(name: pd.Series, code: pd.Series) -> pd.Series:
    return pd.Series(np.where(name.isna(), code, name))


@case("string", name="name")
def cleaned_empty(name: pd.Series) -> pd.Series:
    return name.str.strip().replace("", np.nan)


@case("boolean", name="name")
def palindrome(name: pd.Series) -> pd.Series:
    return name.fillna("").apply(lambda s: s == s[::-1])


@case("bigint", code="code")
def checksum(code: pd.Series) -> pd.Series:
    return code.apply(lambda c: sum(ord(x) for x in c) % 97)


@case("string", name="name")
def vectorized(name: pd.Series) -> pd.Series:
    shorten = np.vectorize(lambda s: s[:3] + "…" if len(s) > 3 else s)
    return pd.Series(shorten(name))


@case("string", name="name")
def looped(name: pd.Series) -> pd.Series:
    return pd.Series([n.upper() if n else "" for n in name])


@case("string", number="plain_number_text")
def loaded(number: pd.Series) -> pd.Series:
    return number.replace("n/a", "1").map(json.loads, na_action="ignore").astype(str)


@case("string", digest="digest")
def in_hexadecimal(digest: pd.Series) -> pd.Series:
    return digest.map(lambda value: value.hex() if value is not None else "")


@case("int", digest="digest")
def sum_of_bytes(digest: pd.Series) -> pd.Series:
    return (
        digest.map(lambda value: sum(value) % 7, na_action="ignore").fillna(-1) + digest.str.len()
    )


@case("array<string>", name="name")
def tokens(name: pd.Series) -> pd.Series:
    return name.str.lower().str.split()


@case("string", name="name")
def ascii_only(name: pd.Series) -> pd.Series:
    return name.str.normalize("NFKD").str.encode("ascii", errors="ignore").str.decode("utf-8")


@case("string", text="name")
def cut_text(text: pd.Series) -> pd.Series:
    return text.str.slice(0, 5).str.ljust(6, ".")


@case("string", text="code")
def translated(text: pd.Series) -> pd.Series:
    return text.str.translate(str.maketrans({"-": " ", "A": "a"}))
