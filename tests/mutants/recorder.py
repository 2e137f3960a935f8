"""A plugin of pytest that notes which functions of kuiper each test calls: ``-p tests.mutants.recorder``.

The file that ``KUIPER_CALLS`` names then holds for each test that passes its seconds and, by file, the names of
functions: unlike lines, they stay when a file changes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import CodeType, FrameType

HOUSE = f"{Path.cwd()}{os.sep}"
calls: dict[str, dict[str, object]] = {}
failed: set[str] = set()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None]:
    """Around one test and its fixtures."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        seen.add(frame.f_code)

    begun = time.process_time()
    sys.settrace(note)  # type: ignore[arg-type]
    yield
    sys.settrace(None)
    functions: dict[str, list[str]] = {}
    for code in seen:
        file = code.co_filename.removeprefix(HOUSE)
        if file.startswith("kuiper/"):
            functions.setdefault(file, []).append(code.co_name)
    calls[item.nodeid] = {"seconds": time.process_time() - begun, "functions": functions}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test that fails without a mutant says nothing about one."""
    if not report.passed:
        failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write what was noted."""
    passed = {test: noted for test, noted in calls.items() if test not in failed}
    Path(os.environ["KUIPER_CALLS"]).write_text(json.dumps(passed), encoding="utf-8")
