"""kuiper beside onnxruntime, openvino, ncnn and torch: latency, load time and memory on the same models.

    python -m benchmarks                      time all peers on nine models, print tables, write JSON
    python -m benchmarks report               docs/evidence/performance.md from the JSON in benchmarks/results
    python -m benchmarks kernels              GFLOP/s of single layers, as a share of the machine's peak
    python -m benchmarks roofline -o PICTURE  the layers of a model under the machine's roofline

Run from the root of a checkout; ``make bench`` installs what is needed (the extra ``bench``) and runs the first.
"""
