"""Masks of attention in the one form that pnnx keeps: of floats, as ``attn_mask``, without the hint ``is_causal``.

pnnx puts a mask of bools in front of the query, takes a padding mask for one of attention, and drops a mask for which
``is_causal`` stands in.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import ExitStack

    import torch
    from torch import nn


def use_float_masks(module: nn.Module, undo: ExitStack) -> None:
    """Rewrite the masks on their way into every attention and transformer module of PyTorch inside ``module``."""
    from torch import nn

    transformers = (
        nn.Transformer,
        nn.TransformerEncoder,
        nn.TransformerEncoderLayer,
        nn.TransformerDecoder,
        nn.TransformerDecoderLayer,
    )
    for part in module.modules():
        if isinstance(part, nn.MultiheadAttention):
            undo.callback(part.register_forward_pre_hook(_one_mask, with_kwargs=True).remove)
        elif isinstance(part, transformers):
            undo.callback(part.register_forward_pre_hook(_float_masks, with_kwargs=True).remove)


def _float_masks(part: nn.Module, args: Any, kwargs: Any) -> Any:
    """The arguments of a transformer with all masks of floats."""
    call = inspect.signature(type(part).forward).bind(part, *args, **kwargs)
    for name, value in call.arguments.items():
        if name.endswith("mask") and value is not None:
            call.arguments[name] = _floats(value)
    return call.args[1:], call.kwargs


def _one_mask(attention: nn.MultiheadAttention, args: Any, kwargs: Any) -> Any:
    """The arguments of attention with both masks in one: (n * heads, l, s) if there is one of padding, (n, s)."""
    call = inspect.signature(type(attention).forward).bind(attention, *args, **kwargs)
    given = call.arguments
    mask, padding, query = given.get("attn_mask"), given.get("key_padding_mask"), given["query"]
    if mask is not None:
        mask = given["attn_mask"] = _floats(mask)
        given["is_causal"] = False
    if padding is not None and query.dim() == 3:
        n, s = padding.shape
        heads, length = attention.num_heads, query.shape[1 if attention.batch_first else 0]
        spread = _floats(padding).reshape(n, 1, 1, s).expand(n, heads, length, s).reshape(n * heads, length, s)
        given["attn_mask"], given["key_padding_mask"] = spread if mask is None else spread + mask, None
        given["is_causal"] = False
    return call.args[1:], call.kwargs


def _floats(mask: torch.Tensor) -> torch.Tensor:
    """0 where a mask of bools is False, minus infinity where it is True; never the very tensor that came."""
    import torch

    return torch.zeros(mask.shape).masked_fill(mask, float("-inf")) if mask.dtype == torch.bool else mask + 0
