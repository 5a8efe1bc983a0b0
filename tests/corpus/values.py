"""Columns of values that look like people's data, with odd ones among them; the same for each seed.

Each function takes a seed, and gives a `Column`. Odd values are those that programs forget: empty and
non-ASCII text, extremes of numbers, NaN, the first and the last day of the calendar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import inf, nan
from random import Random
from string import ascii_letters, digits
from typing import Any

import colkern as ck

from .case import Column

ROWS = 100
NULLS = 6

NON_ASCII = (
    "",
    "é",
    "Straße",
    "İstanbul",
    "日本語 テキスト",
    "naïve café",
    "\u00a0x\u00a0",
    "👩\u200d👧 family",
    "e\u0301tude",
    "a\x00b",
    "ﬁne",
    "ΣΊΣΥΦΟΣ",
    "\t\r\n ",
    "١٢٣",
)
FIRST = "Anna Ben Chloe Dmitri Elena Farid Grace Hugo Ines Jack Kofi Lena Marc Nora Omar".split()
LAST = "Smith Garcia Chen Okafor O'Brien Meyer-Lang Rossi Silva Kim Patel Novak Haddad".split()
NOUNS = (
    "river stone lamp garden window letter summer harbor engine market paper signal bridge "
    "winter bottle ticket orange pencil mirror carpet the and of with"
).split()


def column(
    type_: ck.DataType,
    seed: object,
    ordinary: Callable[[Random], Any],
    odd: Sequence[Any] = (),
    rows: int = ROWS,
) -> Column:
    """Values of a function of a random source, with odd ones and None at random places."""
    random = Random(f"{type_} {seed}")
    plain = [ordinary(random) for _ in range(rows)]
    places = random.sample(range(rows), min(NULLS + len(odd), rows))
    for place in places[:NULLS]:
        plain[place] = None
    values = list(plain)
    for place, value in zip(places[NULLS:], odd, strict=False):
        values[place] = value
    return Column(type_, values, plain)


def texts(
    seed: object, ordinary: Callable[[Random], str], odd: Sequence[str] = NON_ASCII
) -> Column:
    """Texts of a function of a random source."""
    return column(ck.utf8(), seed, ordinary, odd)


def one_of(seed: object, choices: Sequence[str], odd: Sequence[str] = ("", "é", "??")) -> Column:
    """Texts from a few."""
    return texts(f"{seed} {choices}", lambda random: random.choice(choices), odd)


MORE_WORDS = "level noon building painters unhappy typewriter pop i firstName HTTPServer a".split()


# Numbers


def integers(seed: int) -> Column:
    """Integers of a few digits, and the extremes of 64 bits."""
    odd = (0, 1, -1, 2**63 - 1, -(2**63), 2**31, -(2**31) - 1, 2**53 + 1, 10**18, -7)
    return column(ck.int64(), seed, lambda random: random.randint(-1000, 1000), odd)


def between(seed: int, low: int, high: int, odd: Sequence[int] = ()) -> Column:
    """Integers in a range, its ends among them."""
    return column(
        ck.int64(),
        f"{seed} {low} {high}",
        lambda random: random.randint(low, high),
        (low, high, *odd),
    )


def floats(seed: int) -> Column:
    """Floats of a few digits, and what IEEE 754 has besides."""
    odd = (nan, inf, -inf, 0.0, -0.0, 5e-324, 1.7e308, 0.1, 2.5, -0.5, 1e16, 1e22, -1e-7, 2.0**53)
    return column(
        ck.float64(),
        seed,
        lambda random: round(random.uniform(-100, 100), random.randint(0, 6)),
        odd,
    )


def reals(seed: int, low: float, high: float, odd: Sequence[float] = ()) -> Column:
    """Floats in a range, its ends among them."""
    low, high = float(low), float(high)
    return column(
        ck.float64(),
        f"{seed} {low} {high}",
        lambda random: round(random.uniform(low, high), 6),
        (low, high, *odd),
    )


def amounts(seed: int) -> Column:
    """Amounts of money with two digits, and some that are none."""
    odd = (0.0, -0.0, 0.005, 2.675, 1e15, -12.345, nan, inf, 0.1 + 0.2, 99.995)
    return column(ck.float64(), seed, lambda random: random.randint(1, 500000) / 100, odd)


def money(seed: int) -> Column:
    """Amounts as decimals with two digits."""
    odd = tuple(map(Decimal, ("0.00", "-0.01", "9999999999.99", "-9999999999.99", "0.05", "1.00")))
    return column(
        ck.decimal128(12, 2),
        seed,
        lambda random: Decimal(random.randint(1, 500000)).scaleb(-2),
        odd,
    )


def flags(seed: int) -> Column:
    """Booleans."""
    return column(ck.bool_(), seed, lambda random: random.random() < 0.5)


# Times


def dates(seed: int) -> Column:
    """Days of this time, the ends of the calendar, and days where years and weeks disagree."""
    odd = (
        date.min,
        date.max,
        date(1970, 1, 1),
        date(1969, 12, 31),
        date(2000, 2, 29),
        date(1900, 3, 1),
        date(2024, 12, 30),
        date(2021, 1, 3),
    )
    return column(
        ck.date32(), seed, lambda random: date(1990, 1, 1) + timedelta(random.randrange(14600)), odd
    )


def timestamps(seed: int) -> Column:
    """Moments of this time to the microsecond, and the ends of the calendar."""
    odd = (
        datetime.min,
        datetime.max,
        datetime(1970, 1, 1),
        datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime(2000, 2, 29, 12),
        datetime(2024, 12, 31, 0, 0, 0, 1),
    )
    return column(ck.timestamp("us"), seed, _moment, odd)


def zoned(seed: int) -> Column:
    """Moments in UTC."""
    odd = (datetime(1970, 1, 1, tzinfo=UTC), datetime(1900, 1, 1, 0, 0, 1, tzinfo=UTC))
    return column(
        ck.timestamp("us", "UTC"), seed, lambda random: _moment(random).replace(tzinfo=UTC), odd
    )


def _moment(random: Random) -> datetime:
    microsecond = random.choice((0, 0, 500000, random.randrange(10**6)))
    return datetime(2015, 1, 1) + timedelta(
        random.randrange(4000), random.randrange(86400), microsecond
    )


def clock_times(seed: int) -> Column:
    """Times of a day."""
    odd = (time.min, time.max, time(12), time(0, 0, 0, 1))
    return column(ck.time64("us"), seed, lambda random: _moment(random).time(), odd)


def spans(seed: int) -> Column:
    """Time spans."""
    odd = (timedelta(0), timedelta(microseconds=-1), timedelta(days=-1), timedelta(days=100000))
    return column(
        ck.duration("us"),
        seed,
        lambda random: timedelta(random.randrange(-3, 30), random.randrange(86400)),
        odd,
    )


# Text


def word(random: Random) -> str:
    """A word of a text."""
    return random.choice(NOUNS)


def name_of(random: Random) -> str:
    """A person's name."""
    return f"{random.choice(FIRST)} {random.choice(LAST)}"


