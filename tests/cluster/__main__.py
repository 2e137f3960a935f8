"""Serve on a local cluster of two processes, and ask by NVIDIA's client: ``python -m tests.cluster``."""

from __future__ import annotations

import sys

from kuiper.cli.terminal import say
from tests.cluster import ray_serve, triton

CHECKS = {**triton.CHECKS, **ray_serve.CHECKS}


def main() -> int:
    """Say how each check ends; 1 if one fails."""
    failed = 0
    for part in (triton, ray_serve):
        with part.served() as place:
            for name, check in part.CHECKS.items():
                try:
                    check(place)
                    say(f"{name}: ok")
                except Exception as error:
                    failed += 1
                    say(f"{name}: failed: {type(error).__name__}: {error}")
    say(f"{len(CHECKS) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
