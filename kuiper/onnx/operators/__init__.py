"""The translations, one module for each family of operators. Importing them fills the table."""

from kuiper.onnx.operators import control_flow as control_flow
from kuiper.onnx.operators import convolution as convolution
from kuiper.onnx.operators import elementwise as elementwise
from kuiper.onnx.operators import shapes as shapes
