"""Run by the runtime: pytest over tests of the checkout, on the kuiper that was installed.

    suite.py LEFT_OUT WORD ...        the words are for pytest; LEFT_OUT is a JSON file, tests and why they cannot pass here

The checkout lies at /checkout. Its package is not compiled for this machine, so the tests see it with the installed one.
"""

import json
import os
import sys

import pytest

import kuiper

LEFT_OUT = json.loads(open(sys.argv[1], encoding="utf-8").read())
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


sys.exit(pytest.main(["-p", "no:cacheprovider", "-p", "no:faulthandler", *sys.argv[2:]], plugins=[LeaveOut()]))
