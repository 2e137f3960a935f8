"""Language models that others have trained and published: where their files are, and what the files must be.

Each is a folder of Hugging Face's form at one revision, which never changes. Sizes and SHA-256 are those that Hugging
Face gives for this revision. To add a model, add an entry here: only files that kuiper reads are listed, and weights
only as safetensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

HUB = "https://huggingface.co"


class Published(NamedTuple):
    """A file: its bytes, and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True)
class OfficialCheckpoint:
    """A published language model.

    Attributes
    ----------
    repository : its owner and name at Hugging Face
    revision : the commit that the files belong to
    files : what belongs to the model, by name
    chats : whether it was trained for conversation
    licence : under which it may be used
    """

    repository: str
    revision: str
    files: dict[str, Published]
    chats: bool
    licence: str

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(file.size for file in self.files.values())

    @property
    def page(self) -> str:
        """Where its authors describe it."""
        return f"{HUB}/{self.repository}"

    def url(self, file: str) -> str:
        """Where a file of it lies.

        >>> CHECKPOINTS["gpt2"].url("config.json")
        'https://huggingface.co/openai-community/gpt2/resolve/607a30d783dfa663caf39e06633721c8d4cfcd7e/config.json'
        """
        return f"{self.page}/resolve/{self.revision}/{file}"


_SMOLLM2_TOKENIZER = Published(2_104_556, "9ca9acddb6525a194ec8ac7a87f24fbba7232a9a15ffa1af0c1224fcd888e47c")

CHECKPOINTS = {
    "SmolLM2-135M": OfficialCheckpoint(
        "HuggingFaceTB/SmolLM2-135M",
        "93efa2f097d58c2a74874c7e644dbc9b0cee75a2",
        {
            "config.json": Published(704, "1d556eab73b69c7f11f64c557a2f9c6f440bd4c6b89bb2584a6b498c92603843"),
            "generation_config.json": Published(
                111, "2056c988e990b0d13670f63f2f3b87b3b6d07edaf7a3416998ba27dab2d8a059"
            ),
            "tokenizer.json": _SMOLLM2_TOKENIZER,
            "model.safetensors": Published(
                269_060_552, "80521b40281d6ce74e35c9282c22539e75aa0ac8578892b2a59955ef78d55da1"
            ),
        },
        chats=False,
        licence="Apache-2.0",
    ),
    "SmolLM2-135M-Instruct": OfficialCheckpoint(
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        "12fd25f77366fa6b3b4b768ec3050bf629380bac",
        {
            "config.json": Published(861, "8eb740e8bbe4cff95ea7b4588d17a2432deb16e8075bc5828ff7ba9be94d982a"),
            "generation_config.json": Published(
                132, "87b916edaaab66b3899b9d0dd0752727dff6666686da0504d89ae0a6e055a013"
            ),
            "tokenizer.json": _SMOLLM2_TOKENIZER,
            "tokenizer_config.json": Published(
                3_764, "4ec77d44f62efeb38d7e044a1db318f6a939438425312dfa333b8382dbad98df"
            ),
            "model.safetensors": Published(
                269_060_552, "5af571cbf074e6d21a03528d2330792e532ca608f24ac70a143f6b369968ab8c"
            ),
        },
        chats=True,
        licence="Apache-2.0",
    ),
    "Qwen2.5-0.5B-Instruct": OfficialCheckpoint(
        "Qwen/Qwen2.5-0.5B-Instruct",
        "7ae557604adf67be50417f59c2c2f167def9a775",
        {
            "config.json": Published(659, "18e18afcaccafade98daf13a54092927904649e1dd4eba8299ab717d5d94ff45"),
            "generation_config.json": Published(
                242, "e558847a8b4402616f1273797b015104dc266fe4b520056fca88823ba8f8ebe6"
            ),
            "tokenizer.json": Published(7_031_645, "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539"),
            "tokenizer_config.json": Published(
                7_305, "5b5d4f65d0acd3b2d56a35b56d374a36cbc1c8fa5cf3b3febbbfabf22f359583"
            ),
            "model.safetensors": Published(
                988_097_824, "fdf756fa7fcbe7404d5c60e26bff1a0c8b8aa1f72ced49e7dd0210fe288fb7fe"
            ),
        },
        chats=True,
        licence="Apache-2.0",
    ),
    "TinyLlama-1.1B-Chat": OfficialCheckpoint(
        "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        "fe8a4ea1ffedaf415f4da2f062534de366a451e6",
        {
            "config.json": Published(608, "486bedda3a6988332e60d9638a09ca4b260d34ebcf1b19e22cf3b140b63d8fe9"),
            "generation_config.json": Published(
                124, "18046d04f5bd8b4998095ecabdd17a1bf0053d9acdccead4a05be4a3575f3c5c"
            ),
            "tokenizer.json": Published(1_842_767, "bcd04f0eadf90287bd26e1a183ac487d8a141b09b06aecb7725bbdd343640f2e"),
            "tokenizer_config.json": Published(
                1_289, "7b41ba7d0eb91e77914ca3dafde559ea3e19878769b7e68409e89bed5222e77a"
            ),
            "model.safetensors": Published(
                2_200_119_864, "6e6001da2106d4757498752a021df6c2bdc332c650aae4bae6b0c004dcf14933"
            ),
        },
        chats=True,
        licence="Apache-2.0",
    ),
    "gpt2": OfficialCheckpoint(
        "openai-community/gpt2",
        "607a30d783dfa663caf39e06633721c8d4cfcd7e",
        {
            "config.json": Published(665, "0daed7749b4f02b8f76240d5444551d7b08712dab4d0adb8239c56ba823bb7b4"),
            "tokenizer.json": Published(1_355_256, "8414cab924d8b9b33013f0d221c5862f365ee9be39c5c2bfae8a5a9e970478a6"),
            "model.safetensors": Published(
                548_105_171, "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707"
            ),
        },
        chats=False,
        licence="MIT (modified)",
    ),
}
"""By the names that ``kuiper fetch`` and ``--model`` take."""
