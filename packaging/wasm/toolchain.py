"""What compiles C for Pyodide, gathered in a folder: clang, headers of the C library and of Python, and the runtime.

Everything comes from three registries, by their own programs: ``ziglang`` from PyPI (its clang and wasm-ld),
``pyodide`` from npm, and the headers out of two packages of Debian, which are unpacked and not installed.
``sources.json`` pins them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCES: dict[str, Any] = json.loads((HERE / "sources.json").read_text(encoding="utf-8"))
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

TARGET = ("--target=wasm32-unknown-emscripten", "-nostdinc", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-fwrapv")
# What every browser has that runs this Python, and longjmp as its runtime does it.
FEATURES = ("-mbulk-memory", "-mnontrapping-fptoint", "-fwasm-exceptions")
FEATURES += ("-mllvm", "-wasm-enable-sjlj", "-mllvm", "-wasm-use-legacy-eh")
# Only the assembler knows of relaxed instructions: LLVM 22 would take one that may lose a NaN for a choice in C, too.
# The compiler sees calls in kuiper/simd/vector.h, which become instructions of the same operands.
RELAXED = {"-mrelaxed-simd": "-DKUIPER_WASM_RELAXED"}
RELAXED_CALL = re.compile(r"\bcall\s+kuiper_(relaxed_\w+)")
RELAXED_TYPE = re.compile(r"^\s*\.functype\s+kuiper_relaxed_.*\n", re.MULTILINE)
LINK = ("-Bdynamic", "-shared", "--no-export-dynamic", "--strip-debug", "--stack-first")
# A name that the runtime lacks is no error here: imports.mjs looks for those.
LINK += ("--unresolved-symbols=import-dynamic",)
EXPORTS = ("__wasm_call_ctors", "__wasm_apply_data_relocs")

OLDEST_NODE = 20
OTHER_FILE = ("DO NOT MATCH THE HASHES", "EINTEGRITY")  # what pip and npm say of a file with another hash
ANY = "any"  # version, the last resort: Debian's unstable has one version of each package, and no older ones

# Sizes in NumPy's own header, which was written for the machine that builds; a NumPy for Pyodide brings none.
NUMPY_SIZES = {"SIZEOF_LONG": 4, "SIZEOF_PY_INTPTR_T": 4, "SIZEOF_INTP": 4, "SIZEOF_UINTP": 4, "NO_SMP": 1}


class Toolchain:
    """The tools in ``folder``; what is missing there is fetched.

    Raises
    ------
    ToolError
        If a package is not what ``sources.json`` says; ``Unreachable`` if a program or a registry is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        node()  # said before anything is fetched
        self.zig = self._zig()
        self.runtime = self._runtime()
        self.libc_version, self.libc = self._headers("libc")
        self.python_version, python = self._headers("python")
        self.include = self._python_headers(python / "usr" / "include")

    @property
    def name(self) -> str:
        """What a build says that it was made with."""
        version = run([str(self.zig), "clang", "--version"]).split()[2]
        return f"clang {version} of ziglang {SOURCES['ziglang']}, headers of emscripten {self.libc_version}"

    @property
    def flags(self) -> tuple[str, ...]:
        """What every module is made with."""
        return (*TARGET, *FEATURES, *LINK)

    def accepts(self, flag: str) -> bool:
        """Whether clang takes a flag."""
        command = [str(self.zig), "clang", *TARGET, flag, "-fsyntax-only", "-x", "c", os.devnull]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    @property
    def headers(self) -> dict[str, Path]:
        """The folders of headers by a name, in the order in which they are searched."""
        system = self.libc / "usr/share/emscripten/system"
        libc = system / "lib/libc/musl"
        folders = {"python": self.include, "clang": self.zig.parent / "lib/include"}
        folders |= {"compat": system / "include/compat", "emscripten": system / "include"}
        return folders | {name: libc / name for name in ("arch/emscripten", "arch/generic", "include")}

    def clang(self, *words: str) -> str:
        """What clang prints, called for the target with all headers."""
        search = [word for folder in self.headers.values() for word in ("-isystem", str(folder))]
        return run([str(self.zig), "clang", *TARGET, *FEATURES, *search, *words])

    def compile(self, source: Path, product: Path, flags: list[str]) -> None:
        """Make an object of a C file."""
        if RELAXED.keys().isdisjoint(flags):
            self.clang(*flags, "-c", str(source), "-o", str(product))
            return
        assembly = product.with_suffix(".s")
        compiled = [RELAXED.get(flag, flag) for flag in flags]
        self.clang(*compiled, "-S", str(source), "-o", str(assembly))
        text = RELAXED_TYPE.sub("", RELAXED_CALL.sub(r"f32x4.\1", assembly.read_text(encoding="utf-8")))
        assembly.write_text(text, encoding="utf-8")
        self.clang(*(flag for flag in flags if flag.startswith("-m")), "-c", str(assembly), "-o", str(product))
        assembly.unlink()

    def link(self, objects: list[Path], product: Path) -> None:
        """Make a module that Python can load of objects."""
        exports = (f"PyInit_{product.name.split('.')[0]}", *EXPORTS)
        words = [*LINK, *(f"--export-if-defined={name}" for name in exports)]
        run([str(self.zig), "wasm-ld", *words, *map(str, objects), "-o", str(product)])

    def node(self, *words: str | Path) -> str:
        """What a script for node prints."""
        return run([*node(), *map(str, words)], KUIPER_PYODIDE=str(self.runtime))

    def _zig(self) -> Path:
        folder = self.folder / f"ziglang-{SOURCES['ziglang']}"
        if not folder.exists():
            hashes = [f"--hash=sha256:{found}" for found in SOURCES["ziglang_sha256"].values()]
            wanted = self.folder / "ziglang.txt"
            wanted.write_text(" ".join([f"ziglang=={SOURCES['ziglang']}", *hashes]), encoding="utf-8")
            pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
            reach([*pip, "--require-hashes", "--target", str(partial(folder)), "-r", str(wanted)])
            partial(folder).rename(folder)
        return folder / "ziglang/zig"

    def _runtime(self) -> Path:
        folder = self.folder / f"pyodide-{SOURCES['pyodide']}"
        if not folder.exists():
            partial(folder).mkdir(exist_ok=True)
            for name in ("package.json", "package-lock.json"):
                shutil.copy(HERE / name, partial(folder))
            reach([program("npm"), "ci", "--silent", "--no-audit", "--no-fund", "--prefix", str(partial(folder))])
            partial(folder).rename(folder)
        return folder / "node_modules/pyodide"

    def _headers(self, kind: str) -> tuple[str, Path]:
        """The version of the first package of this kind that can be had, and the folder in which it is unpacked."""
        refusals: list[ToolError] = []
        for package in SOURCES["headers"][kind]:
            folder = self.folder / f"{package['package']}-{package['version']}"
            for source in package["sources"]:
                if not folder.exists():
                    try:
                        unpack(self._download(package, source), folder)
                    except ToolError as error:
                        refusals.append(type(error)(f"{source}: {error}"))
            if folder.exists():
                for refusal in refusals:
                    print(f"packaging/wasm: {refusal}; taking {package['package']} {package['version']}", flush=True)
                return package["version"], folder
        raise refusals[0]

    def _download(self, package: dict[str, Any], source: str) -> Path:
        """A package of Debian, by apt with a configuration of its own: what the system installs stays as it is."""
        suite, address = source.split()
        apt = self.folder / "apt" / re.sub(r"\W+", "-", source)
        for part in ("state/lists/partial", "cache/archives/partial"):
            (apt / part).mkdir(parents=True, exist_ok=True)
        if not KEYRING.exists():
            raise Unreachable(f"expected {KEYRING}, got no such file; it is in Debian's package debian-archive-keyring")
        options = f"signed-by={KEYRING} arch=amd64 check-valid-until=no"
        (apt / "sources.list").write_text(f"deb [{options}] {address} {suite} main\n", encoding="utf-8")
        lines = [f'Dir::State "{apt}/state"', f'Dir::Cache "{apt}/cache"', f'Dir::Etc::sourcelist "{apt}/sources.list"']
        lines += ['Dir::Etc::sourceparts "-"', 'Acquire::Languages "none"', 'Acquire::Retries "1"']
        lines += ['Acquire::http::Timeout "30"', 'APT::Sandbox::User "root"']
        (apt / "apt.conf").write_text("".join(f"{line};\n" for line in lines), encoding="utf-8")
        own = {"APT_CONFIG": str(apt / "apt.conf")}
        reach([program("apt-get"), "-qq", "update", "--error-on=any"], **own)
        name = package["package"]
        wanted = name if package["version"] == ANY else f"{name}={package['version']}"
        run([program("apt-get"), "-qq", "download", wanted], apt, **own)
        (file,) = apt.glob(f"{name}_*.deb")
        found = hashlib.sha256(file.read_bytes()).hexdigest()
        if found != package.get("sha256", found):  # any version: apt has compared it with what Debian signed
            raise ToolError(f"expected {file.name} with SHA-256 {package['sha256']}, got {found}")
        return file

    def _python_headers(self, include: Path) -> Path:
        """Python's and NumPy's headers, with the runtime's numbers in place of the building machine's."""
        import numpy

        folder = self.folder / f"include-{self.python_version}-numpy-{numpy.__version__}"
        if folder.exists():
            return folder
        shutil.rmtree(partial(folder), ignore_errors=True)
        shutil.copytree(include / f"python{SOURCES['python']}", partial(folder))
        shutil.copytree(Path(numpy.get_include(), "numpy"), partial(folder) / "numpy")
        (names,) = include.glob(f"*/python{SOURCES['python']}/pyconfig.h")
        values = json.loads(self.node(HERE / "python.mjs", "--run", HERE / "config_vars.py"))
        pyconfig = translated(names.read_text(encoding="utf-8"), values)
        (partial(folder) / "pyconfig.h").write_text(pyconfig, encoding="utf-8")
        config = partial(folder) / "numpy/_numpyconfig.h"
        text = config.read_text(encoding="utf-8")
        for name, value in NUMPY_SIZES.items():
            text, count = re.subn(rf"(#define NPY_{name}) \d+", rf"\1 {value}", text)
            if count != 1:
                sys.exit(f"packaging/wasm: expected NPY_{name} once in NumPy's _numpyconfig.h, got it {count} times")
        config.write_text(text, encoding="utf-8")
        partial(folder).rename(folder)
        return folder


