// Tests of the libraries of the place for source.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { align } from '../src/lib/alignment.ts';
import { heat, parsed } from '../src/lib/annotated.ts';
import { Highlighter, languageOf } from '../src/lib/highlight.ts';
import { placeJumps } from '../src/lib/jumps.ts';
import { matchLines, rowsOf } from '../src/lib/sourcerows.ts';

// code returns instructions of one byte each, with these targets.
function code(targets) {
  const of = (value) => targets.map(() => value);
  return {
    part: of(0),
    offset: targets.map((_, n) => n),
    size: of(1),
    text: targets.map((t) => (t === null ? 'nop' : `jmp 0x${(0x1000 + t).toString(16)}`)),
    target: targets,
    target_name: of(''),
    file: of(0),
    line: targets.map((_, n) => 1 + Math.floor(n / 2)),
    exclusive: of(0),
    inclusive: of(0),
  };
}

test('jumps that share a row are in different lanes', () => {
  const targets = Array.from({ length: 60 }, (_, n) => (n % 7 === 3 ? (n * 13) % 60 : n % 11 === 5 ? n - 4 : null));
  const jumps = placeJumps(code(targets), 4);
  assert.equal(jumps.length, targets.filter((t) => t !== null).length);
  const rows = (j) => [Math.min(j.from, j.to), Math.max(j.from, j.to)];
  for (const a of jumps)
    for (const b of jumps) {
      if (a === b || a.lane < 0 || a.lane !== b.lane) continue;
      assert.ok(rows(a)[1] < rows(b)[0] || rows(b)[1] < rows(a)[0], `${rows(a)} and ${rows(b)} in lane ${a.lane}`);
    }
  assert.ok(
    jumps.some((j) => j.lane < 0),
    'more jumps than lanes',
  );
});

test('a short jump is in a lane inside of a long one around it', () => {
  const jumps = placeJumps(code([5, null, 3, null, null, null]), 4);
  assert.deepEqual(
    jumps.map((j) => [j.from, j.to, j.lane]),
    [
      [2, 3, 0],
      [0, 5, 1],
    ],
  );
});

test('the operand of a jump inside the function is left to its offset', () => {
  const a = { instructions: code([2, null, null]), parts: [{ name: 'f', address: 0x1000, size: 3 }] };
  assert.deepEqual(parsed(a, 0), ['jmp', '']);
  assert.deepEqual(parsed(a, 1), ['nop', '']);
});

test('heat grows with the square root of the value', () => {
  assert.deepEqual(
    [0, 1, 4, 5, 16, 17, 64, 100].map((v) => heat(v, 100)),
    [0, 1, 1, 2, 2, 3, 4, 5],
  );
  assert.equal(heat(300, 100), 5);
});

const tokens = (file, lines, line) => new Highlighter(languageOf(file), lines).tokens(line);

test('comments and texts that span lines are colored from any line on', () => {
  const c = ['int a; /* one', 'int b;', 'two */ return 1; // "x', 'char *s = "a\\"b"; x'];
  assert.deepEqual(tokens('x.c', c, 1), [['comment', 'int b;']]);
  assert.deepEqual(tokens('x.c', c, 2), [
    ['comment', 'two */'],
    ['', ' '],
    ['keyword', 'return'],
    ['', ' '],
    ['number', '1'],
    ['', '; '],
    ['comment', '// "x'],
  ]);
  assert.deepEqual(tokens('x.c', c, 3), [
    ['keyword', 'char'],
    ['', ' *s = '],
    ['text', '"a\\"b"'],
    ['', '; x'],
  ]);
  assert.deepEqual(tokens('/usr/include/c++/12/vector', ['template <class T>'], 0)[0], ['keyword', 'template']);
  assert.deepEqual(tokens('x.go', ['a := `/*', 'x` + 2'], 1)[0], ['text', 'x`']);
  assert.deepEqual(tokens('x.f90', ['End Do ! done'], 0), [
    ['keyword', 'End'],
    ['', ' '],
    ['keyword', 'Do'],
    ['', ' '],
    ['comment', '! done'],
  ]);
  assert.equal(languageOf('data.xyz'), undefined);
});

