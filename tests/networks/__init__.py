"""Random networks: made from a seed, exported with pnnx, and run on the engine, on the layers and by torch.

    python -m tests.networks --count 5000 --seed 0

``families`` knows how to draw one operator, ``generate`` makes a network of several, ``export`` writes its graph by one
of the routes of ``tests/fixtures``, ``compare`` runs it, ``shrink`` drops operators as long as it still fails, and
``deviations`` names what pnnx and torch.onnx are known to write wrongly.
"""
