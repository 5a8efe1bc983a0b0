"""Documents of JSON, or of Python's literals, in row functions: read once, whatever of them is used.

A value of a document is the address of its node in the arena, and None is 0. A node has three words: which
type the value is of (`OF_BOOL`, …), and then the words of an item of that type. Lists and dictionaries
are those of `row_lists` and `row_dicts`, with values of documents as items, and texts as keys.
"""

from __future__ import annotations

import math

from numpy import float64, int64

from colkern.kernels.kernel import apart, helper
from colkern.kernels.number_formatting import integer_of_width, str_of_float
from colkern.kernels.number_parsing import parse_float, parse_integer
from colkern.kernels.primitives import (
    bits_of_float,
    float_of_bits,
    get_byte,
    get_word,
    set_byte,
    set_word,
    sum_overflows,
)
from colkern.kernels.row_dicts import COUNT, TAKEN, insert_place, new_dict, next_item
from colkern.kernels.row_items import (
    EXACT,
    OF_BOOL,
    OF_DICT,
    OF_FLOAT,
    OF_INT,
    OF_LIST,
    OF_STR,
    TEXT,
    number_of_node,
)
from colkern.kernels.row_lists import append_place, item_place, list_size, new_list
from colkern.kernels.row_numbers import lost_by_addition, with_lost
from colkern.kernels.row_values import (
    DONE,
    JSON_DECODE_ERROR,
    LEFT,
    NO_ROOM,
    Arena,
    Code,
    Text,
    allocate,
    get_text,
    set_text,
)
from colkern.kernels.text_building import join_items
from colkern.kernels.text_characters import put_character
from colkern.kernels.text_escapes import (
    APOSTROPHE,
    BACKSLASH,
    QUOTE,
    letter_of_code,
    quoted,
    represented,
)

COMMA, MINUS, POINT, ZERO, COLON = map(ord, ",-.0:")
OPEN_LIST, CLOSE_LIST, OPEN_DICT, CLOSE_DICT = map(ord, "[]{}")

_TRUE = int.from_bytes(b"true", "big")
_FALSE = int.from_bytes(b"false", "big")
_NULL = int.from_bytes(b"null", "big")
_NAN = int.from_bytes(b"NaN", "big")
_INFINITY = int.from_bytes(b"Infinity", "big")
_PYTHON_TRUE = int.from_bytes(b"True", "big")
_PYTHON_FALSE = int.from_bytes(b"False", "big")
_PYTHON_NONE = int.from_bytes(b"None", "big")

_DEEPEST = 90
"""Python's own limit of nested lists and objects is larger, and depends on its version."""

_MOST_DIGITS = 640
"""Python reads integers with so many digits, whatever limit is set."""

_FRAME = 40
"""The bytes that describe a list or object that is being read: the frame of the one around it, its header,
its type, and the key before the next value."""

VALUE, KEY, FIRST_VALUE, FIRST_KEY, SEPARATOR = range(5)
"""What follows; where it is one of the last three, a list or object may end."""


@helper
def node_word(node: int64, k: int64) -> int64:
    """Word `k` of a node; 0 for None."""
    return get_word(node + k * 8) if node != 0 else int64(0)


@helper
def node_text(node: int64) -> Text:
    """The text of a node; an empty one for None."""
    size = node_word(node, int64(2))
    return Text(node_word(node, int64(1)), size >> 1, size & 1 != 0)


@helper
def new_node(arena: Arena, type_: int64, word: int64) -> int64:
    """A value of a type whose items have one word; 0 if the arena has no room."""
    node = allocate(arena, int64(24))
    if node != 0:
        set_word(node, type_)
        set_word(node + 8, word)
        set_word(node + 16, int64(0))
    return node


@helper
def node_of_text(arena: Arena, text: Text) -> int64:
    """A text as a value of a document; 0 if the arena has no room."""
    node = new_node(arena, int64(OF_STR), int64(0))
    if node != 0:
        set_text(node + 8, text)
    return node


