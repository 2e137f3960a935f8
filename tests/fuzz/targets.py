"""What is fuzzed: for each reader a function of bytes that returns, whatever the bytes are.

A target raises only if the reader is at fault: it let an error through that is no ``KuiperError``, or what it read does
not come back after it was written. The corpus is replayed, and hypothesis makes inputs, in ``test_fuzz.py``;
``python -m tests.fuzz`` lets atheris search.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

import kuiper
from kuiper.bounded_file import parse_json
from kuiper.cli.input_files import load_array
from kuiper.course import wire as wire_format
from kuiper.course.manifest import read_syllabus
from kuiper.course.state_file import read_state, write_state
from kuiper.errors import ConstraintError, KuiperError
from kuiper.expression import compile_expression, evaluate, evaluate_prefix
from kuiper.graph import pnnx
from kuiper.graph.pnnx.bin_reader import read_weights
from kuiper.graph.pnnx.bin_writer import write_weights
from kuiper.models.cards.labels import read_labels
from kuiper.models.cards.model_card import ClassifierCard, DetectorCard, ImageCard, SegmenterCard
from kuiper.models.many.record_file import RecordFile
from kuiper.models.pictures.picture_file import MAX_PIXELS
from kuiper.models.pictures.preprocess import normalise, read_image
from kuiper.models.text import checkpoint, encoder_config
from kuiper.models.text.characters import Characters, read_card
from kuiper.models.text.chat import ChatTemplate
from kuiper.models.text.checkpoint import Checkpoint
from kuiper.models.text.embedding_folder import read_folder
from kuiper.models.text.tokenizer import Tokenizer
from kuiper.onnx.reader import read_onnx
from kuiper.printable import printable
from kuiper.serving.json_answers import JsonAnswers
from kuiper.tensor import Tensor
from kuiper.tensor.csv import load_csv, save_csv

if TYPE_CHECKING:
    from collections.abc import Callable

_SIGNS = 96
_INPUTS = (
    np.array([[0.5, -1.5, 3.0], [0.0, np.inf, np.nan]], np.float32),
    np.array([2, 0, -3], np.int64),
    np.array([[True], [False]]),
    7,
)

_WEIGHTS = pnnx.parse_param(
    """7767517
