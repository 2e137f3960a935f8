"""torch.einsum of two factors: a stack of matrix products, if the equation is one.

    bhid,bhjd->bhij      batch b h, rows i, columns j, inner d      (b, h, i, d) (b, h, d, j)
    bhwc,hkc->bhwk       batch h, rows b w, columns k, inner c      (h, b w, c) (h, c, k)

A letter in all three terms is of the batch, one in both factors only is summed over, the others are rows or columns.
The axes of both factors are put in that order, which is a view, and rows, columns and inner letters are each joined to
one axis, for which a factor may have to be copied.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from kuiper.engine.declined import Declined, decline_if
from kuiper.engine.lowering.matmul import emit_product
from kuiper.engine.lowering.placement import view_of
from kuiper.engine.lowering.registry import lowers
from kuiper.engine.step import MAX_NDIM
from kuiper.engine.transfers import copy_into
from kuiper.engine.values import AnyValue, Value
from kuiper.layers.operators.einsum import Einsum, is_matrix_product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kuiper.engine.builder import Builder

_PRODUCT = re.compile(r"([a-zA-Z]+),([a-zA-Z]+)->([a-zA-Z]+)")


@lowers(Einsum)
def lower_einsum(layer: Einsum, inputs: list[AnyValue], builder: Builder) -> Sequence[AnyValue]:
    """torch.einsum, where it is a stack of matrix products."""
    terms = _PRODUCT.fullmatch(layer.equation)
    values = [builder.on_arena(value) for value in inputs]
    if terms is None or len(values) != 2:
        raise Declined
    a, b = values
    left, right, result = terms.groups()
    decline_if(max(map(len, terms.groups())) > MAX_NDIM or not is_matrix_product(left, right, result, a.view, b.view))
    batch = [letter for letter in left if letter in right and letter in result]
    inner = [letter for letter in left if letter in right and letter not in result]
    rows = [letter for letter in left if letter not in right]
    columns = [letter for letter in right if letter not in left]
    a_matrices = _grouped(builder, a, left, batch, rows, inner)
    b_matrices = _grouped(builder, b, right, batch, inner, columns)
    sizes = dict(zip(left + right, a.shape + b.shape, strict=True))
    found = [*batch, *rows, *columns]
    padded = len(columns) == 1  # else its last axis is joined with others to make the rows or columns of a product
    out = builder.rows(tuple(sizes[letter] for letter in found), fixed=True, padded=padded)
    shape = (*a_matrices.shape[:-1], b_matrices.shape[-1])
    emit_product(builder, a_matrices, b_matrices, Value(out.buffer, out.view.reshape(shape)))
    return [Value(out.buffer, out.view.transpose([found.index(letter) for letter in result]))]


def _grouped(builder: Builder, x: Value, letters: str, batch: list[str], *groups: list[str]) -> Value:
    """An axis for each letter of the batch and one for each group: a view, or a copy where a group is not one axis."""
    order = [letters.index(letter) for letter in [*batch, *(letter for group in groups for letter in group)]]
    sizes = dict(zip(letters, x.shape, strict=True))
    joined = [math.prod(sizes[letter] for letter in group) for group in groups]
    shape = [*(sizes[letter] for letter in batch), *joined]
    turned = Value(x.buffer, x.view.transpose(order))
    found = view_of(x, turned.view.reshape(shape))
    if found is not None:
        return found
    copied = builder.rows(turned.shape, fixed=True, padded=False)
    copy_into(builder, turned, copied)
    return Value(copied.buffer, copied.view.reshape(shape))
