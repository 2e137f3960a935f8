"""Kernels say ``fma`` where they mean it: no product of vectors is added to something by an operation of its own.

No compiler makes one operation of ``a * b + c`` (setup.py). It would round twice, and take twice as long. Loops over
single floats may have it: there the reader comes first. Where two roundings are meant, they are two statements.
"""

import re
from pathlib import Path

import pytest

KUIPER = Path(__file__).parents[1] / "kuiper"
HOME = KUIPER / "simd" / "vector.h"  # says what fma is where there is no instruction for it
SOURCES = sorted(path for suffix in ("pyx", "pxd", "h") for path in KUIPER.rglob(f"*.{suffix}") if path != HOME)

COMMENTS = re.compile(r'"""[\s\S]*?"""|/\*[\s\S]*?\*/|(?<![^\s])#(?!\s*define).*|//.*|\\\n')
FUNCTION = re.compile(r"\n(?=[A-Za-z])")  # all that is indented belongs to what begins in the first column
RETURNS_VECTOR = re.compile(r'\b(?:kuiper_)?vec (\w+)(?: "(\w+)")?\(')
DECLARED = re.compile(r"\b(?:kuiper_)?vec\b[ \[\]\w]*? (\w+(?:\[[^]]*\])*(?: = [^;\n]*|, \w[^;\n]*)?)")
BRACKETS = re.compile(r"(\w*)(\(|\[)([^()\[\]]*)[)\]]")


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def functions_of_vectors(text: str) -> set[str]:
    """``load`` and ``kuiper_load``, which return one."""
    return {name for names in RETURNS_VECTOR.findall(text) for name in names if name}


def names_of_vectors(function: str) -> set[str]:
    """``a``, ``b`` and ``s`` of ``cdef vec a = load(x), b`` and ``kuiper_vec s[4];``."""
    names = set()
    for declared in DECLARED.findall(function):
        while re.search(r"[\[(]", declared) and (inner := BRACKETS.search(declared)):
            declared = declared.replace(inner[0], inner[1])
        names.update(re.findall(r"(?:^|, )(\w+)(?= =|,|$)", declared))
    return names


def adds_a_product(flat: str, vectors: set[str]) -> bool:
    """Whether an expression without brackets adds or subtracts a product of vectors."""
    for part in re.split(r"(?<![-+])=|[,;:?<>|&{}]|\breturn\b", flat):
        terms = re.split(r"(?<=\w) *(?:[-+]=|[-+]) *", part)
        for term in terms if len(terms) > 1 else []:
            operators = re.findall(r"(?<=\w) *([*/])", term)
            if operators and operators[-1] == "*" and vectors & words(term):
                return True
    return False


def two_roundings(text: str, functions: set[str]) -> list[str]:
    """The statements that add a product of vectors to something, or subtract it."""
    if not re.search(r"\b(?:kuiper_)?vec\b", text):
        return []
    found = []
    for function in FUNCTION.split(COMMENTS.sub("", text)):
        vectors = names_of_vectors(function) | {"VECTOR"}
        for statement in re.split(r"[;\n](?![^(]*\))", function):  # a line that ends within brackets goes on
            flat = re.sub(r"->|\.", "_of_", statement)
            while inner := BRACKETS.search(flat):
                if adds_a_product(inner[3], vectors):
                    found.append(statement.strip())
                name, bracket, content = inner.groups()
                is_vector = name in (functions if bracket == "(" else vectors) or (
                    not name and vectors & words(content)
                )
                flat = flat[: inner.start()] + (" VECTOR " if is_vector else " NUMBER ") + flat[inner.end() :]
            if adds_a_product(flat, vectors):
                found.append(statement.strip())
    return found


FUNCTIONS = {name for path in [*SOURCES, HOME] for name in functions_of_vectors(path.read_text("utf-8"))}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(KUIPER).as_posix())
def test_kernels_fuse_products_that_are_added(path: Path) -> None:
    assert two_roundings(path.read_text("utf-8"), FUNCTIONS) == []


CYTHON = """
cdef inline vec f(const float* w, vec x, int i) noexcept nogil:
    cdef vec a = load(w), b, c
    cdef vec[4][2] s
    cdef float number = w[1]
    {}
"""
C = """
static kuiper_vec f(const float *w, kuiper_vec x, int i) {{
    kuiper_vec a = kuiper_load(w), b, c, s[4][2];
    float number = w[1];
    {};
}}
"""


@pytest.mark.parametrize("form", [CYTHON, C], ids=["cython", "c"])
@pytest.mark.parametrize(
    "statement",
    [
        "s[0] += x * b",
        "s[i][v] = s[i][v] + splat(x[0]) * load(w + v * LANES)",
        "x = a * b + c",
        "x = c - number * a",
        "store(out + i * LANES, load(x + i * LANES) * a - splat(1))",
        "x = (a + b) * c + splat(2)",
        "x = a / (splat(1) + a * b)",
    ],
)
def test_two_roundings_are_found(form: str, statement: str) -> None:
    assert two_roundings(form.format(statement), FUNCTIONS) == [statement]


@pytest.mark.parametrize("form", [CYTHON, C], ids=["cython", "c"])
@pytest.mark.parametrize(
    "statement",
    [
        "x = fma(a, b, c)",
        "x = (a + b) * c",
        "x = -a * b",
        "x = a * b / c + a",
        "store(out + i * LANES, a * b)",
        "number = w[0] * number + w[i * LANES + 1]",
        "s[2 * i + 1] = a",
    ],
)
def test_one_rounding_is_passed(form: str, statement: str) -> None:
    assert two_roundings(form.format(statement), FUNCTIONS) == []
