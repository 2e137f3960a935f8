"""kuiper in the place of other runtimes of ONNX: a session as onnxruntime has it, and a backend of the onnx package."""

from kuiper.models.onnx.session import InferenceSession

__all__ = ["InferenceSession"]