class ToolError(Exception):
    """A program failed, or gave another file than expected."""


class Unreachable(ToolError):
    """A program, or a registry, is not there."""


def translated(names: str, values: dict[str, Any]) -> str:
    """Another machine's pyconfig.h with the values that a Python's own ``sysconfig`` gives; 0 stands for undefined.

    >>> print(translated("#define SIZEOF_LONG 8\\n/* #undef HAVE_X */\\n#define HAVE_FORK 1", {"SIZEOF_LONG": 4,
    ...     "HAVE_X": 1, "HAVE_FORK": 0}))
    #define SIZEOF_LONG 4
    #define HAVE_X 1
    /* #undef HAVE_FORK */
    """
    lines = []
    for line in names.splitlines():
        found = re.match(r"#\s*define (\w+)|/\* #undef (\w+) \*/", line)
        name = found and (found[1] or found[2])
        if name in values:
            line = f"#define {name} {values[name]}" if values[name] not in (0, "") else f"/* #undef {name} */"
        lines.append(line)
    return "\n".join(lines) + "\n"


def unpack(package: Path, folder: Path) -> None:
    """The files of one of Debian's packages."""
    shutil.rmtree(partial(folder), ignore_errors=True)
    run([program("dpkg"), "-x", str(package), str(partial(folder))])
    partial(folder).rename(folder)


