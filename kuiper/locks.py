"""Locks that a forked process finds open.

``os.fork`` copies memory, locks included, and of the threads only the one that called it. Whatever another thread has
locked at that moment nobody would ever open in the child. So the owner of a lock gets a new one there.

The lock itself stays a plain ``threading.Lock``: ``with`` takes it in one step, so that no Ctrl-C comes in between.

The owners are kept as weak references without callbacks, in place of a ``weakref.WeakSet``. What a callback raises,
Python prints and forgets: a Ctrl-C that came in the set's callback, while an owner was dropped, would be lost.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from typing import Any

_owners: dict[int, weakref.ref[Any]] = {}
_numbers = itertools.count()


def open_in_children(owner: Any) -> None:
    """Give this object or module a new lock as its ``_lock`` in each child that is forked.

    What the lock guards must be whole between any two steps of Python's, since a fork can come between them.
    """
    for number, known in list(_owners.items()):
        if known() is None:
            _owners.pop(number, None)
    _owners[next(_numbers)] = weakref.ref(owner)


def _open_all() -> None:
    for known in list(_owners.values()):
        owner = known()
        if owner is not None:
            owner._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
