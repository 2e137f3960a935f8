"""Run by the runtime: pytest over tests of the checkout, on the kuiper that was installed.

    suite.py LEFT_OUT WORD ...     WORDs are for pytest; LEFT_OUT is a JSON file: tests, and why they cannot pass here

The checkout lies at /checkout. Its package is not compiled for this machine: the tests see the installed one instead.
"""

import json
import os
import sys
from pathlib import Path

import pytest

import kuiper

LEFT_OUT = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
HIDDEN = ("kuiper", "build", "dist")

suite, checkout, installed = "/suite", "/checkout", os.path.dirname(kuiper.__file__)
os.mkdir(suite)
for name in os.listdir(checkout):
    if name not in HIDDEN and not name.startswith("."):
        os.symlink(f"{checkout}/{name}", f"{suite}/{name}")
os.symlink(installed, f"{suite}/kuiper")
os.chdir(suite)
sys.path.insert(0, suite)


class LeaveOut:
    """Skips what is named, with the reason; a name that no test has is an error."""

    def pytest_collection_modifyitems(self, items):
        files = {item.nodeid.partition("::")[0] for item in items}
        for name, reason in LEFT_OUT.items():
            found = [item for item in items if item.nodeid == name or item.nodeid.startswith((f"{name}[", f"{name}::"))]
            if not found and name.partition("::")[0] in files:
                raise pytest.UsageError(f"left_out.json: expected the name of a test, got {name}")
            for item in found:
                item.add_marker(pytest.mark.skip(reason=reason))


words = ["-p", "no:cacheprovider", "-p", "no:faulthandler"]
words += [f"--ignore={name}" for name in LEFT_OUT if "::" not in name]  # files that cannot be imported
sys.exit(pytest.main([*words, *sys.argv[2:]], plugins=[LeaveOut()]))
