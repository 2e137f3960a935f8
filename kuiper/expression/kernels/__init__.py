"""The loops of expressions, compiled with Cython."""