def words(seed: int) -> Column:
    """Single words, in several cases."""
    return texts(
        seed,
        lambda random: (
            random.choice(MORE_WORDS)
            if random.random() < 0.25
            else random.choice((str.lower, str.title, str.upper))(word(random))
        ),
    )


def names(seed: int) -> Column:
    """Names of people, with the spaces that forms leave."""
    odd = ("", "José  Álvarez", "  ", "Zoë", "Łukasz Żak", "Müller, Jörg", "李 小龍", "d'Été")
    return texts(
        seed,
        lambda random: random.choice(("{}", " {}", "{} ", "{}")).format(name_of(random)),
        odd,
    )


def sentences(seed: int) -> Column:
    """Sentences with punctuation, double spaces and numbers."""

    def make(random: Random) -> str:
        parts = [word(random) for _ in range(random.randint(2, 9))]
        if random.random() < 0.3:
            parts.append(str(random.randint(0, 2000)))
        separator = random.choice((" ", " ", " ", "  ", ", ", "\n"))
        return separator.join(parts).capitalize() + random.choice(".!?")

    return texts(seed, make)


def emails(seed: int) -> Column:
    """Addresses of mail, some of them wrong."""

    def make(random: Random) -> str:
        host = random.choice(("example.com", "mail.test.org", "Shop.CO.UK", "localhost"))
        return f"{name_of(random).replace(' ', '.').lower()}{random.choice('@@@@ ')}{host}"

    return texts(seed, make, ("", "@", "a@b", "jörg@exämple.de", "a@b@c.d", "no mail", "x@y.日本"))


