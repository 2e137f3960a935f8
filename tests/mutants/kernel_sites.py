"""What can be changed in a Cython file: single signs in lines of loops and arithmetic."""

from __future__ import annotations

import re

from tests.mutants.sites import Mutant

NOT_CODE = re.compile(
    r"^\s*(#|@|cdef |cpdef |from |import |cimport |ctypedef |extern |raise |return$|pass$|\"\"\"|r?\"\"\")"
)
CHANGES = (
    (re.compile(r"(?<=[\w)\]]) \+ (?=[\w(])"), (" - ",), "arithmetic"),
    (re.compile(r"(?<=[\w)\]]) - (?=[\w(])"), (" + ",), "arithmetic"),
    (re.compile(r"(?<=[\w)\]]) < (?=[\w(\-])"), (" <= ", " > "), "comparison"),
    (re.compile(r"(?<=[\w)\]]) > (?=[\w(\-])"), (" >= ", " < "), "comparison"),
    (re.compile(r"(?<=[\w)\]]) <= (?=[\w(\-])"), (" < ",), "comparison"),
    (re.compile(r"(?<=[\w)\]]) >= (?=[\w(\-])"), (" > ",), "comparison"),
    (re.compile(r"(?<=[\w)\]]) == (?=[\w(\-])"), (" != ",), "comparison"),
    (re.compile(r"(?<=[\w)\]]) != (?=[\w(\-])"), (" == ",), "comparison"),
    (re.compile(r"(?<=[\w)\]]) and (?=[\w(])"), (" or ",), "and/or"),
    (re.compile(r"(?<=[\w)\]]) or (?=[\w(])"), (" and ",), "and/or"),
)
NUMBER = re.compile(r"(?<![\w.\[\"'])(\d+)(?![\w.\"'])")
ADDING = re.compile(r"^(\s+)([\w.\[\], +*\-]+ [+\-]= .*[^\\(,])$", re.MULTILINE)


def kernel_sites(file: str, text: str) -> list[Mutant]:
    """Every change in a kernel, in order: what stands in functions, no declarations, no strings, no comments."""
    found, offset, in_string, depth = [], 0, False, 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        quotes = line.count('"""')
        code = line.partition("#")[0].rstrip()
        runs = not in_string and quotes == 0 and line.startswith("    ") and not NOT_CODE.match(line) and depth == 0
        if runs and '"' not in code and "'" not in code:
            for pattern, news, kind in CHANGES:
                for match in pattern.finditer(code):
                    found += [
                        Mutant(file, offset + match.start(), offset + match.end(), new, number, kind) for new in news
                    ]
            for match in NUMBER.finditer(code):
                value = int(match[1])
                for new in (value + 1, *((value - 1,) if value else ())):
                    found.append(
                        Mutant(file, offset + match.start(), offset + match.end(), str(new), number, "constant")
                    )
            if match := ADDING.match(code):
                start, end = offset + match.start(2), offset + match.end(2)
                found.append(Mutant(file, start, end, "pass", number, "dropped statement"))
        in_string ^= quotes % 2 == 1
        depth = max(0, depth + opened(code)) if is_declaration(code, depth) else 0
        offset += len(line)
    return sorted(set(found))


def is_declaration(code: str, depth: int) -> bool:
    """Whether a line begins or goes on with a declaration over several lines."""
    return depth > 0 or bool(re.match(r"\s*(cdef|cpdef|def) ", code))


def opened(code: str) -> int:
    """How many brackets a line leaves open."""
    return sum(code.count(sign) for sign in "([") - sum(code.count(sign) for sign in ")]")
