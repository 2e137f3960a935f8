"""Starts ``kuiper serve`` with the bundled models, asks it something, and ends it: what ``make serve-demo`` runs.

Only Python's own library is needed to ask. Every line of a stream that begins with ``data:`` is a JSON object.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

PHOTO = Path(__file__).parents[1] / "kuiper" / "models" / "assets" / "cat.jpg"
PROMPTS = {"shakespeare": "ROMEO:", "tang": "<5x4>"}


def wait_for(address: str) -> None:
    """Return as soon as the server answers."""
    while True:
        try:
            urllib.request.urlopen(f"{address}/v2/health/ready").close()
            return
        except urllib.error.URLError:
            time.sleep(0.05)


def ask(address: str, model: str, prompt: str) -> None:
    """Print the text behind a prompt as it comes."""
    body = {"model": model, "prompt": prompt, "max_tokens": 120, "temperature": 0.8, "seed": 1, "stream": True}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/v1/completions", json.dumps(body).encode(), headers)
    print(f"--- {model}: {prompt}")
    with urllib.request.urlopen(request) as answer:
        for line in answer:
            data = line.decode().removeprefix("data: ").strip()
            if data and data != "[DONE]":
                print(json.loads(data)["choices"][0]["text"], end="", flush=True)
    print()


def show(address: str, model: str, photo: Path) -> None:
    """Print what a classifier sees on a photo."""
    place = f"{address}/v1/classify?model={model}&top=3"
    request = urllib.request.Request(place, photo.read_bytes(), {"Content-Type": "image/jpeg"})
    print(f"--- {model}: {photo.name}")
    with urllib.request.urlopen(request) as answer:
        for label in json.load(answer)["labels"]:
            print(f"{label['label']:12} {label['probability']:.1%}")


def main() -> int:
    command = [sys.executable, "-m", "kuiper", "serve", *PROMPTS, "cifar_resnet20", "--port", "0"]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as log,  # a line for each request, which would stand in the text
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        assert server.stdout is not None
        said = server.stdout.readline()
        if not said:
            server.wait()
            log.seek(0)
            print(log.read(), end="", file=sys.stderr)
            return 1
        print(said, end="")
        address = said.partition("/v1 ")[0]
        try:
            wait_for(address)
            for model, prompt in PROMPTS.items():
                ask(address, model, prompt)
            show(address, "cifar_resnet20", PHOTO)
        finally:
            server.terminate()
    return server.returncode


if __name__ == "__main__":
    sys.exit(main())
