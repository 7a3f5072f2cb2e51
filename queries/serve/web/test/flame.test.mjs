import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  focusOf,
  formatWindow,
  frameAt,
  layerAt,
  moved,
  parseWindow,
  whole,
  windowOf,
  within,
  zoomed,
} from '../src/lib/flamewindow';
import { findFrame, frameID, invert, isCut, layoutAnswer, sandwich, searchFrames, stackOf } from '../src/lib/flametree';
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

test('a frame has the same id in every answer, and another one in a tree with another seed', () => {
  const ids = (f) => Array.from({ length: f.count }, (_, n) => frameID(f, n));
  const one = layoutAnswer(answer(stacks));
  const other = layoutAnswer(answer({ ...stacks, 'main;parse;read': 30 }));
  const parse = (f) => ids(f).find((_, n) => f.names[f.name[n]].name === 'parse');
  assert.equal(parse(one), parse(other));
  assert.ok(ids(layoutAnswer(answer(stacks), 1)).every((id) => !ids(one).includes(id)));
  assert.equal(new Set(ids(one)).size, one.count);
  ids(one).forEach((id, n) => assert.equal(findFrame(one, id), n));
  assert.deepEqual(stackOf(one, 4), [0, 1, 2, 3, 4]);
});

test('ids are those of the server (TestID of queries/flametree)', () => {
  const f = layoutAnswer({
    names: {
      name: ['<Total>', 'größe\ufffd(int)'],
      load_object: ['<Total>', 'libx.so'],
      module: ['', 'd/x.cc'],
      kind: ['artificial', 'normal'],
    },
    level: [0, 1],
    name: [0, 1],
    value: [1, 1],
    exclusive: [0, 1],
  });
  assert.deepEqual([frameID(f, 0), frameID(f, 1)], ['ee5ef610845df6e9', 'de5ebf2b84f74e4f']);
});

test('a part of a graph has the positions of the server', () => {
  const whole = answer(stacks);
  const f = layoutAnswer({ ...whole, start: whole.value.map((_, n) => 100 + n) });
  assert.deepEqual([...f.start].slice(0, 3), [100, 101, 102]);
});

test('a search sums the outermost matching frames', () => {
  const f = layoutAnswer(answer(stacks));
  assert.equal(searchFrames(f, 'run').value, 6);
  assert.equal(searchFrames(f, 'run').frames, 2);
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

test('the window of a frame has its edges, and its focus is the first frame that fills it', () => {
  const f = layoutAnswer(answer(stacks));
  const parse = windowOf(f, 6);
  assert.ok(Math.abs(parse.from - 0.6) < 1e-9 && Math.abs(parse.until - 1) < 1e-9);
  for (const [n, focus] of [
    [0, 0],
    [1, 0], // main is as wide as <Total>
    [2, 2],
    [4, 3],
    [6, 6],
  ])
    assert.equal(focusOf(f, windowOf(f, n)), focus);
});

test('a window stays in the graph, and keeps the point at which it is zoomed', () => {
  const w = zoomed(whole, 0.5, 0.25);
  assert.deepEqual(w, { from: 0.125, until: 0.625 });
  assert.deepEqual(zoomed(w, 10, 0.5), whole);
  assert.deepEqual(moved(w, 10), { from: 0.5, until: 1 });
  assert.deepEqual(moved(w, -10), { from: 0, until: 0.5 });
  assert.ok(within(0.3, 0).until > 0.3);
  assert.deepEqual(parseWindow(formatWindow(w)), w);
  assert.equal(formatWindow(whole), '');
  for (const text of ['', 'x', '0.5', '0.5,0.2', '-1,0.5', '0,2', '00ff00ff00ff00ff'])
    assert.equal(parseWindow(text), undefined);
});

test('frameAt finds the frame of a level at a position', () => {
  const f = layoutAnswer(answer(stacks));
  const at = (x, level) => frameAt(f, x, level);
  assert.deepEqual([at(0.5, 0), at(0.5, 1), at(0.5, 2), at(0.7, 2), at(0.7, 3), at(0.99, 3)], [0, 1, 2, 6, 7, -1]);
  const layers = [
    { frames: f, window: whole },
    { frames: invert(f), window: { from: 0.2, until: 0.4 } },
  ];
  assert.equal(layerAt(layers, 0.3), layers[1]);
  assert.equal(layerAt(layers, 0.5), layers[0]);
});