@helper
def list_of_items(arena: Arena, type_: int64, container: int64) -> tuple[int64, Code]:
    """The list itself, or a list of the keys of a dictionary, as values of a document."""
    if type_ != OF_DICT:
        return container, DONE
    keys = new_list(arena, int64(1), get_word(container + COUNT))
    place = next_item(int64(2), int64(1), container, int64(0)) if keys != 0 else int64(0)
    while place != 0:
        node = node_of_text(arena, get_text(place))
        if node == 0:
            return int64(0), NO_ROOM
        set_word(get_word(keys) + get_word(keys + 8) * 8, node)
        set_word(keys + 8, get_word(keys + 8) + 1)
        place = next_item(int64(2), int64(1), container, place)
    return keys, DONE if keys != 0 else NO_ROOM


@helper
def behind_spaces(place: int64, end: int64) -> int64:
    """The first place that has no space between tokens."""
    while place < end:
        byte = get_byte(place)
        if byte > 32 or (byte != 32 and byte != 10 and byte != 13 and byte != 9):
            break
        place += 1
    return place


@helper
def letters_at(place: int64, end: int64) -> tuple[int64, int64]:
    """Up to eight letters at a place, the first in the highest byte, and where they end."""
    word = int64(0)
    start = place
    while place < end and place < start + 8 and 97 <= (get_byte(place) | 32) <= 122:
        word = word << 8 | get_byte(place)
        place += 1
    return word, place


@helper
def unit_of_digits(place: int64) -> int64:
    """The number that four hexadecimal digits are; -1 if they are none."""
    unit = int64(0)
    for k in range(4):
        byte = get_byte(place + k)
        digit = byte - ZERO
        if byte > 57:
            letter = byte | 32
            digit = letter - 87 if 97 <= letter <= 102 else int64(-1)
        if digit < 0:
            return int64(-1)
        unit = unit << 4 | digit
    return unit


@helper
def code_of_letter(letter: int64) -> int64:
    """The character that a letter behind a backslash stands for; -1 if it stands for none."""
    for code in range(8, 14):
        if letter != 0 and letter_of_code(int64(code)) == letter:
            return int64(code)
    return int64(-1 if letter != QUOTE and letter != BACKSLASH and letter != 47 else letter)


@apart
@helper
def unescaped(arena: Arena, place: int64, end: int64) -> tuple[Text, Code]:
    """A text with escapes of JSON; halves of characters of UTF-16 are left to Python."""
    start = allocate(arena, end - place)
    if start == 0:
        return Text(arena, int64(0), True), NO_ROOM
    target = start
    bits = int64(0)
    while place < end:
        code = get_byte(place)
        place += 1
        if code != BACKSLASH:
            set_byte(target, code)
            target += 1
            bits |= code
            continue
        code = code_of_letter(get_byte(place))
        if code < 0:
            if get_byte(place) != 117 or end - place < 5:
                return Text(arena, int64(0), True), JSON_DECODE_ERROR
            code = unit_of_digits(place + 1)
            place += 4
            if code < 0:
                return Text(arena, int64(0), True), JSON_DECODE_ERROR
            is_pair = code >> 10 == 0x36 and end - place > 6
            if is_pair and get_byte(place + 1) == BACKSLASH and get_byte(place + 2) == 117:
                low = unit_of_digits(place + 3)
                place += 6
                if low >> 10 != 0x37:
                    return Text(arena, int64(0), True), LEFT
                code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF)
            if code >> 11 == 0x1B:
                return Text(arena, int64(0), True), LEFT
        place += 1
        target += put_character(target, code)
        bits |= code
    return Text(start, target - start, bool(bits < 128)), DONE


@apart
@helper
def read_text(arena: Arena, place: int64, end: int64, is_python: int64) -> tuple[Text, int64, Code]:
    """The text that begins with the quote at a place, and where it ends."""
    wrong = LEFT if is_python != 0 else JSON_DECODE_ERROR
    quote = get_byte(place)
    start = place + 1
    k = start
    bits = int64(0)
    has_escapes = False
    byte = int64(0)
    while k < end:
        byte = get_byte(k)
        if byte == quote:
            break
        if byte < 32:
            return Text(arena, int64(0), True), k, wrong
        if byte == BACKSLASH:
            has_escapes = True
            k += 1
        bits |= byte
        k += 1
    if k >= end or (has_escapes and is_python != 0):
        return Text(arena, int64(0), True), k, wrong
    if has_escapes:
        text, code = unescaped(arena, start, k)
        return text, k + 1, code
    return Text(start, k - start, bool(bits < 128)), k + 1, DONE


