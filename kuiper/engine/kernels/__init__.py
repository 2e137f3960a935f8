"""The kernels: one algorithm per module, each a ``Step`` whose tasks the threads share."""
