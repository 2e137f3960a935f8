"""How each runtime writes text: whether the comparison is fair can be judged on this page and text_peer.py's.

8 and 4 bits mean the format that the runtime itself has for these, written from the same weights. One scale for each
32 numbers of both: kuiper, llama.cpp's Q8_0 and Q4_0, onnxruntime-genai. One for each row of 8 bits and for each 32
numbers of 4 bits: openvino, openvino-genai; of 8 bits: kuiper-rows. Inside these products, llama.cpp and
onnxruntime-genai round activations to 8 bits, as they do by default, and openvino's default lets it; kuiper does not.
"""

from __future__ import annotations

import json
import warnings
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmarks import peers
from benchmarks.text_peer import SteppingPeer, TextPeer

if TYPE_CHECKING:
    from benchmarks.text_files import TextFiles

OURS, OUR_ROWS = "kuiper", "kuiper-rows"
OUR_OWN = (OURS, OUR_ROWS)
"""Peers that are kuiper."""
ROOM = 512  # tokens that a peer's memory holds


class Kuiper(SteppingPeer):
    """This engine, as ``kuiper generate`` uses it: the prompt but its last token is read without an answer."""

    packages = ("kuiper",)
    bits: ClassVar[tuple[int, ...]] = (32, 8, 4)

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import kuiper.engine.engine  # which kuiper itself puts off; the others import all at once
        import kuiper.onnx.source

        kuiper.set_num_threads(threads)
        self.load_model = kuiper.load

    def load(self, files: TextFiles, bits: int) -> None:
        self.session = self.load_model(files.param(bits)).start(max_length=ROOM)

    def read(self, tokens: np.ndarray) -> np.ndarray:
        self.session.rewind(0)
        self.session.read(tokens[:-1])
        return self.step(int(tokens[-1]))

    def step(self, token: int) -> np.ndarray:
        scores: np.ndarray = np.asarray(self.session([token]))[0]
        return scores


class KuiperRows(Kuiper):
    """This engine with the other form of its 8 bits: a scale for each row."""

    bits = (8,)

    def load(self, files: TextFiles, bits: int) -> None:
        self.session = self.load_model(files.rows).start(max_length=ROOM)


class LlamaCpp(SteppingPeer):
    """llama.cpp by llama-cpp-python, built from source for this CPU; its keys and values are float16, its default."""

    packages = ("llama_cpp", "gguf")
    bits = (32, 8, 4)

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import llama_cpp

        self.runtime = llama_cpp

    def load(self, files: TextFiles, bits: int) -> None:
        self.model = self.runtime.Llama(
            str(files.gguf(bits)), n_ctx=ROOM, n_batch=ROOM, n_ubatch=ROOM, n_threads=self.threads,
            n_threads_batch=self.threads, verbose=False,
        )  # fmt: skip
        self.vocabulary = files.config["vocab_size"]

    def read(self, tokens: np.ndarray) -> np.ndarray:
        self.model.reset()
        return self.eval(tokens.tolist())

    def step(self, token: int) -> np.ndarray:
        return self.eval([token])

    def eval(self, tokens: list[int]) -> np.ndarray:
        """The scores behind these tokens."""
        self.model.eval(tokens)
        scores = np.ctypeslib.as_array(self.model._ctx.get_logits(), shape=(self.vocabulary,))
        copied: np.ndarray = scores.copy()
        return copied


class Torch(SteppingPeer):
    """transformers' Llama in torch, float32, eager, with its cache of keys and values."""

    packages = ("torch", "transformers")
    bits = (32,)
    avx2_environment: ClassVar = peers.Torch.avx2_environment

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        warnings.simplefilter("ignore")
        import torch
        import transformers

        torch.set_num_threads(threads)
        self.torch, self.transformers = torch, transformers
        self.model: Any = None
        self.cache: Any = None

    def load(self, files: TextFiles, bits: int) -> None:
        from safetensors.torch import load_file

        config = self.transformers.LlamaConfig(**files.config)
        self.model = self.transformers.LlamaForCausalLM(config).eval()
        self.model.load_state_dict(load_file(files.weights), strict=False)
        self.model.tie_weights()

    def read(self, tokens: np.ndarray) -> np.ndarray:
        self.cache = self.transformers.DynamicCache()
        return self.run(tokens.astype(np.int64))

    def step(self, token: int) -> np.ndarray:
        return self.run(np.array([token]))

    def run(self, tokens: np.ndarray) -> np.ndarray:
        """The scores behind these tokens."""
        ids = self.torch.from_numpy(tokens)[None]
        with self.torch.inference_mode():
            found = self.model(input_ids=ids, past_key_values=self.cache, use_cache=True, logits_to_keep=1)
        scores: np.ndarray = found.logits[0, -1].numpy()
        return scores