@helper
def behind_digits(place: int64, end: int64) -> int64:
    """The first place that has no digit."""
    while place < end and 0 <= get_byte(place) - ZERO <= 9:
        place += 1
    return place


@apart
@helper
def read_number(arena: Arena, place: int64, end: int64, wrong: Code) -> tuple[int64, int64, Code]:
    """The number that begins at a place, and where it ends."""
    start = place
    place += int64(get_byte(place) == MINUS)
    first = place
    place = behind_digits(place, end)
    if place == first:
        return int64(0), place, wrong
    if get_byte(first) == ZERO:
        place = first + 1
    digits = place - first
    is_float = False
    if place + 1 < end and get_byte(place) == POINT and 0 <= get_byte(place + 1) - ZERO <= 9:
        place = behind_digits(place + 1, end)
        is_float = True
    if place < end and get_byte(place) | 32 == 101:
        power = place + 1
        if power < end and (get_byte(power) == MINUS or get_byte(power) == 43):
            power += 1
        if behind_digits(power, end) > power:
            place = behind_digits(power, end)
            is_float = True
    text = Text(start, place - start, True)
    node = int64(0)
    if is_float:
        number, code = parse_float(text)
        node = new_node(arena, int64(OF_FLOAT), bits_of_float(number))
    else:
        integer, code = parse_integer(text)
        node = new_node(arena, int64(OF_INT), integer)
    if code != DONE or digits > _MOST_DIGITS:
        return int64(0), place, LEFT
    return node, place, DONE if node != 0 else NO_ROOM


@apart
@helper
def read_scalar(
    arena: Arena, place: int64, end: int64, is_python: int64
) -> tuple[int64, int64, Code]:
    """The value that begins at a place, which is no list or object, and where it ends."""
    wrong = LEFT if is_python != 0 else JSON_DECODE_ERROR
    byte = get_byte(place)
    if byte == QUOTE or (byte == APOSTROPHE and is_python != 0):
        text, place, code = read_text(arena, place, end, is_python)
        node = node_of_text(arena, text) if code == DONE else int64(0)
        return node, place, code if node != 0 or code != DONE else NO_ROOM
    is_negative = byte == MINUS
    word, behind = letters_at(place + int64(is_negative), end)
    type_ = int64(OF_BOOL)
    content = int64(1)
    if word == 0:
        return read_number(arena, place, end, wrong)
    if word == _INFINITY and is_python == 0:
        type_ = int64(OF_FLOAT)
        content = int64(-0x10000000000000 if is_negative else 0x7FF0000000000000)
    elif is_negative:
        return int64(0), place, wrong
    elif word == (_PYTHON_NONE if is_python != 0 else _NULL):
        return int64(0), behind, DONE
    elif word == (_PYTHON_FALSE if is_python != 0 else _FALSE):
        content = int64(0)
    elif word == _NAN and is_python == 0:
        type_ = int64(OF_FLOAT)
        content = int64(0x7FF8000000000000)
    elif word != (_PYTHON_TRUE if is_python != 0 else _TRUE):
        return int64(0), place, wrong
    node = new_node(arena, type_, content)
    return node, behind, DONE if node != 0 else NO_ROOM


@helper
def put_value(arena: Arena, frame: int64, node: int64) -> Code:
    """Add a value to the list or object that is being read, if there is one."""
    if frame == 0:
        return DONE
    header = get_word(frame + 8)
    if get_word(frame + 16) == OF_LIST:
        place = append_place(arena, int64(1), header)
        code = DONE if place != 0 else NO_ROOM
    else:
        place, code = insert_place(arena, int64(TEXT), int64(2), int64(1), header, frame + 24)
    if code == DONE:
        set_word(place, node)
    return code


@helper
def new_frame(arena: Arena, outer: int64, header: int64, type_: int64) -> int64:
    """The frame of a list or object that is being read; 0 if the arena has no room."""
    frame = allocate(arena, int64(_FRAME))
    if frame != 0:
        set_word(frame, outer)
        set_word(frame + 8, header)
        set_word(frame + 16, type_)
    return frame