def phones(seed: int) -> Column:
    """Phone numbers in several notations."""

    def make(random: Random) -> str:
        area, middle, last = (
            random.randint(200, 999),
            random.randint(100, 999),
            random.randrange(10**4),
        )
        form = random.choice(("({}) {}-{:04}", "{}-{}-{:04}", "+1 {} {} {:04}", "{}.{}.{:04}"))
        return form.format(area, middle, last)

    return texts(seed, make, ("", "n/a", "٠١٢٣٤٥٦٧٨٩", "ext. 12", "tél. 555-0100", "1" * 40))


def urls(seed: int) -> Column:
    """Addresses of the web."""

    def make(random: Random) -> str:
        path = "/".join(word(random) for _ in range(random.randint(0, 3)))
        query = random.choice(("", "", f"?id={random.randint(1, 999)}&ref={word(random)}", "#top"))
        host = random.choice(("example.com", "www.example.org", "api.test.io:8080"))
        return f"{random.choice(('http', 'https'))}://{host}/{path}{query}"

    return texts(
        seed, make, ("", "://", "http://münchen.de/straße?q=ü", "ftp://x", "https://", "?")
    )


def log_lines(seed: int) -> Column:
    """Lines of a web server's log in the combined format."""

    def make(random: Random) -> str:
        address = ".".join(str(random.randint(1, 254)) for _ in range(4))
        when = _moment(random).strftime("%d/%b/%Y:%H:%M:%S +0000")
        path = "/" + "/".join(word(random) for _ in range(random.randint(0, 3)))
        size = random.choice(("-", str(random.randint(100, 99999))))
        method, status = (
            random.choice("GET POST PUT".split()),
            random.choice((200, 200, 304, 404, 500)),
        )
        agent = random.choice(("Mozilla/5.0 (X11; Linux)", "curl/8.1", "Googlebot/2.1"))
        return f'{address} - - [{when}] "{method} {path} HTTP/1.1" {status} {size} "-" "{agent}"'

    odd = (
        "",
        "- - -",
        '::1 - - [] "" 400 -',
        '10.0.0.1 - jörg [10/Oct/2020:13:55:36 -0700] "GET /ü?q=日本 HTTP/1.0" 200 12 "-" "é"',
        "garbage",
        '1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] "GET / HTTP/1.1" 999 99999999999999999999 "-" "-"',
    )
    return texts(seed, make, odd)


def app_lines(seed: int) -> Column:
    """Lines of a program's log."""

    def make(random: Random) -> str:
        level = random.choice("DEBUG INFO INFO WARN ERROR".split())
        when = _moment(random).isoformat(sep=" ", timespec="milliseconds")
        tail = random.choice((f"took {random.randint(0, 9000)}ms", f"user={word(random)}", "ok"))
        return f"{when} [{level}] {word(random)}.{word(random)}: {word(random)} {tail}"

    return texts(
        seed, make, ("", "[", "2024-01-01 [INFO] grün: ok", "[ERROR]", "日本 [WARN] : 1ms")
    )


