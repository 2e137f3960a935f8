"""What there is to say of one operator: settings, what it computes, where its source is, parameters and FLOPs."""

from __future__ import annotations

import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

from kuiper.graph.pnnx.ir import INPUT, OUTPUT
from kuiper.language import noop, translate
from kuiper.printable import printable

if TYPE_CHECKING:
    from kuiper.explore.arrays import Table
    from kuiper.graph.runtime_operator import RuntimeOperator
    from kuiper.graph.summary import SummaryRow

_ENDS = {
    INPUT: noop("Where a value comes in; its elements are converted to the type that the file declares."),
    OUTPUT: noop("Where a value goes out."),
}
_LONGEST = 300  # characters of a setting


def operator_table(op: RuntimeOperator, row: SummaryRow | None, values: tuple[list[Any], list[Any]]) -> Table:
    """The page's entry of an operator.

    Parameters
    ----------
    op : the operator, with its layer if it has one
    row : its row of ``summary()``
    values : the keys of its inputs and of its outputs in the page's values

    Returns
    -------
    An entry of ``operators``; ``steps`` is still empty.

    Examples
    --------
    >>> import kuiper
    >>> from kuiper.models import bundled
    >>> model = kuiper.load(bundled("cifar_resnet20"))
    >>> row = model.summary().rows[1]
    >>> table = operator_table(model.order[1], row, (["0"], ["2"]))
    >>> table["source"], table["parameters"], table["params"]["kernel_size"]
    ('kuiper/layers/fused/conv2d.py', 448, '[3, 3]')
    """
    weights = {key: f"{attr.type.name.lower()} {attr.shape}" for key, attr in op.attrs.items()}
    return {
        "name": op.name,
        "type": op.type,
        "params": {key: _short(str(param.value)) for key, param in op.params.items()},
        "weights": weights,
        "formula": formula(op),
        "source": source_of(type(op.layer)) if op.layer is not None else "",
        "inputs": values[0],
        "outputs": values[1],
        "parameters": row.parameters if row else 0,
        "flops": row.flops if row else None,
        "steps": [],
    }


def formula(op: RuntimeOperator) -> str:
    """What an operator computes, in the words of its layer, which are those of docs/reference/operators.md.

    The first paragraph of the docstring. One that begins "The same" goes on from what stands above it in its module.
    """
    if op.layer is None:
        return translate(_ENDS.get(op.type, ""))
    cls = type(op.layer)
    text = first_paragraph(cls)
    said = translate(text, "operators")
    if text.startswith("The same"):
        base = next((first_paragraph(other) for other in _classes_above(cls)), "")
        above = translate(base, "operators")
        gap = " " if above[-1:].isascii() else ""  # a Chinese full stop has its space in it
        said = f"{above}{gap}{said}".strip()
    return said


def source_of(cls: type) -> str:
    """Where a class is written, as a path in the repository; the file of one that is not kuiper's.

    >>> from kuiper.layers.operators.conv2d import Conv2d
    >>> source_of(Conv2d)
    'kuiper/layers/operators/conv2d.py'
    """
    module = cls.__module__
    if module.split(".")[0] != "kuiper":
        return ""
    file = str(getattr(sys.modules.get(module), "__file__", "") or "")
    suffix = ".py" if file.endswith((".py", ".pyc")) else ".pyx"
    return module.replace(".", "/") + suffix


def first_paragraph(cls: type) -> str:
    """What a layer's class says of itself, on one line, with code in back-ticks."""
    doc = inspect.cleandoc(vars(cls).get("__doc__") or "")
    paragraph = doc.partition("\n\n")[0]
    return re.sub(r"\s+", " ", paragraph.replace("``", "`"))


def _classes_above(cls: type) -> list[type]:
    """The layers of a class's module that stand above it, the nearest first."""
    classes = [each for each in vars(sys.modules[cls.__module__]).values() if inspect.isclass(each)]
    own = [each for each in classes if each.__module__ == cls.__module__]
    above = own[: own.index(cls)] if cls in own else []
    return [each for each in reversed(above) if not first_paragraph(each).startswith("The same")]


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
