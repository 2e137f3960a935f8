"""From the text of a .param file to a Graph.

    7767517                                                             magic number
    3 2                                                                 operators, operands
    pnnx.Input   in     0 1 0                                           type name inputs outputs, then operands
    nn.ReLU      relu   1 1 0 1 $input=0 #0=(1,8)f32 #1=(1,8)f32        and fields, told apart by their first character
    pnnx.Output  out    1 0 1

Every mistake in the text becomes one ModelFormatError that names file and line.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque

from kuiper.errors import ModelFormatError
from kuiper.graph.pnnx.data_types import parse_typed_shape, spell_typed_shape
from kuiper.graph.pnnx.ir import INPUT, OUTPUT, Attribute, Graph, Operand, Operator
from kuiper.graph.pnnx.values import is_always_text, parse_int, parse_value, quote

MAGIC = "7767517"

# A model of 100,000 operators stays far below all of them; they keep garbage from filling the memory.
MAX_TEXT = 32 * 2**20
MAX_LINE = 2**20
MAX_COUNT = 2**20

_BLANKS = re.compile("[ \t]+")
_LINE = re.compile("^.*$", re.MULTILINE)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_SPACE = " \t\r\n"  # not what Python calls space: a name may contain an ideographic blank


def parse_param(text: str, where: str) -> Graph:
    r"""The graph that the text of a .param file describes; its attributes have no data yet.

    Parameters
    ----------
    text : the whole file
    where : the name of the file, for error messages

    Returns
    -------
    A graph whose operators are in the order of the lines.

    Raises
    ------
    ModelFormatError
        With ``where`` and the line, for everything that does not follow the format.

    Examples
    --------
    >>> graph = parse_param("7767517\n2 1\npnnx.Input in 0 1 x\npnnx.Output out 1 0 x\n", "example")
    >>> [op.name for op in graph.operators], [operand.name for operand in graph.operands]
    (['in', 'out'], ['x'])
    """
    text = text.rstrip(_SPACE)
    _check_characters(text, where)
    magic, _, rest = text.partition("\n")
    if magic.rstrip(_SPACE) != MAGIC:
        got = quote(magic) if text else "an empty file"
        raise ModelFormatError(f"{where}:1", f"the magic number {MAGIC}", got, "is this a .param file?")
    header, _, body = rest.partition("\n")
    operator_count, operand_count = _parse_header(header.strip(_SPACE), f"{where}:2")
    line_count = body.count("\n") + bool(body)
    if operator_count != line_count:
        raise ModelFormatError(f"{where}:2", f"a line for each of {operator_count} operators", f"{line_count} lines")
    if operator_count > MAX_COUNT:
        raise ModelFormatError(f"{where}:2", f"at most {MAX_COUNT} operators", operator_count)
    reader = _GraphReader()
    for number, line in zip(range(3, 3 + operator_count), _LINE.finditer(body), strict=False):
        reader.read_operator(line[0].strip(_SPACE), f"{where}:{number}")
    if operand_count < len(reader.graph.operands):  # at optlevel 0 pnnx counts outputs, too, that it leaves out
        got = f"{len(reader.graph.operands)} on the lines below"
        raise ModelFormatError(f"{where}:2", f"at most {operand_count} operands", got)
    if not any(op.type == OUTPUT for op in reader.graph.operators):
        hint = "an .ncnn.param is another format" if where.endswith(".ncnn.param") else ""
        raise ModelFormatError(where, "a pnnx.Output", f"{operator_count} operators without one", hint)
    return reader.graph


def _check_characters(text: str, where: str) -> None:
    """Text has no control characters but the ends of lines, which are LF or CR LF."""
    found = _CONTROL.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise ModelFormatError(f"{where}:{line}", "text", f"the control character {found[0]!r}")


def _parse_header(line: str, where: str) -> tuple[int, int]:
    """The two numbers of the second line."""
    counts = _BLANKS.split(line)
    if len(counts) != 2:
        got = quote(line) if line else "nothing"
        raise ModelFormatError(where, "two numbers, of operators and of operands", got)
    operators, operands = (parse_int(count, where, "a count", low=0) for count in counts)
    return operators, operands


class _GraphReader:
    """The graph so far, and the operands that later lines may name."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.operands: dict[str, Operand] = {}

    def read_operator(self, line: str, where: str) -> None:
        """Append the operator of one line."""
        if len(line) > MAX_LINE:
            raise ModelFormatError(where, f"a line of at most {MAX_LINE} characters", len(line))
        words = _BLANKS.split(line)
        if len(words) < 4:
            got = quote(line) if line else "an empty line"
            raise ModelFormatError(where, "type, name, number of inputs and of outputs", got)
        op = Operator(words[0], words[1])
        inputs, outputs = (parse_int(word, where, "a number of operands", low=0) for word in words[2:4])
        names, fields = words[4 : 4 + inputs + outputs], words[4 + inputs + outputs :]
        names = [name for name in names if "=" not in name]
        if len(names) < inputs + outputs:
            raise ModelFormatError(where, f"{inputs} inputs and {outputs} outputs", f"{len(names)} operands")
        self._connect(op, names[:inputs], names[inputs:], where)
        self._read_fields(op, fields, where)
        self.graph.operators.append(op)

    def _connect(self, op: Operator, inputs: list[str], outputs: list[str], where: str) -> None:
        """Look up the inputs and create the outputs."""
        if op.type == INPUT and (inputs or not outputs):
            raise ModelFormatError(where, "a pnnx.Input with outputs only", f"{len(inputs)} in, {len(outputs)} out")
        if op.type == OUTPUT and (outputs or not inputs):
            raise ModelFormatError(where, "a pnnx.Output with inputs only", f"{len(inputs)} in, {len(outputs)} out")
        for name in inputs:
            if name not in self.operands:
                hint = "an operand is produced on a line before those that consume it"
                raise ModelFormatError(where, "an operand that exists", quote(name), hint)
            op.inputs.append(self.operands[name])
        for operand in dict.fromkeys(op.inputs):
            operand.consumers.append(op)
        if len(self.operands) + len(outputs) > MAX_COUNT:
            raise ModelFormatError(where, f"at most {MAX_COUNT} operands", "more")
        for name in outputs:
            if name in self.operands:
                raise ModelFormatError(where, "a new operand", f"{quote(name)}, which has a producer already")
            self.operands[name] = operand = Operand(name, producer=op)
            self.graph.operands.append(operand)
            op.outputs.append(operand)
        op.input_names = [""] * len(inputs)

    def _read_fields(self, op: Operator, words: list[str], where: str) -> None:
        """Parameters, @attributes, $input names and #shapes, in any order."""
        own = {operand.name: operand for operand in (*op.inputs, *op.outputs)}
        unnamed: dict[str, deque[int]] = defaultdict(deque)
        for index, operand in enumerate(op.inputs):
            unnamed[operand.name].append(index)
        for field in _join_spaced(words):
            key, equals, value = field.partition("=")
            mark, name = (key[0], key[1:]) if key[:1] in ("@", "$", "#") else ("", key)
            if not equals or not name:
                raise ModelFormatError(where, "a field key=value", quote(field))
            if mark == "@":
                self._read_attribute(op, name, value, where)
            elif mark == "$":
                if not unnamed[value]:
                    raise ModelFormatError(where, "a name for an input of this operator", quote(field))
                # One operand may be several inputs: the names come in the order of the inputs.
                op.input_names[unnamed[value].popleft()] = name
            elif mark == "#":
                if name not in own:
                    raise ModelFormatError(where, "the shape of an operand of this operator", quote(field))
                _read_shape(own[name], value, where)
            elif name in op.params:
                raise ModelFormatError(where, "every parameter once", f"a second {quote(name)}")
            else:
                op.params[name] = parse_value(value, where, as_text=is_always_text(op.type, name))

    def _read_attribute(self, op: Operator, key: str, value: str, where: str) -> None:
        entry = f"{op.name}.{key}"
        if key in op.attrs:
            raise ModelFormatError(where, "every weight once", f"a second {quote(entry)}")
        shape, kind = parse_typed_shape(value, where)
        sizes = tuple(dim for dim in shape if isinstance(dim, int))
        if len(sizes) < len(shape):
            raise ModelFormatError(where, f"a known shape for the weight {quote(entry)}", quote(value))
        op.attrs[key] = Attribute(kind, sizes)


def _read_shape(operand: Operand, value: str, where: str) -> None:
    """The shape stands on every line that names the operand, and is the same everywhere."""
    shape, kind = parse_typed_shape(value, where)
    if operand.shape is not None and (shape, kind) != (operand.shape, operand.type):
        expected = f"operand {quote(operand.name)} to be {spell_typed_shape(operand.shape, operand.type)} as above"
        raise ModelFormatError(where, expected, quote(value))
    operand.shape, operand.type = shape, kind


def _join_spaced(words: list[str]) -> list[str]:
    """Give a word without ``=`` back to the parameter before it: its value contained a blank."""
    fields: list[list[str]] = []
    for word in words:
        if fields and "=" not in word and word[0] not in "@$#" and fields[-1][0][0] not in "@$#":
            fields[-1].append(word)
        else:
            fields.append([word])
    return [" ".join(field) for field in fields]
