"""Normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.networks.families.registry import Call, family

if TYPE_CHECKING:
    from tests.networks.draw import Draw


@family(3)
def batch_norm(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 4, 5), where=lambda value: value.fixed(1))
    axes = max(1, x.rank - 2)
    words = [str(x.shape[1]), *(["affine=False"] if draw.chance(0.2) else []), "eps=1e-3"]
    return Call("{m}({0})", (x,), f"nn.BatchNorm{axes}d({', '.join(words)})")


@family()
def instance_norm(draw: Draw) -> Call:
    x = draw.value((3, 4, 5), where=lambda value: value.fixed(1))
    words = [str(x.shape[1]), *(["affine=True"] if draw.chance(0.5) else []), "eps=0.1"]
    return Call("{m}({0})", (x,), f"nn.InstanceNorm{x.rank - 2}d({', '.join(words)})")


@family(2)
def group_norm(draw: Draw) -> Call:
    x = draw.value((2, 3, 4, 5), where=lambda value: value.fixed(1))
    groups = draw.one([k for k in range(1, x.shape[1] + 1) if x.shape[1] % k == 0])
    return Call("{m}({0})", (x,), f"nn.GroupNorm({groups}, {x.shape[1]}, eps=0.1)")


@family(3)
def layer_norm(draw: Draw) -> Call:
    x = draw.value((2, 3, 4), where=lambda value: value.fixed(-1))
    axes = 2 if x.rank > 2 and x.fixed(-2) and draw.chance(0.3) else 1
    kind = draw.one(["LayerNorm", "LayerNorm", "RMSNorm"])
    more = ", elementwise_affine=False" if draw.chance(0.2) else ""
    return Call("{m}({0})", (x,), f"nn.{kind}({list(x.shape[-axes:])}, eps=0.1{more})")


@family(0.5)
def local_response_norm(draw: Draw) -> Call:
    x = draw.value((3, 4))
    return Call("{m}({0})", (x,), f"nn.LocalResponseNorm({draw.int(2, 5)}, alpha=0.1)")


@family()
def normalize(draw: Draw) -> Call:
    x = draw.value((2, 3, 4))
    return Call(f"F.normalize({{0}} + 0.5, p={draw.one([1.0, 2.0])}, dim={draw.axis(x)}, eps=0.1)", (x,))
