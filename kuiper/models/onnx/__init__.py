"""kuiper as others' tools know a runtime of ONNX: ``kuiper.models.onnx.backend``."""
