"""The functions of functions.pxd by name, for what runs at plan time."""

from kuiper.layers.kernels import activations

from kuiper.engine cimport functions

_ROWS = [functions.rows[code - functions.LOAD] for code in range(functions.LOAD, functions.END)]

CODES = {name: code for name, code in activations.CODES.items() if name != "none"}
CODES |= {row["name"].decode(): row["code"] for row in _ROWS}
"""The code of each instruction of a program; see ``expression_code``."""

_BY_CODE = {row["code"]: row for row in _ROWS}
_COSTS = {activations.CODES[name]: cost for name, cost in activations.COSTS.items()}


def cost_of(int code):
    """What a function costs for one number, in additions: 1, about 8 with an exponential, about 64 in the C library."""
    return _COSTS[code] if code in _COSTS else _BY_CODE[code]["cost"]


def in_library(int code):
    """Whether a function is the C library's, which computes it otherwise on another system, or on another CPU."""
    return code in _BY_CODE and bool(_BY_CODE[code]["in_library"])


def arguments_of(int code):
    """How many numbers an instruction takes from the stack: it puts back one."""
    return _BY_CODE[code]["arguments"] if code in _BY_CODE else 1
