"""What a WebAssembly runtime (a browser, node) can do beside what every one can: it is asked to accept a small module.

Source: WebAssembly Core Specification 3.0, 5.5 (the binary format of modules) and 5.4.9 (of vector instructions).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set

_HEAD = b"\0asm\1\0\0\0"
_FUNCTION = b"\1\4\1\x60\0\0" + b"\3\2\1\0"  # one type, () -> (), and one function of that type
_VECTOR = b"\x41\0" + b"\xfd\x0f"  # i32.const 0, i8x16.splat
_DROP, _END = b"\x1a", b"\x0b"

BODIES = {
    "simd128": _VECTOR + _DROP,
    "relaxed_simd": 3 * _VECTOR + b"\xfd\x85\2" + _DROP,  # f32x4.relaxed_madd
}
"""For each feature, instructions that only a runtime with it accepts."""


def features() -> Set[str]:
    """The features of the runtime that this Python runs on; the names are those of ``requires`` in a level."""
    validate = importlib.import_module("js").WebAssembly.validate
    to_js = importlib.import_module("pyodide.ffi").to_js
    return frozenset(name for name, body in BODIES.items() if validate(to_js(module_of(body))))


def module_of(body: bytes) -> bytes:
    """A module with one function of these instructions.

    >>> module_of(b"").hex(" ", 4)
    '0061736d 01000000 01040160 00000302 01000a04 0102000b'
    """
    code = b"\0" + body + _END  # no local variables
    functions = bytes([1, len(code)]) + code
    return _HEAD + _FUNCTION + bytes([10, len(functions)]) + functions
