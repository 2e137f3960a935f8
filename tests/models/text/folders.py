"""Folders of Hugging Face's form with tiny models of random weights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from kuiper.models.text.decoder_config import read_config
from kuiper.models.text.random_decoder import random_weights

if TYPE_CHECKING:
    from pathlib import Path

CONFIG: dict[str, Any] = {
    "model_type": "llama", "vocab_size": 258, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 64,
    "tie_word_embeddings": True, "eos_token_id": 257,
}  # fmt: skip

CHAT_ML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


def tiny_folder(folder: Path, seed: int = 1, **entries: Any) -> Path:
    """A Llama whose tokens are the 256 bytes, and two special ones."""
    folder.mkdir(parents=True)
    config = {**CONFIG, **entries}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(random_weights(read_config(config), seed), folder / "model.safetensors", metadata={"format": "pt"})
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {character: number for number, character in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def chat_folder(folder: Path, seed: int = 1) -> Path:
    """The same with a template for chats, and the two tokens that stand around a message in it."""
    tiny_folder(folder, seed, vocab_size=260, eos_token_id=259, max_position_embeddings=512)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": CHAT_ML}), encoding="utf-8")
    return folder
