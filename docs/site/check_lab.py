"""Open lectures in JupyterLab, as somebody does who has just fetched them, and say what he does not see.

    python docs/site/check_lab.py build/lab/bin/jupyter-lab [LECTURE ...]

JupyterLab has never run these notebooks, so it does not trust them. Every stored picture must be there nevertheless and
have a size; inputs that are to be folded must be folded; every relative link must lead to something that JupyterLab
serves when it is started in the root. This is done in the checkout, and in a student's folder in each other language.
Pictures of the lectures go to ``build/lab-screenshots``.
Exit code 1: something is wrong; 2: there is no browser, or no JupyterLab.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

sys.path.insert(0, str(Path(__file__).parent))
from check_pages import PATIENCE, TALLEST, Browser, BrowserError, find_program

from kuiper.course.handout import start
from kuiper.language import other_languages

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
LECTURES = ("02b", "03b", "05c")  # steps, charts and photos
WIDTH = 1100
LINK = re.compile(r"\]\(<?([^()\s>]+)>?\)")

# All cells at once, not only those in the window; no news, no questions.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}

LOOK = """(() => {
    const outputs = [...document.querySelectorAll(".jp-Notebook .jp-OutputArea-output")];
    const images = outputs.flatMap(output => [...output.querySelectorAll("img")]);
    const is_seen = image => image.naturalWidth > 20 && image.getBoundingClientRect().height > 10;
    return {
        cells: document.querySelectorAll(".jp-Notebook .jp-Cell").length,
        seen: images.filter(is_seen).length,
        unseen: outputs.map(output => output.innerText).filter(text => /^<(picture|\\d+ pictures|drawing) /.test(text)),
        folded: document.querySelectorAll(".jp-CodeCell .jp-InputPlaceholder, .jp-CodeCell .jp-Placeholder").length,
        texts: [...document.querySelectorAll(".jp-Notebook .jp-MarkdownCell .jp-RenderedMarkdown")]
            .filter(text => text.innerText.trim()).length,
        trust: (document.querySelector("[title*='trusted' i]") || {title: ""}).title,
    };
})()"""


class Lab:
    """A JupyterLab that serves a folder, without any memory of notebooks that were run."""

    def __init__(self, address: str, root: Path) -> None:
        self.address, self.root = address, root

    def page(self, path: Path) -> str:
        """Its address, in a workspace of its own: otherwise all lectures that were open before open with it."""
        return f"{self.address}lab/workspaces/{path.stem}/tree/{quote(path.relative_to(self.root).as_posix())}"

    def serves(self, path: str) -> bool:
        """Whether there is a file or a folder of this name below the root."""
        try:
            with urllib.request.urlopen(f"{self.address}api/contents/{quote(path)}?content=0", timeout=PATIENCE):
                return True
        except urllib.error.HTTPError:
            return False


@contextmanager
def lab(program: str, root: Path) -> Iterator[Lab]:
    """JupyterLab, started in a folder, until it is no longer needed."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        home = Path(name)
        for setting, value in SETTINGS.items():
            file = home / "settings" / f"{setting}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(value), encoding="utf-8")
        folders = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        folders |= {
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "spaces"),
        }
        options = ["--no-browser", "--port=0", "--IdentityProvider.token=", "--allow-root"]
        options += [f"--FileCheckpoints.checkpoint_dir={home / 'checkpoints'}"]
        with (home / "log").open("w") as log:
            server = subprocess.Popen(
                [program, *options], cwd=root, env={**os.environ, **folders}, stdout=log, stderr=log
            )
            try:
                yield Lab(_address(home, server), root)
            finally:
                server.terminate()
                try:
                    server.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()


def _address(home: Path, server: subprocess.Popen[Any]) -> str:
    """Where the server answers; it writes that down when it does."""
    until = time.monotonic() + 2 * PATIENCE
    while time.monotonic() < until and server.poll() is None:
        for file in (home / "runtime").glob("jpserver-*.json"):
            try:
                found = json.loads(file.read_text(encoding="utf-8"))
                return f"http://127.0.0.1:{found['port']}/"
            except ValueError:
                break  # half written
        time.sleep(0.2)
    raise BrowserError(f"JupyterLab did not start: {(home / 'log').read_text(encoding='utf-8')[-500:]}")


