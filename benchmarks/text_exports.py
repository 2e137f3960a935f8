"""The decoder that is timed as onnxruntime-genai and openvino read it; both start from the checkpoint's own folder.

Each writes its 8 and 4 bits by its own tool: onnxruntime-genai's model builder makes blocks of 32 with a scale each,
openvino's nncf a scale for each row of 8 bits and for each 32 numbers of 4 bits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.errors import BenchmarkError

if TYPE_CHECKING:
    from benchmarks.text_files import TextFiles

_ONNX_PRECISIONS = {32: "fp32", 8: "int8", 4: "int4"}


def write_onnx(files: TextFiles, bits: int) -> None:
    """The folder that onnxruntime-genai reads, written by its model builder.

    Token table and last product share their weights, as they do in the checkpoint, and of a prompt only the scores
    behind the last token are computed.

    Raises
    ------
    BenchmarkError
        If the builder fails; its last word is the hint.
    """
    with TemporaryDirectory() as folder:
        checkpoint = Path(folder, "checkpoint")
        checkpoint.mkdir()
        for path in (files.weights, files.folder / "config.json"):
            (checkpoint / path.name).symlink_to(path.resolve())
        write_tokenizer(checkpoint, files.config["vocab_size"])
        command = [
            sys.executable, "-m", "onnxruntime_genai.models.builder", "--input", str(checkpoint),
            "--output", str(files.onnx(bits)), "--precision", _ONNX_PRECISIONS[bits], "--execution_provider", "cpu",
            "--cache_dir", str(Path(folder, "cache")),
            "--extra_options", "shared_embeddings=true", "prune_lm_head=true", "block_size=32",
        ]  # fmt: skip
        offline = os.environ | {"HF_HUB_OFFLINE": "1"}
        done = subprocess.run(command, env=offline, capture_output=True, text=True, check=False)
    if done.returncode:
        last_words = "".join(done.stderr.strip().splitlines()[-1:])[:200]
        raise BenchmarkError("onnxruntime_genai.models.builder", "a model", f"exit code {done.returncode}", last_words)


def write_tokenizer(folder: Path, vocabulary: int) -> None:
    """A vocabulary of numbers, which the model builder wants to copy; nothing is ever encoded with it."""
    from tokenizers import Tokenizer, models

    words = {str(token): token for token in range(vocabulary)}
    Tokenizer(models.WordLevel(words, unk_token="0")).save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")


def write_openvino(files: TextFiles, model: Any, bits: int) -> None:
    """The folder that openvino and openvino-genai read, converted from ``model``, transformers' Llama in torch.

    Keys and values are the model's state: each is read, chosen by ``beam_idx``, continued, and written back. openvino
    recognises this pattern, and then keeps them in place.
    """
    import openvino
    from openvino._offline_transformations import apply_make_stateful_transformation

    converted = openvino.convert_model(traceable(model), example_input=example(model))
    layers = model.config.num_hidden_layers
    heads, width = model.config.num_key_value_heads, model.config.head_dim
    names = [f"{kind}.{layer}" for layer in range(layers) for kind in ("key", "value")]
    tokens, mask, positions, *past = converted.inputs
    for name, source in (("input_ids", tokens), ("attention_mask", mask), ("position_ids", positions)):
        source.get_tensor().set_names({name})
        source.get_node().set_partial_shape(openvino.PartialShape([-1, -1]))
    converted.outputs[0].get_tensor().set_names({"logits"})
    for name, source, target in zip(names, past, converted.outputs[1:], strict=True):
        source.get_node().set_partial_shape(openvino.PartialShape([-1, heads, -1, width]))
        source.get_node().set_element_type(openvino.Type.f32)
        source.get_tensor().set_names({f"past.{name}"})
        target.get_tensor().set_names({f"present.{name}"})
    choose_past(converted, past)
    converted.validate_nodes_and_infer_types()
    apply_make_stateful_transformation(converted, {f"past.{name}": f"present.{name}" for name in names})
    begin_empty(converted)
    if bits < 32:
        converted = compressed(converted, bits)
    folder = files.openvino(bits)
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(files.config), encoding="utf-8")
    openvino.save_model(converted, folder / "openvino_model.xml", compress_to_fp16=False)


def choose_past(converted: Any, past: list[Any]) -> None:
    """Put a gather by a new input ``beam_idx`` behind each input of keys or values."""
    import openvino
    from openvino import opset13

    beams = opset13.parameter(openvino.PartialShape([-1]), openvino.Type.i32, name="beam_idx")
    beams.output(0).get_tensor().set_names({"beam_idx"})
    converted.add_parameters([beams])
    for source in past:
        readers = source.get_target_inputs()
        chosen = opset13.gather(source.get_node(), beams, opset13.constant(0))
        for reader in readers:
            reader.replace_source_output(chosen.output(0))


def begin_empty(converted: Any) -> None:
    """Say what the state is before anything was read: as many texts as ``input_ids`` has, without a token."""
    import numpy as np
    from openvino import opset13

    axis = opset13.constant(0)
    texts = opset13.gather(
        opset13.shape_of(converted.input("input_ids"), output_type="i64"), opset13.constant([0]), axis
    )
    for state in converted.get_ops():
        if state.get_type_name() == "ReadValue":
            _, heads, _, width = state.get_output_partial_shape(0)
            rest = [opset13.constant(np.array([size])) for size in (heads.get_length(), 0, width.get_length())]
            zero = opset13.constant(0.0, dtype=state.get_output_element_type(0))
            state.set_arguments([opset13.broadcast(zero, opset13.concat([texts, *rest], axis=0))])
    converted.validate_nodes_and_infer_types()


def compressed(converted: Any, bits: int) -> Any:
    """The model with all its weights in 8 or 4 bits."""
    import nncf

    if bits == 8:
        return nncf.compress_weights(converted, mode=nncf.CompressWeightsMode.INT8_SYM)
    mode = nncf.CompressWeightsMode.INT4_SYM
    return nncf.compress_weights(converted, mode=mode, ratio=1.0, group_size=32, all_layers=True)


def traceable(model: Any) -> Any:
    """A module from tokens, mask, positions, and each layer's keys and values, to scores and their continuations."""
    import torch
    from transformers import DynamicCache

    class Traceable(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, position_ids: Any, *past: Any) -> tuple[Any, ...]:
            cache = DynamicCache(config=model.config)
            for layer, keys, values in zip(cache.layers, past[::2], past[1::2], strict=True):
                layer.lazy_initialization(keys, values)
                layer.keys, layer.values = keys, values  # update() would join them to an empty tensor without axes
            everything = torch.arange(past[0].shape[2] + input_ids.shape[1])
            mask = (everything <= position_ids[:, None, :, None]) & (attention_mask[:, None, None] > 0)
            found = self.model(
                input_ids=input_ids, position_ids=position_ids, attention_mask=mask, past_key_values=cache,
                use_cache=True, logits_to_keep=1,
            )  # fmt: skip
            pairs = [(layer.keys, layer.values) for layer in cache.layers]
            return (found.logits, *(tensor for pair in pairs for tensor in pair))

    return Traceable().eval()


def example(model: Any) -> tuple[Any, ...]:
    """Inputs of ``traceable``: two tokens behind three others."""
    import torch

    sizes = (1, model.config.num_key_value_heads, 3, model.config.head_dim)
    past = [torch.zeros(sizes) for _ in range(2 * model.config.num_hidden_layers)]
    return (torch.tensor([[1, 2]]), torch.ones(1, 5, dtype=torch.long), torch.tensor([[3, 4]]), *past)
