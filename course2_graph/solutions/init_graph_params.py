"""Exercise 2.4: from the parameters of the file to those of the running graph.

The nouns of a file (``pnnx.Parameter``) describe it; the graph that runs has nouns of its own (``RuntimeParameter``),
which the layers may ask. In between stands one function for each noun. This is the one for parameters, the homework of
the lecture from which this course grew (there it is called ``RuntimeGraph::InitGraphParams``).

    Parameter(type=INT_LIST, value=[2, 2], text="(2,2)")      ->      RuntimeParameter(type=INT_LIST, value=[2, 2])

A file leaves room that a layer cannot live with: ``stride=2`` and ``stride=(2,2)`` mean the same, an integer stands
where a float is meant, infinity is a word, and what has its default value may be missing. So two readers come with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from kuiper.graph.pnnx import Parameter, ParameterType
from kuiper.graph.runtime_operator import RuntimeParameter


def init_graph_params(params: Mapping[str, Parameter]) -> dict[str, RuntimeParameter]:
    """A new RuntimeParameter for each parameter of an operator, under the same key and in the same order.

    It has the same type and the same value. A list is a new list: a program that changes the one in the running graph must
    not change the file's. A parameter of type NULL stays, with the value None.

    >>> init_graph_params({"stride": Parameter(ParameterType.INT_LIST, [2, 1], "(2,1)")})
    {'stride': RuntimeParameter(type=<ParameterType.INT_LIST: 5>, value=[2, 1])}

    Raises
    ------
    ValueError
        For a parameter of type OTHER, which nobody can interpret; the message has its key.
    """
    # BEGIN SOLUTION
    runtime = {}
    for key, param in params.items():
        if param.type is ParameterType.OTHER:
            raise ValueError(f"{key}: expected a type of parameter that is known, got {param.type.name}")
        value = list(param.value) if isinstance(param.value, list) else param.value
        runtime[key] = RuntimeParameter(param.type, value)
    return runtime
    # END SOLUTION


def pair_param(
    params: Mapping[str, RuntimeParameter], key: str, default: tuple[int, int] | None = None
) -> tuple[int, int]:
    """(vertical, horizontal), as the layers want strides, paddings and kernel sizes.

    The parameter may be an INT, or an INT_LIST of one: the number then stands for both. Or an INT_LIST of two. Where
    the parameter is missing, or its type is NULL, the default is returned.

    >>> pair_param({"stride": RuntimeParameter(ParameterType.INT, 2)}, "stride")
    (2, 2)
    >>> pair_param({}, "dilation", (1, 1))
    (1, 1)

    Raises
    ------
    ValueError
        If it is anything else, or missing without a default; the message has the key.
    """
    # BEGIN SOLUTION
    param = params.get(key)
    if param is None or param.type is ParameterType.NULL:
        if default is None:
            raise ValueError(f"{key}: expected this parameter, got {sorted(params)}")
        return default
    if param.type is ParameterType.INT:
        return param.value, param.value
    if param.type is ParameterType.INT_LIST and len(param.value) in (1, 2):
        return param.value[0], param.value[-1]
    raise ValueError(f"{key}: expected one or two integers, got {param.value!r}")
    # END SOLUTION


def float_param(params: Mapping[str, RuntimeParameter], key: str, default: float | None = None) -> float:
    """A float, as the layers want slopes, epsilons and limits.

    The parameter may be a FLOAT, an INT (which becomes a float), or a STRING that spells ``inf``, ``-inf`` or ``nan``.
    Where the parameter is missing, or its type is NULL, the default is returned.

    >>> float_param({"max": RuntimeParameter(ParameterType.INT, 6)}, "max")
    6.0

    Raises
    ------
    ValueError
        If it is anything else, or missing without a default; the message has the key.
    """
    # BEGIN SOLUTION
    param = params.get(key)
    if param is None or param.type is ParameterType.NULL:
        if default is None:
            raise ValueError(f"{key}: expected this parameter, got {sorted(params)}")
        return default
    spelled = param.type is ParameterType.STRING and param.value in ("inf", "-inf", "nan")
    if param.type not in (ParameterType.FLOAT, ParameterType.INT) and not spelled:
        raise ValueError(f"{key}: expected a number, got {param.value!r}")
    return float(param.value)
    # END SOLUTION
