"""The folder ``clang/`` of the live page: clang as WebAssembly, and the headers that the exercises' modules need.

    python packaging/wasm/clang_folder.py --npm node_modules --clang "zig clang" --headers clang=zig/lib/include \
        --headers emscripten=... --headers python=... OUT

``OUT/bundle.js`` and ``OUT/llvm.core*.wasm.gz`` are npm's @yowasp/clang; ``OUT/headers.json`` has the headers: those
that modules made by this Cython include, with all that these include, as a C compiler for WebAssembly says (``-M``).
"""

from __future__ import annotations

import argparse
import gzip
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ("--target=wasm32-unknown-emscripten", "-nostdinc", "-fPIC", "-msimd128")
LIBC = (
    "assert complex ctype errno fenv float inttypes limits locale math setjmp signal stdbool stdint stdio stdlib "
    "string time"
)
"""The headers of C that Cython's own ``libc`` modules name: a student may cimport any of them."""

OWN_FETCH = "var fetch_default = fetch2;"
OUR_FETCH = "var fetch_default = (...words) => (globalThis.fetchForClang ?? fetch2)(...words);"
"""It asks for its parts by ``live/clang.js``, which finds them compressed."""

EMPTY_TAR = bytes(1024)
"""In the place of a tar of 30 MB: the C library and the C++ headers of WASI, another system's."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--npm", type=Path, required=True, help="a folder node_modules with @yowasp/clang")
    parser.add_argument("--clang", required=True, help="the command of a clang that compiles for WebAssembly")
    words = "NAME=FOLDER: a folder of headers, in the order in which they are searched"
    parser.add_argument("--headers", action="append", default=[], metavar="NAME=FOLDER", help=words)
    arguments = parser.parse_args()
    folders = {name: Path(path).resolve() for name, _, path in (word.partition("=") for word in arguments.headers)}
    arguments.out.mkdir(parents=True, exist_ok=True)
    copy_clang(arguments.npm / "@yowasp" / "clang", arguments.out)
    files = needed_headers(shlex.split(arguments.clang), folders)
    text = json.dumps({"folders": list(folders), "files": files}, separators=(",", ":"))
    (arguments.out / "headers.json").write_text(text, encoding="utf-8")
    size = len(gzip.compress(text.encode()))
    print(f"{len(files)} headers, {len(text) / 1e6:.1f} MB, {size / 1e6:.2f} MB compressed")
    return 0


def copy_clang(package: Path, out: Path) -> None:
    """The parts of the npm package that are needed, and its licence; the large ones compressed."""
    script = (package / "gen" / "bundle.js").read_text(encoding="utf-8")
    if script.count(OWN_FETCH) != 1:
        sys.exit(f"{package}: expected a bundle.js with one {OWN_FETCH!r}, got {script.count(OWN_FETCH)}")
    (out / "bundle.js").write_text(script.replace(OWN_FETCH, OUR_FETCH), encoding="utf-8")
    for file in sorted((package / "gen").glob("*.wasm")):
        (out / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    (out / "llvm-resources.tar.gz").write_bytes(gzip.compress(EMPTY_TAR, mtime=0))
    described = json.loads((package / "package.json").read_text(encoding="utf-8"))
    words = f"{described['name']} {described['version']}, licence {described['license']}\n"
    words += "LLVM: Apache-2.0 WITH LLVM-exception\n"
    (out / "LICENSE.txt").write_text(words, encoding="utf-8")


def needed_headers(clang: list[str], folders: dict[str, Path]) -> dict[str, str]:
    """The text of each header that modules of Cython need, by ``NAME/path``."""
    found: set[Path] = set()
    with tempfile.TemporaryDirectory() as scratch:
        for file in sources(Path(scratch)):
            search = [word for path in folders.values() for word in ("-isystem", str(path))]
            command = [*clang, *TARGET, *search, f"-I{ROOT}", "-M", "-c", str(file)]
            done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
            if done.returncode:
                sys.exit(f"{file.name}: expected that clang reads it, got\n{done.stderr[-3000:]}")
            words = done.stdout.replace("\\\n", " ").partition(":")[2].split()
            found |= {Path(word).absolute() for word in words}
    files: dict[str, str] = {}
    for path in sorted(found):
        for name, folder in folders.items():
            if path.is_relative_to(folder):
                files[f"{name}/{path.relative_to(folder).as_posix()}"] = path.read_text(
                    encoding="utf-8", errors="replace"
                )
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
                compiler_directives={"language_level": 3, "boundscheck": is_safe},
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
    sys.exit(main())
