"""From the name of a token in a ``tokenizer.json`` to the bytes that it adds to a text.

Hugging Face's package turns lists of tokens into text, by the decoder that the file describes; masks of tokens and
their logarithmic probabilities need the bytes of each token alone. A space that only stands inside of a text is there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kuiper.errors import ModelFormatError

if TYPE_CHECKING:
    from collections.abc import Callable

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SILENT = ("Fuse", "Strip", "ByteFallback")  # what they do, they do to a whole text, or to names of bytes


def speller(decoder: dict[str, Any] | None, where: str) -> Callable[[str], bytes]:
    """What turns the name of a token into its bytes.

    Parameters
    ----------
    decoder : as the file describes it
    where : the file

    Raises
    ------
    ModelFormatError
        If it is of a kind that is not known.

    Examples
    --------
    >>> speller({"type": "ByteLevel"}, "")("Ġcaf\\u00c3")
    b' caf\\xc3'
    >>> speller({"type": "Metaspace", "replacement": "▁"}, "")("▁one")
    b' one'
    """
    if decoder is None:
        return lambda name: f" {name}".encode()
    steps = decoder.get("decoders", [decoder])
    kinds = [step["type"] for step in steps]
    if "ByteLevel" in kinds:
        return _of_bytes
    changes = [_change(step, where) for step in steps if step["type"] not in _SILENT]
    has_bytes = "ByteFallback" in kinds

    def spell(name: str) -> bytes:
        byte = _BYTE.fullmatch(name) if has_bytes else None
        if byte:
            return bytes([int(byte[1], 16)])
        for change in changes:
            name = change(name)
        return name.encode()

    return spell


def _change(step: dict[str, Any], where: str) -> Callable[[str], str]:
    """What a decoder of this kind does to the name of one token."""
    kind, pattern = step["type"], step.get("pattern")
    if kind == "Replace" and isinstance(pattern, dict) and "String" in pattern:
        return lambda name: name.replace(pattern["String"], step["content"])
    if kind == "Metaspace":
        return lambda name: name.replace(step["replacement"], " ")
    if kind == "WordPiece":
        return lambda name: name[len(step["prefix"]) :] if name.startswith(step["prefix"]) else f" {name}"
    if kind == "BPEDecoder":
        return lambda name: name.replace(step["suffix"], " ")
    raise ModelFormatError(where, "a decoder whose tokens have bytes of their own", kind)


def _of_bytes(name: str) -> bytes:
    """The bytes of a name in which a character stands for each; of another name, those of its characters."""
    if all(character in _BYTES for character in name):
        return bytes(_BYTES[character] for character in name)
    return name.encode()


def _byte_level() -> dict[str, int]:
    """The character of each byte (GPT-2): itself where it can be seen, else one from 256 on."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + place): byte for place, byte in enumerate(others)}


_BYTES = _byte_level()
