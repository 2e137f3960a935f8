"""Where benchmarks find and leave their files."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "build" / "benchmarks"
"""Exported models and the compiled measuring loops; git ignores it, ``make clean`` removes it."""
RESULTS = ROOT / "benchmarks" / "results"
TEXT_RESULTS = RESULTS / "text"
SERVE_RESULTS = RESULTS / "serve"
DEMO_RESULTS = RESULTS / "demo"
PAGE = ROOT / "docs" / "evidence" / "performance.md"
README = ROOT / "README.md"
CHART = ROOT / "docs" / "pictures" / "speed.svg"
