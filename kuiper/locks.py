"""Locks that a forked process finds open.

``os.fork`` copies memory, locks included, and of the threads only the one that called it. Whatever another thread has
locked at that moment nobody would ever open in the child. So the owner of a lock gets a new one there.

The lock itself stays a plain ``threading.Lock``: ``with`` takes it in one step, so that no Ctrl-C comes in between.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

_owners: weakref.WeakSet[Any] = weakref.WeakSet()


def open_in_children(owner: Any) -> None:
    """Give this object or module a new lock as its ``_lock`` in each child that is forked.

    What the lock guards must be whole between any two steps of Python's, since a fork can come between them.
    """
    _owners.add(owner)


def _open_all() -> None:
    for owner in list(_owners):
        owner._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
