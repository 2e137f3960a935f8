# ruff: noqa: E501 (the attacks are read line by line)
"""Submissions that try to get points without an answer, to read what they must not, or to break the grader.

Each is an exercise of a made-up course, so that one run of the grader meets all of them; an honest one stands behind
each tenth, which must get its points whatever happened before. What an attack can reach, it uses: one that reads a
solution answers with it, so that points tell who got through.

``python -m tests.course.attacks FOLDER MODE [everything]`` grades them as the user who runs it, and prints what happened.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from kuiper.course import grade, sync
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.sandbox import Mode, are_alike, chosen_mode

FORGED = '{"tuple": [%d, 600014, null, {"dict": []}, ""]}'
HONEST = "def double(x):\n    return x + x\n"
CYTHON = "def double(long x):\n    return 0 * x\n"
SECRET = "KUIPER_TEST_SECRET"


@dataclass(frozen=True)
class Attack:
    """``needs``: "sandbox" if limits alone cannot stop it (the documents say so), "another user" if they can only where
    the worker is another user. ``core``: one of those that the quick tests try, too."""

    code: str
    needs: str = "nothing"
    core: bool = False
    suffix: str = ".py"


def call(body: str, before: str = "", **kinds: object) -> Attack:
    """An attack in the call: these lines, and then a wrong answer."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return Attack(f"{before}\ndef double(x):\n{lines}\n    return 0\n", **kinds)  # type: ignore[arg-type]


def finder(expression: str, before: str = "import sys, gc, os", **kinds: object) -> Attack:
    """An attack that looks for the expected numbers in what it can reach."""
    return call(
        f"for found in {expression}:\n    if type(found) is int and found == 2 * x:\n        return found",
        before,
        **kinds,
    )


def reader(expression: str, before: str = "import os, glob", **kinds: object) -> Attack:
    """An attack that runs a solution which it finds under one of these names."""
    body = (
        f"for name in {expression}:\n    try:\n        text = open(name).read()\n    except OSError:\n        continue\n"
        "    space = {}\n    exec(text, space)\n    if 'double' in space:\n        return space['double'](x)"
    )
    return call(body, before, **kinds)


def writer(names: str, text: str = "raise SystemExit(0)", **kinds: object) -> Attack:
    """An attack that leaves code or words where the grader might take them for its own."""
    body = (
        f"for name in {names}:\n    try:\n        with open(name, 'a') as file:\n            file.write({text!r})\n"
        "    except OSError:\n        pass"
    )
    return call(body, "import os, glob, sys, site, sysconfig", **kinds)


