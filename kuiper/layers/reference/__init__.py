"""Short, obviously right Python; each module specifies kernels, or layers, in the plainest way."""