def ips(seed: int) -> Column:
    """Addresses of machines, some of them wrong."""
    starts = ("10.0", "192.168", "172.20", "8.8", "256.1", "127.0")
    return texts(
        seed,
        lambda random: ".".join(
            (random.choice(starts), str(random.randint(0, 255)), str(random.randint(0, 255)))
        ),
        ("", "256.1.1.1", "1.2.3", "a.b.c.d", "1.2.3.4.5", "٣.1.1.1", "0.0.0.0", " 1.2.3.4"),
    )


def paths(seed: int) -> Column:
    """Paths of files."""

    def make(random: Random) -> str:
        folders = "/".join(word(random) for _ in range(random.randint(0, 3)))
        return f"/{folders}/{word(random)}{random.choice(('.txt', '.tar.gz', '', '.CSV', '.py'))}"

    return texts(seed, make, ("", "/", ".", "été.txt", "a/b/", ".bashrc", "..", "/日本/語.md"))


def prices(seed: int) -> Column:
    """Prices as listings show them."""

    def make(random: Random) -> str:
        return random.choice(("$ {:,}", "${:,}", "${:,}", "{} USD")).format(
            random.randint(500, 1_200_000)
        )

    return texts(seed, make, ("", "$", "€ 1.200", "$ 1,2,3", "$-5", "$ 350,000/mo", "£ ٣", "$0"))


def facts(seed: int) -> Column:
    """Listings of homes: beds, baths, area."""

    def make(random: Random) -> str:
        beds, baths, area = random.randint(1, 6), random.randint(1, 4), random.randint(300, 5200)
        return f"{beds} bds, {baths} ba, {area:,} sqft"

    odd = (
        "",
        "Studio, 1 ba, 450 sqft",
        "-- bds, -- ba, -- sqft",
        "3 bds",
        "2 bds, 1.5 ba, 70 m²",
        ",,",
    )
    return texts(seed, make, odd)


def addresses(seed: int) -> Column:
    """Postal addresses on a line."""

    def make(random: Random) -> str:
        street = f"{random.randint(1, 9999)} {word(random).title()} {random.choice(('St', 'Ave'))}"
        return f"{street}, {random.choice(('Boston', 'Salem'))}, MA {random.randint(1000, 2790):05}"

    return texts(
        seed, make, ("", ",", "Hauptstraße 5, 80331 München", "1 Rue d'Été, , ", "no commas")
    )


def hhmm(seed: int) -> Column:
    """Times of day as numbers, HHMM; 2400 is midnight too."""
    return column(
        ck.int64(),
        f"{seed} hhmm",
        lambda random: random.randrange(24) * 100 + random.randrange(60),
        (0, 2400, 2359, 1, 1200, 59),
    )


def clocks(seed: int) -> Column:
    """Times of day as text, HHMM."""
    return texts(
        f"{seed} clock",
        lambda random: f"{random.randrange(24):02}{random.randrange(60):02}",
        ("", "2400", "noon", "٠٩٣٠", "9:30"),
    )


def carriers(seed: int) -> Column:
    """Codes of airlines."""
    return one_of(seed, "AA AS B6 DL F9 NK UA WN".split(), ("", "ZZ", "é", "aa"))


def flight_numbers(seed: int) -> Column:
    """Numbers of flights: a carrier's code and digits."""
    return texts(
        f"{seed} flight",
        lambda random: f"{random.choice('AA DL UA B6'.split())}{random.randint(1, 9999)}",
        ("", "AA", "DL٣", "ÜA12", "UA 77", "123"),
    )


def airports(seed: int) -> Column:
    """Codes of airports."""
    return one_of(seed, "JFK LAX ORD ATL SFO SEA DEN BOS".split(), ("", "xyz", "MÜC", "jfk"))


def countries(seed: int) -> Column:
    """Codes of countries, in several cases."""
    return one_of(seed, "DE FR US GB CH JP de Fr".split(), ("", "XX", "DÉ", "USA", " de "))


def currencies(seed: int) -> Column:
    """Codes of currencies."""
    return one_of(seed, "EUR USD GBP CHF JPY".split(), ("", "XXX", "€", "usd"))


