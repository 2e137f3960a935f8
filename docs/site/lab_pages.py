"""Write JupyterLite into the site, beside the live page: the course as notebooks, for those who want notebooks.

    python docs/site/lab_pages.py build/site build/jupyterlite/bin/jupyter KUIPER_WHEEL

The first command of ``make live`` has written build/site/live, whose Python, NumPy and wheels are used here, too. The
drive of JupyterLite is a course folder, as ``kuiper course start`` writes it. Its kernel finds all packages by a lock
file of its own, which names kuiper's wheel: there is nothing to install. Each language has a JupyterLite of its own, as
one takes two notebooks with the same name for one, wherever they are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

from kuiper.course.handout import start
from kuiper.language import languages, tag

sys.path.insert(0, str(Path(__file__).parent))
from live_bytecode import with_bytecode
from live_pages import MODULES, SOURCES
from live_runtime import pure_wheels

ROOT = Path(__file__).parents[2]
PLUGIN = "@jupyterlite/pyodide-kernel-extension"
AT_THE_START = ("start", "tests")  # stages of the live page: what is compiled in the tab is compiled there only
LOCK = "pyodide-lock.json"


def write_lab(site: Path, jupyter: Path, kuiper: Path) -> None:
    """JupyterLite in each language, and beside them what their kernels load."""
    runtime = json.loads((site / "live" / "course.json").read_text(encoding="utf-8"))["runtime"]
    lab, sources = site / "lab", ROOT / "build" / "lab-sources"
    for folder in (lab, sources):  # also the notes of an earlier build: it would leave out what it thinks is there
        shutil.rmtree(folder, ignore_errors=True)
    live = [site / "live" / address for stage in AT_THE_START for address in runtime["wheels"][stage]]
    shared = [wheel for wheel in live if wheel.name != kuiper.name]
    [fast] = set(live) - set(shared)
    wheels = _own_wheels(lab / "packages", jupyter, kuiper, fast) + shared
    entries = [locked(wheel, os.path.relpath(wheel, lab)) for wheel in wheels]
    lock = first_lock(runtime["pyodide"])
    lock["packages"] |= {entry["name"]: entry for entry in entries}
    (lab / LOCK).write_text(json.dumps(lock), encoding="utf-8")
    packages = [entry["name"] for entry in entries] + runtime["packages"] + runtime["drawing"]
    for language in languages():
        start(sources / language / "files", language=language)
        _build(sources / language, lab / language, jupyter, settings(runtime, packages, language))


def _own_wheels(folder: Path, jupyter: Path, kuiper: Path, fast: Path) -> list[Path]:
    """What the live page does not have: the kernel with what it needs, and kuiper with its other languages.

    ``kuiper`` is its wheel, beside which models and languages are, ``fast`` the same with bytecode.
    """
    pure = pure_wheels(SOURCES / "lab_wheels.txt", ROOT / "build" / "lab-wheels")
    installed = jupyter.absolute().parents[1]
    kernel = sorted(installed.glob(f"share/jupyter/labextensions/{PLUGIN}/static/pypi/*.whl"))
    kernel = [wheel for wheel in kernel if not wheel.name.startswith("widgets")]
    folder.mkdir(parents=True)
    made = with_bytecode([*pure, *kernel], ROOT / "build" / "live-bytecode", SOURCES / "precompile.mjs")
    found = [Path(shutil.copy(wheel, folder)) for wheel in [*made, fast]]
    add_languages(found[-1], kuiper.parent / "languages")
    shutil.copytree(kuiper.parent / "models", folder / "models")  # kuiper looks for them beside its wheel
    return found


def add_languages(wheel: Path, folder: Path) -> None:
    """Put what ``make wasm`` has left out of kuiper's wheel into a copy of it: nobody asks before Python starts."""
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as target:
        for words in sorted(folder.glob("*.zip")):
            with zipfile.ZipFile(words) as archive:
                for name in archive.namelist():
                    target.writestr(name, archive.read(name))


def first_lock(pyodide: str) -> dict[str, Any]:
    """The lock file of Pyodide's distribution, if that is where Pyodide comes from; else one without packages."""
    lock: dict[str, Any] = json.loads((MODULES / "pyodide" / LOCK).read_text(encoding="utf-8"))
    if "://" not in pyodide:
        return lock | {"packages": {}}
    for entry in lock["packages"].values():
        entry["file_name"] = pyodide + entry["file_name"]
    return lock


def locked(wheel: Path, address: str) -> dict[str, Any]:
    """What a lock file says of a wheel at an address.

    It depends on nothing there: all that it needs is loaded with it.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        metadata = Parser().parsestr(archive.read(about).decode("utf-8"))
    tops = {
        name.split("/")[0].partition(".")[0] for name in names if ".dist-info/" not in name and ".data/" not in name
    }
    return {
        "name": re.sub(r"[-_.]+", "-", metadata["Name"]).lower(),
        "version": metadata["Version"],
        "file_name": address,
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "imports": sorted(tops),
        "depends": [],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
        "tool": {},
    }


def settings(runtime: dict[str, Any], packages: list[str], language: str) -> dict[str, Any]:
    """What JupyterLite reads at its start: from where Python comes, and which packages are loaded with it."""
    is_here = "://" not in runtime["pyodide"]
    kernel = {
        "pyodideUrl": f"{'./../../live/' if is_here else ''}{runtime['pyodide']}pyodide.mjs",
        "disablePyPIFallback": is_here,
        "loadPyodideOptions": {"lockFileURL": f"../{LOCK}", "packages": packages},
    }
    spoken = {"locale": tag(language).replace("-", "_")}
    data = {
        "appName": "kuiper",
        "exposeAppInBrowser": True,
        "litePluginSettings": {f"{PLUGIN}:kernel": kernel},
        "settingsOverrides": {"@jupyterlab/translation-extension:plugin": spoken},
    }
    return {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}


def _build(sources: Path, lab: Path, jupyter: Path, wanted: dict[str, Any]) -> None:
    (sources / "jupyter-lite.json").write_text(json.dumps(wanted), encoding="utf-8")
    options: dict[str, Any] = {"contents": ["files"], "output_dir": str(lab), "apps": ["lab"]}
    options |= {"no_sourcemaps": True, "no_unused_shared_packages": True}
    build = {
        "LiteBuildConfig": options,
        "ContentsManager": {"allow_hidden": True},
    }  # a course folder knows its language
    (sources / "jupyter_lite_config.json").write_text(json.dumps(build), encoding="utf-8")
    done = subprocess.run([jupyter.absolute(), "lite", "build"], cwd=sources, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise SystemExit(f"jupyter lite build: {done.stdout}{done.stderr}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("jupyter", type=Path)
    parser.add_argument("kuiper", type=Path)
    arguments = parser.parse_args()
    write_lab(arguments.site.resolve(), arguments.jupyter, arguments.kuiper)
    print(*(arguments.site / "lab" / language / "index.html" for language in languages()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