test('the parts of a line are the whole line', () => {
  for (const file of ['x.c', 'x.rs', 'x.py', 'x.d', 'x.adb', 'x.s', 'x.java'])
    for (const line of ['', "let c = 'a'; r#\"x", '#include <a> // "', "'''a", '`b', '\tmov $1, %eax # é', 'x /+ y'])
      assert.equal(
        tokens(file, [line], 0)
          .map(([, t]) => t)
          .join(''),
        line,
      );
});

test('equal lines of two versions are found', () => {
  const from = ['a', '{', 'x', '}', 'b', '{', 'y', '}', 'c'];
  assert.deepEqual([...align(from, from)], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(
    [...align(from, ['a', '{', 'x', '}', 'new', 'b', '{', 'z', '}', 'c'])],
    [0, 1, 2, 3, -1, 4, 5, -1, 7, 8],
  );
  assert.deepEqual([...align(from, ['b', '{', 'y', '}', 'a', '{', 'x', '}', 'c'])].length, 9);
  assert.deepEqual([...align([], ['a'])], [-1]);
  assert.deepEqual([...align(['a'], [])], []);
});

test('aligned lines are equal and in order', () => {
  let seed = 7;
  const random = (n) => (seed = (seed * 16807) % 2147483647) % n;
  for (let round = 0; round < 200; round++) {
    const lines = (n) => Array.from({ length: n }, () => 'abcdefgh{}'[random(10)]);
    const [from, to] = [lines(random(20)), lines(random(20))];
    let last = -1;
    align(from, to).forEach((x, y) => {
      if (x < 0) return;
      assert.equal(from[x], to[y]);
      assert.ok(x > last, `${from.join('')} ${to.join('')}`);
      last = x;
    });
  }
});

// annotated returns an answer with a text and the function's values by line.
function annotated(build, text, values) {
  const line = Object.keys(values).map(Number);
  const value = Object.values(values);
  return {
    builds: [{ id: build }],
    build: 0,
    files: [{ name: 'a.c', first: 1, last: 9 }],
    file: 0,
    text,
    lines: { line, exclusive: value, inclusive: value, function_exclusive: value, function_inclusive: value },
    inlined: [{ line: 2, path: 'f:7' }],
    instructions: code([null, null, null, null]),
  };
}

const plain = { range: undefined, unfolded: () => false, interleaved: false, gone: [] };

test('lines of another build are matched by text, and lost ones with values are listed', () => {
  const base = annotated('1', ['a', 'old', 'b'], { 2: 5, 3: 1 });
  const test = annotated('2', ['new', 'a', 'b'], { 3: 9 });
  const matched = matchLines(base, test);
  assert.deepEqual([1, 2, 3].map(matched.baseOf), [0, 1, 3]);
  assert.deepEqual(matched.gone, [{ line: 2, before: 2 }]);
  assert.deepEqual(
    rowsOf(test, { ...plain, gone: matched.gone }).map((r) => `${r.kind} ${r.line}`),
    ['line 1', 'line 2', 'gone 2', 'line 3'],
  );
  assert.equal(matchLines({ ...base, text: [] }, test), undefined);
  assert.deepEqual(matchLines({ ...base, text: [] }, { ...test, builds: base.builds, text: [] }).baseOf(3), 3);
});

test('rows are lines with what is unfolded below them', () => {
  const a = annotated('1', ['a', 'b', 'c'], { 2: 5 });
  assert.deepEqual(
    rowsOf(a, { ...plain, unfolded: (line) => line === 2, interleaved: true }).map((r) => `${r.kind} ${r.line}`),
    ['line 1', 'instruction 1', 'instruction 1', 'line 2', 'inlined 2', 'instruction 2', 'instruction 2', 'line 3'],
  );
  assert.deepEqual(
    rowsOf(a, { ...plain, range: [2, 2] }).map((r) => r.line),
    [2],
  );
  assert.deepEqual(
    rowsOf({ ...a, text: [] }, plain).map((r) => r.line),
    [1, 2],
  );
});
