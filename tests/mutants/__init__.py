"""Mutants: change one thing in kuiper's code, and see whether the tests that belong to it notice.

    python -m tests.mutants --count 300 --seed 0 --log mutants.log

``sites`` finds what can be changed in Python, ``kernel_sites`` in Cython; ``belonging`` names the tests of a file, and
``trial`` runs them on a copy of the tree, so that the checkout is never touched. Mutants that compute the same are
explained in explained.json.
"""
