import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterReturns, terminalPieces } from '../page/output.js';

test('terminal_pieces_keeps_text_and_drops_escapes', () => {
  const pieces = terminalPieces('a\x1b[1;32mgood\x1b[0m b\x1b[2K');
  assert.deepEqual(pieces, [
    { text: 'a', classes: [] }, { text: 'good', classes: ['bold', 'green'] }, { text: ' b', classes: [] },
  ]);
});

test('terminal_pieces_replaces_a_colour_by_the_next', () => {
  assert.deepEqual(terminalPieces('\x1b[31ma\x1b[94mb\x1b[39mc').map(piece => piece.classes), [['red'], ['blue'], []]);
});

test('after_returns_shows_what_was_written_last_on_a_line', () => {
  assert.equal(afterReturns('10 %\r50 %\r100 %\nnext\r\n'), '100 %\nnext\n');
});
