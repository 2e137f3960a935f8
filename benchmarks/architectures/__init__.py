"""Transformers that the benchmark times beside the zoo's convolutional networks, in plain PyTorch."""
