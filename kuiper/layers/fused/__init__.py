"""Operators that no file has: graph passes make one of them out of an operator, an addition and an activation.

Importing a module is what registers its layers; ``kuiper.layers`` imports them all.
"""