class OnnxRuntimeGenai(SteppingPeer):
    """onnxruntime-genai on the CPU provider, its model from its own builder; keys and values are float32.

    Threads are set over what the builder wrote. A generator is made anew for each text, as the runtime is used.
    """

    packages = ("onnxruntime_genai", "onnxruntime", "onnx_ir", "tokenizers")
    bits = (32, 8, 4)
    asking = ("onnxruntime", "onnxruntime_genai")

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import onnxruntime_genai

        self.runtime = onnxruntime_genai
        self.generator: Any = None

    def load(self, files: TextFiles, bits: int) -> None:
        config = self.runtime.Config(str(files.onnx(bits)))
        options = {"intra_op_num_threads": self.threads, "inter_op_num_threads": 1}
        config.overlay(json.dumps({"model": {"decoder": {"session_options": options}}}))
        self.model = self.runtime.Model(config)
        self.parameters = self.runtime.GeneratorParams(self.model)
        self.parameters.set_search_options(max_length=ROOM, do_sample=False)

    def read(self, tokens: np.ndarray) -> np.ndarray:
        self.generator = self.runtime.Generator(self.model, self.parameters)
        return self.append(tokens.astype(np.int32))

    def step(self, token: int) -> np.ndarray:
        return self.append(np.array([token], np.int32))

    def append(self, tokens: np.ndarray) -> np.ndarray:
        """The scores behind these tokens."""
        self.generator.append_tokens(tokens)
        scores: np.ndarray = np.array(self.generator.get_logits()[0, -1], np.float32)
        return scores


class OpenVino(SteppingPeer):
    """openvino's CPU plugin on a model with state, set to latency; keys, values and activations are float32."""

    packages = ("openvino", "nncf", "torch", "transformers")
    bits = (32, 8, 4)
    asking = ("openvino",)

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import openvino

        self.core = openvino.Core()
        self.length = 0

    def load(self, files: TextFiles, bits: int) -> None:
        compiled = self.core.compile_model(
            files.openvino(bits) / "openvino_model.xml", "CPU", settings_of(self.threads)
        )
        self.output = compiled.output(0)
        self.request = compiled.create_infer_request()

    def read(self, tokens: np.ndarray) -> np.ndarray:
        self.request.reset_state()
        self.length = 0
        return self.infer(tokens.astype(np.int64))

    def step(self, token: int) -> np.ndarray:
        return self.infer(np.array([token]))

    def infer(self, tokens: np.ndarray) -> np.ndarray:
        """The scores behind these tokens."""
        before, self.length = self.length, self.length + len(tokens)
        inputs = {
            "input_ids": tokens[None],
            "attention_mask": np.ones((1, self.length), np.int64),
            "position_ids": np.arange(before, self.length)[None],
            "beam_idx": np.zeros(1, np.int32),
        }
        scores: np.ndarray = self.request.infer(inputs, share_inputs=True)[self.output][0, -1]
        return scores


class OpenVinoGenai(TextPeer):
    """openvino-genai's pipeline on the same file as openvino, with its defaults (paged attention) but for two.

    Keys and values are float32, and a prompt that was read before is read again. Tokens are timed as its streamer hands
    them out.
    """

    packages = ("openvino_genai", "openvino", "nncf", "torch", "transformers")
    bits = (32, 8, 4)
    asking = ("openvino", "openvino_genai", "openvino_tokenizers")

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import openvino
        import openvino_genai

        self.runtime, self.tensor = openvino_genai, openvino.Tensor
        self.pipeline: Any = None

    def load(self, files: TextFiles, bits: int) -> None:
        scheduler = self.runtime.SchedulerConfig()
        scheduler.enable_prefix_caching = False
        self.pipeline = self.runtime.LLMPipeline(
            str(files.openvino(bits)), "CPU", scheduler_config=scheduler, **settings_of(self.threads)
        )

    def scores(self, tokens: np.ndarray) -> np.ndarray | None:
        self.write(tokens, 1)
        return None

    def greedy(self, tokens: np.ndarray, count: int) -> list[int]:
        return [token for token, _ in self.write(tokens, count)]

    def time_prompt(self, tokens: np.ndarray) -> float:
        started = perf_counter()
        ((_, ended),) = self.write(tokens, 1)
        return (ended - started) * 1e3

    def time_steps(self, tokens: np.ndarray, count: int) -> list[float]:
        times = [when for _, when in self.write(tokens[:-count], count + 1)]
        return [(after - before) * 1e3 for before, after in pairwise(times)]

    def write(self, tokens: np.ndarray, count: int) -> list[tuple[int, float]]:
        """The next tokens, and when each of them came."""
        runtime = self.runtime
        written: list[tuple[int, float]] = []

        class Streamer(runtime.StreamerBase):  # type: ignore[misc, name-defined]
            def write(self, tokens: list[int]) -> Any:
                now = perf_counter()
                written.extend((token, now) for token in tokens)
                return runtime.StreamingStatus.RUNNING

            def end(self) -> None:
                pass

        choice = runtime.GenerationConfig(max_new_tokens=count, ignore_eos=True, eos_token_id=0)
        self.pipeline.generate(self.tensor(tokens[None].astype(np.int64)), choice, Streamer())
        return written


def settings_of(threads: int) -> dict[str, Any]:
    """Of openvino's CPU plugin."""
    return {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "KV_CACHE_PRECISION": "f32",
        "NUM_STREAMS": 1,
    }


SCALES = {OUR_ROWS: "row", "openvino": "row", "openvino-genai": "row"}
"""What has a scale in a peer's 8 bits, where that is not each 32 numbers."""

PEERS: dict[str, type[TextPeer]] = {
    OURS: Kuiper,
    OUR_ROWS: KuiperRows,
    "llama.cpp": LlamaCpp,
    "onnxruntime-genai": OnnxRuntimeGenai,
    "openvino": OpenVino,
    "openvino-genai": OpenVinoGenai,
    "torch": Torch,
}
