"""Exercise 2.1: one line of a .param file.

A model file is text. Two lines of numbers, then one line for each operator:

    7767517                                                    the magic number
    4 3                                                        4 operators, 3 operands
    pnnx.Input   in    0 1 0 #0=(1,8)f32
    nn.Linear    fc    1 1 0 1 bias=True @weight=(4,8)f32 $input=0 #0=(1,8)f32 #1=(1,4)f32
    F.relu       act   1 1 1 2 #1=(1,4)f32 #2=(1,4)f32
    pnnx.Output  out   1 0 2 #2=(1,4)f32

The line of `fc`, word by word:

    nn.Linear  fc      type and name
    1 1                one input, one output
    0 1                so the next two words are operands: "0" goes in, "1" comes out
    bias=True          all other words are fields key=value; the first character tells what a field is:
    @weight=...          @  a weight, whose numbers lie in the .bin file
    $input=0             $  the name of an argument: operand 0 is what PyTorch calls `input`
    #1=(1,4)f32          #  the shape and the type of an operand
                         any other character: a parameter

You take the line apart and keep the pieces as text. What a value like ``True`` means is exercise 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TYPES = ("f32", "f64", "f16", "i32", "i64", "i16", "i8", "u8", "bool", "c64", "c128", "c32", "bf16", "null")


@dataclass
class OperatorLine:
    """What one line says; every value is still the text that stands in the file.

    ``input_names[i]`` is the argument name of ``inputs[i]``, "" where the line gives none. The keys of ``params``,
    ``attrs`` and ``shapes`` come without their mark.
    """

    type: str
    name: str
    inputs: list[str]
    outputs: list[str]
    input_names: list[str]
    params: dict[str, str] = field(default_factory=dict)
    attrs: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)


def parse_line(line: str) -> OperatorLine:
    """The operator that one line describes.

    - Words are separated by one or more blanks.
    - Both counts may be 0. The inputs come before the outputs.
    - Fields stand in any order. A key ends at the first "=", the value may contain more of them. Keys may contain dots.
    - One operand may be several inputs, ``2 1 5 5 6 $key=5 $value=5``: the names then belong to these inputs in order.
    - A shape may be repeated, or be absent.

    >>> op = parse_line("torch.add sum 2 1 7 3 8 alpha=2 $other=3 #8=(1,4)f32")
    >>> op.type, op.name, op.inputs, op.outputs
    ('torch.add', 'sum', ['7', '3'], ['8'])
    >>> op.input_names, op.params, op.attrs, op.shapes
    (['', 'other'], {'alpha': '2'}, {}, {'8': '(1,4)f32'})

    Raises
    ------
    ValueError
        - If there are less than four words (the message quotes the line),
        - less operands than the counts promise: the line is too short, or a word with "=" stands in their place (the
          message has the operator's name),
        - a word without "=" among the fields (quoted),
        - or a ``$`` field for what is no input, or names one more often than it is an input (the field is quoted).
    """
    # BEGIN SOLUTION
    words = line.split()
    if len(words) < 4:
        raise ValueError(f"expected type, name and two counts, got {line!r}")
    ins, outs = int(words[2]), int(words[3])
    operands, rest = words[4 : 4 + ins + outs], words[4 + ins + outs :]
    if len(operands) < ins + outs or any("=" in operand for operand in operands):
        raise ValueError(f"{words[1]}: expected {ins} inputs and {outs} outputs, got {operands}")
    op = OperatorLine(words[0], words[1], operands[:ins], operands[ins:], [""] * ins)
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{op.name}: expected a field key=value, got {word!r}")
        if key[:1] == "@":
            op.attrs[key[1:]] = value
        elif key[:1] == "#":
            op.shapes[key[1:]] = value
        elif key[:1] == "$":
            nameless = [i for i in range(ins) if op.inputs[i] == value and not op.input_names[i]]
            if not nameless:
                raise ValueError(f"{op.name}: expected the name of an input, got {word!r}")
            op.input_names[nameless[0]] = key[1:]
        else:
            op.params[key] = value
    return op
    # END SOLUTION


def parse_shape(text: str) -> tuple[tuple[int | str | None, ...], str]:
    """The sizes and the type in a text like ``(1,?,%width)f32``.

    A size is an integer from 0 on (digits and nothing else), ``None`` for ``?`` (not known), or the name behind a
    ``%``. There may be no sizes.

    >>> parse_shape("(1,?,%width)f32")
    ((1, None, 'width'), 'f32')
    >>> parse_shape("()i64")
    ((), 'i64')

    Raises
    ------
    ValueError
        If the text has another form, a size is none of the three, or the type is not among TYPES; the message quotes
        the text.
    """
    # BEGIN SOLUTION
    body, bracket, kind = text.rpartition(")")
    if not bracket or not body.startswith("(") or kind not in TYPES:
        raise ValueError(f"expected a shape and a type like (1,64)f32, got {text!r}")
    sizes: list[int | str | None] = []
    for size in body[1:].split(",") if body != "(" else []:
        if size == "?":
            sizes.append(None)
        elif size.startswith("%") and size != "%":
            sizes.append(size[1:])
        elif size.isdecimal():
            sizes.append(int(size))
        else:
            raise ValueError(f"expected a number, ? or %name as a size, got {size!r} in {text!r}")
    return tuple(sizes), kind
    # END SOLUTION


def read_operators(text: str) -> list[OperatorLine]:
    """All operators of a .param file in the order of the file; the last line may or may not end with a line feed.

    >>> [op.name for op in read_operators("7767517\\n2 1\\npnnx.Input in 0 1 a\\npnnx.Output out 1 0 a\\n")]
    ['in', 'out']

    Raises
    ------
    ValueError
        If the first line is not 7767517, the second is missing, or a count on it is wrong: of operators (one line
        each), or of operands (each is the output of exactly one operator).
    """
    # BEGIN SOLUTION
    magic, header, *lines = text.splitlines()
    if magic != "7767517":
        raise ValueError(f"expected 7767517 on the first line, got {magic!r}")
    operators = [parse_line(line) for line in lines]
    found = [len(operators), sum(len(op.outputs) for op in operators)]
    if [int(count) for count in header.split()] != found:
        raise ValueError(f"expected {header} operators and operands, got {found}")
    return operators
    # END SOLUTION
