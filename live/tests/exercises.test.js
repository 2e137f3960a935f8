// Every exercise in the runtime of the page: its solution passes, and known mistakes are caught and named.
// KUIPER_LIVE_BUGS: how many mistakes of each exercise (default 1), or "all"; KUIPER_LIVE_ONLY: only exercises that begin so ("1.").

import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {SKIP, startedKernel} from "./kernel.js";

const MOST_BUGS = process.env.KUIPER_LIVE_BUGS === "all" ? Infinity : Number(process.env.KUIPER_LIVE_BUGS ?? 1);
const ONLY = process.env.KUIPER_LIVE_ONLY ?? "";
const SECONDS = 300; // for one exercise, its compiling among them
const BUGS = `
import json
from kuiper.course.bugs import patched, read_bugs
from kuiper.course.selection import active
part = active().syllabus.exercise(ID)
solution = part.solution_file.read_text(encoding="utf-8")
print(json.dumps([[bug.name, bug.when, patched(solution, bug, bug.name)] for bug in read_bugs(part)]))
`;

let student, about;

before(async () => {
    if (SKIP)
        return;
    student = startedKernel();
    about = await student.kernel.start();
});
after(() => student?.kernel.end("done"));

/** What an exercise stands on, and this run does not solve. */
function others(needs) {
    return needs.filter((id) => !id.startsWith(ONLY));
}

async function bugsOf(id) {
    let said = "";
    const onEvent = (event) => { if (event.event === "output") said += event.text; };
    await student.kernel.ask("lecture", {name: about.lectures[0]});
    const {error} = await student.kernel.ask("cell", {source: `ID = ${JSON.stringify(id)}\n${BUGS}`}, {onEvent});
    assert.ok(!error, error?.traceback);
    return JSON.parse(said);
}

test("all solutions pass", {skip: SKIP}, async (t) => {
    const courses = {};
    for (const {id, course, tests, needs} of about.exercises.filter((each) => each.id.startsWith(ONLY))) {
        await t.test(id, async () => {
            const {text} = await student.kernel.ask("solution", {exercise: id});
            const checked = await student.kernel.ask("check", {exercise: id, text, refs: others(needs)}, {seconds: SECONDS});
            const sum = courses[course] ??= {exercises: 0, solved: 0, tests: 0, passed: 0};
            sum.exercises += 1;
            sum.tests += tests;
            sum.passed += checked.tests.passed;
            sum.solved += checked.status === "solved";
            assert.equal(checked.status, "solved", checked.report);
        });
    }
    for (const [course, sum] of Object.entries(courses))
        t.diagnostic(`${course}: ${sum.solved} of ${sum.exercises} exercises, ${sum.passed} of ${sum.tests} tests`);
});

test("known mistakes are caught and named", {skip: SKIP}, async (t) => {
    let tried = 0, named = 0;
    for (const {id, needs} of about.exercises.filter((each) => each.id.startsWith(ONLY))) {
        const {text: solution} = await student.kernel.ask("solution", {exercise: id});
        for (const [name, when, text] of (await bugsOf(id)).slice(0, MOST_BUGS)) {
            await t.test(`${id} ${name}`, async () => {
                tried += 1;
                let checked;
                try {
                    checked = await student.kernel.ask("check", {exercise: id, text, refs: others(needs)}, {seconds: SECONDS});
                } catch (error) { // a loop in compiled code: the page ends the worker
                    assert.ok(["late", "crash"].includes(error.kind), error.message);
                    t.diagnostic(`${id} ${name}: ${error.message}`);
                    return;
                }
                assert.equal(checked.passed, false);
                if (checked.likely.includes(when))
                    named += 1;
                else
                    t.diagnostic(`${id} ${name}: not named; ${checked.likely.join(" | ") || "nothing"}`);
            });
        }
        await student.kernel.ask("save", {path: about.exercises.find((each) => each.id === id).path, text: solution});
    }
    t.diagnostic(`${named} of ${tried} mistakes are named`);
    assert.ok(named >= 0.9 * tried);
});
