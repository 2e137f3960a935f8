"""The tensor, its arithmetic, and its way in and out of text files."""

from kuiper.tensor.arithmetic import add, axpy, div, exp_negative, mul, sub
from kuiper.tensor.csv import load_csv, save_csv
from kuiper.tensor.tensor import Tensor

__all__ = ["Tensor", "add", "axpy", "div", "exp_negative", "load_csv", "mul", "save_csv", "sub"]
