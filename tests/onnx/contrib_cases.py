"""Single operators of onnxruntime with made-up inputs: ``fixtures/make_contrib.py`` runs them, tests compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.onnx import contrib_attention_cases, contrib_byte_cases, contrib_float_cases

if TYPE_CHECKING:
    from tests.onnx.contrib_case import Case

_FAMILIES = (
    contrib_byte_cases.quantized_cases,
    contrib_byte_cases.product_cases,
    contrib_byte_cases.lstm_cases,
    contrib_float_cases.simple_cases,
    contrib_float_cases.normalisation_cases,
    contrib_float_cases.standard_cases,
    contrib_float_cases.nbits_cases,
    contrib_attention_cases.attention_cases,
)


def all_cases() -> list[Case]:
    """The cases of every family."""
    return [case for family in _FAMILIES for case in family()]
