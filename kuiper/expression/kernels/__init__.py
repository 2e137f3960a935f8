"""The loops of floor 4, compiled with Cython."""
