"""Build the wheel for Python in a browser (Pyodide), and check it: ``make wasm``.

    python packaging/wasm/build.py FOLDER [--level LEVEL ...]

The wheel lands in FOLDER, and beside it what it does without: ``models/`` with weights, and ``languages/`` with a zip
for each language but English, to be unpacked over the installed package. Modules, directives and flags are those of
setup.py. Needs node with npm, apt-get and dpkg, and once the network (toolchain.py). What was
fetched and compiled lies in build/wasm.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import runpy
import shutil
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolchain import RELAXED_CALL, SOURCES, Toolchain, ToolError, Unreachable, run

if TYPE_CHECKING:
    from setuptools import Extension

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOM = ROOT / "build" / "wasm"

# From the lowest to the highest, as in kuiper/machine/levels.py.
LEVELS = {"wasm32-simd128": ["-msimd128"], "wasm32-relaxed-simd": ["-msimd128", "-mrelaxed-simd"]}
REQUIRES = {"wasm32-simd128": ["simd128"], "wasm32-relaxed-simd": ["simd128", "relaxed_simd"]}
TAG = f"cp{SOURCES['python'].replace('.', '')}-cp{SOURCES['python'].replace('.', '')}-{SOURCES['platform']}"
SUFFIX = f".cpython-{SOURCES['python'].replace('.', '')}-wasm32-emscripten.so"

ELSEWHERE = "kuiper/models/zoo/elsewhere.json"  # kuiper/models/elsewhere.py reads it
KEPT = ("cifar_resnet20.pnnx.bin",)  # the weights that doctor and the first lecture use
SERVERS = ("kuiper/serving/http", "kuiper/serving/ray.py")  # nobody can connect to a tab
MAX_MEGABYTES = 6
UNREACHABLE = 3  # the status where node, or a registry, is missing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the wheel and the models go")
    parser.add_argument("--level", nargs="+", choices=LEVELS, default=list(LEVELS), help="default: all")
    arguments = parser.parse_args()
    levels = [level for level in LEVELS if level in arguments.level]
    os.chdir(ROOT)  # setup.py and Cython name files from here
    try:
        tools = Toolchain(ROOM / "tools")
        setup = read_setup(levels)
        tree = ROOM / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        information = pure_part(tree)
        for path in compile_all(tools, setup, levels):
            target = tree / path.relative_to(ROOM / "modules")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        tools.node(HERE / "imports.mjs", *tree.rglob("*.so"))
        keep_once(tree)
        write_note(tools, setup, levels, tree)
        leave_out(setup, tree, arguments.folder)
        languages_apart(tree, arguments.folder)
        wheel = zipped(tree, information, arguments.folder)
    except Unreachable as error:
        print(f"packaging/wasm: {error}", file=sys.stderr)
        sys.exit(UNREACHABLE)
    except ToolError as error:
        sys.exit(f"packaging/wasm: {error}")
    megabytes = wheel.stat().st_size / 1e6
    if megabytes > MAX_MEGABYTES:
        sys.exit(f"{wheel}: expected at most {MAX_MEGABYTES} MB, got {megabytes:.1f}")
    print(f"{wheel}, {megabytes:.2f} MB")


def read_setup(levels: list[str]) -> dict[str, Any]:
    """What setup.py says of modules and flags, for these levels."""
    os.environ["KUIPER_LEVELS"] = " ".join(levels)
    sys.path.insert(0, str(ROOT))
    return runpy.run_path("setup.py", run_name="setup")


def pure_part(tree: Path) -> Path:
    """All that is not compiled, as setup.py lays it out; and the folder with what a wheel says of itself."""
    own = [sys.executable, "setup.py", "-q"]
    run([*own, "build_py", "--build-lib", str(tree)], ROOT, KUIPER_LEVELS="")
    folder = ROOM / "information"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run([*own, "dist_info", "--output-dir", str(folder)], ROOT, KUIPER_LEVELS="")
    (information,) = folder.glob("*.dist-info")
    return information


def compile_all(tools: Toolchain, setup: dict[str, Any], levels: list[str]) -> list[Path]:
    """Every module at every level; what was made of the same sources with the same flags is there already."""
    modules = setup["to_c"](setup["extensions"]())
    modules += setup["at_higher_levels"](modules)
    kept: dict[str, bool] = {}

    def flags_of(module: Extension) -> list[str]:
        level = setup["higher_level"](module.name) or levels[0]
        machine = [] if module.name in setup["PORTABLE"] else LEVELS[level]
        flags = [*setup["unix_flags"](), *machine, *setup["optimisation"](module.name)]
        for flag in flags:
            if flag not in kept:
                kept[flag] = tools.accepts(flag)  # gcc has some that clang has not
        macros = [f"-D{name}={value}" for name, value in module.define_macros]
        return ["-I.", *(flag for flag in flags if kept[flag]), *macros]

    words = [flags_of(module) for module in modules]
    salt = f"{tools.name} {tools.flags} {RELAXED_CALL.pattern} {words}"
    stamps = setup["stamps"].Stamps(ROOM / "stamps.json", ROOT, salt=salt)

    def make(module: Extension) -> Path:
        product = ROOM / "modules" / f"{module.name.replace('.', '/')}{SUFFIX}"
        product.parent.mkdir(parents=True, exist_ok=True)
        tools.compile(Path(module.sources[0]), product.with_suffix(".o"), flags_of(module))
        tools.link([product.with_suffix(".o")], product)
        product.with_suffix(".o").unlink()
        return product

    products, waiting = [], []
    for module in modules:
        product = ROOM / "modules" / f"{module.name.replace('.', '/')}{SUFFIX}"
        sources = [*module.sources, *module.depends]
        products.append(product)
        if not stamps.fits(str(product), sources):
            waiting.append((module, product, sources))
    progress = setup["Progress"]("compiled", len(waiting))
    with ThreadPoolExecutor(setup["COMPILERS"]) as pool:
        for (module, product, sources), _ in zip(waiting, pool.map(make, [entry[0] for entry in waiting]), strict=True):
            stamps.note(str(product), sources)
            progress.step(module.name)
    progress.end()
    return products


def keep_once(tree: Path) -> None:
    """Drop modules of a higher level that are those of the lowest, byte for byte: Python looks for these, too."""
    for folder in (tree / "kuiper/_levels").glob("*"):
        for path in folder.rglob(f"*{SUFFIX}"):
            if path.read_bytes() == (tree / "kuiper" / path.relative_to(folder)).read_bytes():
                path.unlink()


def write_note(tools: Toolchain, setup: dict[str, Any], levels: list[str], tree: Path) -> None:
    """How this copy was built, for ``kuiper.build_info`` and for the compilers of exercises."""
    own = [flag for flag in setup["unix_flags"]() if tools.accepts(flag)]
    described = {level: {"flags": [*own, *LEVELS[level]], "requires": REQUIRES[level]} for level in levels}
    note = setup["build_note"](tools.name, levels[0], described, openmp=False)
    (tree / setup["BUILD_CONFIG"]).write_text(note, encoding="utf-8")


def leave_out(setup: dict[str, Any], tree: Path, folder: Path) -> None:
    """Weights lie beside the wheel, and are fetched when asked for; lectures have no stored pictures; no servers."""
    for name in SERVERS:
        path = tree / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    models = folder / "models"
    shutil.rmtree(models, ignore_errors=True)
    models.mkdir(parents=True)
    found = {}
    for path in sorted((tree / "kuiper/models/zoo").iterdir()):
        if path.suffix in (".bin", ".onnx") and path.name not in KEPT:
            found[path.name] = {"size": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            path.rename(models / path.name)
    (tree / ELSEWHERE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    pack = runpy.run_path("kuiper/course/material.py")["pack"]
    pack(ROOT, tree / "kuiper/course/material", pictures=False)


def languages_apart(tree: Path, folder: Path) -> None:
    """Move what readers of another language alone need, messages and translations, to ``languages/NAME.zip``."""
    tag = runpy.run_path("kuiper/language.py")["tag"]
    target = folder / "languages"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    material, locale = tree / "kuiper/course/material", tree / "kuiper/locale"
    for messages in sorted(path for path in locale.iterdir() if path.is_dir()):
        translations = [*material.rglob(f"{messages.name}/*.md"), *material.rglob(f"*.{tag(messages.name)}.md")]
        parts = [*messages.rglob("*.mo"), *translations]
        write_archive(
            target / f"{messages.name}.zip", {path.relative_to(tree).as_posix(): path.read_bytes() for path in parts}
        )
        for path in translations:
            path.unlink()
    shutil.rmtree(locale)


def zipped(tree: Path, information: Path, folder: Path) -> Path:
    """The wheel."""
    metadata = Parser().parsestr((information / "METADATA").read_text(encoding="utf-8"))
    stem = f"{metadata['Name']}-{metadata['Version']}"
    for stale in folder.glob(f"{metadata['Name']}-*.whl"):
        stale.unlink()
    files = {path.relative_to(tree).as_posix(): path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    files |= {
        f"{stem}.dist-info/{path.relative_to(information).as_posix()}": path.read_bytes()
        for path in information.rglob("*")
        if path.is_file()
    }
    about = f"Wheel-Version: 1.0\nGenerator: packaging/wasm\nRoot-Is-Purelib: false\nTag: {TAG}\n"
    files[f"{stem}.dist-info/WHEEL"] = about.encode()
    lines = [f"{name},sha256={digest(data)},{len(data)}\n" for name, data in sorted(files.items())]
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    wheel = folder / f"{stem}-{TAG}.whl"
    write_archive(wheel, files)
    return wheel


def write_archive(target: Path, files: dict[str, bytes]) -> None:
    """A zip with the same bytes whenever it is made of the same files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)


def digest(data: bytes) -> str:
    """A file's hash as a wheel's RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main()