def checked(seed: int, size: int, finish: Callable[[str], str], odd: Sequence[str]) -> Column:
    """Numbers whose last character `finish` adds; a quarter have a wrong digit."""

    def make(random: Random) -> str:
        number = finish("".join(random.choice(digits) for _ in range(size)))
        if random.random() < 0.25:
            place = random.randrange(size)
            number = number[:place] + random.choice(digits) + number[place + 1 :]
        return number

    return texts(f"{seed} checked", make, odd)


def cards(seed: int) -> Column:
    """Numbers of cards, with Luhn's digit."""

    def finish(number: str) -> str:
        total = sum(
            int(d) if place % 2 else sum(divmod(int(d) * 2, 10)) for place, d in enumerate(number)
        )
        return number + str(-total % 10)

    odd = ("", "0", "4111 1111 1111 1111", "x", "٤١", "18", "8" * 30, "371449635398431")
    return checked(seed, 15, finish, odd)


def isbns(seed: int) -> Column:
    """ISBN-10 numbers."""

    def finish(number: str) -> str:
        rest = -sum((10 - place) * int(d) for place, d in enumerate(number)) % 11
        return number + "0123456789X"[rest]

    return checked(seed, 9, finish, ("", "X", "080442957x", "0-306-40615-2", "é" * 10, "1" * 11))


def eans(seed: int) -> Column:
    """EAN-13 numbers."""

    def finish(number: str) -> str:
        total = sum(int(d) * (3 if place % 2 else 1) for place, d in enumerate(number))
        return number + str(-total % 10)

    return checked(seed, 12, finish, ("", "abc", "1" * 13, "4006381333931", "٤" * 13))


def ibans(seed: int) -> Column:
    """IBANs with blanks, most of them right."""

    def make(random: Random) -> str:
        account = "".join(random.choice(digits) for _ in range(18))
        check = 98 - int(f"{account}131400") % 97
        wrong = random.random() < 0.25
        number = f"DE{(check + wrong):02}{account}"
        return " ".join(number[place : place + 4] for place in range(0, 22, 4))

    return texts(f"{seed} iban", make, ("", "DE", "GB82 WEST 1234 5698 7654 32", "ÄÖ12", "de00"))


def key_values(seed: int) -> Column:
    """Pairs `key=value` with semicolons between them."""

    def make(random: Random) -> str:
        pairs = [f"{random.choice('abc')}={random.randint(0, 99)}", f"name={word(random)}"]
        pairs += [f"{word(random)}={word(random)}" for _ in range(random.randint(0, 2))]
        random.shuffle(pairs)
        return ";".join(pairs)

    return texts(
        f"{seed} pairs", make, ("", ";", "=", "name=", "nom=é;name=ü", "a=b=c", "name", "a=;;")
    )


def documents(seed: int) -> Column:
    """Lines of JSON without nesting."""

    def make(random: Random) -> str:
        score = round(random.uniform(0, 10), 2)
        if random.random() < 0.1:
            return f'{{"id":{score},"kind":"{word(random)}","name": "{word(random)}"'
        return (
            f'{{"id": {random.randint(1, 9999)}, "name": "{word(random)}", "score": {score}, '
            f'"ok": {random.choice(("true", "false", "null"))}}}'
        )

    odd = (
        "",
        "{}",
        "null",
        '{"name": "Zoë", "id": 5}',
        '{"id": "x"}',
        "[1, 2]",
        '{"id":7,"name":""}',
    )
    return texts(f"{seed} json", make, odd)


def csv_lines(seed: int) -> Column:
    """Lines of four fields with commas: a number, a name, a number, a word."""

    def make(random: Random) -> str:
        amount = random.choice((f"{random.uniform(0, 999):.2f}", str(random.randint(0, 999))))
        return f"{random.randint(1, 999)},{name_of(random)},{amount},{word(random)}"

    return texts(
        f"{seed} csv", make, ("", ",,,", "1,é,2.5,ü", "a,b", "1,2,3,4,5", "٣,x,٤,y", '1,"a,b",2,c')
    )


