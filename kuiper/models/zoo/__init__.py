"""The model zoo: architectures in PyTorch, the script that exports them, and the models that are bundled."""
