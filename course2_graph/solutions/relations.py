"""Exercise 2.5: who produces what, and who needs it.

The lines of a file name their operands; a graph holds them. Each operand is one object that its producer and all of its
consumers share: what the producer puts there, the consumers find.

    line                                    operand    producer    consumers
    pnnx.Input   in   0 1 a                 a          in          conv, sum
    nn.Conv2d    conv 1 1 a b               b          conv        sum
    torch.add    sum  2 1 a b c             c          sum         out
    pnnx.Output  out  1 0 c

        in --a--+--> conv --b--> sum --c--> out
                |                 ^
                +-----------------+

From this, two neighbours can be asked for: the operators that come right after one (they read what it writes) and those
right before it. KuiperInfer stores the names of the former, as the ``output_names`` of an operator.

The nouns come from ``kuiper.graph.pnnx``, start like this, and may be changed:

    Graph()                     .operators = []    .operands = []
    Operator(type, name)        .inputs = []       .outputs = []     (lists of operands)    .input_names = []
    Operand(name)               .producer = None   .consumers = []   .shape = None          .type = DataType.NULL
"""

from __future__ import annotations

from collections.abc import Sequence

from kuiper.course import load_exercise
from kuiper.graph.pnnx import DataType, Graph, Operand, Operator

OperatorLine = load_exercise("2.1").OperatorLine  # what one line says
parse_shape = load_exercise("2.1").parse_shape  # "(1,4)f32" -> ((1, 4), "f32")


def connect(lines: Sequence[OperatorLine]) -> Graph:
    """The graph that the operators of a file make, wired by the operands that they share.

    ``lines`` are what exercise 2.1 returns: ``line.type``, ``.name``, ``.inputs``, ``.outputs``, ``.input_names``,
    ``.shapes``.

    - ``graph.operators`` has an Operator for each line, ``graph.operands`` an Operand for each output, in the order of
      the file. An operator's inputs, outputs and input names are in the order of its line.
    - An operator stands once among the consumers of an operand, even if it reads it twice: ``torch.cat cat 2 1 a a b``.
      Consumers are in the order of the file.
    - Shape and type of an operand are set where a line gives them: its producer's, or only a consumer's
      (``DataType["F32"]`` finds a type by its name, in capitals).
    - Parameters and weights are left empty here. The lines stay as they are, whatever is done to the graph later.
    - A file may have thousands of lines: the work grows with their number, not with its square. So no operand is
      searched for among all the others.

    Raises
    ------
    ValueError
        If a line reads an operand that no line above has produced, or produces one that has a producer already. The
        message has the name of the operand.
    """
    # BEGIN SOLUTION
    graph = Graph()
    operands: dict[str, Operand] = {}
    for line in lines:
        op = Operator(line.type, line.name, input_names=list(line.input_names))
        for name in line.inputs:
            if name not in operands:
                raise ValueError(f"{op.name}: expected an operand produced above, got {name!r}")
            op.inputs.append(operands[name])
            if op not in operands[name].consumers:
                operands[name].consumers.append(op)
        for name in line.outputs:
            if name in operands:
                raise ValueError(f"{op.name}: expected a new operand, got {name!r}, which has a producer")
            operands[name] = Operand(name, producer=op)
            op.outputs.append(operands[name])
            graph.operands.append(operands[name])
        for name, text in line.shapes.items():
            shape, kind = parse_shape(text)
            operands[name].shape, operands[name].type = shape, DataType[kind.upper()]
        graph.operators.append(op)
    return graph
    # END SOLUTION


def successors(op: Operator) -> list[Operator]:
    """The operators that read an output of this one: output after output, the consumers of each in order, nobody twice.

    In the graph above, those of ``in`` are ``[conv, sum]``.
    """
    # BEGIN SOLUTION
    return list(dict.fromkeys(consumer for operand in op.outputs for consumer in operand.consumers))
    # END SOLUTION


def predecessors(op: Operator) -> list[Operator]:
    """The operators whose outputs this one reads: in the order of its inputs, nobody twice.

    In the graph above, those of ``sum`` are ``[in, conv]``.
    """
    # BEGIN SOLUTION
    return list(dict.fromkeys(operand.producer for operand in op.inputs if operand.producer))
    # END SOLUTION


def output_names(op: Operator) -> list[str]:
    """The names of the successors, in their order."""
    # BEGIN SOLUTION
    return [successor.name for successor in successors(op)]
    # END SOLUTION
