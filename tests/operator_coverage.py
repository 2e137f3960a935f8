"""Writes docs/evidence/operator-coverage.md: of each operator, route by route, how many graphs agree.

docs/reference/operators.md has the summary.

    python -m tests.operator_coverage

What it counts is stored beside the graphs; that the graphs it counts as agreeing do agree, tests/test_routes.py says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from tests.fixtures.operator_files import PARAM, graph_files
from tests.fixtures.route_archives import ROUTES, no_graph, other_graphs, stored_graphs

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "evidence" / "operator-coverage.md"
QUOTE = "'"

INTRODUCTION = """\
# Operators by route

Written by `python -m tests.operator_coverage`. Each case of `tests/fixtures/cases` is exported by each route, and
`tests/test_routes.py` runs every graph with `optimize=False` and with `optimize=True` against what PyTorch answered:
floats within 1e-5 of the largest, integers exactly.

{routes}

A cell has the number of graphs with the operator that agree. Behind it, of the cases whose own graph has the operator:

- *p*: pnnx writes a graph that computes something else; *t*: torch.onnx writes such a model;
- *P*: pnnx gives no graph; *T*: torch.onnx gives no model.

[Below](#graphs-that-compute-something-else) is the evidence, and [what was said](#cases-without-a-graph) where there is
no graph. An operator that only one route writes has a row all the same; types of older files that today's pnnx does not
write are not here: they run the graphs of the type that took their place (`tests/test_operators_page.py`).
"""


def types_of(param: str) -> set[str]:
    """The operator types of a graph."""
    return {line.split(maxsplit=1)[0] for line in param.splitlines()[2:] if line.strip()}


class Coverage:
    """The types in each graph, by case and route, and the cases where something went wrong, with a letter for it."""

    def __init__(self) -> None:
        own = {path.name.removesuffix(PARAM): types_of(path.read_text(encoding="utf-8")) for path in graph_files()}
        self.own = own
        self.types = {(case, route): types_of(files[0].decode()) for (case, route), files in stored_graphs()}
        self.without = {(case, route): reason for route, found in no_graph().items() for case, reason in found.items()}
        self.other = {
            (case, route): reason for route, found in other_graphs().items() for case, reason in found.items()
        }
        for case, types in own.items():
            [route] = [route for route in ROUTES if (case, route) not in {**self.types, **self.without}]
            self.types[case, route] = types

    def agreeing(self, route: str) -> list[set[str]]:
        """The types of each graph of this route that agrees with torch."""
        return [types for key, types in self.types.items() if key[1] == route and key not in self.other]

    def letters(self, route: str) -> dict[str, str]:
        """By case what went wrong on this route: p, t, P or T."""
        found = {case: _writer(reason) for (case, by), reason in self.other.items() if by == route}
        return found | {case: _writer(reason).upper() for (case, by), reason in self.without.items() if by == route}


def _writer(reason: str) -> str:
    """p or t, for pnnx or torch.onnx; of two reasons the first counts."""
    return reason[0]


def page(coverage: Coverage) -> str:
    """The whole of docs/evidence/operator-coverage.md."""
    routes = "\n".join(f"- {route}: {meaning}" for route, meaning in ROUTES.items())
    sections = [
        INTRODUCTION.format(routes=routes),
        "\n".join(table(coverage)) + "\n",
        "## Graphs that compute something else\n",
        "\n".join(listed(coverage.other)) + "\n",
        "## Cases without a graph\n",
        "\n".join(listed(coverage.without, quoted=True)) + "\n",
    ]
    return "\n".join(sections)


def table(coverage: Coverage) -> list[str]:
    """A row for each type, a column for each route."""
    columns = {route: column(coverage, route) for route in ROUTES}
    names = sorted(set().union(*columns.values()), key=str.lower)
    head = ["operator", *ROUTES]
    rows = [[f"`{name}`", *(columns[route].get(name, "") for route in ROUTES)] for name in names]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def column(coverage: Coverage, route: str) -> dict[str, str]:
    """The cells of a route by type."""
    agreeing = Counter(name for types in coverage.agreeing(route) for name in types)
    failures: dict[str, Counter[str]] = defaultdict(Counter)
    for case, letter in coverage.letters(route).items():
        for name in coverage.own[case] - {"pnnx.Input", "pnnx.Output"}:
            failures[name][letter] += 1
    return {
        name: ", ".join(
            [str(agreeing[name]), *(f"{count}{letter}" for letter, count in sorted(failures[name].items()))]
        )
        for name in {*agreeing, *failures}
    }


def listed(reasons: dict[tuple[str, str], str], quoted: bool = False) -> list[str]:
    """The cases by reason, as a list; what a program said is quoted."""
    cases = defaultdict(list)
    for (case, route), reason in reasons.items():
        cases[route, f"`{reason.replace('`', QUOTE)}`" if quoted else reason].append(f"`{case}`")
    return [f"- {route}: {', '.join(sorted(names))}: {reason}" for (route, reason), names in sorted(cases.items())]


def summary(coverage: Coverage) -> str:
    """The table in docs/reference/operators.md."""
    head = ["route", "cases", "graphs", "agree with PyTorch", "compute something else", "no graph"]
    rows = []
    for route in ROUTES:
        graphs = sum(1 for _, by in coverage.types if by == route)
        other, without = (sum(1 for _, by in found if by == route) for found in (coverage.other, coverage.without))
        rows.append([route, *(str(n) for n in (len(coverage.own), graphs, graphs - other, other, without))])
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(Coverage()), encoding="utf-8")


if __name__ == "__main__":
    main()
