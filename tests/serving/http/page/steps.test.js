'use strict';
const assert = require('node:assert/strict');
const { test } = require('node:test');
require('./load.js');
const { Rate, Steps, rate, stretches, time, words } = kuiper.steps;

const STEP = { number: 7, seconds: 0.0123, prompt: 5, drawn: 3, guessed: 4, right: 1, running: 1, waiting: 2 };

test('the stretches of a row lie side by side and are its rows', () => {
  assert.deepEqual(stretches(STEP), [['prompt', 0, 5], ['drawn', 5, 8], ['right', 8, 9], ['wrong', 9, 12]]);
  assert.deepEqual(stretches({ prompt: 0, drawn: 2, guessed: 0, right: 0 }), [['drawn', 0, 2]]);
});

test('the last steps are kept', () => {
  const steps = new Steps(3);
  assert.equal(steps.last, undefined);
  steps.add([1, 2]);
  steps.add([3, 4]);
  assert.deepEqual([steps.list, steps.last], [[2, 3, 4], 4]);
});

test('a rate is what has come in the last moments, and falls to nothing', () => {
  const found = new Rate();
  assert.equal(found.at(0), 0);
  for (let at = 0; at <= 10; at++) found.add(1000 * at, 50 * at);
  assert.equal(found.at(10000), 50);
  assert.ok(found.at(11000) < 50 && found.at(11000) > 0);
  assert.equal(found.at(13000), 0);
});

test('numbers and steps are words', () => {
  assert.deepEqual([rate(3.14), rate(314.15)], ['3.1', '314']);
  assert.deepEqual([time(0.0012), time(0.25), time(2.34)], ['1.2 ms', '250 ms', '2.3 s']);
  assert.equal(words(STEP),
    'Step 7, 12 ms: 5 of prompts, 3 drawn, 1 of 4 guesses right; 1 text under way, 2 waiting.');
});
