"""Rewrites of a runtime graph that change no number: one small module each."""

from kuiper.graph.passes.remove_no_ops import remove_no_ops

__all__ = ["remove_no_ops"]