def expected(notebook: dict[str, Any]) -> dict[str, int]:
    """What is to be seen of a notebook: cells, pictures, and inputs that are folded."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in code for output in cell["outputs"]]
    return {
        "cells": len(notebook["cells"]),
        "seen": sum(any(kind.startswith("image/") for kind in output.get("data", {})) for output in outputs),
        "texts": sum(cell["cell_type"] == "markdown" for cell in notebook["cells"]),
        "folded": sum(cell["metadata"].get("jupyter", {}).get("source_hidden", False) for cell in code),
    }


def links(notebook: dict[str, Any], folder: str = "notebooks") -> list[tuple[str, str]]:
    """Each relative link of a notebook, and the path from the root that it leads to; ``..`` first: out of the root."""
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    for cell in notebook["cells"]:
        texts += ["".join(output.get("data", {}).get("text/markdown", "")) for output in cell.get("outputs", [])]
    found = []
    for link in (link for text in texts for link in LINK.findall(text)):
        path = unquote(link.partition("#")[0])
        if path and not re.match(r"[a-z]+:", path):
            found.append((link, os.path.normpath(PurePosixPath(folder, path)).replace(os.sep, "/")))
    return found


def problems_of(seen: dict[str, Any], wanted: dict[str, int]) -> list[str]:
    """What differs between what is seen and what is to be seen."""
    names = {"cells": "cells", "texts": "cells with text", "seen": "pictures", "folded": "inputs that are folded"}
    problems = [
        f"expected {wanted[key]} {name}, got {seen[key]}" for key, name in names.items() if seen[key] != wanted[key]
    ]
    problems += [f"words instead of a picture: {text[:60]}" for text in seen["unseen"]]
    if "not trusted" not in seen["trust"] and not seen["trust"].startswith("0 of"):
        problems.append(f"expected a notebook that is not trusted, got {seen['trust']!r}")
    return problems


def look_at(server: Lab, browser: Browser, path: Path, screenshots: Path) -> list[str]:
    """What is wrong with one lecture."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    wanted = expected(notebook)
    browser.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=TALLEST, deviceScaleFactor=1, mobile=False)
    browser.open(server.page(path))
    until = time.monotonic() + PATIENCE
    seen = browser.run(LOOK)
    while problems_of(seen, wanted) and time.monotonic() < until:
        time.sleep(0.5)
        seen = browser.run(LOOK)
    browser.screenshot(screenshots / server.root.name / f"{path.stem}.jpeg")
    problems = problems_of(seen, wanted)
    problems += [
        f"leads nowhere in JupyterLab: {link}" for link, target in links(notebook) if not server.serves(target)
    ]
    return [f"{path.name}: {problem}" for problem in problems]


def main(program: str, names: list[str]) -> int:
    """Look at the lectures whose files' names begin so; the exit code."""
    chromium, found = find_program(), shutil.which(program)
    if chromium is None or found is None:
        print(f"no {'browser' if chromium is None else program}; see docs/site/check_lab.py", file=sys.stderr)
        return 2
    screenshots, count = ROOT / "build" / "lab-screenshots", 0
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for root in (ROOT, *(handed_out(language, Path(folder, language)) for language in other_languages())):
            (screenshots / root.name).mkdir(parents=True, exist_ok=True)
            lectures = [path for path in sorted(root.glob("notebooks/*.ipynb")) if path.name.startswith(tuple(names))]
            count += len(lectures)
            try:
                with lab(found, root) as server, Browser(chromium) as browser:
                    for path in lectures:
                        problems += look_at(server, browser, path, screenshots)
            except BrowserError as error:
                problems.append(str(error))
    print("\n".join(problems) or f"{count} lectures in JupyterLab: all is well")
    return 1 if problems or not count else 0


def handed_out(language: str, folder: Path) -> Path:
    """A student's folder in a language."""
    start(folder, solutions=False, language=language)
    return folder


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "jupyter-lab", sys.argv[2:] or list(LECTURES)))