5 4
pnnx.Input in 0 1 0
nn.Linear one 1 1 0 1 @weight=(2,1)f32 @bias=(2)f16 @none=()null
nn.Linear two 1 1 1 2 @weight=(3)bool @bias=(0)i64
nn.Linear two 1 1 2 3 @weight=(1)u8 @bias=(1)c32
pnnx.Output out 1 0 3
""",
    "fuzz.param",
)


def expression(data: bytes) -> None:
    """Both evaluators give the same value, or both refuse."""
    text = data.decode(errors="replace")
    try:
        program = compile_expression(text, len(_INPUTS))
    except KuiperError:
        _outcome(lambda: evaluate_prefix(text, _INPUTS), Exception)  # which reads more than the parser, but must end
        return
    ours = _outcome(lambda: evaluate(program, _INPUTS), KuiperError)
    other = _outcome(lambda: evaluate_prefix(text, _INPUTS), Exception)
    if ours != other:
        raise AssertionError(f"{text!r} is {ours} for the stack machine and {other} from the right")


def param(data: bytes) -> None:
    """What was read is written so that the same is read again."""
    try:
        graph = pnnx.parse_param(data.decode(errors="replace"), "fuzz.param")
    except KuiperError:
        return
    written = pnnx.format_param(graph, "fuzz.param")
    again = pnnx.format_param(pnnx.parse_param(written, "fuzz.param"), "fuzz.param")
    if again != written:
        raise AssertionError(f"written first {written!r}, then {again!r}")


def onnx(data: bytes) -> None:
    """What can be read can be built, or is refused."""
    with suppress(KuiperError):
        graph = read_onnx(_file(data, ".onnx"))
        kuiper.load(graph)


def weights(data: bytes) -> None:
    """The archive of a graph with weights of several types, one of them twice."""
    try:
        read_weights(_WEIGHTS, io.BufferedReader(io.BytesIO(data)), "fuzz.bin")
    except KuiperError:
        return
    file = io.BytesIO()
    write_weights(_WEIGHTS, file)
    before = _data(_WEIGHTS)
    read_weights(_WEIGHTS, io.BufferedReader(io.BytesIO(file.getvalue())), "fuzz.bin")
    if _data(_WEIGHTS) != before:
        raise AssertionError("the weights are others when they have been written and read")


def csv(data: bytes) -> None:
    """A table of numbers comes back from the file that it is saved in."""
    path = _file(data, ".csv")
    for separator in (",", None):
        try:
            table = load_csv(path, separator)
        except KuiperError:
            continue
        copy = path.with_name("copy.csv")
        save_csv(table, copy)
        if not np.array_equal(np.asarray(load_csv(copy)), np.asarray(table), equal_nan=True):
            raise AssertionError(f"{np.asarray(table)} comes back as {np.asarray(load_csv(copy))}")


def card(data: bytes) -> None:
    """Every reader of cards, and anyone who only looks up the task."""
    path = _file(data, ".json")
    for read in (ClassifierCard.read, DetectorCard.read, SegmenterCard.read):
        with suppress(KuiperError):
            mean, std = (np.float32(colour) for colour in (read(path).mean, read(path).std))
            if not np.isfinite(normalise(_PICTURE, mean, std)).all():
                raise AssertionError(f"a card with mean {mean} and std {std}")
    with suppress(KuiperError):
        ImageCard.beside(path.with_name("input.pnnx.param"))
    with suppress(KuiperError):
        read_labels(path)


def records(data: bytes) -> None:
    """A file of records is taken up again, or refused; what is added to it is there the next time."""
    path = _file(data, ".jsonl")
    for retry in (True, False):
        with suppress(KuiperError), RecordFile(path, _HEADER, retry_failures=retry) as file:
            file.append({"image": "new", "width": 1})
    with suppress(KuiperError), RecordFile(path, _HEADER) as file:
        if "new" not in file.pictures:
            raise AssertionError("a record is gone")


def wire(data: bytes) -> None:
    """What arrives can be sent on, and arrives the same."""
    try:
        value = wire_format.loads(data.decode(errors="replace"))
        line = wire_format.dumps(value)
    except KuiperError:  # loads takes sets and dicts with keys that are deeper than dumps would go
        return
    again = wire_format.dumps(wire_format.loads(line))
    if _with_sets_in_order(json.loads(again)) != _with_sets_in_order(json.loads(line)):
        raise AssertionError(f"{line} comes back as {again}")


def manifest(data: bytes) -> None:
    """A manifest is whole: whatever asks it for exercises gets an answer."""
    path = _folder / "course1" / "course.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    try:
        syllabus = read_syllabus(_folder)
        for exercise in syllabus:
            syllabus.needed_by(exercise)
    except KuiperError:
        return
    for exercise in syllabus:
        if not (exercise.student_file.parent == path.parent / "exercises" and exercise.points >= 0):
            raise AssertionError(f"{exercise}")


def state(data: bytes) -> None:
    """What cannot be read is as if it were not there, and can be written again."""
    path = _file(data, ".json")
    value = read_state(path)
    write_state(path, value)
    if repr(read_state(path)) != repr(value):
        raise AssertionError(f"{value!r} comes back as {read_state(path)!r}")


def picture(data: bytes) -> None:
    """Any bytes: a picture in RGB of a bounded size, or a refusal."""
    try:
        found = read_image(_file(data, ".png"))
    except KuiperError:
        return
    if found.mode != "RGB" or not 0 < found.width * found.height <= MAX_PIXELS:
        raise AssertionError(f"{found}")


def array(data: bytes) -> None:
    """A .npy file of the command line."""
    with suppress(KuiperError):
        load_array(_file(data, ".npy"))


def terminal(data: bytes) -> None:
    """No text has anything left in it that a terminal would act upon, and none is lost."""
    text = data.decode("utf-8", "surrogateescape")
    shown = printable(text)
    if _ACTIVE.search(shown) or (text.isprintable() and shown != text) or len(shown) < len(text):
        raise AssertionError(f"{text!r} is shown as {shown!r}")
    if _ACTIVE.search(str(KuiperError(text, text, text, text)).replace("\n", "")):
        raise AssertionError(f"an error with {text!r}")


def vocabulary(data: bytes) -> None:
    """A card of a language model: whatever was read, each of its characters becomes a token and comes back."""
    with suppress(KuiperError):
        found = Characters.of_card(read_card(_file(data, ".json")), "card.json")
        text = "".join(name for name in found.names if len(name) == 1)
        decoder = found.decoder()
        if "".join(map(decoder.piece, found.encode(text))) != text:
            raise AssertionError(f"{text!r} does not come back")
        if not {*found.ends, *(token for part in found.prefix for token in part)} <= set(range(len(found.names))):
            raise AssertionError(f"{found}")


def tokenizer(data: bytes) -> None:
    """A tokenizer.json: what it makes of a text can be decoded, whole and piece by piece."""
    with suppress(KuiperError):
        found = Tokenizer(_file(data, ".json"))
        tokens = found.encode("The 春 of\n\x00 <s>")
        decoder = found.decoder()
        "".join([*map(decoder.piece, tokens), decoder.rest()])
        found.decode([*tokens, found.size, 2**31])
        assert len(found.spellings) == found.size


def schema(data: bytes) -> None:
    """A JSON schema from a client: an answer goes on with it for some tokens, or it is refused."""
    try:
        given = parse_json(data)
    except ValueError:
        return
    if not isinstance(given, dict):
        return
    with suppress(ConstraintError):
        answer = _json_answers().grammar(given)
        for _ in range(20):
            scores = np.zeros(_SIGNS + 1)
            answer.forbid(scores)
            answer.take(int(scores.argmax()))
            if answer.is_complete:
                break


@cache
def _json_answers() -> JsonAnswers:
    """With a token for each sign of ASCII, and one that ends a text."""
    signs = [chr(code) for code in range(127, 127 - _SIGNS, -1)]
    return JsonAnswers(Characters((*signs, "<end>"), frozenset({_SIGNS})))


def safetensors(data: bytes) -> None:
    """Weights: each that can be read is an array of float32."""
    folder = _folder / "checkpoint"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(data)
    try:
        weights = Checkpoint(folder)
    except KuiperError:
        return
    for name in weights:
        with suppress(KuiperError):
            weight = weights[name]
            if weight.dtype != np.float32:
                raise AssertionError(f"{name!r} is {weight.dtype}{weight.shape}")


def checkpoint_folder(data: bytes) -> None:
    """The JSON in a folder of Hugging Face's form: configuration, index, modules, what is beside a tokenizer."""
    folder = _folder / "checkpoint_folder"
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    names = ("config.json", "model.safetensors.index.json", "tokenizer_config.json", "sentence_bert_config.json")
    for name in (*names, "1_Pooling/config.json", "config_sentence_transformers.json"):
        (folder / name).write_bytes(data)
    for modules in (_MODULES, data):
        (folder / "modules.json").write_bytes(modules)
        with suppress(KuiperError):
            read_folder(folder)
    with suppress(KuiperError):
        encoder_config.read_config(checkpoint.read_config(folder / "config.json"))
    (folder / "a.safetensors").write_bytes(_EMPTY_SAFETENSORS)
    with suppress(KuiperError):
        dict(Checkpoint(folder))
    with suppress(KuiperError):
        ChatTemplate.read(folder)


