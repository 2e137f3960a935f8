"""The value of a parameter: from the text behind ``=`` to a Python value, and back.

The first rule that fits decides:

    the expr of a pnnx.Expression,     string
        or of a Tensor.index
    contains %                         string
    None  ()  []                       null
    True  False                        bool
    starts with ( or [                 list of ints, floats, strings or complex numbers
    does not start with [-]digit       string (so are inf, -inf, nan and torch.float)
    ends with j                        complex
    contains . or e                    float
    anything else                      int
"""

from __future__ import annotations

import math
import re
import reprlib

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx.ir import Parameter, ParameterType, ParameterValue

LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""The bounds of an integer of 64 bits."""

_NUMBER = re.compile("-?[0-9]")
_INT = re.compile("-?[0-9]{1,19}")
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?")
# pnnx puts a plus sign even before a negative imaginary part: 1.000000e+00+-2.000000e+00j.
_COMPLEX = re.compile(rf"({_FLOAT.pattern})(?:\+|(?=-))({_FLOAT.pattern})j")
# A value with single blanks inside is read as one as long as no word of it looks like a field.
_WORDS = re.compile(
    "[^\x00-\x20\x7f\ud800-\udfff]*( [^\x00-\x20\x7f\ud800-\udfff@$#=][^\x00-\x20\x7f\ud800-\udfff=]*)*"
)
# The words that PNNX writes where it means a number.
SPELLED_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan, "-nan": math.nan, "nan.0": math.nan}
_CLOSING = {"(": ")", "[": "]"}

_LIST_TYPES = {
    ParameterType.INT: ParameterType.INT_LIST,
    ParameterType.FLOAT: ParameterType.FLOAT_LIST,
    ParameterType.STRING: ParameterType.STRING_LIST,
    ParameterType.COMPLEX: ParameterType.COMPLEX_LIST,
}

Scalar = int | float | complex | str

_short = reprlib.Repr()
_short.maxstring = 80


def quote(text: str) -> str:
    """The text in quotes for an error message, shortened in the middle when it is long."""
    return _short.repr(text)


# Parameters that are text whatever they look like: the rules would make lists of ``[@0,2]`` and ``(@0,1)``, and have
# none for ``[None,[2,1,0]]``.
_ALWAYS_TEXT = {("pnnx.Expression", "expr"), ("pnnx.SliceIndexes", "indexes"), ("Tensor.index", "expr")}


def is_always_text(op_type: str, key: str) -> bool:
    """Whether a parameter is an expression over the operator's inputs, to be read by the layer."""
    return (op_type, key) in _ALWAYS_TEXT


def parse_value(text: str, where: str, *, as_text: bool = False) -> Parameter:
    """The parameter that a text means; it keeps the text, so that writing it again changes no byte.

    Parameters
    ----------
    text : what stands behind ``=``
    where : the name of the file and the line, for error messages
    as_text : True takes the text as it is, as for the expression of a ``pnnx.Expression``

    Returns
    -------
    The parameter with its type and its value.

    Raises
    ------
    ModelFormatError
        For a list without its closing bracket or with items of several types, and for numbers that are none or
        do not fit 64 bits.

    Examples
    --------
    >>> parse_value("(2,2)", "conv.param:3")
    Parameter(type=<ParameterType.INT_LIST: 5>, value=[2, 2], text='(2,2)')
    """
    if as_text or "%" in text:
        return Parameter(ParameterType.STRING, text, text)
    if text in ("None", "()", "[]"):
        return Parameter(ParameterType.NULL, None, text)
    if text in ("True", "False"):
        return Parameter(ParameterType.BOOL, text == "True", text)
    if text[:1] in _CLOSING:
        return _parse_list(text, where)
    kind, value = _parse_scalar(text, where)
    return Parameter(kind, value, text)


