"""What the folder of an embedding model says beside its network: the files of sentence-transformers, where it has them.

    modules.json                  [{"path": "", "type": "...Transformer"}, {"path": "1_Pooling", "type": "..."}, ...]
    sentence_bert_config.json     {"max_seq_length": 256, "do_lower_case": false}; beside the network, as config.json is
    1_Pooling/config.json         {"pooling_mode_mean_tokens": true, ...}
    tokenizer_config.json         {"model_max_length": 512, ...}
    config_sentence_transformers.json     {"prompts": {"query": "query: "}, "default_prompt_name": null}

A folder without modules.json has the network alone: the mean of its vectors is taken, as sentence-transformers does.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kuiper.bounded_file import read_json
from kuiper.errors import ModelFormatError, UnsupportedOperatorError

if TYPE_CHECKING:
    from pathlib import Path

    Pooling = Literal["mean", "cls", "last"]

POOLINGS: tuple[Pooling, ...] = ("mean", "cls", "last")
"""How the vectors of tokens become one: their mean, that of the first token, that of the last one."""

MAX_MODULES = 16
_MODULES = "modules.json"
_KNOWN = ("Transformer", "Pooling", "Normalize")
_MODES: dict[str, Pooling] = {
    "mean": "mean",
    "mean_tokens": "mean",
    "cls": "cls",
    "cls_token": "cls",
    "lasttoken": "last",
}
_MODE = "pooling_mode"


@dataclass(frozen=True)
class EmbeddingFolder:
    """What is to be done around the network.

    Attributes
    ----------
    network : the folder of config.json, weights and tokenizer.json
    pooling : one of ``POOLINGS``
    normalize : whether vectors get the length 1
    max_length : the most tokens of a text, or None if only the network limits them
    lowercase : whether texts are put into lower case first
    prompt : what stands in front of every text
    """

    network: Path
    pooling: Pooling = "mean"
    normalize: bool = False
    max_length: int | None = None
    lowercase: bool = False
    prompt: str = ""


def read_folder(folder: Path) -> EmbeddingFolder:
    """What the files of a folder say.

    Raises
    ------
    ModelFormatError
        If one of them is not what it should be.
    UnsupportedOperatorError
        If they ask for what kuiper lacks: a dense layer behind the network, another pooling, two of them.
    """
    paths = _modules(folder)
    network = paths["Transformer"]
    sentence = _object(network / "sentence_bert_config.json")
    where = str(network / "sentence_bert_config.json")
    most = _length(sentence.get("max_seq_length"), where, "max_seq_length")
    if most is None:
        tokenizer = _object(network / "tokenizer_config.json")
        most = _length(tokenizer.get("model_max_length"), str(network / "tokenizer_config.json"), "model_max_length")
    lowercase = sentence.get("do_lower_case", False)
    if not isinstance(lowercase, bool):
        raise ModelFormatError(where, "do_lower_case as true or false", reprlib.repr(lowercase))
    pooling: Pooling = _pooling(paths["Pooling"] / "config.json") if "Pooling" in paths else "mean"
    prompt = _prompt(folder / "config_sentence_transformers.json")
    return EmbeddingFolder(network, pooling, "Normalize" in paths, most, lowercase, prompt)


def network_of(folder: Path) -> Path:
    """The folder of the network; errors as ``read_folder``."""
    return _modules(folder)["Transformer"]


def _modules(folder: Path) -> dict[str, Path]:
    """The folders of the modules, by the last part of their types, in the order in which they run."""
    if not (folder / _MODULES).exists():
        return {"Transformer": folder}
    where = str(folder / _MODULES)
    content = read_json(folder / _MODULES, ModelFormatError, "a list of modules in JSON")
    if not isinstance(content, list) or not 0 < len(content) <= MAX_MODULES:
        raise ModelFormatError(where, f"a list of 1 to {MAX_MODULES} modules", reprlib.repr(content))
    found: dict[str, Path] = {}
    for module in content:
        kind, path = (module.get("type"), module.get("path", "")) if isinstance(module, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(path, str):
            raise ModelFormatError(where, "modules with a type and a path", reprlib.repr(module))
        if path in (".", "..") or any(sign in path for sign in "/\\:\0"):
            raise ModelFormatError(where, "paths that name a folder in the same folder", reprlib.repr(path))
        found[kind.rpartition(".")[2]] = folder / path if path else folder
    if [*found] not in ([*_KNOWN[: i + 1]] for i in range(len(_KNOWN))) or len(found) < len(content):
        expected = "the modules Transformer, Pooling and Normalize, in this order"
        raise UnsupportedOperatorError(where, expected, ", ".join(found) if len(found) == len(content) else "one twice")
    return found


def _pooling(path: Path) -> Pooling:
    """The one mode that is chosen."""
    content = _object(path, is_needed=True)
    if content.get("include_prompt", True) is not True:
        raise UnsupportedOperatorError(str(path), "include_prompt true", reprlib.repr(content["include_prompt"]))
    chosen = [
        name.removeprefix(f"{_MODE}_") for name, value in content.items() if name.startswith(_MODE) and value is True
    ]
    if isinstance(content.get(_MODE), str):
        chosen = [content[_MODE]]
    if len(chosen) != 1 or chosen[0] not in _MODES:
        raise UnsupportedOperatorError(
            str(path), "one pooling mode: mean, cls or lasttoken", ", ".join(chosen) or "none"
        )
    return _MODES[chosen[0]]


def _prompt(path: Path) -> str:
    """The prompt that texts get where nobody asks for another one."""
    content = _object(path)
    name, prompts = content.get("default_prompt_name"), content.get("prompts") or {}
    if name is None:
        return ""
    prompt = prompts.get(name) if isinstance(name, str) and isinstance(prompts, dict) else None
    if not isinstance(prompt, str):
        raise ModelFormatError(str(path), "default_prompt_name as the name of one of the prompts", reprlib.repr(name))
    return prompt


def _object(path: Path, *, is_needed: bool = False) -> dict[str, Any]:
    """The JSON object of a file, an empty one if there is no file."""
    if not is_needed and not path.exists():
        return {}
    content = read_json(path, ModelFormatError, "a configuration in JSON", finite=False)
    if not isinstance(content, dict):
        raise ModelFormatError(str(path), "a configuration: a JSON object", f"a {type(content).__name__}")
    return content


def _length(value: object, where: str, key: str) -> int | None:
    """A number of tokens; what stands for no limit is a very large one, or null."""
    if value is None:
        return None
    if type(value) not in (int, float) or not value >= 1:  # type: ignore[operator]
        raise ModelFormatError(where, f"{key} as a number of tokens", reprlib.repr(value))
    return int(min(value, 1 << 62))  # type: ignore[call-overload]
