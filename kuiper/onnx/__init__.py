"""ONNX, read directly: from an .onnx file to kuiper's own graph.

    element_types   what numbers of each type are inside the graph      model_file   the file, opened and checked
    table           one function for each operator                       node         what such a function sees
    operators/      these functions, by family                           builder      the graph that they add to
    reader          read_onnx: all of it in order

Needs the onnx package (the extra ``onnx``), which nothing here imports before it is called.
"""