ENDINGS = {
    "exit on import": Attack("import os\nos._exit(0)\n", core=True),
    "exit in the call": call("os._exit(0)", "import os"),
    "abort": call("os.abort()", "import os"),
    "SystemExit on import": Attack("raise SystemExit(0)\n"),
    "KeyboardInterrupt": call("raise KeyboardInterrupt"),
    "SIGKILL to its group": call("os.killpg(0, 9)", "import os"),
    "crash": call("ctypes.string_at(0)", "import ctypes"),
    "exit handlers": call("sys.exit(0)", "import atexit, sys, os\natexit.register(os._exit, 0)"),
}
LIES = {
    "always equal": Attack(
        "class Yes(int):\n    def __eq__(self, other): return True\n    __hash__ = None\n\ndef double(x):\n    return Yes()\n",
    ),
    "always equal, no number": Attack(
        "class Yes:\n    __eq__ = lambda a, b: True\n\ndef double(x):\n    return Yes()\n"
    ),
    "array that is always equal": Attack(
        "import numpy as np\nclass Yes(np.ndarray):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "def double(x):\n    return np.zeros(()).view(Yes)\n"
    ),
    "object array": call("return np.array([type('Y', (), {'__eq__': lambda a, b: True})()])", "import numpy as np"),
    "__array__": Attack(
        "import numpy as np\nclass Both:\n    def __array__(self, *a, **k):\n        return np.array([600014, -800018])\n"
        "def double(x):\n    return Both()\n"
    ),
    "not a number": call("return float('nan')"),
    "infinity": call("return float('inf')"),
    "all answers at once": call("return {600014, -800018}"),
    "dict that has every key": Attack(
        "class All(dict):\n    def __missing__(self, key): return 600014\n    def keys(self): return {}.keys()\n"
        "def double(x):\n    return All()\n"
    ),
    "__reduce__": Attack(
        "import os\nclass Run:\n    def __reduce__(self): return os.system, ('true',)\ndef double(x):\n    return Run()\n"
    ),
    "exception that is an answer": Attack(
        "class passed(Exception):\n    def __str__(self): return '600014'\ndef double(x):\n    raise passed(600014)\n"
    ),
    "words of another exercise": call("raise NotImplementedError('exercise 1.1: passed')"),
    "control characters": call("return '\\x1b]0;passed\\x07' * 999"),
}
PATCHES = {
    "patched pytest": Attack(
        "import pytest, _pytest.runner\npytest.raises = _pytest.runner.call_and_report = print\ndef double(x):\n    return 0\n"
    ),
    "patched comparison": Attack(
        "import kuiper.course.comparison as c, kuiper.course.testing as t\nc.difference = t.difference = lambda *a, **k: None\n"
        "def double(x):\n    return 0\n"
    ),
    "patched NumPy": Attack(
        "import numpy as np\nfor name in ('allclose', 'array_equal', 'isclose', 'all', 'any', 'asarray'):\n"
        "    setattr(np, name, lambda *a, **k: True)\ndef double(x):\n    return 0\n",
    ),
    "patched builtins": Attack(
        "import builtins\nbuiltins.isinstance = lambda a, b: True\nbuiltins.all = builtins.any = lambda a: True\n"
        "def double(x):\n    return 0\n"
    ),
    "patched json": Attack(
        "import json\nold = json.dumps\njson.dumps = lambda v: old(v).replace('0', '600014')\ndef double(x):\n    return 0\n"
    ),
    "import hook": Attack(
        "import sys\nclass Hook:\n    def find_spec(self, *a): raise SystemExit(0)\nsys.meta_path.insert(0, Hook())\n"
        "def double(x):\n    import tests\n    return 0\n"
    ),
    "conftest": call("open('conftest.py', 'w').write('import os; os._exit(0)')"),
    "tests in the submission": call("open('test_double.py', 'w').write('def test_double(): pass')"),
    "settrace": call("return 0", "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: sys.exit(0))"),
}
PIPES = {
    "forged answers": call(
        "for fd in range(1, 64):\n    for n in range(9):\n        try:\n"
        "            os.write(fd, (FORGED % n + '\\n').encode())\n        except OSError:\n            pass",
        f"import os\nFORGED = {FORGED!r}",
    ),
    "flood": call(
        "fds = [fd for fd in range(3, 20)]\nwhile True:\n    for fd in fds:\n        try:\n            os.write(fd, b'[' * 65536)\n"
        "        except OSError:\n            pass",
        "import os",
    ),
    "closed pipes": call("os.closerange(0, 64)", "import os"),
    "pipes to each other": call(
        "for fd in range(3, 20):\n    try:\n        os.dup2(fd, fd - 1)\n    except OSError:\n        pass", "import os"
    ),
    "pickle over the pipe": call(
        "for fd in range(3, 20):\n    try:\n        os.write(fd, pickle.dumps(print) + b'\\n')\n    except OSError:\n        pass",
        "import os, pickle",
    ),
    "child that keeps the pipe": call(
        "if os.fork() == 0:\n    os.setsid()\n    time.sleep(3600)\nos._exit(0)", "import os, time", core=True
    ),
    "child of a child that keeps the pipe": call(
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        signal.pthread_sigmask(0, range(1, 65))\n"
        "        time.sleep(3600)\n    os._exit(0)\nreturn x",
        "import os, time, signal",
        core=True,
    ),
    "threads that answer": call(
        "threading.Thread(target=lambda: [os.write(fd, b'{}\\n') for fd in range(3, 6)], daemon=True).start()",
        "import os, threading",
    ),
}
TIMES = {
    "endless": call("while True:\n    pass", core=True),
    "endless import": Attack("while True:\n    pass\n"),
    "asleep, signals ignored": call(
        "for n in range(1, 32):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n    except OSError:\n        pass\ntime.sleep(99)",
        "import signal, time",
    ),
    "stopped": call("os.kill(os.getpid(), signal.SIGSTOP)", "import os, signal"),
    "endless in C": call("re.match('(a|a|b?)*c', 'a' * 64)", "import re"),
    "slow exception": Attack(
        "import time\nclass Slow(Exception):\n    def __str__(self):\n        time.sleep(99)\ndef double(x):\n    raise Slow\n"
    ),
}
RESOURCES = {
    "fork bomb": call(
        "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass", "import os", core=True
    ),
    "threads": call(
        "while True:\n    try:\n        threading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n"
        "    except RuntimeError:\n        break",
        "import threading, time",
    ),
    "memory": call("return len(bytearray(100 * 1024**3)) and 2 * x"),
    "memory of many": call(
        "for _ in range(12):\n    if os.fork() == 0:\n        held = bytearray(b'x') * 1024**3\n        time.sleep(99)\ntime.sleep(99)",
        "import os, time",
    ),
    "file": call("with open('large', 'wb') as f:\n    while True:\n        f.write(bytes(1 << 24))"),
    "files": call("n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'w').close()"),
    "folders in folders": call("for _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')", "import os", core=True),
    "folder without rights": call(
        "os.makedirs('a/b/c')\nos.chmod('a/b', 0)\nos.chmod('a', 0)\nos.chmod('.', 0)", "import os"
    ),
    "odd file names": call(
        "for name in (b'-rf', b'\\xff\\xfe', b'a\\nb', b'*', b'x' * 255):\n    open(name, 'w').close()"
    ),
    "links to the outside": call(
        "for n, name in enumerate(['/', '/etc/passwd', {solution!r}, {package!r}, '..']):\n    os.symlink(name, f'link{n}')",
        "import os",
        core=True,
    ),
    "20 MB printed in each call": call("print('x' * 20_000_000)"),
    "standard error": call("os.write(2, b'x' * 30_000_000)", "import os"),
    "long answer": call("return list(range(10_000_000))"),
    "deep answer": call("value = []\nfor _ in range(50_000):\n    value = [value]\nreturn value"),
    "long number": call("return 10 ** 5000"),
    "recursion": call("sys.setrecursionlimit(10**9)\nreturn double(x)", "import sys"),
    "descriptors": call("held = []\nwhile True:\n    held.append(open('/dev/null'))"),
    "deep source": Attack("def double(x):\n    return " + "-" * 90_000 + "x\n"),
    "nested source": Attack("def double(x):\n    return " + "(" * 5000 + "x" + ")" * 5000 + "\n"),
    "null bytes": Attack("def double(x):\n    return 2 * x\n\0"),
    "limits raised": call(
        "for name in (resource.RLIMIT_AS, resource.RLIMIT_NPROC):\n    resource.setrlimit(name, (-1, -1))\nreturn 2 * x",
        "import resource",
    ),
}
LOOKS = {
    "frames": finder(
        "[c for f in frames() for c in [*f.f_code.co_consts, *f.f_locals.values(), *f.f_globals.values()] if type(c) is int]",
        "import sys\ndef frames():\n    f = sys._getframe()\n    while f:\n        yield f\n        f = f.f_back",
        core=True,
    ),
    "garbage collector": finder(
        "[v for o in gc.get_objects() if type(o) in (dict, tuple, list) for v in "
        "(o.values() if type(o) is dict else o) if type(v) is int]"
    ),
    "referrers": finder(
        "[v for o in gc.get_referrers(double) if type(o) is dict for v in o.values() if type(v) is int]"
    ),
    "the worker's modules": finder(
        "[v for m in list(sys.modules.values()) if 'kuiper.course' in getattr(m, '__name__', '') "
        "for v in vars(m).values() if type(v) is int]"
    ),
    "memory of the grader": call(
        "for pid in [p for p in os.listdir('/proc') if p.isdigit() and int(p) != os.getpid()]:\n    try:\n"
        "        text = open(f'/proc/{pid}/maps').read()\n        with open(f'/proc/{pid}/mem', 'rb') as memory:\n"
        "            memory.seek(int(text.split('-')[0], 16))\n            memory.read(64)\n"
        "            if b'kuiper.course.pytest_plugin' in open(f'/proc/{pid}/cmdline', 'rb').read():\n"
        "                return 2 * x\n"
        "    except (OSError, ValueError):\n        pass",
        "import os",
        needs="another user or Linux's protection",
        core=True,
    ),
    "descriptors of the grader": call(
        "for pid in (os.getppid(),):\n    try:\n        for fd in os.listdir(f'/proc/{pid}/fd'):\n"
        '            out = os.open(f"/proc/{pid}/fd/{fd}", os.O_WRONLY)\n'
        '            os.write(out, b\'{"exercise": "1.1", "verdict": "passed"}\\n\')\n'
        "    except OSError:\n        pass",
        "import os",
        needs="another user or Linux's protection",
        core=True,
    ),
    "ptrace": call(
        "if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0 and os.getppid() > 1:\n    return 2 * x",
        "import ctypes, os",
        needs="another user or Linux's protection",
    ),
    "signals to the grader": call("os.kill(os.getppid(), 9)", "import os", core=True),
    "environment": call(f"return 2 * x if {SECRET!r} in os.environ else 0", "import os", core=True),
    "environment of others": call(
        "for pid in os.listdir('/proc'):\n    try:\n"
        f"        if {SECRET!r}.encode() in open(f'/proc/{{pid}}/environ', 'rb').read():\n            return 2 * x\n"
        "    except OSError:\n        pass",
        "import os",
        needs="another user or Linux's protection",
    ),
    "network": call(
        "socket.create_connection(('127.0.0.1', {port}), 1)\nreturn 2 * x", "import socket", needs="sandbox", core=True
    ),
    "abstract socket": call(
        "s = socket.socket(socket.AF_UNIX)\ns.connect(b'\\0kuiper-test-{port}')\nreturn 2 * x",
        "import socket",
        needs="sandbox",
    ),
}
FILES = {
    "reads the solution": reader("[{solution!r}]", needs="sandbox", core=True),
    "reads what others handed in": reader(
        "glob.glob({others!r} + '/*/*.py') + glob.glob('/tmp/**/honest*.py', recursive=True)",
        needs="sandbox",
        core=True,
    ),
    "reads through a process": reader(
        "['/proc/%d/root' % p + {solution!r} for p in (1, os.getppid())]", needs="sandbox"
    ),
    "includes a package's material": reader(
        "[p for d in sys.path for p in glob.glob(d + '/kuiper/course/material/course*/solutions/*.py')]",
        "import glob, sys, os",
    ),
    "takes the covers away": reader(
        "[[c.umount2(l.split()[4].encode(), 2) for l in open('/proc/self/mountinfo')], {solution!r}][1:]",
        "import ctypes\nc = ctypes.CDLL(None)",
        needs="sandbox",
        core=True,
    ),
    "namespaces of its own": reader(
        "[c.unshare(0x10020000), c.mount(b'none', b'/tmp', b'tmpfs', 0, None), c.umount2(b'/tmp', 2), {solution!r}][3:]",
        "import ctypes\nc = ctypes.CDLL(None)",
        needs="sandbox",
    ),
    "makes its root writable": Attack(
        "import ctypes, os\nc = ctypes.CDLL(None)\nfor flags in (32, 32 | 4096):\n    c.mount(b'', b'/', b'', flags, None)\n"
        "def double(x):\n    os.mkdir('/new-folder')\n    return 2 * x\n",
        needs="sandbox",
    ),
    "writes to the checkout": writer(
        "[{package!r} + '/course/comparison.py', {package!r} + '/course/planted.py']",
        "\n# planted\n",
        needs="another user",
        core=True,
    ),
    "writes to Python": writer(
        "[sysconfig.get_paths()['purelib'] + '/planted.pth', os.path.dirname(os.__file__) + '/sitecustomize.py']",
        "import os\n",
        needs="another user",
        core=True,
    ),
    "writes to the tests": writer(
        "glob.glob({course!r} + '/*.py') + [{course!r} + '/conftest.py']", needs="another user", core=True
    ),
    "writes outcomes": writer(
        "glob.glob('/tmp/kuiper-grade-*/*') + glob.glob('../*.jsonl') + ['/proc/%d/fd/1' % os.getppid()]",
        '{"exercise": "1.1", "test": "test_double", "verdict": "passed", "lines": []}\n',
        core=True,
    ),
    "writes to its own exercises": writer("glob.glob({home!r} + '/*/exercises/*.py')", HONEST, needs="another user"),
}
COMPILED = {
    "exit in C on import": Attack(
        'cdef extern from *:\n    """\n    #include <stdlib.h>\n    __attribute__((constructor)) '
        'static void go(void) { _Exit(0); }\n    """\n' + CYTHON,
        suffix=".pyx",
        core=True,
    ),
    "C includes the solution": Attack(f"cdef extern from {{solution!r}}:\n    pass\n{CYTHON}", suffix=".pyx"),
    "Cython includes the solution": Attack("include {solution!r}\n", suffix=".pyx", needs="sandbox"),
    "compiled with a hook": Attack(
        "# cython: boundscheck=False\n# distutils: include_dirs=/\nimport pyximport\npyximport.install()\n" + CYTHON,
        suffix=".pyx",
    ),
    "endless compilation": Attack(
        "DEF N = 1\n" + "\n".join(f"cdef int f{n}(int x):\n    return x" for n in range(20)) + "\n" + CYTHON,
        suffix=".pyx",
    ),
}
GROUPS = (ENDINGS, LIES, PATCHES, PIPES, TIMES, RESOURCES, LOOKS, FILES, COMPILED)
ATTACKS: dict[str, Attack] = {name: attack for group in GROUPS for name, attack in group.items()}


