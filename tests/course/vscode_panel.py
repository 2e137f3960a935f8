"""A pytest plugin that asks what the test panel of VS Code asks, in the same hooks, and writes the answers as JSON.

Its Python extension runs ``pytest -p vscode_pytest --rootdir=FOLDER --collect-only ARGS`` and builds its tree from the
items at the end of the session: node identifier, path, line, parents, and of parametrised tests ``callspec`` and
``originalname``. To run tests it hands their absolute identifiers back, and reads ``longreprtext``, ``passed`` and
``failed`` off each report.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

ANSWERS = "TEST_PANEL_ANSWERS"  # the environment variable that names the file
answers: dict[str, Any] = {"tree": {}, "outcomes": {}, "errors": []}
paths: dict[str, Path] = {}


def absolute(nodeid: str, path: Path) -> str:
    """What the panel calls a test, and hands back to pytest to run it."""
    return "::".join([str(path), *nodeid.split("::")[1:]])


def pytest_exception_interact(node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any], report: Any) -> None:
    if isinstance(report, pytest.CollectReport):
        answers["errors"].append(call.excinfo.exconly() if call.excinfo else report.longreprtext)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    paths[item.nodeid] = item.path
    return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_report_teststatus(report: Any) -> Generator[None, object, object]:
    if report.when == "call" or (report.when == "setup" and report.skipped):
        outcome = "success" if report.passed else "failure" if report.failed else "skipped"
        message = report.longreprtext if report.failed else None
        answers["outcomes"][absolute(report.nodeid, paths[report.nodeid])] = (outcome, message)
    return (yield)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    for item in session.items:
        line = item.location[1]
        if line is None or not isinstance(item.parent, pytest.File):
            answers["errors"].append(f"{item.nodeid}: no line, or no file as its parent")
            continue
        name = item.name
        if hasattr(item, "callspec"):
            function, _, case = name.partition("[")
            name = f"{item.originalname}/[{case}" if function == getattr(item, "originalname", "") else "no function"
        folders = item.parent.path.relative_to(session.path).parts
        answers["tree"][absolute(item.nodeid, item.path)] = ("/".join([*folders, name]), line + 1)
    answers["exit"] = int(exitstatus)
    Path(os.environ[ANSWERS]).write_text(json.dumps(answers), encoding="utf-8")
