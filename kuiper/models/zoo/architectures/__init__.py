"""Network architectures, written after their papers, with the parameter names of the official weights."""
