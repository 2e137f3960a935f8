"""Chat templates: the prompts of known ones, where they are found, and what a hostile one may not do."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.errors import ModelFormatError
from kuiper.models.text import chat
from kuiper.models.text.chat import ChatTemplate
from kuiper.models.text.template_process import fill

if TYPE_CHECKING:
    from pathlib import Path

CHATML = (
    "{% for message in messages %}\n"
    "    {{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}\n"
    "{% endfor %}\n"
    "{% if add_generation_prompt %}\n    {{- '<|im_start|>assistant\n' }}\n{% endif %}"
)
QUESTION = [{"role": "user", "content": "Why?"}]


def test_prompt_is_what_the_template_says() -> None:
    template = ChatTemplate(
        "t",
        "{{ bos_token }}{% for m in messages %}[{{ m.role }}: {{ m.content | trim }}]{% endfor %}"
        "{% if add_generation_prompt %}>{% endif %}",
        {"bos_token": "<s>"},
    )
    messages = [{"role": "system", "content": " be brief "}, *QUESTION]
    assert template.prompt(messages) == "<s>[system: be brief][user: Why?]>"
    assert template.prompt(QUESTION, asks=False) == "<s>[user: Why?]"


def test_prompt_trims_blocks_as_transformers_does() -> None:
    assert ChatTemplate("t", CHATML).prompt(QUESTION) == (
        "    <|im_start|>user\nWhy?<|im_end|>\n\n<|im_start|>assistant\n\n"
    )


def test_prompt_keeps_characters_of_all_scripts() -> None:
    text = "春 é 🙂 \u2028 </s>"
    assert ChatTemplate("t", "{{ messages[0].content }}").prompt([{"role": "user", "content": text}]) == text


def filled(template: str, **values: Any) -> str:
    return fill(template, values, 1000)


def test_fill_has_what_templates_expect() -> None:
    assert filled("{{ a | tojson }}", a={"k": "<é>"}) == '{"k": "<é>"}'
    assert filled("{% for i in a %}{% if i > 1 %}{% break %}{% endif %}{{ i }}{% endfor %}", a=[1, 2, 3]) == "1"
    assert filled("{% generation %}said{% endgeneration %}.") == "said."
    assert filled("{{ strftime_now('%Y') }}").isdigit()
    with pytest.raises(ValueError, match=r"^roles must alternate$"):
        filled("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(ValueError, match=r"^more than 1000 characters$"):
        filled("{% for i in range(600) %}ab{% endfor %}")


HOSTILE = {
    "syntax": ("{% for %}", "TemplateSyntaxError"),
    "refusal": ("{{ raise_exception('no system role') }}", "ValueError: no system role"),
    "attributes": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "SecurityError"),
    "globals": ("{{ raise_exception.__globals__['sys'] }}", "SecurityError"),
    "change": ("{% set _ = messages.append(1) %}", "SecurityError"),
    "include": ("{% include '/etc/passwd' %}", "TypeError: no loader"),
    "missing": ("{{ messages[9].content }}", "UndefinedError"),
    "type": ("{{ 1 + 'a' }}", "TypeError"),
    "division": ("{{ 1 // 0 }}", "ZeroDivisionError"),
    "range": ("{% for i in range(10 ** 9) %}{% endfor %}", "OverflowError"),
    "recursion": ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"),
    "length": ("{% for i in range(99999) %}0123456789abcdef{% endfor %}", "ValueError: more than 1048576 characters"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_template_is_one_error(name: str) -> None:
    template, got = HOSTILE[name]
    with pytest.raises(ModelFormatError) as caught:
        ChatTemplate("x/tokenizer_config.json", template).prompt(QUESTION)
    message = str(caught.value)
    assert message.startswith("x/tokenizer_config.json: expected a chat template that fits these messages, got ")
    assert got in message


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's memory")
@pytest.mark.parametrize(
    "template", ["{{ 'x' * 10 ** 11 }}", "{{ '%99999999999d' % 1 }}", "{{ 'x'.center(10 ** 11) }}"]
)
def test_template_cannot_take_all_memory(template: str) -> None:
    with pytest.raises(ModelFormatError, match="MemoryError"):
        ChatTemplate("t", template).prompt(QUESTION)


@pytest.mark.thorough
def test_template_cannot_run_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "MAX_SECONDS", 1.5)
    loops = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(
        ModelFormatError, match=r"^t: expected a chat template that is done in 1\.5 s, got one that is not$"
    ):
        ChatTemplate("t", loops).prompt(QUESTION)


def test_process_that_dies_is_one_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "dies.py"
    program.write_text("raise SystemExit(3)")
    monkeypatch.setattr("kuiper.models.text.template_process.__file__", str(program))
    with pytest.raises(ModelFormatError, match=r"got a process that ended with 3$"):
        ChatTemplate("t", "x").prompt(QUESTION)


def config(folder: Path, content: Any) -> ChatTemplate | None:
    (folder / "tokenizer_config.json").write_text(json.dumps(content), encoding="utf-8")
    return ChatTemplate.read(folder)


def test_read_finds_the_template_and_its_tokens(tmp_path: Path) -> None:
    assert ChatTemplate.read(tmp_path) is None
    assert config(tmp_path, {"bos_token": "<s>"}) is None
    found = config(
        tmp_path, {"chat_template": "a", "bos_token": "<s>", "eos_token": {"content": "</s>"}, "pad_token": None}
    )
    assert found is not None
    assert (found.template, found.special) == ("a", {"bos_token": "<s>", "eos_token": "</s>"})
    several = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]
    assert getattr(config(tmp_path, {"chat_template": several}), "template", "") == "d"
    assert config(tmp_path, {"chat_template": several[:1]}) is None
    (tmp_path / "chat_template.jinja").write_text("newer")
    assert getattr(ChatTemplate.read(tmp_path), "template", "") == "newer"


@pytest.mark.parametrize("content", [[], {"chat_template": 3}, {"chat_template": {"a": "b"}}])
def test_read_refuses_what_is_no_template(tmp_path: Path, content: Any) -> None:
    with pytest.raises(ModelFormatError, match=r"tokenizer_config\.json: expected"):
        config(tmp_path, content)


def test_prompt_names_the_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"^chat: expected the package jinja2, got none; pip install jinja2$"):
        ChatTemplate("t", "x").prompt(QUESTION)