def course(root: Path, attacks: dict[str, Attack]) -> tuple[Syllabus, dict[str, str]]:
    """A course with an exercise for each attack; and the number of the exercise for each name."""
    folder = root / "course1_attacked"
    (folder / "solutions").mkdir(parents=True)
    manifest, ids = ['title = "Attacked"\n'], {}
    for number, (name, attack) in enumerate(attacks.items(), 1):
        ids[name] = f"1.{number}"
        manifest.append(
            f'[[exercise]]\nid = "1.{number}"\ntitle = "e{number}"\nfile = "e{number}{attack.suffix}"\nsymbols = ["double"]\n'
            f'tests = ["test_e{number}.py"]\ntest_count = 2\npoints = 1\nminutes = 5\ntimeout = 1.0\nhints = []\n'
        )
        (folder / "solutions" / f"e{number}{attack.suffix}").write_text(
            "def double(x):\n    # BEGIN SOLUTION\n    return 2 * x\n    # END SOLUTION\n"
        )
        (folder / f"test_e{number}.py").write_text(
            "from kuiper.course import calling\n\n\ndef test_double(impl):\n    calling(impl.double, 300007).gives(600014)\n\n\n"
            "def test_negative(impl):\n    calling(impl.double, -400009).gives(-800018)\n"
        )
    (folder / "course.toml").write_text("\n".join(manifest))
    (root / "conftest.py").write_text('pytest_plugins = ["kuiper.course.pytest_plugin"]\n')
    (root / "pytest.ini").write_text("[pytest]\n")
    syllabus = read_syllabus(root)
    for exercise in syllabus:
        sync.write(exercise)
    return syllabus, ids


