"""kuiper beside onnxruntime, openvino, ncnn and torch: latency, load time and memory on the same models.

    python -m benchmarks                      time all peers on nine models, print tables, write JSON
    python -m benchmarks text                 how fast language models read and write, beside llama.cpp and others
    python -m benchmarks operators            recurrent networks, sampling, decoding, beside torch and onnxruntime
    python -m benchmarks demo                 how long ``make demo`` takes in a fresh clone, and what it prints
    python -m benchmarks report               docs/evidence/performance.md and the README's figures, from the results
    python -m benchmarks kernels              GFLOP/s of single layers, as a share of the machine's peak
    python -m benchmarks roofline -o PICTURE  the layers of a model under the machine's roofline

Run from the root of a checkout; ``make bench`` installs what is needed (the extra ``bench``) and runs the first.
"""
