"""How each runtime is set up: whether the comparison is fair can be judged on this one page.

Every peer gets the same input, a contiguous NumPy array: float32 images (n, c, h, w), or int64 token ids (n, tokens).
It must have its answer ready as an array in torch's axis order when ``run`` returns. All compute in float32, with
``threads`` threads and one request at a time.

Where kuiper is built for AVX2 and the CPU has AVX-512, the others are kept to AVX2 too: torch by its own switches,
those that have none by what they are told about the CPU (``avx2_packages``).

A runtime is imported in ``__init__``: before that nothing of it is in memory, which is what the memory table needs.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from benchmarks.model_files import ModelFiles


class Peer:
    """A runtime, set up for one model; ``package`` is the name that it is installed and imported by."""

    package: ClassVar[str]
    avx2_environment: ClassVar[dict[str, str]] = {}
    """Environment variables that keep the runtime to AVX2; a runtime without such is run from a copy that asks us."""

    def __init__(self, threads: int) -> None:
        """Import the runtime and tell it how many threads it may use."""
        self.threads = threads

    @classmethod
    def avx2_limit(cls) -> str:
        """What keeps the runtime to AVX2, in a few words.

        >>> TorchEager.avx2_limit()
        'kept to AVX2 by ONEDNN_MAX_CPU_ISA, ATEN_CPU_CAPABILITY and MKL_ENABLE_INSTRUCTIONS'
        """
        if not cls.avx2_environment:
            return "a copy that is told that the CPU has AVX2 alone"
        *others, last = cls.avx2_environment
        return f"kept to AVX2 by {', '.join(others)} and {last}"

    def load(self, files: ModelFiles) -> None:
        """From the files to ready to run."""
        raise NotImplementedError

    def run(self, x: np.ndarray) -> np.ndarray:
        """The model's output for ``x``."""
        raise NotImplementedError


class Kuiper(Peer):
    """This engine, as ``kuiper.load`` sets it up."""

    package = "kuiper"

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import kuiper.engine.engine  # which kuiper itself puts off; the others import all at once
        import kuiper.onnx.source

        kuiper.set_num_threads(threads)
        self.load_model = kuiper.load

    def load(self, files: ModelFiles) -> None:
        self.model = self.load_model(files.param)

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.model(x))


class OnnxRuntime(Peer):
    """onnxruntime's CPU provider with all graph optimisations."""

    package = "onnxruntime"

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import onnxruntime

        self.runtime = onnxruntime

    def load(self, files: ModelFiles) -> None:
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = self.runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = self.runtime.InferenceSession(files.onnx, options, providers=["CPUExecutionProvider"])
        self.input_name = self.session.get_inputs()[0].name

    def run(self, x: np.ndarray) -> np.ndarray:
        output: np.ndarray = self.session.run(None, {self.input_name: x})[0]
        return output


class OpenVino(Peer):
    """openvino's CPU plugin, set to latency; inputs and outputs are shared, not copied.

    Only its oneDNN would obey a variable; its copy of MLAS and what openvino generates itself would not.
    """

    package = "openvino"

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import openvino

        self.core = openvino.Core()

    def load(self, files: ModelFiles) -> None:
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": self.threads,
            "INFERENCE_PRECISION_HINT": "f32",
            "NUM_STREAMS": 1,
        }
        compiled = self.core.compile_model(files.onnx, "CPU", settings)
        self.output = compiled.output(0)
        self.request = compiled.create_infer_request()

    def run(self, x: np.ndarray) -> np.ndarray:
        output: np.ndarray = self.request.infer([x], share_inputs=True, share_outputs=True)[self.output]
        return output


class Ncnn(Peer):
    """ncnn in float32 (half precision off), otherwise with its defaults: Winograd, packed layouts, light mode.

    It has no batch axis: a batch is run image by image, as its users do.
    """

    package = "ncnn"

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import ncnn

        self.ncnn = ncnn

    def load(self, files: ModelFiles) -> None:
        self.net = self.ncnn.Net()
        self.net.opt.num_threads = self.threads
        self.net.opt.use_vulkan_compute = False
        self.net.opt.use_fp16_packed = False
        self.net.opt.use_fp16_storage = False
        self.net.opt.use_fp16_arithmetic = False
        if self.net.load_param(str(files.ncnn_param)) or self.net.load_model(str(files.ncnn_bin)):
            raise RuntimeError(f"ncnn cannot read {files.ncnn_param.name}")
        (self.input_name,), (self.output_name,) = self.net.input_names(), self.net.output_names()

    def run(self, x: np.ndarray) -> np.ndarray:
        images = [self.run_image(image) for image in x]
        return images[0][None] if len(images) == 1 else np.stack(images)

    def run_image(self, image: np.ndarray) -> np.ndarray:
        """The output, without a batch axis, for one image (c, h, w) or for ids, which ncnn wants in 32 bits."""
        extractor = self.net.create_extractor()
        extractor.input(self.input_name, self.ncnn.Mat(image if image.dtype == np.float32 else image.astype(np.int32)))
        code, output = extractor.extract(self.output_name)
        if code:
            raise RuntimeError(f"ncnn answered with code {code}")
        return np.asarray(output)


class Torch(Peer):
    """What both ways to run torch share."""

    package = "torch"
    avx2_environment: ClassVar = {
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    }

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        warnings.simplefilter("ignore")  # TorchScript is deprecated, but nothing faster ships for a single call
        import torch

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.torch = torch
        self.model: Any = None

    def run(self, x: np.ndarray) -> np.ndarray:
        with self.torch.inference_mode():
            output: np.ndarray = self.model(self.torch.from_numpy(x)).numpy()
        return output


class TorchFrozen(Torch):
    """TorchScript, frozen, then ``optimize_for_inference``: folded batch normalisations, oneDNN layouts."""

    def load(self, files: ModelFiles) -> None:
        model = self.torch.jit.load(str(files.traced)).eval()
        self.model = self.torch.jit.optimize_for_inference(self.torch.jit.freeze(model))


class TorchEager(Torch):
    """The Python module itself, eager, with weights and images in the channels-last memory format."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        from benchmarks.networks import create

        self.create = create

    def load(self, files: ModelFiles) -> None:
        model = self.create(files.name)
        model.load_state_dict(self.torch.load(files.state, weights_only=True))
        self.model = model.to(memory_format=self.torch.channels_last)

    def run(self, x: np.ndarray) -> np.ndarray:
        with self.torch.inference_mode():
            tensor = self.torch.from_numpy(x)
            if tensor.ndim == 4:
                tensor = tensor.contiguous(memory_format=self.torch.channels_last)
            output: np.ndarray = self.model(tensor).contiguous().numpy()
        return output


OURS = "kuiper"
PEERS: dict[str, type[Peer]] = {
    OURS: Kuiper,
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVino,
    "ncnn": Ncnn,
    "torch-frozen": TorchFrozen,
    "torch-eager": TorchEager,
}
"""All peers by the names that tables and ``--peers`` use."""
