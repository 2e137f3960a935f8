"""What others compute from an ONNX file: onnxruntime where it is installed, else the package onnx itself.

Two right answers differ by rounding. How far, the oracle itself can tell: it answers once more with its own graph
optimisations off, for inputs that are moved by one unit in the last place, and in float64.
"""

from __future__ import annotations

import importlib.util
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kuiper.errors import ExportError
from kuiper.models.nested import flat
from kuiper.models.onnx.float64 import in_float64, widened
from kuiper.printable import first_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import onnx

    Feeds = Mapping[str, np.ndarray]

NEW_ENOUGH = 15
"""onnx's own implementation computes BatchNormalization of older operator sets as if it were trained."""


class Oracle:
    """The model in a file, run by others.

    Parameters
    ----------
    path : the file; weights in files beside it are found

    Raises
    ------
    ModuleNotFoundError
        If onnx is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.runtime = "onnxruntime" if has_onnxruntime() else "ONNX"
        self._sessions: dict[bool, Any] = {}

    def answers(self, feeds: Feeds, optimized: bool = True) -> list[np.ndarray]:
        """The outputs in order.

        Parameters
        ----------
        feeds : arrays by the names of the inputs
        optimized : whether onnxruntime may rewrite the graph

        Raises
        ------
        ExportError
            If the oracle cannot run the model on these inputs.
        """
        try:
            outputs = self._session(optimized).run(None, {name: np.asarray(array) for name, array in feeds.items()})
        except Exception as error:  # of many types, for what is wrong with a model or its inputs
            shapes = ", ".join(f"{name} {array.shape}" for name, array in feeds.items())
            expected = f"a run by {self.runtime} on {shapes or 'no inputs'}"
            hint = "--no-check converts without it" if self.runtime != "ONNX" else "pip install onnxruntime"
            raise ExportError(self.name, expected, first_line(error), hint) from error
        return [np.asarray(output) for output in flat(outputs)]

    def shaken_answers(self, feeds: Feeds) -> list[list[np.ndarray]]:
        """Other right answers: without optimisations, and for inputs one unit in the last place up and down.

        Where no input has floats, it is the weights that are moved. Nothing if the onnx package is the oracle, whose
        float64 says more.
        """
        if self.runtime == "ONNX":
            return []
        try:
            answers = [self.answers(feeds, optimized=False)]
            for towards in (np.inf, -np.inf):
                if any(array.dtype.kind == "f" for array in feeds.values()):
                    answers.append(self.answers({name: _moved(array, towards) for name, array in feeds.items()}))
                else:
                    session = _open(self._with_moved_weights(towards), self.runtime)
                    answers.append([np.asarray(output) for output in flat(session.run(None, dict(feeds)))])
        except Exception:  # of many types; what it cannot answer in other ways, it does not tell
            return []
        return answers

    def exact_answers(self, feeds: Feeds) -> list[np.ndarray]:
        """The outputs in float64 by the onnx package; nothing if that does not run the model so."""
        from onnx.reference import ReferenceEvaluator

        try:
            model = in_float64(self._model)
            outputs = ReferenceEvaluator(model).run(None, {name: widened(array) for name, array in feeds.items()})
        except Exception:  # of many types: not every operator is there, and not every one takes float64
            return []
        return [np.asarray(output) for output in flat(outputs)]

    def values(self, feeds: Feeds) -> tuple[onnx.GraphProto, dict[str, np.ndarray]]:
        """A graph without calls of functions, and what each of its nodes computes, by name; constants included."""
        import onnx
        from onnx import inliner, numpy_helper

        model = inliner.inline_local_functions(self._model) if self._model.functions else self._model
        talkative = onnx.ModelProto()
        talkative.CopyFrom(model)
        names = [name for node in talkative.graph.node for name in node.output if name]
        del talkative.graph.output[:]
        talkative.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        found = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        outputs = _open(talkative, self.runtime).run(None, dict(feeds))
        return model.graph, found | dict(feeds) | dict(zip(names, outputs, strict=True))

    @property
    def opsets(self) -> Sequence[Any]:
        """The operator sets of the file."""
        return list(self._model.opset_import)

    @cached_property
    def _model(self) -> onnx.ModelProto:
        """The file in memory, with an operator set that the onnx package computes rightly."""
        import onnx
        from onnx import version_converter

        model = onnx.load(self.path)
        versions = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
        if not versions or min(versions) >= NEW_ENOUGH:
            return model
        try:
            return version_converter.convert_version(model, NEW_ENOUGH)
        except Exception:  # of many types, for operators that have no way to a newer set
            return model

    def _with_moved_weights(self, towards: float) -> onnx.ModelProto:
        """The model with its weights one unit in the last place further."""
        import onnx
        from onnx import numpy_helper

        model = onnx.load(self.path)
        for tensor in model.graph.initializer:
            if tensor.data_type in (1, 10, 11):  # float, float16, double
                moved = _moved(numpy_helper.to_array(tensor), towards)
                tensor.CopyFrom(numpy_helper.from_array(np.asarray(moved), tensor.name))
        return model

    def _session(self, optimized: bool) -> Any:
        """What runs the model; made once."""
        if optimized not in self._sessions:
            source = str(self.path) if self.runtime != "ONNX" else self._model
            self._sessions[optimized] = _open(source, self.runtime, optimized)
        return self._sessions[optimized]


def has_onnxruntime() -> bool:
    """Whether onnxruntime is installed."""
    return importlib.util.find_spec("onnxruntime") is not None


def _open(source: str | onnx.ModelProto, runtime: str, optimized: bool = True) -> Any:
    """A session of a model, which has a method ``run``."""
    if runtime == "ONNX":
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(source)
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    data = source if isinstance(source, str) else source.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _moved(array: np.ndarray, towards: float) -> np.ndarray:
    """Floats one unit in the last place further; other numbers as they are."""
    return np.nextafter(array, array.dtype.type(towards)) if array.dtype.kind == "f" else array
