"""The files that sentence-transformers puts beside a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kuiper.errors import ModelFormatError, UnsupportedOperatorError
from kuiper.models.text.embedding_folder import EmbeddingFolder, read_folder
from tests.encoders import write_json

if TYPE_CHECKING:
    from pathlib import Path

TRANSFORMER = {"path": "", "type": "sentence_transformers.models.Transformer"}
POOLING = {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
NORMALIZE = {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}


def folder_of(folder: Path, modules: Any = (TRANSFORMER, POOLING, NORMALIZE), **pooling: Any) -> Path:
    write_json(folder / "modules.json", list(modules) if isinstance(modules, tuple) else modules)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    write_json(folder / "1_Pooling" / "config.json", pooling or {"pooling_mode_mean_tokens": True})
    return folder


def test_a_network_alone_has_the_mean_of_its_vectors(tmp_path: Path) -> None:
    assert read_folder(tmp_path) == EmbeddingFolder(tmp_path, "mean", False, None, False)


@pytest.mark.parametrize(("mode", "expected"), [("mean_tokens", "mean"), ("cls_token", "cls"), ("lasttoken", "last")])
def test_modules_say_what_is_done_behind_the_network(tmp_path: Path, mode: str, expected: str) -> None:
    modes = {f"pooling_mode_{name}": name == mode for name in ("cls_token", "mean_tokens", "max_tokens", "lasttoken")}
    found = read_folder(folder_of(tmp_path, word_embedding_dimension=8, include_prompt=True, **modes))
    assert (found.pooling, found.normalize) == (expected, True)
    assert not read_folder(folder_of(tmp_path, (TRANSFORMER, POOLING), **modes)).normalize


def test_a_mode_may_be_a_word(tmp_path: Path) -> None:
    assert read_folder(folder_of(tmp_path, pooling_mode="cls")).pooling == "cls"


def test_the_network_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    inner = {**TRANSFORMER, "path": "0_Transformer"}
    (tmp_path / "0_Transformer").mkdir()
    write_json(tmp_path / "0_Transformer" / "sentence_bert_config.json", {"max_seq_length": 77, "do_lower_case": True})
    found = read_folder(folder_of(tmp_path, (inner, POOLING)))
    assert (found.network, found.max_length, found.lowercase) == (tmp_path / "0_Transformer", 77, True)


@pytest.mark.parametrize(
    ("said", "expected"), [(512, 512), (1e30, 1 << 62), (None, None), (1000000000000000019884624838656, 1 << 62)]
)
def test_the_tokenizer_says_how_long_a_text_may_be_where_nothing_else_does(
    tmp_path: Path, said: object, expected: int | None
) -> None:
    write_json(tmp_path / "sentence_bert_config.json", {"max_seq_length": None})
    write_json(tmp_path / "tokenizer_config.json", {"model_max_length": said})
    assert read_folder(tmp_path).max_length == expected


def test_a_prompt_that_every_text_gets_is_found(tmp_path: Path) -> None:
    prompts = {"query": "query: ", "passage": ""}
    for name, expected in ((None, ""), ("query", "query: "), ("passage", "")):
        content = {"prompts": prompts, "default_prompt_name": name}
        write_json(tmp_path / "config_sentence_transformers.json", content)
        assert read_folder(tmp_path).prompt == expected


@pytest.mark.parametrize(
    "content",
    [
        {"default_prompt_name": "query"},
        {"default_prompt_name": ["query"], "prompts": {"query": ""}},
        {"default_prompt_name": "query", "prompts": ["query"]},
        {"default_prompt_name": "query", "prompts": {"query": 3}},
    ],
)
def test_a_prompt_that_is_not_there_is_refused(tmp_path: Path, content: Any) -> None:
    write_json(tmp_path / "config_sentence_transformers.json", content)
    with pytest.raises(ModelFormatError, match="default_prompt_name as the name of one of the prompts"):
        read_folder(tmp_path)


def test_a_pooling_that_leaves_the_prompt_out_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedOperatorError, match="include_prompt true, got False"):
        read_folder(folder_of(tmp_path, pooling_mode_mean_tokens=True, include_prompt=False))


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({}, "a list of 1 to 16 modules"),
        ([], "a list of 1 to 16 modules"),
        ([TRANSFORMER] * 17, "a list of 1 to 16 modules"),
        (["Transformer"], "modules with a type and a path"),
        ([{"path": ""}], "modules with a type and a path"),
        ([{**TRANSFORMER, "path": "../elsewhere"}], "paths that name a folder in the same folder"),
        ([{**TRANSFORMER, "path": ".."}], "paths that name a folder in the same folder"),
        ([{**TRANSFORMER, "path": "C:"}], "paths that name a folder in the same folder"),
    ],
)
def test_lists_of_modules_that_cannot_be_are_refused(tmp_path: Path, modules: Any, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        read_folder(folder_of(tmp_path, modules))


@pytest.mark.parametrize(
    "modules",
    [
        (POOLING,),
        (POOLING, TRANSFORMER),
        (TRANSFORMER, NORMALIZE),
        (TRANSFORMER, POOLING, {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}),
        (TRANSFORMER, POOLING, POOLING),
    ],
)
def test_modules_that_kuiper_lacks_are_refused(tmp_path: Path, modules: Any) -> None:
    with pytest.raises(UnsupportedOperatorError, match="Transformer, Pooling and Normalize, in this order"):
        read_folder(folder_of(tmp_path, modules))


@pytest.mark.parametrize(
    ("pooling", "got"),
    [
        ({"pooling_mode_max_tokens": True}, "max_tokens"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, "mean_tokens, cls_token"),
        ({"word_embedding_dimension": 8}, "none"),
        ({"pooling_mode": "max"}, "max"),
    ],
)
def test_poolings_that_kuiper_lacks_are_refused(tmp_path: Path, pooling: Any, got: str) -> None:
    with pytest.raises(UnsupportedOperatorError, match=f"one pooling mode: mean, cls or lasttoken, got {got}"):
        read_folder(folder_of(tmp_path, **pooling))


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("sentence_bert_config.json", [], "a configuration: a JSON object"),
        ("sentence_bert_config.json", {"max_seq_length": "long"}, "max_seq_length as a number of tokens"),
        ("sentence_bert_config.json", {"max_seq_length": 0}, "max_seq_length as a number of tokens"),
        ("sentence_bert_config.json", {"max_seq_length": True}, "max_seq_length as a number of tokens"),
        ("sentence_bert_config.json", {"do_lower_case": "no"}, "do_lower_case as true or false"),
        ("tokenizer_config.json", {"model_max_length": float("nan")}, "model_max_length as a number of tokens"),
    ],
)
def test_files_that_cannot_be_are_refused(tmp_path: Path, file: str, content: Any, message: str) -> None:
    write_json(tmp_path / file, content)
    with pytest.raises(ModelFormatError, match=message):
        read_folder(tmp_path)


def test_a_pooling_without_its_file_is_refused(tmp_path: Path) -> None:
    (folder_of(tmp_path) / "1_Pooling" / "config.json").unlink()
    with pytest.raises(
        ModelFormatError, match=r"1_Pooling.config\.json: expected a configuration in JSON, got nothing"
    ):
        read_folder(tmp_path)
