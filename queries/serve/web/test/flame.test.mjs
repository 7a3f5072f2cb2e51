import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameAt, horizontal, maxRows, rowHeight, rowTop, visibleRows } from '../src/lib/flamelayout';
import { invert, isCut, layoutAnswer, sandwich, searchFrames } from '../src/lib/flametree';
import { fold } from '../src/lib/result';

// answer returns what the server answers for folded stacks and their values.
const answer = (stacks) =>
  fold(
    Object.entries(stacks).map(([stack, value]) => ({ stack, value })),
    'stack',
    'value',
  ).answer;

// shown returns the frames, one a line: indented name, left edge, value and exclusive value.
const shown = (f) =>
  Array.from({ length: f.count }, (_, n) => {
    const name = f.names[f.name[n]].name;
    return `${' '.repeat(f.depth[n])}${name} ${f.start[n]} ${f.value[n]} ${f.exclusive[n]}`;
  });

const stacks = { 'main;parse;read': 3, 'main;parse': 1, 'main;run;read': 2, 'main;run;run;read': 4 };

test('frames lie side by side from the left edge of their caller, the highest first', () => {
  assert.deepEqual(shown(layoutAnswer(answer(stacks))), [
    '<Total> 0 10 0',
    ' main 0 10 0',
    '  run 0 6 0',
    '   run 0 4 0',
    '    read 0 4 4',
    '   read 4 2 2',
    '  parse 6 4 1',
    '   read 6 3 3',
  ]);
});

test('an inverted tree has the leaves, with their callers below', () => {
  assert.deepEqual(shown(invert(layoutAnswer(answer(stacks)))), [
    '<Total> 0 10 0',
    ' read 0 9 0',
    '  run 0 6 0',
    '   run 0 4 0',
    '    main 0 4 4',
    '   main 4 2 2',
    '  parse 6 3 0',
    '   main 6 3 3',
    ' parse 9 1 0',
    '  main 9 1 1',
  ]);
});

test('a sandwich counts a recursive sample once', () => {
  const { callers, callees, value } = sandwich(layoutAnswer(answer(stacks)), 'function', 'run');
  assert.equal(value, 6);
  assert.deepEqual(shown(callers), ['run 0 6 0', ' main 0 6 6']);
  assert.deepEqual(shown(callees), ['run 0 6 0', ' run 0 4 0', '  read 0 4 4', ' read 4 2 2']);
});

test('a path has the same hash in every answer, and another one in a tree with another seed', () => {
  const paths = (f) => [...f.path];
  const one = layoutAnswer(answer(stacks));
  const other = layoutAnswer(answer({ ...stacks, 'main;parse;read': 30 }));
  const reads = (f) => paths(f).filter((_, n) => f.names[f.name[n]].name === 'parse');
  assert.deepEqual(reads(one), reads(other));
  assert.notDeepEqual(paths(one), paths(layoutAnswer(answer(stacks), 1)));
  assert.equal(new Set(paths(one)).size, one.count);
});

test('a search sums the outermost matching frames', () => {
  const f = layoutAnswer(answer(stacks));
  assert.equal(searchFrames(f, 'run').value, 6);
  assert.equal(searchFrames(f, '/^r/').value, 9);
  assert.equal(searchFrames(f, '/(/').value, 0); // an invalid expression matches nothing
  assert.equal(searchFrames(f, ''), undefined);
});

test('a tree with left-out nodes is cut', () => {
  const whole = answer(stacks);
  assert.equal(isCut(whole), false);
  const names = { ...whole.names, name: [...whole.names.name, '<3 more>'], kind: [...whole.names.kind, 'artificial'] };
  assert.equal(isCut({ ...whole, names }), true);
});

test('a focused frame and its callers fill the width', () => {
  const f = layoutAnswer(answer(stacks));
  const [main, run, read, parse] = [1, 2, 5, 6];
  assert.deepEqual(horizontal(f, main, run), [0, 1]);
  assert.deepEqual(horizontal(f, run, run), [0, 1]);
  assert.deepEqual(horizontal(f, read, run), [4 / 6, 1]);
  assert.deepEqual(horizontal(f, parse, 0), [0.6, 1]);
});

test('frameAt finds the frame under the pointer, with the root at the top or at the bottom', () => {
  const f = layoutAnswer(answer(stacks));
  const [width, height] = [100, 5 * rowHeight];
  for (const upward of [false, true]) {
    const at = (x, row, focus = 0) =>
      frameAt(f, { focus, upward }, x, rowTop(row, upward, height) + rowHeight / 2, width, height);
    assert.deepEqual([at(50, 0), at(50, 1), at(50, 2), at(70, 2), at(70, 3), at(99, 3)], [0, 1, 2, 6, 7, -1]);
    assert.deepEqual([at(10, 1, 6), at(99, 2, 6), at(70, 3, 6), at(80, 3, 6)], [1, 6, 7, -1]);
  }
});

test('a canvas has at most maxRows rows, with the focus among them', () => {
  const deep = layoutAnswer(answer({ [Array.from({ length: 2000 }, (_, n) => `f${n}`).join(';')]: 1 }));
  assert.equal(deep.count, 2001);
  assert.deepEqual(visibleRows(deep, 0), { first: 0, count: maxRows, all: 2001 });
  assert.deepEqual(visibleRows(deep, 500), { first: 500, count: maxRows, all: 2001 });
  assert.deepEqual(visibleRows(deep, 1990), { first: 2001 - maxRows, count: maxRows, all: 2001 });
});
