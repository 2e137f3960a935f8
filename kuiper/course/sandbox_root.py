"""The light mode's sandbox: a new root made of the folders that a submission may see, all of them read-only but one.

``unshare`` starts this file by its path, with namespaces of its own and as their root; it imports only the standard
library. It reads what to build from its first argument, builds it, gives all privileges up, and becomes the command
that follows. The old file system is gone by then: what is not listed does not exist.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from pathlib import Path

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME, MS_NODIRATIME = 1, 2, 4, 8, 1024, 2048
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, MS_RELATIME = 32, 4096, 16384, 1 << 18, 1 << 21
FLAGS = {
    "nosuid": MS_NOSUID,
    "nodev": MS_NODEV,
    "noexec": MS_NOEXEC,
    "noatime": MS_NOATIME,
    "nodiratime": MS_NODIRATIME,
    "relatime": MS_RELATIME,
}
DETACH = 2
CLONE_NEWUSER = 0x10000000
PR_SET_NO_NEW_PRIVS = 38
DEVICES = ("null", "zero", "full", "random", "urandom")
SMALL = "mode=755,size=1m"

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *args: object) -> None:
    """A function of the C library that returns 0 if all went well."""
    if getattr(libc, name)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}{args}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """mount(2)."""
    words = (source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data.encode())
    call("mount", *words)


def bind(source: str, target: str, writable: bool = False) -> None:
    """Show a file or folder of the old root in the new one."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
    words = (os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(MS_BIND | MS_REC), None)
    call("mount", *words)
    if not writable:
        make_read_only(target)


def make_read_only(target: str) -> None:
    """A mount and all below it; a flag that the mount has already must be given again."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        words = line.split()
        place = words[4].encode("utf-8", "surrogateescape").decode("unicode_escape")
        if place == target or place.startswith(target.rstrip("/") + "/"):
            flags = sum(FLAGS.get(word, 0) for word in words[5].split(","))
            mount("", place, "", MS_BIND | MS_REMOUNT | MS_RDONLY | flags)


def build(root: str, shown: list[str], hidden: list[str], covers: dict[str, str], scratch: str) -> None:
    """The new root at ``root``, and the process in it."""
    mount("", "/", "", MS_REC | MS_PRIVATE)
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, SMALL)
    for folder in sorted(shown, key=len):
        if os.path.exists(folder) and not os.path.exists(root + folder):
            bind(folder, root + folder)
    for path in hidden:
        if os.path.isdir(root + path):
            mount("tmpfs", root + path, "tmpfs", MS_RDONLY, SMALL)
    for path, other in covers.items():
        if os.path.isfile(root + path):
            bind(other, root + path)
    for name in DEVICES:
        bind(f"/dev/{name}", f"{root}/dev/{name}", writable=True)
    bind(scratch, root + scratch, writable=True)
    os.makedirs(root + "/proc", exist_ok=True)
    with contextlib.suppress(OSError):  # refused where the old /proc is covered in part; then there is none
        mount("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        with contextlib.suppress(OSError):  # the one user namespace of below, and no other
            Path(root, "proc/sys/user/max_user_namespaces").write_text("1", encoding="utf-8")
        make_read_only(root + "/proc")
    mount("", root, "", MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir(root)
    call("pivot_root", b".", b".")
    call("umount2", b".", DETACH)
    os.chdir(scratch)


def give_up() -> None:
    """In a user namespace without privileges over the mounts: nothing of the above can be undone."""
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call("unshare", CLONE_NEWUSER)


def main() -> None:
    plan = json.loads(sys.argv[1])
    build(plan["root"], plan["shown"], plan["hidden"], plan["covers"], plan["scratch"])
    give_up()
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
