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

from kuiper.graph.passes.rewiring import sole_reader, substitute

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator

_FUSED = "kuiper.CachedAttention"


def fuse_caches_into_attention(operators: list[RuntimeOperator], registry: RegistryProtocol) -> list[RuntimeOperator]:
    """The operators with kuiper.CachedAttention in the place of each attention whose keys and values are cached."""
    fused: dict[RuntimeOperator, RuntimeOperator] = {}
    gone: set[RuntimeOperator] = set()
    for op in operators:
        caches = _caches_of(op, registry)
        if caches:
            inputs = [op.inputs[0], *(cache.inputs[0] for cache in caches)]
            new = replace(op, type=_FUSED, inputs=inputs, layer=None, grown_from=op.where)
            substitute((*caches, op), new)
            fused[op] = new
            gone.update(caches)
    return [fused.get(op, op) for op in operators if op not in gone]


def _caches_of(op: RuntimeOperator, registry: RegistryProtocol) -> tuple[RuntimeOperator, ...]:
    """The caches of the keys and the values of an attention; none if it is to stay as it is."""
    if op.type != "kuiper.CausalAttention" or len(op.inputs) != 3:
        return ()
    if not all(registry.is_built_in(name) for name in (op.type, "kuiper.Cache", _FUSED)):
        return ()
    caches = tuple(operand.producer for operand in op.inputs[1:])
    if any(cache is None or cache.type != "kuiper.Cache" or sole_reader(cache) is not op for cache in caches):
        return ()
    return tuple(cache for cache in caches if cache is not None)
