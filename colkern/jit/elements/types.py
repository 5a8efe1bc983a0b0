"""The Numba types of elements, one for each kind of row functions that a column has."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.typeconv import Conversion
from numba.extending import make_attribute_wrapper, models, register_model

from colkern.jit.values.borrowing import Borrowed
from colkern.rows import kinds as k
from colkern.rows.kinds import Kind


class ElementType(types.Type):
    """The Numba type of elements of one kind.

    Args:
        kind: Their kind in row functions.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        super().__init__(name=kind.name)


class SequenceType(Borrowed, ElementType, types.IterableType, types.Hashable):
    """The Numba type of texts or byte strings."""

    # Unification starts with the narrowest type: with an element first, literals become elements.
    bitwidth = -1

    # Python is given a copy.
    may_be_returned = True

    literals: tuple[type, ...] = ()
    """Numba's own types of such values."""

    @property
    def iterator_type(self) -> types.IteratorType:
        """The type of `iter(s)`."""
        return SequenceIteratorType(self)

    def unify(self, typingctx: Any, other: Any) -> Any:
        """The type for a variable that may be this or an `other`."""
        return self if isinstance(other, self.literals) else None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Numba's own values of the kind become elements."""
        return Conversion.safe if isinstance(other, self.literals) else None


class TextType(SequenceType):
    """The Numba type of texts."""

    literals = (types.StringLiteral, types.UnicodeType)

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """A text becomes one of Numba's by decoding."""
        return Conversion.unsafe if isinstance(other, types.UnicodeType) else None


class BytesType(SequenceType):
    """The Numba type of byte strings."""

    literals = (types.Bytes,)


class SequenceIteratorType(Borrowed, types.SimpleIteratorType):
    """The Numba type of `iter(s)`."""

    def __init__(self, source: SequenceType) -> None:
        self.source = source
        yields = source if isinstance(source, TextType) else types.int64
        super().__init__(f"iter({source.name})", yields)


text = TextType(k.TEXT)
binary = BytesType(k.BYTES)

_OPTIONALS = (types.Optional(text), types.Optional(binary))
"""There is one object of each in a process."""

for _optional in _OPTIONALS:
    # Numba takes a comparison of a string with any type of its own to be False; these are not.
    _optional._is_internal = False

OWNER = types.MemInfoPointer(types.voidptr)
"""Memory of Numba's that is counted; null for what stands in a column or in code."""


@register_model(TextType)
@register_model(BytesType)
class _SequenceModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("address", types.int64), ("size", types.int64), ("owner", OWNER)]
        if isinstance(fe_type, TextType):
            members.insert(2, ("ascii", types.boolean))
        super().__init__(dmm, fe_type, members)


@register_model(SequenceIteratorType)
class _IteratorModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("position", types.EphemeralPointer(types.int64)), ("source", fe_type.source)]
        super().__init__(dmm, fe_type, members)


for _kind in (TextType, BytesType):
    make_attribute_wrapper(_kind, "address", "_ck_address")
    make_attribute_wrapper(_kind, "size", "_ck_size")


class MomentType(ElementType, types.Hashable):
    """The Numba type of dates, datetimes, times or durations: a number of days or microseconds."""


class DateType(MomentType):
    """The Numba type of dates."""


class DatetimeType(MomentType):
    """The Numba type of datetimes."""


class TimeType(MomentType):
    """The Numba type of times of day."""


class TimedeltaType(MomentType):
    """The Numba type of durations."""


MOMENTS: dict[Kind, MomentType] = {
    k.DATE: DateType(k.DATE),
    k.DATETIME: DatetimeType(k.DATETIME),
    k.TIME: TimeType(k.TIME),
    k.TIMEDELTA: TimedeltaType(k.TIMEDELTA),
}


@register_model(DateType)
@register_model(DatetimeType)
@register_model(TimeType)
@register_model(TimedeltaType)
class _MomentModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, dmm.lookup(types.int64).get_value_type())


ELEMENT_OF: dict[Kind, ElementType] = {k.TEXT: text, k.BYTES: binary, **MOMENTS}
"""The Numba type of each kind."""
