"""Published models: downloaded, checked, converted where they must be, and kept in the user's cache.

    pictures    catalogue: where the weights are -> download: one file, whole and checked -> making: graph and card
                                                 -> cache: three files and their hashes    (fetch: the steps in order)
    text        checkpoints: where the files are -> download -> cache    (fetch_checkpoint; the folder runs as it is)

Downloading needs a network, converting needs PyTorch and pnnx (``pip install torch pnnx filelock``); the models in the
cache need neither.
"""
