"""Run a command where no C compiler is to be found: ``python .ci/without_compilers.py make ...``.

Its PATH is a folder of links to every program of the real one but compilers, and CC is not set.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILER = re.compile(r"(.*-)?(cc|c89|c99|c\+\+|cpp|gcc|g\+\+|clang|clang\+\+|clang-cpp|tcc|icx|icc)(-[\d.]+)?|ccache")

with tempfile.TemporaryDirectory() as folder:
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            link = Path(folder, program.name)
            if not COMPILER.fullmatch(program.name) and not link.exists() and os.access(program, os.X_OK):
                link.unlink(missing_ok=True)
                link.symlink_to(program.absolute())
    environment = {name: value for name, value in os.environ.items() if name != "CC"} | {"PATH": folder}
    found = [name for name in ("cc", "gcc", "clang", "ccache") if shutil.which(name, path=folder)]
    if found:
        sys.exit(f"expected no compilers, got {found}")
    sys.exit(subprocess.run(sys.argv[1:], env=environment).returncode)
