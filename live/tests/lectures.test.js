// Every code cell of every lecture, one after the other, in the runtime of the page; the exercises are not solved.

import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {SKIP, startedKernel} from "./kernel.js";

const SECONDS = 300; // for one cell, the first of which loads and starts much
// What a lecture uses where it is installed, and says so where it is not.
const MISSING = /No module named '(?:matplotlib|cycler|onnxruntime|openvino)/;

let lecture, about;

before(async () => {
    if (SKIP)
        return;
    lecture = startedKernel();
    about = await lecture.kernel.start();
});
after(() => lecture?.kernel.end("done"));

test("all cells of the lectures run", {skip: SKIP}, async (t) => {
    for (const name of about.lectures) {
        await t.test(name, async () => {
            const {cells} = await lecture.kernel.ask("lecture", {name});
            const failures = [];
            let ran = 0, without = 0;
            for (const [number, {kind, source}] of cells.entries()) {
                if (kind !== "code")
                    continue;
                const {ok, error} = await lecture.kernel.ask("cell", {source, name: `cell ${number + 1}`}, {seconds: SECONDS});
                ran += ok;
                if (!ok && MISSING.test(error.message))
                    without += 1;
                else if (!ok)
                    failures.push(`cell ${number + 1}: ${error.type}: ${error.message}`);
            }
            t.diagnostic(`${name}: ${ran} cells ran, ${without} lack a package, ${failures.length} failed`);
            assert.deepEqual(failures, []);
        });
    }
});
