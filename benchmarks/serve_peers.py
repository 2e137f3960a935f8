"""How each runtime serves many readers: whether the comparison is fair can be judged on this page and text_peers.py's.

Each is given requests while it works, and is asked for one step after the other; all tokens are the likeliest ones, and
no token ends an answer. Weights are those of ``python -m benchmarks text``. Each may keep CACHE_GB of keys and values,
enough for all readers, and finds common beginnings again. Tokens of a step are each runtime's own choice.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmarks.text_peers import OURS, LlamaCpp, Torch, settings_of

if TYPE_CHECKING:
    from benchmarks.text_files import TextFiles

CACHE_GB = 4
LONGEST = 1024
"""Tokens of a text at most."""
UNIFIED = False
"""Whether llama.cpp's sequences share one buffer; attention over one buffer each is faster."""


class ServePeer:
    """A runtime with one decoder; ``packages`` are what it imports, ``bits`` the weights that it can have."""

    packages: ClassVar[tuple[str, ...]]
    bits: ClassVar[tuple[int, ...]] = (32, 8, 4)

    def __init__(self, threads: int) -> None:
        """Import the runtime and tell it how many threads it may use."""
        self.threads = threads

    def load(self, files: TextFiles, bits: int, readers: int) -> None:
        """From the files to ready for so many requests at once."""
        raise NotImplementedError

    def add(self, number: int, prompt: list[int], tokens: int) -> None:
        """One more request, by a number of its own, for so many tokens."""
        raise NotImplementedError

    def step(self) -> list[tuple[int, int]]:
        """Go on for a while: tokens that came, in order, each with the number of its request."""
        raise NotImplementedError

    @property
    def found(self) -> int | None:
        """How many tokens of prompts were found in memory, if the runtime tells."""
        return None


class Kuiper(ServePeer):
    """This engine, as ``kuiper serve`` uses it, without HTTP."""

    packages = ("kuiper",)

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import kuiper
        from kuiper import serving
        from kuiper.models.text.sampling import Sampler

        kuiper.set_num_threads(threads)
        self.load_model, self.serving, self.sampler = kuiper.load, serving, Sampler(temperature=0)
        self.numbers: dict[Any, int] = {}

    def load(self, files: TextFiles, bits: int, readers: int) -> None:
        memory = CACHE_GB << 30
        self.engine = self.serving.BatchEngine(self.load_model(files.param(bits)), memory=memory, max_length=LONGEST)

    def add(self, number: int, prompt: list[int], tokens: int) -> None:
        request = self.serving.Request(prompt, self.sampler, max_tokens=tokens)
        self.numbers[request] = number
        self.engine.submit(request)

    def step(self) -> list[tuple[int, int]]:
        came = []
        for request, tokens in self.engine.step():
            number = self.numbers.pop(request) if request.end else self.numbers[request]
            came += [(number, token) for token in tokens]
        return came

    @property
    def found(self) -> int | None:
        found: int = self.engine.found
        return found


class OpenVinoGenai(ServePeer):
    """openvino-genai's ContinuousBatchingPipeline with its defaults; keys, values and activations are float32."""

    packages = ("openvino_genai", "openvino", "nncf", "torch", "transformers")

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import openvino
        import openvino_genai

        self.runtime, self.tensor = openvino_genai, openvino.Tensor
        self.handles: dict[int, Any] = {}
        self.identities = count()

    def load(self, files: TextFiles, bits: int, readers: int) -> None:
        scheduler = self.runtime.SchedulerConfig()
        scheduler.cache_size = CACHE_GB
        scheduler.enable_prefix_caching = True
        folder = str(files.openvino(bits))
        settings = settings_of(self.threads)
        self.pipeline = self.runtime.ContinuousBatchingPipeline(folder, scheduler, "CPU", settings)

    def add(self, number: int, prompt: list[int], tokens: int) -> None:
        choice = self.runtime.GenerationConfig(max_new_tokens=tokens, ignore_eos=True, eos_token_id=0)
        data = self.tensor(np.array([prompt], np.int64))
        self.handles[number] = self.pipeline.add_request(next(self.identities), data, choice)

    def step(self) -> list[tuple[int, int]]:
        self.pipeline.step()
        came = []
        for number, handle in [*self.handles.items()]:
            while handle.can_read():
                came += [(number, token) for output in handle.read().values() for token in output.generated_ids]
            if handle.get_status() != self.runtime.GenerationStatus.RUNNING:
                del self.handles[number]
        return came


@dataclass
class Sequence:
    """A request on its way through llama.cpp: all of its tokens, and how many are still to come."""

    number: int
    tokens: list[int]
    left: int


