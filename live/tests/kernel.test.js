// What a student may do to a worker: loops that never end, wrong indices, mistakes in Cython; the files outlive them all.

import assert from "node:assert/strict";
import {mkdtempSync, readdirSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {SKIP, startedKernel} from "./kernel.js";

const AXPY = "course1_tensor/exercises/elementwise.pyx";

let student;

before(() => { if (!SKIP) student = startedKernel(); });
after(() => student?.kernel.end("done"));

const solution = async (exercise) => (await student.kernel.ask("solution", {exercise})).text;

test("a loop of Python's that never ends is a failed test", {skip: SKIP}, async () => {
    const text = (await solution("1.1")).replace("    steps = []", "    while True:\n        pass\n    steps = []");
    const {passed, report} = await student.kernel.ask("check", {exercise: "1.1", text}, {seconds: 120});
    assert.equal(passed, false);
    assert.match(report, /EndlessLoop: no answer within \d+ seconds/);
});

test("an index outside of a local C array is named, and Python lives on", {skip: SKIP}, async () => {
    const source = 'from kuiper.course.lecture import cython\nm = cython("answer = 1")';
    await student.kernel.ask("lecture", {name: "01_tensors"});
    assert.ok((await student.kernel.ask("cell", {source})).ok);
    const text = (await solution("1.6")).replace(/(def axpy\([^)]*\)[^:]*:\n)/, "$1    cdef float few[2]\n    cdef Py_ssize_t wrong\n" +
        "    for wrong in range(3):\n        few[wrong] = 1\n");
    const {report} = await student.kernel.ask("check", {exercise: "1.6", text}, {seconds: 120});
    assert.match(report, /index 2 is outside of a local C array of 2 elements/);
    assert.equal((await student.kernel.ask("progress")).exercises.length, student.kernel.about.exercises.length);
});

test("what Cython refuses is shown with line and caret", {skip: SKIP}, async () => {
    const text = `${await solution("1.6")}\ndef more():\n    return nobody\n`;
    const {report} = await student.kernel.ask("check", {exercise: "1.6", text}, {seconds: 120});
    assert.match(report, /elementwise\.pyx:\d+:\d+: undeclared name not builtin: nobody\n\s+return nobody\n\s+\^/);
});

test("a compiled loop that never ends costs a worker, and no file", {skip: SKIP}, async () => {
    const text = (await solution("1.6")).replace(/(def axpy\([^)]*\)[^:]*:\n)/, "$1    cdef Py_ssize_t turn = 0\n    while turn >= 0:\n        turn = 0\n");
    await student.kernel.ask("save", {path: AXPY, text});
    const asked = student.kernel.ask("check", {exercise: "1.6"}, {seconds: 20});
    await assert.rejects(asked, (error) => error.kind === "late" && /exercise 1\.6 may be in a loop/.test(error.message));
    assert.equal(student.ended.at(-1).kind, "late");
    assert.equal((await student.kernel.ask("read", {path: AXPY})).text, text); // of the next worker
});

test("a race runs in place", {skip: SKIP}, async () => {
    const {ok, text} = await student.kernel.ask("race", {model: "resnet20"}, {seconds: 300});
    assert.ok(ok, text);
    assert.match(text, /kuiper, operator by operator/);
});

test("what kuiper refuses is one sentence, and the worker stays", {skip: SKIP}, async () => {
    const count = student.ended.length;
    await assert.rejects(student.kernel.ask("hint", {exercise: "9.9"}), (error) => error.kind === "failed" && /9\.9/.test(error.message));
    assert.equal(student.ended.length, count);
});

test("a kernel speaks the language of its page, and leaves what is edited as it is", {skip: SKIP}, async () => {
    const path = "course1_tensor/exercises/flatten.py";
    const {kernel} = startedKernel({[path]: "mine = 1\n"}, "zh");
    const read = async (name) => (await kernel.ask("read", {path: name})).text;
    const {exercises} = await kernel.start();
    assert.match(exercises[0].title, /[\u4e00-\u9fff]/);
    assert.match(await read(exercises[0].path), /[\u4e00-\u9fff]/);
    assert.equal(await read(path), "mine = 1\n");
    assert.match((await kernel.ask("hint", {exercise: "1.1"})).text, /[\u4e00-\u9fff]/);
    kernel.end("done");
});

test("the next start copies what the first has left, and differs only in its random numbers", {skip: SKIP}, async () => {
    const folder = process.env.KUIPER_LIVE_KEPT = mkdtempSync(join(tmpdir(), "kuiper-kept-"));
    const source = "import os, random, sys, numpy\nprint(sys.path, os.environ['HOME'], os.environ['KUIPER_MODELS'], hash('salted'), sep='|')\n" +
        "print(random.random())\n(numpy.float32([1, 2]) @ numpy.float32([3, 4])).item()";
    const begin = async () => {
        const {kernel} = startedKernel();
        const about = await kernel.start();
        let said = "";
        await kernel.ask("lecture", {name: "01_tensors"});
        const {error} = await kernel.ask("cell", {source}, {onEvent: (event) => { said += event.text ?? event.data["text/plain"]; }});
        assert.ok(!error, error?.traceback);
        return {kernel, about, said: said.split("\n")};
    };
    const kept = async () => {
        while (!readdirSync(folder).some((name) => name.endsWith(".gz")))
            await new Promise((resolve) => setTimeout(resolve, 100));
        return join(folder, readdirSync(folder)[0]);
    };
    try {
        const first = await begin();
        const file = await kept();
        first.kernel.end("done");
        const next = await begin();
        next.kernel.end("done");
        assert.deepEqual(next.about, first.about);
        assert.deepEqual([next.said[0], next.said[2]], [first.said[0], first.said[2]]); // the salt of hashes is the first start's
        assert.notEqual(next.said[1], first.said[1]);
        writeFileSync(file, "cut off");
        const mended = await begin(); // from the beginning
        assert.equal(mended.said[2], first.said[2]);
        await kept();
        mended.kernel.end("done");
    } finally {
        delete process.env.KUIPER_LIVE_KEPT;
        rmSync(folder, {recursive: true, force: true});
    }
});
