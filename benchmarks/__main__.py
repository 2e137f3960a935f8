"""The command line: ``python -m benchmarks [COMMAND] [options]``; without a command, ``run``."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import TYPE_CHECKING

import benchmarks
from benchmarks.errors import INSTALL
from kuiper.errors import KuiperError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = ("run", "report", "text", "serve", "demo", "kernels", "operators", "roofline")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 if all went well, 1 if not, 2 after a wrong call, 130 after Ctrl-C."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = words.pop(0) if words and words[0] in COMMANDS else "run"
    module = importlib.import_module(f"benchmarks.{command}")
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks{'' if command == 'run' else f' {command}'}",
        description=f"{benchmarks.__doc__}\n{module.__doc__}" if command == "run" else module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    try:
        code: int = module.execute(parser.parse_args(words))
        return code
    except ModuleNotFoundError as error:
        print(f"benchmarks: expected the module {error.name}, got none; {INSTALL}", file=sys.stderr)
    except (KuiperError, OSError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
    except KeyboardInterrupt:
        print("benchmarks: interrupted", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
