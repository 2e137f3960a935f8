"""Let attention read its caches where they lie.

    before   k -> kuiper.Cache -+
             v -> kuiper.Cache -+-> kuiper.CausalAttention -> y
             q -----------------'
    after    q, k, v -> kuiper.CachedAttention -> y

The fused operator keeps keys and values in the order that its kernel reads, and reads no more than is filled.

Left alone: a cache that someone else reads, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kuiper.graph.declined import decline_if
from kuiper.graph.passes.rewiring import replaced, sole_reader

if TYPE_CHECKING:
    from kuiper.graph.passes.rewiring import Taken
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator

_FUSED = "kuiper.CachedAttention"


def fuse_caches_into_attention(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with kuiper.CachedAttention in the place of each attention whose keys and values are cached."""
    return replaced(operators, lambda op: _with_caches(op, registry))


def _with_caches(op: RuntimeOperator, registry: RegistryProtocol) -> Taken:
    """Attention with the caches of its keys and values; declines if it is to stay as it is."""
    decline_if(op.type != "kuiper.CausalAttention" or len(op.inputs) != 3)
    decline_if(not all(map(registry.is_built_in, (op.type, "kuiper.Cache", _FUSED))))
    makers = [operand.producer for operand in op.inputs[1:]]
    caches = [one for one in makers if one is not None and one.type == "kuiper.Cache" and sole_reader(one) is op]
    decline_if(len(caches) != 2)
    inputs = [op.inputs[0], *(cache.inputs[0] for cache in caches)]
    return replace(op, type=_FUSED, inputs=inputs, layer=None, grown_from=op.where), (op, *caches)
