"""Encoders to test with: those of the fixtures, and folders of Hugging Face's form around random ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.models.text.encoder_config import read_config
from kuiper.models.text.random_encoder import random_weights
from tests.fixtures.export_encoders import CONFIGURATIONS, FOLDER, LENGTHS

if TYPE_CHECKING:
    from pathlib import Path

CONFIG: dict[str, Any] = {
    "model_type": "bert", "vocab_size": 259, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 64,
}  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """A fixture: see ``tests/fixtures/export_encoders.py``."""

    configuration: dict[str, Any]
    weights: dict[str, np.ndarray]
    texts: list[list[int]]
    vectors: list[np.ndarray]
    pooled: dict[str, np.ndarray]


def stored(name: str) -> Stored:
    """The fixture of this name."""
    with np.load(FOLDER / f"{name}.npz") as file:
        arrays = dict(file)
    return Stored(
        CONFIGURATIONS[name],
        {key.removeprefix("weight "): data for key, data in arrays.items() if key.startswith("weight ")},
        [arrays[f"text {row}"].tolist() for row in range(len(LENGTHS))],
        [arrays[f"vectors {row}"] for row in range(len(LENGTHS))],
        {key: arrays[key] for key in ("mean", "normalized", "cls", "last")},
    )


def difference(got: Any, expected: np.ndarray) -> float:
    """The largest difference, as a part of the largest number."""
    got = np.asarray(got)
    assert got.shape == expected.shape
    return float(np.abs(got - expected).max() / np.abs(expected).max())


def encoder_folder(folder: Path, seed: int = 1, **entries: Any) -> Path:
    """An encoder whose tokens are the 256 bytes, and three special ones: <s> and </s> stand around every text."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    folder.mkdir(parents=True)
    config = {**CONFIG, **entries}
    write_json(folder / "config.json", config)
    save_file(random_weights(read_config(config), seed), folder / "model.safetensors", metadata={"format": "pt"})
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({character: number for number, character in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>", "</s>", "<pad>"])
    around = [("<s>", 256), ("</s>", 257)]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=around)
    tokenizer.enable_padding(pad_id=258, pad_token="<pad>", length=16)
    tokenizer.enable_truncation(8)  # both as published files have them: neither is to count
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def sentence_folder(folder: Path, *, mode: str = "mean_tokens", normalize: bool = True, most: int = 32) -> Path:
    """The same with the files of sentence-transformers."""
    encoder_folder(folder)
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalize else [])]
    paths = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": i, "name": str(i), "path": paths[i], "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    write_json(folder / "modules.json", modules)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": most, "do_lower_case": False})
    (folder / "1_Pooling").mkdir()
    modes = {f"pooling_mode_{name}": name == mode for name in ("cls_token", "mean_tokens", "max_tokens", "lasttoken")}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, **modes})
    return folder


def write_json(path: Path, content: object) -> None:
    """One file."""
    path.write_text(json.dumps(content), encoding="utf-8")
