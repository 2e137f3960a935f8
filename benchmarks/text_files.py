"""The decoder that is timed, written once for every runtime into a cache: the same seeded weights for all.

    random weights --> model.safetensors, config.json         transformers + torch, float32
          |
          +----------> 32, 8, 4, 8-rows.pnnx.param, .bin      kuiper: a scale for 32 numbers; 8-rows: one for each row
          +----------> 32, 8, 4.gguf                          llama.cpp: F32, Q8_0 and Q4_0, quantised by its own rules
          +----------> 32, 8, 4.onnx/                         onnxruntime-genai: written by its model builder
          +----------> 32, 8, 4.openvino/                     openvino, -genai: converted from torch, compressed by nncf

Torch's own answer in float32 is stored beside them: every peer is held to it, at 8 and 4 bits as closely as these can.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.kept_files import keep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kuiper.models.text.decoder_config import DecoderConfig

SEED = 0
BITS = (32, 8, 4)
SMOLLM2_135M: dict[str, Any] = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 49152, "hidden_size": 576,
    "intermediate_size": 1536, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
    "head_dim": 64, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 100000.0, "hidden_act": "silu",
    "tie_word_embeddings": True, "attention_bias": False, "mlp_bias": False,
}  # fmt: skip
"""SmolLM2-135M's config.json, but for 2048 positions."""

PROMPT, CONTEXT, STEPS = 256, 64, 64
"""Tokens of the prompt that is timed; those read before the steps that are timed; how many steps."""

GREEDY = 16
"""How many tokens are written greedily, to see whether a peer writes what torch does."""

WRITERS = ("gguf", "transformers", "torch", "onnxruntime_genai", "openvino", "nncf")
"""The packages that write files or answers, or without which none are written."""

_GGUF_KINDS = {32: "F32", 8: "Q8_0", 4: "Q4_0"}
_GGUF_NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


@dataclass(frozen=True)
class TextFiles:
    """A folder with one decoder in the format of every peer."""

    folder: Path

    @property
    def config(self) -> dict[str, Any]:
        """Its sizes, as Hugging Face's config.json has them."""
        found: dict[str, Any] = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        return found

    @property
    def weights(self) -> Path:
        """In float32, by the names of Hugging Face's checkpoints."""
        return self.folder / "model.safetensors"

    def param(self, bits: int) -> Path:
        """For kuiper, with a scale for 32 numbers as llama.cpp has it; the weights lie beside it."""
        return self.folder / f"{bits}.pnnx.param"

    @property
    def rows(self) -> Path:
        """For kuiper: 8 bits with a scale for each row, as openvino has it."""
        return self.folder / "8-rows.pnnx.param"

    def gguf(self, bits: int) -> Path:
        """For llama.cpp."""
        return self.folder / f"{bits}.gguf"

    def onnx(self, bits: int) -> Path:
        """For onnxruntime-genai; a folder."""
        return self.folder / f"{bits}.onnx"

    def openvino(self, bits: int) -> Path:
        """For openvino and openvino-genai; a folder."""
        return self.folder / f"{bits}.openvino"

    @property
    def arrays(self) -> Path:
        """``tokens`` (PROMPT,), torch's ``logits`` (vocabulary,) behind them, and its next ``greedy`` (GREEDY,)."""
        return self.folder / "arrays.npz"

    @property
    def origin(self) -> Path:
        """JSON: what the files were made from. Written last, so where it is, the others are complete."""
        return self.folder / "origin.json"


def prepare(cache: Path, config: Mapping[str, Any] = SMOLLM2_135M) -> TextFiles:
    """The files of a decoder of these sizes, written unless the cache has them.

    A peer's files are left out where what writes them is missing, torch's answer where transformers is.
    """
    import kuiper.models.text.random_decoder as drawing
    from benchmarks import text_exports

    writers = [name for name in WRITERS if find_spec(name)]
    decoders = Path(drawing.__file__).parent.glob("decoder_*.py")
    sources = [Path(__file__), Path(text_exports.__file__), Path(drawing.__file__), *sorted(decoders)]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    origin = {"seed": SEED, "config": config, "sources": digest, **{name: version(name) for name in writers}}
    key = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:8]
    files = TextFiles(cache / "text" / key)
    keep(files.origin, origin, lambda: write_files(files, config, writers))
    return files


