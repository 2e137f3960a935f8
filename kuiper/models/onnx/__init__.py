"""ONNX beside others: kuiper in the place of other runtimes, and what others compute from a file.

session     a session as onnxruntime has it
backend     kuiper as a runtime that the onnx package knows
oracle      the outputs of a model by onnxruntime or by the onnx package, and how far rounding takes them
float64     the same model in float64
one_node    each node alone, by kuiper and by others
"""

from kuiper.models.onnx.session import InferenceSession

__all__ = ["InferenceSession"]
