"""Fills in one chat template; ``chat`` runs it as a process of its own, since a template is a program, too.

The sandbox of jinja2 keeps a template from Python's objects, but not from a loop of a day or a text of all memory. The
one who started this process can end it, and it has a limit of memory where the system knows one (Linux).

stdin: {"template": ..., "values": {...}, "longest": characters}; stdout: {"text": ...} or {"error": ...}.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from typing import Any, NoReturn

MAX_MEMORY = 1 << 30
"""Bytes of address space."""


def fill(template: str, values: dict[str, Any], longest: int) -> str:
    """The text of a template, as the ``apply_chat_template`` of transformers makes it.

    Raises
    ------
    ValueError
        If it is longer than ``longest`` characters, or the template says that something is wrong.
    jinja2.TemplateError
        If the template is no template, or wants what the sandbox does not allow; and whatever else a template provokes.
    """
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """{% generation %}: marks what an assistant has said, which only a training needs to know."""

        tags = {"generation"}  # noqa: RUF012 (jinja2's own form)

        def parse(self, parser: Any) -> Any:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    pieces: list[str] = []
    length = 0
    for piece in environment.from_string(template).generate(**values):
        pieces.append(piece)
        length += len(piece)
        if length > longest:
            raise ValueError(f"more than {longest} characters")
    return "".join(pieces)


def tojson(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    """JSON as it is, where jinja2's own filter would escape it for a web page.

    >>> tojson({"a": "<é>"})
    '{"a": "<é>"}'
    """
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def refuse(message: str) -> NoReturn:
    """What a template calls when the messages do not suit it."""
    raise ValueError(message)


def limit_memory() -> None:
    """Let this process have no more than MAX_MEMORY, where the system can see to that."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    except (ImportError, ValueError, OSError):
        pass


def main() -> None:
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]  # not our modules
    request = json.loads(sys.stdin.buffer.read())
    limit_memory()
    try:
        answer = {"text": fill(request["template"], request["values"], request["longest"])}
    except Exception as error:  # a template can provoke any
        answer = {"error": f"{type(error).__name__}: {str(error)[:1000]}"}
    sys.stdout.buffer.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()