@apart
@helper
def read_document(arena: Arena, text: Text, is_python: int64) -> tuple[int64, Code]:
    """`json.loads(text)`; with `is_python`, `ast.literal_eval(text)` of what looks much like JSON."""
    wrong = LEFT if is_python != 0 else JSON_DECODE_ERROR
    place = text.address
    end = place + text.size
    if is_python != 0:
        # A line break in front of a line of Python means something.
        while place < end and (get_byte(place) == 32 or get_byte(place) == 9):
            place += 1
        if behind_spaces(place, end) != place:
            return int64(0), wrong
    root = int64(0)
    frame = int64(0)
    depth = int64(0)
    follows = int64(VALUE)
    while True:
        place = behind_spaces(place, end)
        if follows == SEPARATOR and frame == 0:
            return root, DONE if place == end else wrong
        if place >= end:
            return int64(0), wrong
        byte = get_byte(place)
        in_object = frame != 0 and get_word(frame + 16) == OF_DICT
        closes = byte == (CLOSE_DICT if in_object else CLOSE_LIST)
        if closes and follows >= FIRST_VALUE:
            place += 1
            frame = get_word(frame)
            depth -= 1
            follows = int64(SEPARATOR)
        elif follows == SEPARATOR:
            if byte != COMMA:
                return int64(0), wrong
            place += 1
            follows = int64(KEY if in_object else VALUE)
        elif follows & 1 != 0:
            if byte != QUOTE and (byte != APOSTROPHE or is_python == 0):
                return int64(0), wrong
            key, place, code = read_text(arena, place, end, is_python)
            if code != DONE:
                return int64(0), code
            place = behind_spaces(place, end)
            if place >= end or get_byte(place) != COLON:
                return int64(0), wrong
            place += 1
            set_text(frame + 24, key)
            follows = int64(VALUE)
        else:
            inner = int64(0)
            if byte | 32 == OPEN_DICT:
                is_list = byte == OPEN_LIST
                type_ = int64(OF_LIST if is_list else OF_DICT)
                header = (
                    new_list(arena, int64(1), int64(4)) if is_list else new_dict(arena, int64(2))
                )
                node = new_node(arena, type_, header)
                inner = new_frame(arena, frame, header, type_)
                place += 1
                code = DONE if header != 0 and node != 0 and inner != 0 else NO_ROOM
                follows = int64(FIRST_VALUE if is_list else FIRST_KEY)
                depth += 1
                if depth > _DEEPEST:
                    return int64(0), LEFT
            else:
                node, place, code = read_scalar(arena, place, end, is_python)
                follows = int64(SEPARATOR)
            if code == DONE:
                code = put_value(arena, frame, node)
            if code != DONE:
                return int64(0), code
            if frame == 0:
                root = node
            if inner != 0:
                frame = inner


@apart
@helper
def sum_of_nodes(
    start: int64, header: int64, compensates: int64
) -> tuple[tuple[int64, int64, float64], Code]:
    """`sum` of a list of values of documents: whether it is a float, the integer, and the float.

    From Python 3.12 on, sums of floats compensate for what is lost.
    """
    whole = start
    total = float64(0.0)
    lost = float64(0.0)
    is_float = False
    for k in range(list_size(header)):
        node = get_word(item_place(int64(1), header, int64(k)))
        type_ = node_word(node, int64(0))
        word = node_word(node, int64(1))
        if node == 0 or type_ > OF_FLOAT:
            return (int64(0), int64(0), float64(0.0)), LEFT
        number = number_of_node(node)
        if type_ == OF_FLOAT and is_float:
            if compensates != 0:
                lost = lost_by_addition(total, number, lost)
            total = total + number
        elif type_ == OF_FLOAT:
            if whole > EXACT or whole < -EXACT:
                return (int64(0), int64(0), float64(0.0)), LEFT
            is_float = True
            total = float64(whole) + number
        elif is_float:
            if compensates != 0 or number != number:
                return (int64(0), int64(0), float64(0.0)), LEFT
            total = total + number
        else:
            if sum_overflows(whole, word):
                return (int64(0), int64(0), float64(0.0)), LEFT
            whole = whole + word
    return (int64(is_float), whole, with_lost(total, lost)), DONE


# As text.

PYTHON, ASCII_JSON, JSON = range(3)
"""The forms of texts: as `repr`, as JSON with all beyond ASCII escaped, or with none of it."""

_WORD_SIZE = 4
_SPECIAL = 17
"""Where the words for numbers that are not finite begin, behind `[]{}` and those for None, True, False."""

