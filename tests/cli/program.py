"""The program as a test calls it."""

from __future__ import annotations

from functools import partial

from kuiper.cli import main


def run(*words: object) -> int:
    """Run ``kuiper WORD ...`` in this process; its exit code."""
    return main([str(word) for word in words])


def command(name: str, *options: object) -> partial[int]:
    """Like ``run``, with the name of a command, and options of every call, in front of the words."""
    return partial(run, name, *options)
