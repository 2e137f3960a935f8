from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.cli import main
from kuiper.course import race as race_module
from kuiper.course.differences import TOLERANCE
from kuiper.course.ladder import OF_THE_REFERENCE, YOUR_LAYERS
from kuiper.course.manifest import Syllabus, read_syllabus
from kuiper.course.places import python_environment
from kuiper.course.selection import Selection
from kuiper.course.text_race import PROMPT, TOKENS, Noted, Written, sampler, text_race
from kuiper.course.text_race import load as shakespeare
from kuiper.graph import RuntimeGraph
from kuiper.layers import registry
from kuiper.models.text.characters import Characters
from kuiper.models.text.language_model import LanguageModel
from kuiper.models.text.random_decoder import random_decoder
from tests.course.made_up import made_up, solve

if TYPE_CHECKING:
    from pathlib import Path

    from kuiper.course.race import Result

VOCABULARY = Characters(tuple("abcdefghijklmnopqrstuvwxyz .,;!?"))
PROVIDES = {
    "points = 2": 'points = 2\nprovides = { "nn.RMSNorm" = "RMSNorm", "kuiper.Cache" = "Cache" }',
    "points = 3": 'points = 3\nprovides = { "next token" = "NextToken", "nn.Linear" = "Never" }',
}
# The made-up exercises are no layers, but with a doubling that is halved, kuiper's own become ones.
ADAPTERS = """
import numpy as np

from kuiper.course import load_exercise
from kuiper.layers.layer import StatefulLayer
from kuiper.layers.operators import cache, rms_norm


class RMSNorm(rms_norm.RMSNorm):
    def __init__(self, op):
        super().__init__(op)
        self.double = load_exercise("1.1").double

    def forward(self, x):
        return self.double(super().forward(x)) / 2


class Cache(cache.Cache):
    def __init__(self, op):
        super().__init__(op)
        self.double = load_exercise("1.1").double

    def forward(self, x, state):
        return super().forward(x, state) if state.length == 0 else self.double(super().forward(x, state)) / 2


class NextToken:
    def __init__(self, sampler):
        self.sampler, self.fourfold = type(sampler).__mro__[1](*settings(sampler)), load_exercise("1.2").fourfold

    def __call__(self, scores, text):
        return self.fourfold(self.sampler(scores, text)) // 4


def settings(sampler):
    return sampler.temperature, sampler.top_k, sampler.top_p, sampler.repetition_penalty, sampler.seed


class Never:
    @staticmethod
    def covers(op):
        return op.quantized("weight") is not None
"""


def load(optimize: bool) -> LanguageModel:
    graph = RuntimeGraph(random_decoder(seed=1))
    graph.build(registry, optimize)
    return LanguageModel(graph, VOCABULARY, context=64)


@pytest.fixture
def syllabus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Syllabus:
    monkeypatch.setattr(race_module, "SECONDS", 0.01)
    monkeypatch.chdir(tmp_path)
    return with_layers(tmp_path)


def with_layers(root: Path) -> Syllabus:
    """The made-up course, whose exercises provide layers."""
    made_up(root)
    manifest = root / "course1_made_up" / "course.toml"
    text = manifest.read_text()
    for before, after in PROVIDES.items():
        text = text.replace(before, after)
    manifest.write_text(text)
    (manifest.parent / "adapters.py").write_text(ADAPTERS)
    return read_syllabus(root)