def numerals(seed: int) -> Column:
    """Integers and decimals as text, as people type them; some are none."""

    def make(random: Random) -> str:
        number = random.choice((random.randint(-999, 999), round(random.uniform(-50, 50), 2)))
        if random.random() < 0.06:
            return "n/a"
        return random.choice(("{}", " {}", "{} ", "{}")).format(number)

    odd = (
        "",
        "-",
        "1e5",
        "1_000",
        "١٢",
        "0x1f",
        "--1",
        "nan",
        "inf",
        "-0",
        "9" * 25,
        "1,5",
        ".5",
        "½",
    )
    return texts(f"{seed} numerals", make, odd)


def digit_texts(seed: int, size: int = 8) -> Column:
    """Texts of digits alone."""
    return texts(
        f"{seed} {size} digits",
        lambda random: str(random.randrange(10 ** random.randint(1, size))),
        ("0", "007", "١٢٣", "9" * 18, "1" * 19, " 5 "),
    )


def iso_days(seed: int) -> Column:
    """Days as text, YYYY-MM-DD; some are none."""
    odd = (
        "",
        "2023-02-29",
        "0001-01-01",
        "9999-12-31",
        "2024-2-9",
        "٢٠٢٤-01-01",
        "2024-13-01",
        "today",
    )
    return texts(f"{seed} iso", lambda random: _moment(random).date().isoformat(), odd)


def day_texts(seed: int) -> Column:
    """Days in several notations."""

    def make(random: Random) -> str:
        return _moment(random).strftime(
            random.choice(("%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d %b %Y"))
        )

    return texts(
        f"{seed} days", make, ("", "31.02.2020", "1.1.1", "20240230", "12/31/9999", "5 Mär 2020")
    )


def moment_texts(seed: int) -> Column:
    """Moments as text, ISO 8601 without zone."""
    odd = ("", "2024-02-29T23:59:59", "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", "٢٠٢٤")
    return texts(f"{seed} moments", lambda random: _moment(random).isoformat(), odd)


def coordinates(seed: int) -> Column:
    """Latitudes and longitudes as degrees, minutes and seconds."""

    def make(random: Random) -> str:
        return (
            f"{random.randint(0, 89)}d{random.randint(0, 59)}'{random.randint(0, 59)}\""
            f"{random.choice('NSEW')}"
        )

    return texts(f"{seed} dms", make, ("", "48°51'24\"N", "x", "90d0'0\"N", "5dN", "1d2'3\"Q"))


def latitudes(seed: int) -> Column:
    """Latitudes in degrees."""
    return reals(seed, -90.0, 90.0, (0.0, -0.0, nan))


def longitudes(seed: int) -> Column:
    """Longitudes in degrees."""
    return reals(seed, -180.0, 180.0, (0.0, -0.0, 179.9999, nan))


def colours(seed: int) -> Column:
    """Colours as `#rrggbb`."""
    return texts(
        f"{seed} colours",
        lambda random: f"#{random.randrange(1 << 24):0{random.choice((6, 6, 6, 8))}x}",
        ("", "#fff", "red", "#GGGGGG", "#١٢٣٤٥٦", "#FFFFFF"),
    )


def versions(seed: int) -> Column:
    """Versions of programs."""
    return texts(
        f"{seed} versions",
        lambda random: ".".join(str(random.randint(0, 20)) for _ in range(3)),
        ("", "1", "v1.2.3", "1.2.3-rc1", "1..2", "٣.1.0"),
    )


def durations(seed: int) -> Column:
    """Time spans as text, as `1h 30m`."""
    return texts(
        f"{seed} durations",
        lambda random: f"{random.randint(0, 9)}h {random.randint(0, 59)}m {random.randint(0, 59)}s",
        ("", "45m", "2h", "1:30", "٢h", "h m s"),
    )


def sizes(seed: int) -> Column:
    """Sizes of files as text."""
    return texts(
        f"{seed} sizes",
        lambda random: (
            f"{random.choice((random.randint(1, 900), 1.5, 2.25))} {random.choice(('B', 'KB', 'MB', 'GB'))}"
        ),
        ("", "12", "3 XB", "٣ KB", "1,5 MB", " 7 gb "),
    )


