"""Time recurrent networks, sampling and the decoding of detections through kuiper, PyTorch and onnxruntime.

The modules are exported with pnnx and to ONNX. Each runtime has a process of its own and they take turns; every output
is compared with that of PyTorch before it is timed.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.errors import BenchmarkError
from benchmarks.tables import count
from kuiper.graph.report import Column, Report

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    Arrays = tuple[np.ndarray, ...]

TOLERANCE = 1e-4
"""An output that differs from torch's by more, relative to the largest number of it, is wrong."""

TURNS = 3
SETTLE = 0.1  # seconds until the threads of the runtime before are asleep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="", metavar="TEXT", help="operators with this text in their name")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.3, metavar="S", help="of each turn (default: %(default)s)")


def execute(arguments: argparse.Namespace) -> int:
    if arguments.threads < 1:
        raise BenchmarkError("--threads", "a number above 0", arguments.threads)
    from benchmarks.operator_modules import CASES

    names = [case.name for case in CASES if arguments.only in case.name]
    if not names:
        raise BenchmarkError("--only", "a text in the name of an operator", repr(arguments.only))
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        peers = {
            peer: stack.enter_context(ProcessPoolExecutor(1, get_context("spawn"))) for peer in (*STARTERS, "torch")
        }
        for name in names:
            files = Path(folder, str(len(rows)))
            peers["torch"].submit(write_files, name, files).result()
            times: dict[str, list[float]] = {peer: [] for peer in STARTERS}
            for _ in range(TURNS):
                for peer, own in times.items():
                    own += peers[peer].submit(timed, peer, name, files, arguments.threads, arguments.seconds).result()
            rows.append(row(name, {peer: statistics.median(own) for peer, own in times.items()}))
    title = f"Operators with {count(arguments.threads, 'thread')}: median milliseconds"
    columns = [
        Column("operator"),
        *(Column(peer, numeric=True) for peer in STARTERS),
        Column("ours / torch", numeric=True),
    ]
    columns.append(Column("ours / fastest", numeric=True))
    print(Report(title, columns, rows, "Batch 1 unless the name says another; torch is the module itself, eager."))
    return 0


def row(name: str, medians: dict[str, float]) -> tuple[str, ...]:
    """The cells of an operator, from the seconds that each runtime takes."""
    ours, *others = medians.values()
    return (
        name,
        *(f"{seconds * 1e3:.3f}" for seconds in medians.values()),
        f"{ours / medians['torch']:.2f}",
        f"{ours / min(others):.2f}",
    )


def write_files(name: str, folder: Path) -> None:
    """The module for kuiper and for onnxruntime, and torch's answer."""
    import torch

    from benchmarks.operator_modules import built
    from kuiper.models.conversion import export

    folder.mkdir()
    module, inputs = built(name)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracers: that sizes become constants is known here
        outputs = module(*inputs)
        export(module, inputs, folder / "model")
        torch.onnx.export(module, inputs, str(folder / "model.onnx"), dynamo=False)
    arrays = outputs if isinstance(outputs, tuple) else (outputs,)
    np.savez(folder / "inputs.npz", *(x.numpy() for x in inputs))
    np.savez(folder / "outputs.npz", *(y.numpy() for y in arrays))


def timed(peer: str, name: str, folder: Path, threads: int, seconds: float) -> list[float]:
    """Start a runtime on the files, compare its answer with torch's, and run it for so long: seconds of each run.

    Raises
    ------
    BenchmarkError
        If its outputs are not those of torch.
    """
    inputs, expected = (stored(folder / f"{kind}.npz") for kind in ("inputs", "outputs"))
    run = STARTERS[peer](name, folder, threads)
    for output, wanted in zip(run(inputs), expected, strict=True):
        largest = float(np.abs(wanted).max()) or 1.0
        if output.shape != wanted.shape or not np.abs(output - wanted).max() <= TOLERANCE * largest:
            raise BenchmarkError(f"{peer} on {name}", "the outputs of torch", f"others, {output.shape}")
    sleep(SETTLE)
    for _ in range(3):
        run(inputs)
    times: list[float] = []
    end = perf_counter() + seconds
    gc.disable()
    while perf_counter() < end:
        started = perf_counter()
        run(inputs)
        times.append(perf_counter() - started)
    gc.enable()
    return times


def stored(path: Path) -> Arrays:
    with np.load(path) as arrays:
        return tuple(arrays.values())


def start_kuiper(name: str, folder: Path, threads: int) -> Callable[[Arrays], Sequence[np.ndarray]]:
    """This engine, as ``kuiper.load`` sets it up."""
    import kuiper

    kuiper.set_num_threads(threads)
    model = kuiper.load(folder / "model.pnnx.param")

    def run(inputs: Arrays) -> Sequence[np.ndarray]:
        outputs = model(*inputs)
        return [np.asarray(output) for output in (outputs if isinstance(outputs, tuple) else (outputs,))]

    return run


def start_torch(name: str, folder: Path, threads: int) -> Callable[[Arrays], Sequence[np.ndarray]]:
    """The Python module itself, eager."""
    import torch

    from benchmarks.operator_modules import built

    torch.set_num_threads(threads)
    module, _ = built(name)

    def run(inputs: Arrays) -> Sequence[np.ndarray]:
        with torch.inference_mode():
            outputs = module(*map(torch.from_numpy, inputs))
        return [output.numpy() for output in (outputs if isinstance(outputs, tuple) else (outputs,))]

    return run


def start_onnxruntime(name: str, folder: Path, threads: int) -> Callable[[Arrays], Sequence[np.ndarray]]:
    """onnxruntime's CPU provider with all graph optimisations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]

    def run(inputs: Arrays) -> Sequence[np.ndarray]:
        outputs: list[np.ndarray] = session.run(None, dict(zip(names, inputs, strict=True)))
        return outputs

    return run


STARTERS = {"kuiper": start_kuiper, "torch": start_torch, "onnxruntime": start_onnxruntime}
"""How each runtime is started: ours first."""
