"""Regular expressions in row functions: what generated matchers find is what `re` finds, or is left."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rows.bodies import LEFT, Memory, _compiled, leading, run

from colkern.errors import CompileError
from colkern.kernels import row_lists, row_values, text_search
from colkern.rows.methods import Method
from colkern.rows.methods.regex import METHODS
from colkern.rows.regex import every, search

LOG = r'^(\S+) (\S+) (\S+) \[([\w:/]+\s[+\-]\d{4})\] "(\S+) (\S+)\s*(\S*)\s*" (\d{3}) (\S+)'
LINE = '199.72.81.55 - - [01/Jul/1995:00:00:01 -0400] "GET /history/apollo/ HTTP/1.0" 200 6245'

WAYS = {"search": re.search, "match": re.match, "fullmatch": re.fullmatch}

CASES: list[tuple[str, list[str]]] = [
    # Literals and sets.
    ("", ["", "a"]),
    ("abc", ["abc", "xxabcx", "ab", "", "ababc"]),
    ("abcdefghijk", ["abcdefghijk", "__abcdefghijk_", "abcdefghijx", "abcdefgh"]),
    ("été", ["un été", "ete", "ét"]),
    ("[abc]x", ["ax", "dx cx", "x"]),
    ("[^abc]x", ["ax", "dx", "éx", "x", "日x"]),
    ("[^é]x", ["ax", "éx", "èx", "日x"]),
    ("a.c", ["abc", "a\nc", "aéc", "a🎉c", "ac"]),
    (r"[\w.+-]+@[\w-]+\.[\w.]+", ["a.b+c@d-e.org x", "@", "a@b", "x a@b.c"]),
    (r"\d+", ["abc123", "12", "", "é1", "\u0661", "日 7"]),
    (r"\D+", ["123abc", "1", "é", "1日2"]),
    (r"\s+", ["a  b", "\t\n", "a\x1cb", "é b", "a\u00a0b", "a\u3000b"]),
    (r"\S+", ["  ab c", "", "日本", "\x01\x02"]),
    (r"\w+", ["--ab_1--", "été", "日本", "×"]),
    (r"\W+", ["ab, c", "été!", "日本。"]),
    # Runs.
    ("a*", ["", "aaa", "baa"]),
    ("a+b", ["aaab", "aab", "b", "aaa"]),
    ("a+ab", ["aaab", "ab"]),
    ("a*?b", ["aaab", "b"]),
    ("a{2,3}", ["a", "aa", "aaaa"]),
    ("a{2,3}?", ["a", "aa", "aaaa"]),
    ("a{2,3}a", ["aa", "aaa", "aaaaa"]),
    ("a{,2}b", ["aaab", "b"]),
    ("a{2,}b", ["ab", "aaab"]),
    ("a{0}b", ["ab"]),
    (r".*\.(\w+)$", ["a.b.txt", "noext", ".x"]),
    (r".*?\.(\w+)", ["a.b.txt", "noext"]),
    (r"(.*),(.*)", ["a,b,c", "é,à,日,x", ","]),
    (r"(.*?),(.*?)$", ["a,b,c", "é,à", ","]),
    (r'"[^"]*"', ['say "hi" "x"', '"', '"é"', '"aaaaaaaaaaaaaaaaaaaaa"']),
    (r'"(?:[^"\\]|\\.)*"', [r'a "b\"c" d', '"', r'"\"', '"é\\日"']),
    (r"<[^<>]{1,5}>", ["<abc>", "<abcdef>", "<é日>"]),
    (r"[^,]{2}", ["é,éé"]),
    (r".{2}$", ["日本語", "a"]),
    # Alternatives and optional parts.
    ("GET|POST|PUT|PATCH", ["PUT x", "a PATCH", "PU"]),
    ("(a|ab)(c|bcd)(d*)", ["abcd", "abc", "acd"]),
    ("(a)|b", ["a", "b", "c"]),
    ("(?:(a)|b)c", ["ac", "bc"]),
    ("(?:(a)|b)*c", ["abc", "bac", "c"]),
    ("(a)?b", ["ab", "b", "a"]),
    ("(a)?(ab)?$", ["ab", "aab", "a", ""]),
    ("(a)??(ab)?$", ["ab", "aab", "a"]),
    (r"(\d+)(\.\d+)?", ["1", "1.", "1.5", "x1.25"]),
    (r"(-)?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$", ["-1.5e10", "1e5", "2", "2.", "1.5e"]),
    ("foo|", ["foo", "fo"]),
    ("|foo", ["foo"]),
    (r"https?://([^/:]+)(?::(\d+))?(/.*)?", ["http://a.b:80/x", "https://a", "http:/", "x http://é/"]),
    # Repetition of groups.
    (r"(\d{1,3}\.){3}\d{1,3}", ["10.0.0.1", "x 1.2.3", "1.2.3.4.5"]),
    (r"(?:\w+,)*\w+", ["a,b,c", "a,", ","]),
    (r"(?:\w+,)*,", ["a,b,,", "a,b"]),
    (r"(?:ab)*a", ["ababa", "abab", "a"]),
    (r"(ab)*abab", ["abababab", "abab", "ab"]),
    (r"(?:ab)+?c", ["ababc", "c"]),
    (r"(?:ab){2,3}?(.*)", ["abababab", "ab"]),
    (r"(?:ab){2}", ["abab", "ab"]),
    (r"(a|b)*c", ["ababc", "c"]),
    (r"(a|bc)*$", ["abca", "abcb"]),
    (r"(?:(\w+)=(\w*);)+", ["a=1;b=;c=3", "x"]),
    (r"(?:.|\n)*?end", ["a\nbend", "en"]),
    (r"(.*,){2}(.*)", ["a,b,c,d", "a,b"]),
    (r"(a+|b){2}", ["aab", "ab", "aa"]),
    # Places.
    (r"^a", ["a", "ba", "\na"]),
    (r"(?m)^a", ["a", "ba", "b\na", "b\n\n\nca\na"]),
    (r"a$", ["a", "a\n", "a\n\n", "ab"]),
    (r"(?m)a$", ["a", "a\nb", "ab"]),
    (r"\Aa\Z", ["a", "a\n"]),
    (r"$", ["", "a", "a\n", "é"]),
    (r"^$", ["", "\n"]),
    (r"(?m)^$", ["a\n\nb", "a"]),
    (r"\bfoo\b", ["foo", "a foo b", "foobar", "été foo", "éfoo", "×foo"]),
    (r"\b\w+\b", ["  ab cd", "été", "-"]),
    (r"\Boo", ["foo", "oo"]),
    (r"\B", ["", "a", "ab"]),
    (r"(?a)\bé", ["é", "aé"]),
    # Flags.
    (r"(?i)abc", ["ABC", "xAbC", "ab", "éabc"]),
    ("(?i)é", ["É", "x"]),
    (r"(?i)skip", ["SKIP", "\u017fkip", "\u212aip"]),
    (r"(?i)[a-f]+\d", ["AbF7", "g"]),
    (r"(?i:a)b", ["Ab", "AB"]),
    (r"(?is)a.b", ["A\nB"]),
    (r"(?s)a.*b", ["a\n\nb", "a"]),
    (r"(?x) a  b # c", ["ab", "a b"]),
    (r"(?a)\w+", ["été", "été_1"]),
    (r"(?a)\W", ["é", "a"]),
    (r"(?ai)k", ["K", "\u212a"]),
    # Groups with names, logs, dates.
    (r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)", ["on 2024-02-29.", "2024-2-29"]),
    (r"(\d+):(\d+)(?::(\d+))?\s*([ap]m)?", ["1:30pm", "10:20:30", "x"]),
    (LOG, [LINE, LINE.replace("HTTP/1.0", ""), LINE.replace("200", "20x"), "", LINE[:40], f"é{LINE}"]),
    (r"\$?(\d{1,3}(?:,\d{3})*)(\.\d\d)?", ["$1,234,567.89", "$12", "1234"]),
    (r"^\s*(#.*)?$", ["  # x", "", "a", " \n"]),
    (r"([A-Z][a-z]+) ([A-Z]\.)?\s?([A-Z][a-z]+)", ["John Q. Public", "John Public", "john"]),
    ("a*+a", ["aaa"]),
    ("a++b", ["aab"]),
    ("\x00+", ["a\x00\x00b"]),
    # Look-around.
    (r"(?<=\$)\d+(?!\d|%)", ["7 $12%", "$12 %", "12", "é$1"]),
    (r"(?<!\d)\d{2}(?=[a-z]+,)", ["123ab, 12ab,", "12ab", "12é"]),
    (r"(?<=é.)b(?<!xb)", ["éab", "éxb", "b", "ab"]),
    (r"\w+(?=\s|$)", ["ab, cd", "ab"]),
    (r"(?=.*[a-z])(?=.*\d).{4,}$", ["a1", "aa11", "1111", "aaé1"]),
    (r"^(?!.*\.gz$).+\.\w+$", ["a.gz", "a.gz.x", "a", "é.gz"]),
    (r"(?<=a|é)(?!b*c)b", ["abbd", "abbc", "éb"]),
    # References to groups.
    (r"(.)\1+", ["abbbc", "ab", "éé", "aé"]),
    (r"\b(\w+) \1\b", ["the the cat", "the then", "a an an"]),
    (r"<(\w+)>(.*?)</\1>", ["<b>x</i></b>", "<b>x</bb>", "<b>"]),
    (r"(a)?b\1", ["ab", "b", "aba"]),
    (r"(?:(\w)\1)+x", ["aabbx", "aabx", "x"]),
]  # fmt: skip

REFUSED = [
    "(?=(a))", r"(?i)(a)\1", "(a)?(?(1)b|c)", "(?>a+)b", "(a*)*", "(?:a?){3,}",
    "(?:a+)*b", "(?:aa|a)*b", "(?:ab)++", "(|a)+b",
]  # fmt: skip


def spans_of(pattern: str, subject: str, how: str, by: str = "plain") -> Any:
    """The spans that a matcher finds, in characters; None for no match; or LEFT."""
    result = run(search.find(how, pattern).body, subject, by=by)
    if result == LEFT:
        return LEFT
    actual, *ends = result
    data = subject.encode()
    chars = [len(data[:end].decode()) if end >= 0 else -1 for end in ends]
    return list(zip(chars[::2], chars[1::2], strict=True)) if actual else None


def expected_spans(pattern: str, subject: str, how: str) -> Any:
    match = WAYS[how](pattern, subject)
    return match and [match.span(k) for k in range(match.re.groups + 1)]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(("pattern", "subjects"), CASES, ids=[case[0] for case in CASES])
def test_matches_are_those_of_re(pattern: str, subjects: list[str], how: str) -> None:
    for subject in subjects:
        assert spans_of(pattern, subject, how) == expected_spans(pattern, subject, how), subject


def test_characters_of_a_set_in_too_many_pieces_are_left_to_python() -> None:
    pattern = "[αγεηικμο]+"
    assert spans_of(pattern, "xλ", "search") == LEFT
    assert spans_of(pattern, "дx", "search") == expected_spans(pattern, "дx", "search")


@pytest.mark.parametrize("pattern", REFUSED)
def test_refused_patterns(pattern: str) -> None:
    with pytest.raises(CompileError, match="left to Python"):
        search.find("search", pattern)


ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        ".",
        "[ab]",
        "[^a]",
        r"\w",
        r"\d",
        r"\s",
        r"\S",
        "é",
        "[a-cé]",
        r"\b",
        "(?=a)",
        "(?!b)",
        "(?<=.a)",
        r"(?<!\w)",
        "^",
        "$",
    ]
)


def longer(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    counts = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{1,2}?", "{2,}"])
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner, inner).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(inner, inner).map("({0[0]}|{0[1]})".format),
        inner.map("({})".format),
        inner.map("(?={})".format),
        inner.map("(?!{})".format),
        st.tuples(inner, counts).map("(?:{0[0]}){0[1]}".format),
        st.tuples(inner, counts).map("({0[0]}){0[1]}".format),
    )


PARTS = st.recursive(ATOMS, longer, max_leaves=8)
REFERRING = st.tuples(PARTS, PARTS, PARTS).map("(?P<g>{0[0]}){0[1]}(?P=g){0[2]}".format)
PATTERNS = PARTS | REFERRING
SUBJECTS = st.text(st.sampled_from("aabbc1 \né日\u3000"), max_size=8)


@given(PATTERNS, st.lists(SUBJECTS, min_size=1, max_size=6), st.sampled_from(sorted(WAYS)))
@example("a*?", ["baac"], "search")
def test_generated_patterns(pattern: str, subjects: list[str], how: str) -> None:
    try:
        search.find(how, pattern)
    except CompileError:
        return
    for subject in subjects:
        actual = spans_of(pattern, subject, how)
        assert actual == expected_spans(pattern, subject, how), (pattern, subject)


def made_list(body: Any, subject: str, width: int = 1, by: str = "plain") -> Any:
    """The list of texts, or of tuples of texts, that a body makes; or LEFT."""
    memory = Memory()
    function = body if by == "plain" else _compiled(body)
    with np.errstate(over="ignore"):
        header, code = function(*leading(memory, body), memory.argument(subject))
    if code:
        assert code == row_values.LEFT
        return LEFT
    items = []
    for k in range(row_lists.list_size(header)):
        place = row_lists.item_place(2 * width, header, k)
        texts = [memory.result(row_values.get_text(place + 16 * j)) for j in range(width)]
        items.append(texts[0] if width == 1 else tuple(texts))
    return items


MANY = [
    "a", "a*", "a*?", "b|", "|b", r"\w+", r"[^,]*", ",", r"\s*", r"(\w)=(\w)", "(a)|b", "^a", "(?m)^", "$",
    r"\b", "é", r"\B", "(a*)b?",
]  # fmt: skip
TEXTS = ["", "a", "aabab", "a=b, c=d", "baab\nab", "éa日", "aaaaaaaaaaaaaaaaaaaa,b", " a  b "]


@pytest.mark.parametrize("pattern", MANY)
def test_every_match(pattern: str) -> None:
    groups = re.compile(pattern).groups
    for text in TEXTS:
        results = [
            (
                made_list(every.find_tuples(pattern, 0), text, max(groups, 1)),
                re.findall(pattern, text),
            )
        ]
        for count in (0, 1, 2, -1):
            if all(search.find("search", pattern).always):
                actual = made_list(every.split(pattern, count), text)
                results.append((actual, re.split(pattern, text, maxsplit=count)))
            for repl in ("", "-", r"<\g<0>>", "é" * 9):
                actual = run(every.sub(pattern, repl, count), text)
                results.append((actual, re.sub(pattern, repl, text, count=count)))
        for actual, expected in results:
            assert actual == expected, text


def test_replacements_with_groups() -> None:
    body = every.sub(r"(?P<k>\w+)=(\d+)?", r"\2:\g<k>\n")
    assert run(body, "a=1 bc=") == "1:a\n :bc\n"
    with pytest.raises(CompileError, match="function"):
        every.sub("a", lambda match: "b")
    with pytest.raises(CompileError, match="no part"):
        every.split("(a)|b")
    with pytest.raises(CompileError, match="several"):
        every.findall("(a)(b)")
    with pytest.raises(re.error):
        every.sub("a", r"\1")


def test_a_full_arena_says_so() -> None:
    assert run(every.sub("a", "bbbb"), "a" * 100, room=64) == row_values.NO_ROOM
    assert run(every.findall("a"), "a" * 100, room=64) == row_values.NO_ROOM


def test_matchers_know_their_groups() -> None:
    actual = search.find("search", r"(?P<a>x)|(?P<b>y)(z)")
    assert (actual.groups, actual.group_names) == (3, {"a": 1, "b": 2})
    assert actual.always == (True, False, False, False)
    assert actual.number("b") == 2
    for group in (4, -1, "c"):
        with pytest.raises(IndexError, match="no such group"):
            actual.number(group)
    compiled = search.find("search", re.compile("(a)(?:b|(c))", re.IGNORECASE))
    assert compiled.always == (True, True, False)
    with pytest.raises(ValueError, match="compiled pattern"):
        search.find("search", re.compile("a"), re.IGNORECASE)


@pytest.mark.parametrize(
    "pattern",
    ["(a(b)?)(c)?", "((a)|(b))(c)?", "(?:(a)|b)(c?)", "a()b|(a)", "((b)a)?", "(a)|(b)|(c)"],
)
def test_the_last_group_that_takes_part_ended_last(pattern: str) -> None:
    closing = search.find("search", pattern).closing
    for subject in ("", "a", "b", "ab", "ba", "abc", "ac", "bc", "c", "cab"):
        match = re.search(pattern, subject)
        ended = [group for group in closing if match is not None and match.start(group) >= 0]
        assert (match.lastindex if match else None) == (ended[-1] if ended else None), subject


def test_the_order_of_repeated_groups_is_unknown() -> None:
    assert search.find("search", "(?:(a)|(b))*").closing == ()


@pytest.mark.parametrize("text", ["", "abc", "aé日🎉z"])
def test_character_indices(text: str) -> None:
    memory = Memory()
    value = memory.argument(text)
    for k in range(len(text) + 1):
        assert text_search.index_at(value, len(text[:k].encode())) == k
    assert text_search.index_at(value, -1) == -1


COMPILED = [
    LOG, r"[\w.+-]+@[\w-]+\.[\w.]+", r"(?:(a)|b)*c", r'"(?:[^"\\]|\\.)*"', r"(.*?),(.*)$", r"(?m)^\bfoo\b",
]  # fmt: skip


@pytest.mark.parametrize("pattern", COMPILED)
def test_compiled_matchers(pattern: str) -> None:
    for subject in dict.fromkeys(s for case, subjects in CASES if len(case) > 9 for s in subjects):
        actual = spans_of(pattern, subject, "search", by="compiled")
        assert actual == spans_of(pattern, subject, "search")


def test_compiled_bodies() -> None:
    for text in TEXTS:
        assert run(every.sub(r"(\w)\w*", r"<\1>"), text, by="compiled") == run(
            every.sub(r"(\w)\w*", r"<\1>"), text
        )
        for body in (every.findall(r"[^,]*"), every.split(r"\s*([,=])")):
            assert made_list(body, text, by="compiled") == made_list(body, text)


@pytest.mark.parametrize("row", METHODS, ids=lambda row: row.name)
def test_rows_of_the_table_take_pythons_arguments(row: Method) -> None:
    """A row that is made gets its constants in the order of its signature, flags last."""
    if not row.maker:
        return
    body = row.body
    constants = {"sub": ("(A)", r"<\1>", 1), "split": ("a", 1)}.get(row.name.split(".")[1], ("a",))
    flags = (re.IGNORECASE,) if row.name.startswith("re.") else ()
    actual = body(*constants, *flags)  # type: ignore[misc, operator]
    if "arena" not in inspect.signature(actual).parameters:
        assert run(actual, "a")[0] == 1
    elif row.name.endswith("sub"):
        assert run(actual, "xAa") == ("x<A>a")
    else:
        assert len(made_list(actual, "aab")) == (2)
