"""Write the live page into the site: the course in a browser tab.

    python docs/site/live_pages.py build/site KUIPER_WHEEL CLANG [--self-hosted]

KUIPER_WHEEL is what ``make wasm`` builds, with ``models/`` and ``languages/`` beside it, CLANG the folder of
``packaging/wasm/clang_folder.py``. Python, NumPy and Pillow come from Pyodide's own distribution, in the browser of the
student; with ``--self-hosted`` they are part of the site: NumPy and Pillow out of $KUIPER_WASM_WHEELS. It needs npm's
packages of live/ and the network the first time: ``make live`` sees to all of it. Lectures and exercises of the site
then have links to the page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from babel import Locale

from kuiper.language import ENGLISH, languages, tag

sys.path.insert(0, str(Path(__file__).parent))
from live_bytecode import with_bytecode
from live_course import course_table
from live_links import add_links
from live_runtime import COMPILED, DRAWING, Runtime, digest, pure_wheels

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "live"
MODULES = SOURCES / "node_modules"
STYLES, LANGUAGES = "<!-- site styles -->", "<!-- languages -->"
FOR_TESTS = ("hypothesis", "iniconfig", "packaging", "pluggy", "pygments", "pytest", "sortedcontainers")
STAGES = dict.fromkeys(FOR_TESTS, "tests") | {"cython": "compile"}
BUNDLES = ("page/main.js", "worker.js")
_STYLE = re.compile(r'<link rel="stylesheet"[^>]*>|<style>.*?</style>', re.DOTALL)


def bundle(live: Path) -> list[str]:
    """Each script with what it imports in one file; the npm packages that are in them."""
    packages: set[str] = set()
    for source in BUNDLES:
        name = "page.js" if source == "page/main.js" else source
        report = live / f"{name}.json"
        options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none"]
        options += ["--log-level=warning", "--external:node:*", f"--outfile={live / name}", f"--metafile={report}"]
        subprocess.run([MODULES / ".bin/esbuild", SOURCES / source, *options], check=True)
        inputs = json.loads(report.read_text())["inputs"]
        packages |= {found[1] for path in inputs if (found := re.search(r"node_modules/((?:@[\w-]+/)?[\w-]+)/", path))}
        report.unlink()
    return sorted(packages)


def write_licences(live: Path, packages: list[str], wheels: list[Path]) -> None:
    """The texts of the licences of all that the page is made of."""
    parts = [f"kuiper\n\n{(ROOT / 'LICENSE').read_text(encoding='utf-8')}"]
    for name in [*packages, "pyodide", "@yowasp/clang"]:
        folder = MODULES / name
        about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("LICEN[CS]E*"))]
        parts.append("\n\n".join([f"{name} {about['version']}: {about.get('license')}", *texts]))
    parts += [f"{wheel.name}: the licence is in the wheel, in its folder .dist-info" for wheel in wheels]
    (live / "licences.txt").write_text(f"\n\n{'-' * 100}\n\n".join(parts), encoding="utf-8")


def site_styles(site: Path) -> tuple[str, list[str]]:
    """The styles of a page of the site, as the live page links them, and the addresses of their files."""
    text = next((site / "notebooks").glob("[0-9]*.html")).read_text(encoding="utf-8")
    found = "\n".join(_STYLE.findall(text.partition("</head>")[0]))
    return found, re.findall(r'href="([^"]*)"', found)


def compiled_wheels(folder: str) -> list[Path]:
    """NumPy and Pillow for Pyodide out of a folder.

    Raises
    ------
    SystemExit
        If one is not there.
    """
    found = []
    for name in COMPILED:
        wheels = sorted(Path(folder).glob(f"{name}-*-pyemscripten_*_wasm32.whl")) if folder else []
        if len(wheels) != 1:
            wanted = f"$KUIPER_WASM_WHEELS: expected a folder with one wheel of {name} for Pyodide"
            raise SystemExit(f"{wanted}, got {folder or 'nothing'} with {len(wheels)}")
        found += wheels
    return found


def write_live(site: Path, kuiper: Path, clang: Path, self_hosted: bool) -> None:
    """The page, its scripts, its Python, and the links to it."""
    live = site / "live"
    shutil.rmtree(live, ignore_errors=True)
    live.mkdir()
    packages = bundle(live)
    pure = pure_wheels(SOURCES / "wheels.txt", ROOT / "build" / "live-wheels")
    runtime = Runtime(live, MODULES)
    own = compiled_wheels(os.environ.get("KUIPER_WASM_WHEELS", "")) if self_hosted else []
    wheels = with_bytecode([*own, *pure, kuiper], ROOT / "build" / "live-bytecode", SOURCES / "precompile.mjs")
    python = {
        "pyodide": runtime.pyodide_here() if self_hosted else runtime.pyodide_there(),
        "packages": [] if self_hosted else list(COMPILED),
        "drawing": [] if self_hosted else list(DRAWING),
        "wheels": staged(runtime, wheels),
        "models": runtime.add(sorted((kuiper.parent / "models").glob("*"))),
        "clang": runtime.add(sorted(path for path in clang.iterdir() if path.is_file())),
    }
    own_parts = {language: write_language(language, site, runtime, python, kuiper) for language in languages()}
    styles, addresses = site_styles(site)
    page = (SOURCES / "index.html").read_text(encoding="utf-8").replace(STYLES, styles)
    page = page.replace(LANGUAGES, "".join(map(choice, languages())))
    (live / "index.html").write_text(page, encoding="utf-8")
    for name in ("page.css", "icon.svg"):
        shutil.copyfile(SOURCES / name, live / name)
    shutil.copytree(ROOT / "kuiper/models/assets", live / "photos", ignore=shutil.ignore_patterns("*.md", "*.txt"))
    write_licences(live, packages, [*own, *pure])
    photos = [f"photos/{path.name}" for path in sorted((live / "photos").iterdir())]
    shell = ["./", "index.html", "page.js", "page.css", "course.json", "icon.svg", "worker.js", *addresses]
    read = {name for parts in own_parts.values() for name in [*parts["shell"], *parts["rest"]]}
    version = digest([*(live / name for name in shell[1:7]), *(live / name for name in sorted(read))])
    kept = runtime.kept(shell, [*photos, "licences.txt"], version) | {"languages": own_parts}
    worker = (SOURCES / "service_worker.js").read_text(encoding="utf-8").replace("__KEPT__", json.dumps(kept))
    (live / "service_worker.js").write_text(worker, encoding="utf-8")
    add_links(site, course_table(ROOT, site))


def write_language(
    language: str, site: Path, runtime: Runtime, python: dict[str, Any], kuiper: Path
) -> dict[str, list[str]]:
    """Write the course in a language; what its readers need besides all others: at once, and for a journey."""
    table = course_table(ROOT, site, language)
    lectures = [item["page"] for item in table["lectures"]]
    name, words = "course.json", ""
    if language != ENGLISH:
        name = f"course.{language}.json"
        words = runtime.add_apart(kuiper.parent / "languages" / f"{language}.zip")
        python = python | {"words": words}
    (site / "live" / name).write_text(json.dumps(table | {"runtime": python}, ensure_ascii=False), encoding="utf-8")
    return {"shell": [name], "rest": [*lectures, *([words] if words else [])]}


def choice(language: str) -> str:
    """A language in the list of those that the page speaks, by its own name."""
    name = Locale.parse(language).get_display_name(language)
    return f'<option value="{language}" lang="{tag(language)}">{name}</option>'


def staged(runtime: Runtime, wheels: list[Path]) -> dict[str, list[str]]:
    """The addresses of wheels, by what they are first needed for: to start, to run tests, or to compile."""
    stages: dict[str, list[str]] = {"start": [], "tests": [], "compile": []}
    for wheel in wheels:
        stages[STAGES.get(wheel.name.split("-")[0], "start")] += runtime.add_wheels([wheel])
    return stages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("kuiper", type=Path)
    parser.add_argument("clang", type=Path)
    parser.add_argument("--self-hosted", action="store_true")
    arguments = parser.parse_args()
    if not MODULES.is_dir():
        raise SystemExit(f"the live page: expected {MODULES}, got no such folder; npm ci in {SOURCES} makes it")
    write_live(arguments.site, arguments.kuiper, arguments.clang, arguments.self_hosted)
    print(arguments.site / "live/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
