"""The corpus of each target, and the words that an input of it is likely to be made of."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"

_JSON = '{ } [ ] , : " null true NaN 1e999 -1 \\u001b \\ud800'

WORDS: dict[str, str] = {
    "expression": "add mul sub div pow size neg int torch.int torch.float log1p lshift True None nan.0 inf @0 @1 @2 @3 "
    "-> [ ] ( ) , 2j +-",
    "param": "7767517 pnnx.Input pnnx.Output pnnx.Attribute nn.ReLU f32 i64 bool c32 null None True inf nan = @ $ # % "
    "? ( ) [ ] 1e5 2147483648",
    "onnx": "Conv Relu MaxPool Shape Gather Reshape Concat Constant If Loop Scan Cast Slice Resize Pad Split Gemm "
    "LSTM BatchNormalization QuantizeLinear DequantizeLinear ConstantOfShape Range Expand Tile axis axes to value perm "
    "pads kernel_shape strides then_branch else_branch body own com.microsoft location input.onnx ../x offset length",
    "weights": "",
    "csv": "1 -1 . , e inf nan 1e38 3.5e38 _ 0x1",
    "card": f'{_JSON} "task" "classify" "detect" "segment" "labels" "mean" "std" "size" "resize" "confidence" "iou"',
    "records": f'{_JSON} "image" "error" "kuiper" "sha256" "options" "task" "model"',
    "wire": f'{_JSON} "array" "scalar" "tuple" "set" "dict" "bytes" "gaps" "<f4" "|b1" "C" "F"',
    "manifest": "[[exercise]] id title file symbols tests test_count points minutes hints for ladder "
    "depends_on source timeout afterwards built engines try race parts "
    "provides = [ ] \"1.1\" '''",
    "state": _JSON,
    "picture": "JFIF Exif IHDR IDAT RIFF WEBP VP8L GIF89a II* MM BM %!PS P6",
    "array": "descr fortran_order shape True False <f4 |O (1,) { }",
    "terminal": "",
    "vocabulary": f'{_JSON} "task" "generate" "vocabulary" "end" "prefix" "<end>" "a" [["<end>"]]',
    "tokenizer": f'{_JSON} "model" "type" "BPE" "Unigram" "WordPiece" "vocab" "merges" "normalizer" "Replace" "Regex" '
    '"pre_tokenizer" "ByteLevel" "decoder" "Fuse" "Strip" "post_processor" "TemplateProcessing" "added_tokens" "id"',
    "schema": f'{_JSON} "type" "object" "array" "string" "integer" "properties" "required" "items" "enum" "const" '
    '"anyOf" "allOf" "oneOf" "$ref" "#" "$defs" "pattern" "^(a|b)*$" "minLength" "maxItems" "multipleOf" "minimum" '
    '"format" "not" "additionalProperties" "x-guidance" "date-time" 1e300',
    "safetensors": f'{_JSON} "dtype" "F32" "BF16" "I64" "F8_E4M3" "shape" "data_offsets" "__metadata__" [0,4] [1]',
    "checkpoint_folder": f'{_JSON} "weight_map" "metadata" "a.safetensors" "../a.safetensors" "chat_template" "name" '
    '"path" "type" "x.Transformer" "max_seq_length" "model_max_length" "do_lower_case" "pooling_mode_cls_token" true '
    '"default" "template" "bos_token" "content"',
}


def target_names() -> list[str]:
    """All targets, in the order in which they run."""
    return list(WORDS)


def dictionary(target: str) -> str:
    """The words as libFuzzer reads them: one in quotes on each line."""
    return "".join('"{}"\n'.format(word.replace("\\", "\\\\").replace('"', '\\"')) for word in WORDS[target].split())


def seeds(target: str) -> list[Path]:
    """The inputs that are kept for a target."""
    return sorted(path for path in (CORPUS / target).iterdir() if path.is_file())
