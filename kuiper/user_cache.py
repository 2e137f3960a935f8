"""The folder where kuiper keeps what can be made or fetched anew."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """The user's cache folder: $KUIPER_CACHE, or what the platform uses. It need not exist yet."""
    if os.environ.get("KUIPER_CACHE"):
        return Path(os.environ["KUIPER_CACHE"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "kuiper"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kuiper"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kuiper"