WORDS = {
    PYTHON: "[]{}NoneTrueFalse",
    ASCII_JSON: "[]{}nulltruefalseNaNInfinity-Infinity",
    JSON: "[]{}nulltruefalseNaNInfinity-Infinity",
}
"""The words of each form, one behind the other."""


@helper
def word_of(words: Text, place: int64, size: int64) -> Text:
    """One of the words of a form."""
    return Text(words.address + place, size, True)


@apart
@helper
def text_of_scalar(
    arena: Arena, unicode: int64, node: int64, form: int64, words: Text
) -> tuple[Text, Code]:
    """The text of a value that is no list or object."""
    if node == 0:
        return word_of(words, int64(4), int64(_WORD_SIZE)), DONE
    type_ = get_word(node)
    word = get_word(node + 8)
    if type_ == OF_STR:
        return quoted_as(arena, unicode, node_text(node), form)
    if type_ == OF_INT:
        return integer_of_width(arena, word, int64(1))
    if type_ == OF_BOOL:
        place = int64(8 if word != 0 else 12)
        return word_of(words, place, int64(4 if word != 0 else 5)), DONE
    number = float_of_bits(word)
    if form == PYTHON or abs(number) < math.inf:
        return str_of_float(arena, number)
    if number != number:
        return word_of(words, int64(_SPECIAL), int64(3)), DONE
    place, size = (int64(20), int64(8)) if number > 0 else (int64(28), int64(9))
    return word_of(words, place, size), DONE


@helper
def quoted_as(arena: Arena, unicode: int64, text: Text, form: int64) -> tuple[Text, Code]:
    """A text in quotes."""
    if form == PYTHON:
        return represented(arena, unicode, text)
    return quoted(arena, text, form == ASCII_JSON)


@helper
def put_part(arena: Arena, parts: int64, text: Text) -> bool:
    """Add a text to those that make one; false if the arena has no room."""
    place = append_place(arena, int64(2), parts)
    if place != 0:
        set_text(place, text)
    return place != 0


@helper
def next_place(frame: int64) -> int64:
    """The next item or entry of the list or dictionary that is being written; 0 if there is none."""
    header = get_word(frame + 8)
    k = get_word(frame + 24)
    place = int64(0)
    if get_word(frame + 16) == OF_LIST:
        if k < list_size(header):
            place = item_place(int64(1), header, k)
    else:
        taken = get_word(header + TAKEN)
        while k < taken and get_word(get_word(header) + k * 32) == 0:
            k += 1
        if k < taken:
            place = get_word(header) + k * 32
    set_word(frame + 24, k + 1)
    return place


@apart
@helper
def text_of_node(
    arena: Arena, unicode: int64, node: int64, form: int64, words: Text, comma: Text, colon: Text
) -> tuple[Text, Code]:
    """The text of a value of a document, with what stands between items, and between key and value."""
    parts = new_list(arena, int64(2), int64(16))
    has_room = parts != 0
    frame = int64(0)
    depth = int64(0)
    while has_room:
        if node != 0 and get_word(node) >= OF_LIST:
            frame = new_frame(arena, frame, get_word(node + 8), get_word(node))
            has_room = frame != 0
            depth += 1
            if depth > _DEEPEST:
                return words, LEFT
            if has_room:
                set_word(frame + 24, int64(0))
                place = int64(2 if get_word(node) == OF_DICT else 0)
                has_room = put_part(arena, parts, word_of(words, place, int64(1)))
            is_first = True
        else:
            text, code = text_of_scalar(arena, unicode, node, form, words)
            if code != DONE:
                return text, code
            has_room = put_part(arena, parts, text)
            is_first = False
        while has_room and frame != 0:
            place = next_place(frame)
            is_list = get_word(frame + 16) == OF_LIST
            if place != 0:
                if not is_first:
                    has_room = put_part(arena, parts, comma)
                if not is_list:
                    text, code = quoted_as(arena, unicode, get_text(place + 8), form)
                    if code != DONE:
                        return text, code
                    has_room &= put_part(arena, parts, text) and put_part(arena, parts, colon)
                node = get_word(place if is_list else place + 24)
                break
            has_room = put_part(arena, parts, word_of(words, int64(1 if is_list else 3), int64(1)))
            frame = get_word(frame)
            depth -= 1
            is_first = False
        if has_room and frame == 0:
            return join_items(arena, word_of(words, int64(0), int64(0)), parts, int64(1))
    return words, NO_ROOM
