"""From messages to a prompt, by the template that a model brings.

A template is a small program in jinja2's language, from the author of the model's folder. It runs in jinja2's sandbox,
and in a process of its own, which is ended after MAX_SECONDS and gives at most LONGEST_TEXT characters.
"""

from __future__ import annotations

import json
import os
import reprlib
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import read_json, read_text
from kuiper.errors import ModelFormatError
from kuiper.machine.processes import need_processes
from kuiper.models.text import template_process
from kuiper.models.text.extra import package

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MAX_SECONDS = 20.0
LONGEST_TEXT = 1 << 20

CONFIG, TEMPLATE = "tokenizer_config.json", "chat_template.jinja"
_SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")

Message = dict[str, str]
"""{"role": "system", "user" or "assistant", "content": text}."""


@dataclass(frozen=True)
class ChatTemplate:
    """A template, the special tokens that it may name, and the file that it is from."""

    where: str
    template: str
    special: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> ChatTemplate | None:
        """The template of a folder: ``chat_template.jinja``, else what ``tokenizer_config.json`` says, or None.

        Raises
        ------
        ModelFormatError
            If a file cannot be read, or the template is no text.
        """
        config: Any = {}
        if (folder / CONFIG).exists():
            config = read_json(folder / CONFIG, ModelFormatError, "a tokenizer's configuration in JSON", finite=False)
        if not isinstance(config, dict):
            raise ModelFormatError(str(folder / CONFIG), "a JSON object", f"a {type(config).__name__}")
        special = {name: _text_of(config[name]) for name in _SPECIAL if config.get(name) is not None}
        if (folder / TEMPLATE).exists():
            where = str(folder / TEMPLATE)
            return cls(where, read_text(folder / TEMPLATE, ModelFormatError, "a template"), special)
        template = _default(config.get("chat_template"))
        if template is None:
            return None
        if not isinstance(template, str):
            raise ModelFormatError(str(folder / CONFIG), "'chat_template': a text", reprlib.repr(template))
        return cls(str(folder / CONFIG), template, special)

    def prompt(self, messages: Sequence[Message], *, asks: bool = True) -> str:
        """The text of messages; if it ``asks``, with the beginning of an answer behind them.

        Raises
        ------
        ModelFormatError
            If the template is none, refuses the messages, takes too long or gives too much.
        ImportError
            If the package ``jinja2`` is not installed.
        """
        package("jinja2", "chat")
        values = {"messages": list(messages), "add_generation_prompt": asks, "tools": None, "documents": None}
        request = {"template": self.template, "values": {**self.special, **values}, "longest": LONGEST_TEXT}
        answer = self._answer(json.dumps(request).encode())
        if "text" not in answer:
            raise ModelFormatError(self.where, "a chat template that fits these messages", answer["error"])
        return str(answer["text"])

    def _answer(self, request: bytes) -> dict[str, Any]:
        """What the process of a template says."""
        need_processes(self.where, "in which a chat template, which is a program, does no harm")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, template_process.__file__]
        try:
            done = subprocess.run(
                command, input=request, capture_output=True, timeout=MAX_SECONDS, env=environment, check=False
            )
        except subprocess.TimeoutExpired as error:
            expected = f"a chat template that is done in {MAX_SECONDS:g} s"
            raise ModelFormatError(self.where, expected, "one that is not") from error
        if done.returncode:
            got = f"a process that ended with {done.returncode}"
            raise ModelFormatError(self.where, "a chat template that can be filled in", got)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def _text_of(token: Any) -> str:
    """A special token, which may be written as an object with its text in it."""
    return str(token.get("content", "") if isinstance(token, dict) else token)


def _default(template: Any) -> Any:
    """The template itself, or the one called "default" of a list of several."""
    if not isinstance(template, list):
        return template
    named = [entry.get("template") for entry in template if isinstance(entry, dict) and entry.get("name") == "default"]
    return named[0] if named else None
