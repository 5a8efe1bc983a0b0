"""The rows of the table for functions of `unicodedata`."""

from __future__ import annotations

from colkern.errors import CompileError
from colkern.kernels import normalization, unicode_data
from colkern.rows.methods import Bound, Method

_FORMS = {
    form: Bound(normalization.normalize, kind=kind, composed=form[-1] == "C")
    for form, kind in (
        ("NFC", normalization.CANONICAL),
        ("NFD", normalization.CANONICAL),
        ("NFKC", normalization.COMPATIBLE),
        ("NFKD", normalization.COMPATIBLE),
    )
}


def _normalize(form: str) -> Bound:
    if form not in _FORMS:
        raise CompileError(f"{form!r} is no normal form of Unicode")
    return _FORMS[form]


METHODS = [
    Method("unicodedata.category", "(str) -> str", unicode_data.category),
    Method("unicodedata.combining", "(str) -> int", unicode_data.combining),
    Method(
        "unicodedata.normalize",
        "(form: const, unistr: str) -> str",
        _normalize,
        maker=True,
    ),
]
