"""Write the folder ``clang/`` of the live page: clang as WebAssembly, and what it needs to compile an exercise.

    python packaging/wasm/clang_folder.py NODE_MODULES FOLDER

``FOLDER/bundle.js`` and ``FOLDER/llvm.core*.wasm.gz`` are npm's @yowasp/clang. ``FOLDER/target.json`` has the headers
that modules made by this Cython include, with all that these include, and the flags of ``make wasm``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from pathlib import Path

from toolchain import EXPORTS, FEATURES, LINK, TARGET, Toolchain, ToolError

from build import LEVELS, ROOM, ROOT

LIBC = (
    "assert complex ctype errno fenv float inttypes limits locale math setjmp signal stdbool stdint stdio stdlib "
    "string time"
)
"""The headers of C that Cython's own ``libc`` modules name: a student may cimport any of them."""

QUIET = "-Wno-unused-command-line-argument"  # flags of a build, those for linking among them, come to clang as well

OWN_FETCH = "var fetch_default = fetch2;"
OUR_FETCH = "var fetch_default = (...words) => (globalThis.fetchForClang ?? fetch2)(...words);"
"""It asks for its parts by ``live/clang.js``, which finds them compressed."""

EMPTY_TAR = bytes(1024)
"""In the place of a tar of 30 MB: the C library and the C++ headers of WASI, another system's."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", type=Path, help="a folder node_modules with @yowasp/clang")
    parser.add_argument("folder", type=Path, help="where it goes")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    try:
        copy_clang(arguments.modules / "@yowasp" / "clang", arguments.folder)
        tools = Toolchain(ROOM / "tools")
        files = needed_headers(tools)
    except ToolError as error:
        sys.exit(f"packaging/wasm: {error}")
    target = {
        "folders": list(tools.headers),
        "compile": [*TARGET, *FEATURES, QUIET],
        "link": [*LINK, *(f"--export-if-defined={name}" for name in EXPORTS)],
        "files": files,
    }
    text = json.dumps(target, separators=(",", ":"))
    (arguments.folder / "target.json").write_text(text, encoding="utf-8")
    size = sum(path.stat().st_size for path in arguments.folder.iterdir())
    print(f"{arguments.folder}: {len(files)} headers, {size / 1e6:.1f} MB")


def copy_clang(package: Path, folder: Path) -> None:
    """The parts of the npm package that are needed, and its licence; the large ones compressed."""
    described = json.loads((package / "package.json").read_text(encoding="utf-8"))
    script = (package / "gen" / "bundle.js").read_text(encoding="utf-8")
    if script.count(OWN_FETCH) != 1:
        raise ToolError(f"expected {package}/gen/bundle.js with one {OWN_FETCH!r}, got {script.count(OWN_FETCH)}")
    (folder / "bundle.js").write_text(script.replace(OWN_FETCH, OUR_FETCH), encoding="utf-8")
    for file in sorted((package / "gen").glob("*.wasm")):
        (folder / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    (folder / "llvm-resources.tar.gz").write_bytes(gzip.compress(EMPTY_TAR, mtime=0))
    words = f"{described['name']} {described['version']}, licence {described['license']}\n"
    words += "LLVM: Apache-2.0 WITH LLVM-exception\n"
    (folder / "LICENSE.txt").write_text(words, encoding="utf-8")


def needed_headers(tools: Toolchain) -> dict[str, str]:
    """The text of each header that modules of Cython need, by ``NAME/path``."""
    found: set[Path] = set()
    with tempfile.TemporaryDirectory() as scratch:
        for file in sources(Path(scratch)):
            said = tools.clang(*LEVELS["wasm32-simd128"], f"-I{ROOT}", "-M", "-c", str(file))
            found |= {Path(word).absolute() for word in said.replace("\\\n", " ").partition(":")[2].split()}
    files: dict[str, str] = {}
    for path in sorted(found):
        for name, folder in tools.headers.items():
            if path.is_relative_to(folder):
                text = path.read_text(encoding="utf-8", errors="replace")
                files[f"{name}/{path.relative_to(folder).as_posix()}"] = text
                break
    return files


def sources(scratch: Path) -> list[Path]:
    """C files: those that Cython makes of all .pyx solutions, as exercises are compiled, and one with C's headers."""
    from Cython.Compiler.Main import CompilationOptions, compile_single

    made = []
    for pyx in sorted(ROOT.glob("course*/solutions/*.pyx")):
        for is_safe in (True, False):
            c_file = scratch / f"{pyx.stem}_{int(is_safe)}.c"
            options = CompilationOptions(
                output_file=str(c_file),
                compiler_directives={"language_level": 3, "boundscheck": is_safe, "show_performance_hints": False},
                shared_utility_qualified_name="kuiper._cyutility",
                include_path=[str(pyx.parent), str(ROOT)],
            )
            compile_single(str(pyx), options, c_file.stem)
            made.append(c_file)
    own = scratch / "own.c"
    names = ["Python.h", *(f"{name}.h" for name in LIBC.split())]
    own.write_text("".join(f"#include <{name}>\n" for name in names), encoding="utf-8")
    return [*made, own]


if __name__ == "__main__":
    main()