_MODULES = b'[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]'
_EMPTY_SAFETENSORS = b"\x02\0\0\0\0\0\0\0{}"
_HEADER = {"kuiper": "0", "task": "classify", "model": "/m.param", "sha256": {"param": "0"}, "options": {}}
_ACTIVE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_PICTURE = Image.new("RGB", (2, 1), (0, 128, 255))


def _with_sets_in_order(value: Any) -> str:
    """A line as text in which the items of a set, which come in any order, are sorted; NaN is equal to itself there."""
    if isinstance(value, list):
        return f"[{','.join(map(_with_sets_in_order, value))}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    ((tag, content),) = value.items()
    items = sorted(map(_with_sets_in_order, content)) if tag == "set" else [_with_sets_in_order(content)]
    return f"{tag}:{items}"


def _data(graph: pnnx.Graph) -> list[bytes]:
    return [attr.data.tobytes() for op in graph.operators for attr in op.attrs.values() if attr.data is not None]


def _outcome(compute: Callable[[], Any], refusal: type[Exception]) -> str:
    """The value as text, or that there is none."""
    try:
        return _spelled(compute())
    except refusal:
        return "refused"


def _spelled(value: Any) -> str:
    if isinstance(value, list):
        return f"[{','.join(map(_spelled, value))}]"
    if isinstance(value, (np.ndarray, np.generic, Tensor)):
        array = np.asarray(value)
        return f"{array.dtype}{array.shape}{array.tolist()}"
    return repr(value)


_removed_at_exit = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
_folder = Path(_removed_at_exit.name)


def _file(data: bytes, suffix: str) -> Path:
    path = _folder / f"input{suffix}"
    path.write_bytes(data)
    return path


TARGETS: dict[str, Callable[[bytes], None]] = {
    "expression": expression,
    "param": param,
    "onnx": onnx,
    "weights": weights,
    "csv": csv,
    "card": card,
    "records": records,
    "wire": wire,
    "manifest": manifest,
    "state": state,
    "picture": picture,
    "array": array,
    "terminal": terminal,
    "vocabulary": vocabulary,
    "tokenizer": tokenizer,
    "schema": schema,
    "safetensors": safetensors,
    "checkpoint_folder": checkpoint_folder,
}