def chosen(mode: Mode, everything: bool) -> dict[str, Attack]:
    """The attacks that this mode can stop, with an honest exercise behind each tenth and at the end."""
    found: dict[str, Attack] = {}
    alike = are_alike(mode)
    known = ("nothing", "sandbox", "another user", "another user or Linux's protection")
    for name, attack in ATTACKS.items():
        assert attack.needs in known, name
        if (attack.needs == "sandbox" and mode == "limits") or (attack.needs == "another user" and alike):
            continue
        if everything or attack.core:
            found[name] = attack
            if len(found) % 10 == 0:
                found[f"honest {len(found)}"] = Attack(HONEST)
    return {**found, "honest at the end": Attack(HONEST)}


def grade_attacks(folder: Path, mode: Mode, everything: bool, only: str = "") -> dict[str, object]:
    """Grade them; what each was worth, and what has been left behind."""
    attacks = {name: attack for name, attack in chosen(mode, everything).items() if only in name or "honest" in name}
    syllabus, ids = course(folder / "root", attacks)
    submission = folder / "handed-in" / "mallory"
    submission.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as other:
        port = server.getsockname()[1]
        if sys.platform == "linux":
            other.bind(f"\0kuiper-test-{port}".encode())
            other.listen()
        for name, attack in attacks.items():
            exercise = syllabus.exercise(ids[name])
            places = {
                "{solution!r}": repr(str(exercise.solution_file)),
                "{package!r}": repr(str(Path(grade.__file__).parents[1])),
                "{others!r}": repr(str(folder / "handed-in")),
                "{course!r}": repr(str(exercise.course)),
                "{home!r}": repr("/tmp/kuiper-grade-*/home"),
                "{port}": str(port),
            }
            code = attack.code
            for place, text in places.items():
                code = code.replace(place, text)
            (submission / exercise.file).write_text(code)
        neighbour = folder / "handed-in" / "neighbour"
        neighbour.mkdir()
        (neighbour / "honest.py").write_text(HONEST)
        os.environ[SECRET] = "kept"
        before = threading.active_count()
        report = grade.grade_one(syllabus, list(syllabus), submission, 15.0, mode)
    names = {id_: name for name, id_ in ids.items()}
    return {
        "user": os.getuid() if hasattr(os, "getuid") else None,
        "mode": mode,
        "alike": are_alike(mode),
        "points": {names[item.id]: item.points for item in report.grades},
        "verdicts": {names[item.id]: f"{item.verdict}: {item.message}" for item in report.grades},
        "odd": list(report.odd),
        "threads": threading.active_count() - before,
    }


if __name__ == "__main__":
    place = Path(sys.argv[1]) / "work"
    place.mkdir()
    print(json.dumps(grade_attacks(place, chosen_mode(sys.argv[2]), "everything" in sys.argv, *sys.argv[4:])))
