"""Exercise 2.2: what the text of a parameter means.

A .param file writes ``stride=(2,2) padding=same bias=True eps=1e-5``, without a word about types. The first rule that
fits the text decides:

    the text                                   type                          for example
    contains %                                 STRING                        (1,%batch)
    is None, () or []                          NULL, the value None
    is True or False                           BOOL
    starts with ( or [                         a list, see below             (2,2)   [0.5]   (ij,jk)
    starts with neither digit nor -digit       STRING                        zeros   torch.float   inf   -
    contains . or e                            FLOAT                         0.1     -2e3
    anything else                              INT                           -1      64

A digit is one of 0 to 9. A list ends with the bracket that closes the one it begins with, and a comma stands between
its items. The last three rules say what each item is. All items are of one type, which makes the list an INT_LIST,
FLOAT_LIST or STRING_LIST. One exception: among floats, the words inf, -inf and nan are floats too, ``(0.5,inf)``. (Where
nothing but such words stands in a list, it is a list of strings.)
"""

from __future__ import annotations

from collections.abc import Mapping

from kuiper.graph.pnnx import Parameter, ParameterType

# ParameterType has the members NULL BOOL INT FLOAT STRING INT_LIST FLOAT_LIST STRING_LIST (and more, for rarer things).

# BEGIN SOLUTION
CLOSING = {"(": ")", "[": "]"}
LIST_TYPES = {
    ParameterType.INT: ParameterType.INT_LIST,
    ParameterType.FLOAT: ParameterType.FLOAT_LIST,
    ParameterType.STRING: ParameterType.STRING_LIST,
}


def parse_item(text: str) -> tuple[ParameterType, int | float | str]:
    """The last three rules."""
    if text.removeprefix("-")[:1] not in tuple("0123456789"):
        return ParameterType.STRING, text
    if "." in text or "e" in text:
        return ParameterType.FLOAT, float(text)
    return ParameterType.INT, int(text)


def parse_list(text: str) -> Parameter:
    """The fourth rule."""
    if text[-1] != CLOSING[text[0]]:
        raise ValueError(f"expected a list that ends with {CLOSING[text[0]]}, got {text!r}")
    items = [parse_item(word) for word in text[1:-1].split(",")]
    if any(kind is ParameterType.FLOAT for kind, _ in items):
        spelled = ("inf", "-inf", "nan")
        items = [(ParameterType.FLOAT, float(value)) if value in spelled else (kind, value) for kind, value in items]
    if len({kind for kind, _ in items}) > 1:
        raise ValueError(f"expected items of one type, got {text!r}")
    return Parameter(LIST_TYPES[items[0][0]], [value for _, value in items], text)


# END SOLUTION


def parse_value(text: str) -> Parameter:
    """The parameter that a text means: its type, its value, and the text itself.

    The value is a plain Python one: None, True, 64, 0.5, "same", or a list of such.

    >>> parse_value("(2,1)")
    Parameter(type=<ParameterType.INT_LIST: 5>, value=[2, 1], text='(2,1)')
    >>> parse_value("1e-5").value, parse_value("-3").value, parse_value("inf").value
    (1e-05, -3, 'inf')

    Raises
    ------
    ValueError
        For a list that its bracket does not close or whose items are of several types (the message quotes the text),
        and for a text that starts like a number but is none: ``12abc``, ``1E5`` (no small e, so not a FLOAT), ``0x10``.
    """
    # BEGIN SOLUTION
    if "%" in text:
        return Parameter(ParameterType.STRING, text, text)
    if text in ("None", "()", "[]"):
        return Parameter(ParameterType.NULL, None, text)
    if text in ("True", "False"):
        return Parameter(ParameterType.BOOL, text == "True", text)
    if text[:1] in CLOSING:
        return parse_list(text)
    kind, value = parse_item(text)
    return Parameter(kind, value, text)
    # END SOLUTION


def parse_params(type_name: str, texts: Mapping[str, str]) -> dict[str, Parameter]:
    """All parameters of an operator of this type, in the order of ``texts``.

    The rules above have one exception: the ``expr`` of a ``pnnx.Expression`` is a STRING, whatever it looks like. It is
    a formula such as ``[@0,2]``, which course 4 will read.

    >>> parse_params("pnnx.Expression", {"expr": "[@0,2]"})["expr"].value
    '[@0,2]'
    """
    # BEGIN SOLUTION
    params = {}
    for key, text in texts.items():
        is_formula = type_name == "pnnx.Expression" and key == "expr"
        params[key] = Parameter(ParameterType.STRING, text, text) if is_formula else parse_value(text)
    return params
    # END SOLUTION
