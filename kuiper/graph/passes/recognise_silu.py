"""Make one operator of a number times its own sigmoid.

    before   x -+-> F.sigmoid -+-> mul(@0,@1) -> y
                '--------------'
    after    x -> F.silu -> y

That is how models spell SiLU that are older than its name. Someone else may still read x; if nobody does, a convolution
that makes x can take the SiLU in.

Left alone: a sigmoid that someone else reads, too, and x of which the file does not say that it is float32.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.declined import decline_if, found
from kuiper.graph.passes.activations import is_activation
from kuiper.graph.passes.fusion import is_product
from kuiper.graph.passes.rewiring import merge_readers, sole_reader
from kuiper.graph.pnnx.ir import DataType

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Merged
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator


def recognise_silu(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with F.silu in the place of each sigmoid and the product behind it."""
    return merge_readers(operators, lambda op: _merge(op, registry))


def _merge(sigmoid: RuntimeOperator, registry: RegistryProtocol) -> Merged:
    decline_if(not is_activation(sigmoid, "sigmoid", registry))
    product = found(sole_reader(sigmoid))
    decline_if(not is_product(product) or not all(map(registry.is_built_in, (product.type, "F.silu"))))
    (x,) = sigmoid.inputs
    decline_if(x not in product.inputs or x.type is not DataType.F32)
    silu = replace(
        sigmoid, type="F.silu", name=f"{sigmoid.name}+mul", outputs=product.outputs, params={}, attrs={}, layer=None
    )
    return silu, product
