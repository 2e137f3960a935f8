"""Every graph that a case gives by another route than its own: read, run as it stands and optimised, and compared."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.errors import KuiperError
from tests.fixtures.archive import read_archive
from tests.fixtures.operator_files import ANSWERS, BIN, ENDINGS, OPERATORS, PARAM, case_names, modules
from tests.fixtures.route_archives import (
    ARCHIVES,
    ROUTES,
    Files,
    other_graphs,
    places,
    read_graphs,
    read_outcomes,
    stored_graphs,
    write_graphs,
)
from tests.layers.test_operators_against_torch import assert_equals_torch, stored_runs
from tests.sweeps import swept

if TYPE_CHECKING:
    from pathlib import Path

PLACES = places()
STORED = {(place.case, place.route) for place in PLACES}
OUTCOME = read_outcomes()
OTHER_GRAPH = {(case, route): why for route, found in other_graphs().items() for case, why in found.items()}

MIN_SHARE = {"optlevel2": 1.0, "optlevel1": 1.0, "optlevel0": 1.0, "onnx": 0.94}
"""Of how many cases a route must lead to a graph; less is a decision, not an accident."""


@pytest.fixture(scope="module")
def graphs() -> dict[str, dict[Files, list[str]]]:
    """By case the different graphs of the archives, each with the routes that lead to it: some write the same bytes."""
    found: dict[str, dict[Files, list[str]]] = {}
    for place, files in stored_graphs():
        found.setdefault(place.case, {}).setdefault(files, []).append(place.route)
    return found


@pytest.mark.parametrize("case", swept(sorted({place.case for place in PLACES})))
def test_graphs_of_all_routes_equal_torch(case: str, graphs: dict[str, dict[Files, list[str]]], tmp_path: Path) -> None:
    runs = stored_runs(case, ("", "dynamic_"))
    wrong = []
    for number, (files, routes) in enumerate(graphs[case].items()):
        param, weights = (tmp_path / f"{number}{ending}" for ending in ENDINGS)
        param.write_bytes(files[0])
        weights.write_bytes(files[1])
        for optimize in (False, True):
            why = disagreement(param, optimize, runs)
            wrong += [
                f"{route}, optimize={optimize}: {why or 'it agrees after all: other_graphs.json is out of date'}"
                for route in routes
                if bool(why) != ((case, route) in OTHER_GRAPH)
            ]
    assert not wrong, "\n".join(wrong)


def disagreement(param: Path, optimize: bool, runs: Any) -> str:
    """In which way a graph does not give what torch gave; "" if it does."""
    try:
        assert_equals_torch(param, optimize, runs)
    except (AssertionError, KuiperError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def test_every_case_took_every_route() -> None:
    for case in case_names():
        own = [route for route in ROUTES if (case, route) not in STORED and case not in OUTCOME[route]["no graph"]]
        assert len(own) == 1, f"{case}: exactly one graph in operators/, got {own}; export it again"
        assert own[0].startswith("optlevel"), case


def test_archives_hold_what_the_last_export_said() -> None:
    counts = Counter(place.route for place in PLACES)
    assert {route: counts[route] for route in ROUTES} == {route: OUTCOME[route]["stored"] for route in ROUTES}
    assert len(STORED) == len(PLACES)
    names = set(case_names())
    assert {case for case, _ in STORED} <= names
    assert {case for outcome in OUTCOME.values() for case in outcome["no graph"]} <= names


def test_cases_without_graph_are_few_and_have_a_reason() -> None:
    for route, least in MIN_SHARE.items():
        reasons = OUTCOME[route]["no graph"]
        assert 1 - len(reasons) / len(case_names()) >= least, route
        assert all(reason.startswith(("torch.onnx: ", "pnnx: ")) for reason in reasons.values())


def test_other_graphs_are_stored_and_say_who_wrote_them() -> None:
    assert set(OTHER_GRAPH) <= STORED
    assert all(reason.startswith(("torch.onnx: ", "pnnx: ")) for reason in OTHER_GRAPH.values())


def test_archives_are_small() -> None:
    assert max(path.stat().st_size for folder in (ARCHIVES, OPERATORS) for path in folder.iterdir()) < 5_000_000


def test_index_names_what_the_archives_hold() -> None:
    stored = {}
    for path in OPERATORS.glob("*.zip"):
        names = read_archive(path)
        cases = {name.split(".")[0] for name in names}
        assert set(names) == {f"{case}{ending}" for case in cases for ending in (PARAM, BIN, ANSWERS)}
        stored |= dict.fromkeys(cases, path.stem)
    assert stored == modules()


def test_write_graphs_gives_the_same_bytes_for_the_same_graphs(tmp_path: Path) -> None:
    graphs = {("b", "onnx"): (b"text", b"\0\1"), ("a", "optlevel0"): (b"other", b"")}
    path = tmp_path / "one.zip"
    write_graphs(path, graphs)
    assert read_graphs(path) == graphs
    first = path.read_bytes()
    write_graphs(path, dict(reversed(graphs.items())))
    assert path.read_bytes() == first
    write_graphs(path, {})
    assert not path.exists()
