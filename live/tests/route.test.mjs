import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRoute, inside, parseRoute } from '../page/route.js';

const course = {
  lectures: [{ name: '00_how' }, { name: '01_tensors' }, { name: '02a_files' }],
  exercises: [
    { id: '1.1', lecture: '01_tensors', file: 'course1_tensor/exercises/a.py' },
    { id: '2.1', lecture: '02a_files', file: 'course2_graph/exercises/b.pyx' },
  ],
};

test('parse_route_without_an_address_is_the_first_lecture', () => {
  assert.deepEqual(parseRoute('', course), { lecture: '00_how', desk: '1.1' });
});

test('parse_route_of_a_lecture_takes_its_first_exercise', () => {
  assert.deepEqual(parseRoute('#02a_files', course), { lecture: '02a_files', desk: '2.1' });
});

test('parse_route_of_an_exercise_alone_takes_its_lecture', () => {
  assert.deepEqual(parseRoute('#nowhere/2.1', course), { lecture: '02a_files', desk: '2.1' });
});

test('parse_route_of_what_the_course_lacks_gives_way', () => {
  assert.deepEqual(parseRoute('#01_tensors/9.9', course), { lecture: '01_tensors', desk: '1.1' });
});

test('format_route_and_parse_route_agree', () => {
  for (const route of [{ lecture: '01_tensors', desk: '2.1' }, { lecture: '00_how', desk: 'photo' }]) {
    assert.deepEqual(parseRoute(formatRoute(route), course), route);
  }
});

test('inside_knows_lectures_and_files_of_exercises', () => {
  const address = path => new URL(path, 'http://host/site/notebooks/x.html');
  assert.deepEqual(inside(address('01_tensors.html'), course), { lecture: '01_tensors' });
  assert.deepEqual(inside(address('../source/course2_graph/exercises/b.pyx.html'), course), { exercise: '2.1' });
  assert.equal(inside(address('../docs/learn/glossary.html'), course), null);
});