def romans(seed: int) -> Column:
    """Roman numerals."""
    tens, ones = ("", "X", "XX", "XL", "L", "XC"), ("I", "II", "IV", "V", "VIII", "IX")
    return texts(
        f"{seed} roman",
        lambda random: "M" * random.randrange(3) + random.choice(tens) + random.choice(ones),
        ("", "MCMXCIV", "IIII", "MMMCMXCIX", "xiv", "Ⅳ"),
    )


def brackets(seed: int) -> Column:
    """Brackets, which close or not."""

    def make(random: Random) -> str:
        text = "".join(random.choice("()[]{}") for _ in range(random.randint(1, 8)))
        return random.choice((text, f"[{{{word(random)}}}]({random.randint(0, 9)})"))

    return texts(f"{seed} brackets", make, ("", "(", ")", "(é)", "（）", "([)]"))


def markup(seed: int) -> Column:
    """Pieces of HTML."""

    def make(random: Random) -> str:
        tag = random.choice(("b", "p", "a"))
        link = f' href="/{word(random)}"' if tag == "a" else ""
        return f"<{tag}{link}>{word(random)} &amp; {word(random)}</{tag}> {word(random)}"

    return texts(
        f"{seed} markup", make, ("", "<", "<p>é</p>", "a < b > c", "<br/>", "&lt;日本&gt;")
    )


def posts(seed: int) -> Column:
    """Short messages with tags and mentions."""

    def make(random: Random) -> str:
        marks = [
            f"{random.choice(('#', '@', '', ''))}{word(random)}"
            for _ in range(random.randint(2, 8))
        ]
        return " ".join(marks)

    return texts(
        f"{seed} posts", make, ("", "#", "#été @zoë", "## @@", "#日本語", "no tags", "#a#b")
    )


def strands(seed: int) -> Column:
    """Strands of DNA."""
    return texts(
        f"{seed} dna",
        lambda random: "".join(random.choice("ACGT") for _ in range(random.randint(3, 30))),
        ("", "acgt", "ACGN", "É", "AAAAAAAA"),
    )


def tokens(seed: int, size: int = 12) -> Column:
    """Letters and digits at random."""
    return texts(
        f"{seed} {size} tokens",
        lambda random: "".join(random.choice(ascii_letters + digits) for _ in range(size)),
        ("", "a", "é" * size, "日" * size, "\x00" * size, " " * size),
    )


def raw_bytes(seed: int) -> Column:
    """Bytes: a kind, a length, what follows."""
    return column(
        ck.binary(),
        seed,
        lambda random: (
            bytes((random.randrange(4), size := random.randrange(12))) + random.randbytes(size)
        ),
        (b"", b"\x00", b"\xff" * 9, b"plain", b"\x01\x05ab"),
    )


# Lists


def number_lists(seed: int) -> Column:
    """Lists of integers."""
    return column(
        ck.list_(ck.int64()),
        seed,
        lambda random: [
            random.randint(-50, 50) if random.random() < 0.6 else random.randint(0, 3)
            for _ in range(random.randrange(9))
        ],
        ([], [0], [7, 7, 7], [-5], [2**62, 1], [3, 1, 2]),
    )


def score_lists(seed: int) -> Column:
    """Lists of floats."""
    return column(
        ck.list_(ck.float64()),
        seed,
        lambda random: [round(random.uniform(0, 10), 2) for _ in range(random.randrange(7))],
        ([], [0.0], [-0.0, 0.0], [nan, 1.0], [inf, 2.5], [1e300, 1e300]),
    )


def word_lists(seed: int) -> Column:
    """Lists of words."""
    return column(
        ck.list_(ck.utf8()),
        seed,
        lambda random: [word(random) for _ in range(random.randrange(6))],
        ([], [""], ["é", "a", "É"], ["日本", "日本"], ["x"] * 5),
    )