def run(syllabus: Syllabus, places: list[str] | None = None) -> Result:
    return text_race(
        Selection(syllabus), lambda place: (places or []).append(place), load, prompt="a prompt ", tokens=24
    )


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """What is written where nothing is solved."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(race_module, "SECONDS", 0.01)
        return run(with_layers(tmp_path_factory.mktemp("reference")))


def test_text_race_of_nothing_solved_is_the_reference(reference: Result) -> None:
    assert (reference.yours, reference.reference, reference.divergence, reference.failures) == (
        [],
        ["1.1", "1.2"],
        None,
        [],
    )
    assert list(reference.ladder) == ["kuiper, layer by layer", "kuiper's engine"]
    assert reference.answer.startswith("a prompt ")
    assert len(reference.answer) == len("a prompt ") + 24


def test_text_race_writes_the_same_text_on_solved_layers(syllabus: Syllabus, reference: Result) -> None:
    solve(syllabus, "1.1")
    places: list[str] = ["begun"]
    result = run(syllabus, places)
    assert (result.yours, result.reference, result.failures, result.divergence) == (["1.1"], ["1.2"], [], None)
    assert result.answer == reference.answer
    assert list(result.ladder) == [YOUR_LAYERS, "kuiper, layer by layer", "kuiper's engine"]
    assert "model.norm -> 1.1 double" in places
    assert result.per == "token"


def test_text_race_draws_the_same_tokens_with_solved_sampling(syllabus: Syllabus, reference: Result) -> None:
    solve(syllabus, "1.1")
    solve(syllabus, "1.2")
    places: list[str] = ["begun"]
    result = run(syllabus, places)
    assert (result.yours, result.reference, result.failures, result.divergence) == (["1.1", "1.2"], [], [], None)
    assert result.answer == reference.answer
    assert list(result.ladder)[:2] == [YOUR_LAYERS, OF_THE_REFERENCE[YOUR_LAYERS]]
    assert "next token -> 1.2 fourfold" in places


def test_text_race_of_the_sampling_alone(syllabus: Syllabus, reference: Result) -> None:
    solve(syllabus, "1.2")
    manifest = syllabus.root / "course1_made_up" / "course.toml"
    manifest.write_text(manifest.read_text().replace('depends_on = ["1.1"]', ""))
    exercise = syllabus.exercise("1.2").student_file
    exercise.write_text("def fourfold(x):\n    return 4 * x\n")
    result = run(read_syllabus(syllabus.root))
    assert (result.yours, result.divergence, result.answer) == (["1.2"], None, reference.answer)
    assert YOUR_LAYERS in result.ladder


def test_text_race_names_a_wrong_layer_and_the_call(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1", ("x * 2", "x * 3"))
    divergence = run(syllabus).divergence
    assert divergence
    assert divergence.operator == "model.layers.0.input_layernorm while reading the prompt"
    assert (divergence.type, divergence.exercise) == ("nn.RMSNorm", "1.1 double")
    assert divergence.error == pytest.approx(0.5)


def test_text_race_names_what_goes_wrong_behind_the_prompt(syllabus: Syllabus) -> None:
    """Four axes come from the cache alone, and only behind the prompt: until then everything agrees."""
    solve(syllabus, "1.1", ("x * 2", "x * (3 if getattr(x, 'ndim', 0) == 4 else 2)"))
    result = run(syllabus)
    assert result.divergence
    assert result.divergence.operator == "model.layers.0.self_attn.values at token 1"
    assert result.divergence.exercise == "1.1 double"
    assert "\n(from character " in result.answer


def test_text_race_names_a_wrong_draw(syllabus: Syllabus) -> None:
    solve(syllabus, "1.1")
    solve(syllabus, "1.2", ("double(double(x))", "4 * 5"))
    result = run(syllabus)
    assert result.divergence
    assert result.divergence.exercise == "1.2 fourfold"
    assert result.divergence.operator.startswith("token ")
    assert "'f' drawn where the reference draws " in str(result.divergence)
    assert result.answer.startswith("a prompt ")


def test_text_race_names_a_layer_of_another_shape(syllabus: Syllabus) -> None:
    """The next layer cannot take it: the one that made it is named, and there is no text and no time."""
    solve(syllabus, "1.1", ("x * 2", "x[..., :5]"))
    result = run(syllabus)
    assert result.divergence
    assert result.divergence.exercise == "1.1 double"
    assert (result.divergence.error, result.answer) == (float("inf"), "")
    assert YOUR_LAYERS not in result.ladder


@pytest.mark.parametrize(("code", "words"), [("x * 2 / 'a'", "Error: "), ("x * 2)", "ExerciseSyntaxError: ")])
def test_text_race_replaces_a_layer_that_raises(syllabus: Syllabus, reference: Result, code: str, words: str) -> None:
    solve(syllabus, "1.1", ("x * 2", code))
    result = run(syllabus)
    assert (result.yours, result.reference) == ([], ["1.1", "1.2"])
    assert " -> 1.1 double: " in result.failures[0]
    assert words in result.failures[0]
    assert result.answer == reference.answer


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("4 * 99", "ValueError: expected a token from 0 to 31, got 99"),
        ("None", "TypeError: "),
    ],
)
def test_text_race_replaces_a_sampling_that_fails(syllabus: Syllabus, reference: Result, code: str, words: str) -> None:
    solve(syllabus, "1.1")
    solve(syllabus, "1.2", ("double(double(x))", code))
    result = run(syllabus)
    assert (result.yours, result.reference, result.divergence) == (["1.1"], ["1.2"], None)
    assert result.failures[0].startswith(f"next token -> 1.2 fourfold: {words}")
    assert result.answer == reference.answer


def test_text_race_keeps_what_is_written_of_an_exercise_that_is_begun(syllabus: Syllabus, reference: Result) -> None:
    """The cache, which alone has four axes, is not written yet; the norms of the same exercise are."""
    body = "    if getattr(x, 'ndim', 0) == 4:\n        raise NotImplementedError('the cache')\n    result = x * 2\n"
    solve(syllabus, "1.1", ("    result = x * 2 + 0\n", body))
    result = run(syllabus)
    assert (result.yours, result.divergence, result.answer) == (["1.1"], None, reference.answer)
    assert result.failures == ["model.layers.0.self_attn.values -> 1.1 double: NotImplementedError: the cache"]
    assert YOUR_LAYERS in result.ladder


def test_text_race_leaves_out_what_an_adapter_does_not_cover(syllabus: Syllabus) -> None:
    """1.2 provides nn.Linear for weights of 8 bits, and this model has none."""
    solve(syllabus, "1.1")
    solve(syllabus, "1.2")
    assert run(syllabus).failures == []


@pytest.mark.usefixtures("race_here")
def test_race_command_writes_on_the_reference_where_nothing_is_solved(
    syllabus: Syllabus, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = syllabus.root / "race.svg"
    assert main(["race", "shakespeare", "--picture", str(picture)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("shakespeare: yours: none; reference: 1.1 1.2\nJULIET:\n")
    assert "nothing of yours is in it yet" in shown
    assert " tokens/s " in shown
    assert "shakespeare: milliseconds for one token" in picture.read_text(encoding="utf-8")
    (entry,) = json.loads((syllabus.root / ".kuiper" / "race.json").read_text(encoding="utf-8"))
    assert (entry["model"], entry["per"]) == ("shakespeare", "token")


def test_race_command_names_a_layer_that_never_returns(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    endless = (
        "    import time\n    while True:\n        time.sleep(0.1)\n    result = 0\n"  # it leaves the core to others
    )
    solve(syllabus, "1.1", ("    result = x * 2 + 0\n", endless))
    assert main(["race", "shakespeare", "--seconds", "6"]) == 1
    words = "input_layernorm -> 1.1 double: expected an answer, got nothing within 6 seconds"
    assert words in capsys.readouterr().err


def test_race_command_refuses_the_own_engine(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "shakespeare", "--engine", "mine"]) == 1
    assert "--engine mine: expected a network of pictures" in capsys.readouterr().err
    assert not (syllabus.root / ".kuiper" / "race.json").exists()


def test_race_command_refuses_the_own_product(syllabus: Syllabus, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["race", "shakespeare", "--product", "mine"]) == 1
    assert "--product mine: expected a network of pictures" in capsys.readouterr().err
    assert not (syllabus.root / ".kuiper" / "race.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_race_command_ends_at_ctrl_c(syllabus: Syllabus) -> None:
    """The process that runs the student's code ends, too."""
    solve(syllabus, "1.1", ("    result = x * 2 + 0\n", "    mark()\n    while True:\n        pass\n    result = 0\n"))
    file = syllabus.exercise("1.1").student_file
    mark = syllabus.root / "running"
    file.write_text(
        "import os\nfrom pathlib import Path\n\n\n"
        f"def mark():\n    Path({str(mark)!r}).write_text(str(os.getpid()))\n\n\n{file.read_text()}"
    )
    command = [sys.executable, "-m", "kuiper", "race", "shakespeare"]
    with subprocess.Popen(
        command,
        env=python_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as race:
        while not (mark.is_file() and mark.read_text()) and race.poll() is None:
            time.sleep(0.05)
        os.killpg(race.pid, signal.SIGINT)
        out, err = race.communicate(timeout=60)  # which waits for all who have its stdout
    assert race.returncode == 130
    assert (out, "Traceback" in err) == ("", False)


def test_the_text_of_shakespeare_does_not_hang_on_rounding() -> None:
    """Scores that are off by as much as the race forgives draw the same tokens: a right layer gets the same text."""
    model = shakespeare(True)
    written = Written(model, model.vocabulary.encode(PROMPT), TOKENS)
    written.by(model, lambda: Noted(written.draws))
    assert len(written.draws) == TOKENS
    for seed in range(5):
        noise, drawn = np.random.default_rng(seed), sampler()
        for draw in written.draws:
            off = noise.uniform(-1, 1, len(draw.scores)) * TOLERANCE * np.abs(draw.scores).max()
            assert drawn(draw.scores + off, draw.text) == draw.token
