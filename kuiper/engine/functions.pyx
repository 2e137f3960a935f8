"""The functions of functions.pxd by name, for what runs at plan time."""

from kuiper.layers.kernels import activations

from kuiper.engine cimport functions

CODES = {
    **{name: code for name, code in activations.CODES.items() if name != "none"},
    "load": functions.LOAD, "constant": functions.CONSTANT,
    # of two numbers
    "add": functions.ADD, "sub": functions.SUB, "mul": functions.MUL, "div": functions.DIV, "max": functions.MAX,
    "min": functions.MIN, "prelu": functions.PRELU, "pow": functions.POW, "fmod": functions.FMOD,
    "atan2": functions.ATAN2,
    # of three
    "multiply_add": functions.MULTIPLY_ADD,
    # a few operations each
    "neg": functions.NEG, "abs": functions.ABS, "sqrt": functions.SQRT, "rsqrt": functions.RSQRT,
    "reciprocal": functions.RECIPROCAL, "floor": functions.FLOOR, "ceil": functions.CEIL, "round": functions.ROUND,
    "trunc": functions.TRUNC, "sign": functions.SIGN, "square": functions.SQUARE, "cube": functions.CUBE,
    # tens of operations
    "exp": functions.EXP, "expm1": functions.EXPM1, "log": functions.LOG, "erf": functions.ERF,
    # by the C library
    "log10": functions.LOG10, "log1p": functions.LOG1P, "sin": functions.SIN, "cos": functions.COS,
    "tan": functions.TAN, "sinh": functions.SINH, "cosh": functions.COSH, "asin": functions.ASIN,
    "acos": functions.ACOS, "atan": functions.ATAN, "asinh": functions.ASINH, "acosh": functions.ACOSH,
    "atanh": functions.ATANH,
}
"""The code of each instruction of a program; see ``expression_code``."""

_COSTS = {activations.CODES[name]: cost for name, cost in activations.COSTS.items()}


def cost_of(int code):
    """What a function costs for one number, in additions: 1, about 8 with an exponential, about 64 in the C library."""
    if in_library(code) or code == functions.FMOD:
        return 64
    return _COSTS.get(code, 8 if code >= functions.FIRST_CURVED else 1)


def in_library(int code):
    """Whether a function is the C library's, which computes it otherwise on another system, or on another CPU."""
    return code >= functions.FIRST_CALL or code in (functions.POW, functions.ATAN2)


def arguments_of(int code):
    """How many numbers an instruction takes from the stack: it puts back one."""
    if code == functions.MULTIPLY_ADD:
        return 3
    if functions.LOAD <= code < functions.FIRST_BINARY:
        return 0
    return 2 if functions.FIRST_BINARY <= code < functions.FIRST_UNARY else 1