def partial(folder: Path) -> Path:
    """Where a folder is made: one of the right name is whole."""
    return folder.with_name(f"{folder.name}.partial")


def node() -> list[str]:
    """The words that start node; one that knows relaxed SIMD as an experiment only is told to accept it.

    Raises
    ------
    Unreachable
        If there is none, or one that is too old for the runtime.
    """
    words = [program("node")]
    version = run([*words, "--version"]).strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        raise Unreachable(f"expected node {OLDEST_NODE} or later, got {version}")
    experiment = "--experimental-wasm-relaxed-simd"
    return [*words, experiment] if experiment in run([*words, "--v8-options"]) else words


def program(name: str) -> str:
    """The path of a program."""
    found = shutil.which(name)
    if found is None:
        raise Unreachable(f"expected the program {name}, got none on the PATH")
    return found


def reach(command: list[str], **variables: str) -> None:
    """Call a registry by its program. One that answers with another file than expected is not out of reach."""
    try:
        run(command, **variables)
    except ToolError as error:
        if any(word in str(error) for word in OTHER_FILE):
            raise
        raise Unreachable(str(error)) from error


def run(command: list[str], folder: Path | None = None, **variables: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        told = (done.stderr + done.stdout).strip()[-2000:]
        words = " ".join([Path(command[0]).name, *command[1:3]])
        raise ToolError(f"expected status 0 of {words}, got {done.returncode}: {told}")
    return done.stdout