class LlamaCppServer(ServePeer):
    """llama.cpp, built from source for this CPU, by its low-level interface, as its own server does it.

    llama-cpp-python's server answers one request at a time, and its wheel lacks llama.cpp's. So this loop does what the
    latter does: as many slots as there are readers; one token of each that writes, then prompts, in order, up to
    ``n_batch`` tokens; a request takes the free slot whose last text begins most like it, and keeps that beginning.
    Keys and values are float16, as by default.
    """

    packages = LlamaCpp.packages

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import llama_cpp

        self.runtime = llama_cpp
        self.running: dict[int, Sequence] = {}

    def load(self, files: TextFiles, bits: int, readers: int) -> None:
        runtime = self.runtime
        self.model = runtime.Llama(str(files.gguf(bits)), n_ctx=8, verbose=False)
        settings = runtime.llama_context_default_params()
        settings.n_ctx, settings.n_seq_max, settings.kv_unified = LONGEST * readers, readers, UNIFIED
        settings.n_threads = settings.n_threads_batch = self.threads
        self.context = runtime.llama_init_from_model(self.model.model, settings)
        self.memory = runtime.llama_get_memory(self.context)
        self.most = int(settings.n_batch)
        self.batch = runtime.llama_batch_init(self.most, 0, 1)
        self.vocabulary = files.config["vocab_size"]
        self.read: dict[int, list[int]] = {slot: [] for slot in range(readers)}  # the longest unused comes first

    def add(self, number: int, prompt: list[int], tokens: int) -> None:
        alike = {slot: same(read, prompt[:-1]) for slot, read in self.read.items() if slot not in self.running}
        slot = max(alike, key=lambda slot: alike[slot])
        self.runtime.llama_memory_seq_rm(self.memory, slot, alike[slot], -1)
        del self.read[slot]
        self.read[slot] = prompt[: alike[slot]]
        self.running[slot] = Sequence(number, list(prompt), tokens)

    def step(self) -> list[tuple[int, int]]:
        batch, size = self.batch, 0
        rows: dict[int, int] = {}
        for slot in sorted(self.running, key=lambda slot: len(self.running[slot].tokens) - len(self.read[slot]) > 1):
            tokens, read = self.running[slot].tokens, self.read[slot]
            for token in tokens[len(read) : len(read) + self.most - size]:
                batch.token[size], batch.pos[size], batch.n_seq_id[size] = token, len(read), 1
                batch.seq_id[size][0], batch.logits[size] = slot, len(read) == len(tokens) - 1
                read.append(token)
                size += 1
            if len(read) == len(tokens):
                rows[slot] = size - 1
        batch.n_tokens = size
        if self.runtime.llama_decode(self.context, batch):
            raise MemoryError(f"llama.cpp has no room for {size} more tokens")
        return [self.drawn(slot, row) for slot, row in rows.items()]

    def drawn(self, slot: int, row: int) -> tuple[int, int]:
        """The likeliest token behind a row of the batch, with the number of its request."""
        scores = np.ctypeslib.as_array(self.runtime.llama_get_logits_ith(self.context, row), (self.vocabulary,))
        sequence, token = self.running[slot], int(scores.argmax())
        sequence.tokens.append(token)
        sequence.left -= 1
        if not sequence.left:
            del self.running[slot]
        return sequence.number, token


class Transformers(ServePeer):
    """transformers' continuous batching in torch, float32, with attention by torch's own kernel.

    It works in a thread of its own, and tells of each token. What it does not guess on a CPU, how much it may keep and
    how many tokens a step may have, is set as openvino-genai has it by default.
    """

    packages = Torch.packages
    bits = (32,)

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        warnings.simplefilter("ignore")
        self.torch = Torch(threads)
        self.seen: dict[str, int] = {}
        self.left: dict[str, int] = {}
        self.identities = count()

    def load(self, files: TextFiles, bits: int, readers: int) -> None:
        from transformers import ContinuousBatchingConfig, GenerationConfig

        self.torch.load(files, bits)
        settings = ContinuousBatchingConfig(
            page_size=64, num_blocks=LONGEST // 64 * readers, max_batch_tokens=256, max_requests_per_batch=readers
        )
        choice = GenerationConfig(do_sample=False, eos_token_id=-1, max_new_tokens=LONGEST)
        self.manager = self.torch.model.init_continuous_batching(choice, continuous_batching_config=settings)
        self.manager.start()

    def add(self, number: int, prompt: list[int], tokens: int) -> None:
        name = f"{number} {next(self.identities)}"
        self.seen[name], self.left[name] = 0, tokens
        self.manager.add_request(prompt, name, max_new_tokens=tokens, streaming=True)

    def step(self) -> list[tuple[int, int]]:
        came = []
        found = self.manager.get_result(timeout=0.005)
        while found is not None:
            if found.error:
                raise RuntimeError(found.error)
            name = found.request_id
            tokens = found.generated_tokens[self.seen[name] :]
            self.seen[name] += len(tokens)
            came += [(int(name.split()[0]), token) for token in tokens]
            found = self.manager.get_result(timeout=0) if not self.manager.output_router.output_queue.empty() else None
        return came


def same(one: list[int], other: list[int]) -> int:
    """How many tokens at the beginning are alike.

    >>> same([3, 1, 4], [3, 1, 5, 9])
    2
    """
    most = min(len(one), len(other))
    return next((i for i in range(most) if one[i] != other[i]), most)


PEERS: dict[str, type[ServePeer]] = {
    OURS: Kuiper,
    "llama.cpp": LlamaCppServer,
    "openvino-genai": OpenVinoGenai,
    "transformers": Transformers,
}
