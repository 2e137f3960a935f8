"""Official weights: downloaded, converted, compared with torch, and kept in the user's cache.

    catalogue: where the weights are -> download: one file, whole and checked -> conversion: graph and card
                                     -> cache: three files and their hashes    (fetch: the steps in order)

Downloading needs a network, converting needs PyTorch and pnnx (``pip install torch pnnx filelock``); the models in the
cache need neither.
"""