def _parse_list(text: str, where: str) -> Parameter:
    """A list whose items are all of one type; ``inf`` and ``nan`` may stand among floats."""
    if len(text) < 2 or text[-1] != _CLOSING[text[0]]:
        raise ModelFormatError(where, f"a list that ends with '{_CLOSING[text[0]]}'", quote(text))
    words = [word.strip(" ") for word in text[1:-1].split(",")]
    if any(word[:1] in ("", "(", "[") for word in words):
        raise ModelFormatError(where, "a list of numbers or of words", quote(text))
    items = [_parse_scalar(word, where) for word in words]
    kinds = {kind for kind, _ in items}
    if kinds == {ParameterType.FLOAT, ParameterType.STRING}:
        items = [_spelled_float(kind, value) for kind, value in items]
        kinds = {kind for kind, _ in items}
    if len(kinds) != 1:
        raise ModelFormatError(where, "a list whose items are of one type", quote(text))
    return Parameter(_LIST_TYPES[kinds.pop()], [value for _, value in items], text)


def _spelled_float(kind: ParameterType, value: Scalar) -> tuple[ParameterType, Scalar]:
    """The same item, or the float that a word such as ``inf`` spells."""
    if isinstance(value, str) and value in SPELLED_FLOATS:
        return ParameterType.FLOAT, SPELLED_FLOATS[value]
    return kind, value


def _parse_scalar(text: str, where: str) -> tuple[ParameterType, Scalar]:
    """A word or a number."""
    if not _NUMBER.match(text):
        return ParameterType.STRING, text
    if text.endswith("j"):
        return ParameterType.COMPLEX, _parse_complex(text, where)
    if "." in text or "e" in text:
        return ParameterType.FLOAT, _parse_float(text, where)
    return ParameterType.INT, parse_int(text, where)


def parse_int(
    text: str, where: str, expected: str = "an integer of 64 bits", low: int = LOWEST, high: int = HIGHEST
) -> int:
    """The decimal number that a text spells, between ``low`` and ``high``."""
    if _INT.fullmatch(text) and low <= int(text) <= high:
        return int(text)
    raise ModelFormatError(where, expected, quote(text))


def _parse_float(text: str, where: str) -> float:
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isfinite(value):
            return value
    raise ModelFormatError(where, "a number of 64 bits", quote(text))


def _parse_complex(text: str, where: str) -> complex:
    match = _COMPLEX.fullmatch(text)
    if not match:
        raise ModelFormatError(where, "a complex number like 1.0+2.0j", quote(text))
    return complex(_parse_float(match[1], where), _parse_float(match[4], where))


def spell_value(param: Parameter, where: str, *, as_text: bool = False) -> str:
    """The text that means this parameter: the one it was read from, as long as that still means its value.

    Parameters
    ----------
    param : the parameter
    where : the name of the file and the operator, for error messages
    as_text : True if the reader will take the text as it is

    Returns
    -------
    What is to stand behind ``=``.

    Raises
    ------
    ModelFormatError
        If no text means this value: a word that would read as a number, a list of lists.

    Examples
    --------
    >>> param = parse_value("(2,2)", "conv.param:3")
    >>> param.value = [3, 3]
    >>> spell_value(param, "conv.param:3")
    '(3,3)'
    """
    for text in (param.text, _spell(param.value)):
        if _means(text, param.value, as_text):
            return text
    raise ModelFormatError(where, "a value that the format can spell", quote(repr(param.value)))


def _means(text: str, value: ParameterValue, as_text: bool) -> bool:
    """Whether a reader finds this value in the text (compared as text: NaN is not equal to itself)."""
    try:
        return bool(_WORDS.fullmatch(text)) and repr(parse_value(text, "", as_text=as_text).value) == repr(value)
    except ModelFormatError:
        return False


def _spell(value: ParameterValue) -> str:
    if isinstance(value, (list, tuple)):
        return f"({','.join(_spell(item) for item in value)})"
    if isinstance(value, complex):
        return f"{value.real!r}+{value.imag!r}j"
    return str(value)