def write_files(files: TextFiles, config: Mapping[str, Any], writers: list[str]) -> None:
    """Draw the weights and write them in each format."""
    from safetensors.numpy import save_file

    from benchmarks.text_exports import write_onnx, write_openvino
    from kuiper.graph import pnnx
    from kuiper.graph.quantized_weight import GROUP
    from kuiper.models.quantization import quantize_graph
    from kuiper.models.text.decoder_config import read_config
    from kuiper.models.text.decoder_graph import decoder_graph
    from kuiper.models.text.random_decoder import random_weights

    (files.folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    sizes = read_config(config)
    weights = random_weights(sizes, SEED)
    save_file(weights, files.weights)
    for bits in BITS:
        graph = decoder_graph(sizes, weights)
        if bits < 32:
            quantize_graph(graph, bits, GROUP)
        pnnx.save(graph, files.param(bits))
        if "gguf" in writers:
            write_gguf(files.gguf(bits), sizes, weights, bits, float(config["rope_theta"]))
    graph = decoder_graph(sizes, weights)
    quantize_graph(graph, 8)
    pnnx.save(graph, files.rows)
    tokens = np.random.default_rng(SEED).integers(0, sizes.vocabulary, PROMPT)
    found: dict[str, Any] = {"tokens": tokens}
    if {"torch", "transformers", "onnxruntime_genai"} <= set(writers):
        for bits in BITS:
            write_onnx(files, bits)
    if {"torch", "transformers"} <= set(writers):
        from benchmarks.text_peers import Torch

        peer = Torch(threads=1)
        peer.load(files, bits=32)
        found["logits"] = peer.read(tokens)
        found["greedy"] = np.array(peer.greedy(tokens, GREEDY))
        if {"openvino", "nncf"} <= set(writers):
            for bits in BITS:
                write_openvino(files, peer.model, bits)
    np.savez(files.arrays, **found)


def write_gguf(
    path: Path, sizes: DecoderConfig, weights: Mapping[str, np.ndarray], bits: int, rotary_base: float
) -> None:
    """The decoder as llama.cpp reads it, without a vocabulary; norms stay float32.

    llama.cpp turns neighbouring numbers of a head against each other, Hugging Face's checkpoints those that lie half a
    head apart: the rows of queries and keys are reordered, as llama.cpp's own converter does.
    """
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import quantize

    kind = GGMLQuantizationType[_GGUF_KINDS[bits]]
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(sizes.positions)
    writer.add_embedding_length(sizes.width)
    writer.add_block_count(sizes.layers)
    writer.add_feed_forward_length(sizes.inner)
    writer.add_head_count(sizes.heads)
    writer.add_head_count_kv(sizes.groups)
    writer.add_key_length(sizes.head_width)
    writer.add_value_length(sizes.head_width)
    writer.add_layer_norm_rms_eps(sizes.eps)
    writer.add_rope_freq_base(rotary_base)
    writer.add_rope_dimension_count(sizes.head_width)
    writer.add_vocab_size(sizes.vocabulary)
    writer.add_tokenizer_model("no_vocab")
    for name, data in weights.items():
        heads = {"q_proj": sizes.heads, "k_proj": sizes.groups}.get(name.split(".")[-2])
        if heads:
            halves = data.reshape(heads, 2, sizes.head_width // 2, -1)
            data = np.ascontiguousarray(halves.swapaxes(1, 2).reshape(data.shape))
        if data.ndim == 1 or bits == 32:
            writer.add_tensor(gguf_name(name), data)
        else:
            writer.add_tensor(gguf_name(name), quantize(data, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_name(name: str) -> str:
    """What llama.cpp calls a weight.

    >>> gguf_name("model.layers.3.self_attn.q_proj.weight")
    'blk.3.attn_q.weight'
    >>> gguf_name("model.norm.weight")
    'output_norm.weight'
    """
    plain = name.removesuffix(".weight")
    if plain in _GGUF_NAMES:
        return f"{_GGUF_NAMES[plain]}.weight"
    _, _, layer, rest = plain.split(".", 3)
    return f"blk.{layer}.{_GGUF_NAMES[rest]}.weight"
