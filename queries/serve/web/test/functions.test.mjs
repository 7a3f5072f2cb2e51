import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boxesOf, edgesOf, most } from '../src/lib/callboxes.ts';
import { reference, shortName } from '../src/lib/shortname.ts';

test('long arguments are shortened, short names and operators are not', () => {
  for (const [name, want] of [
    ['std::vector<int>::push_back(int)', 'std::vector<int>::push_back(int)'],
    ['std::vector<std::pair<int, long>, A>::push_back(std::pair<int, long>&&)', 'std::vector<…>::push_back(…)'],
    ['cmd/compile/internal/ssa.(*regAllocState).regalloc', 'cmd/compile/internal/ssa.(*regAllocState).regalloc'],
    ['<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop', '<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop'],
    ['(anonymous namespace)::f<aaaaaaaaaaaaaaaaaaaaaaaaa>()', '(anonymous namespace)::f<…>()'],
    ['std::function<void (int)>::operator()(aaaaaaaaaaaaaaaaaaa)', 'std::function<void (int)>::operator()(…)'],
  ]) {
    assert.equal(shortName(name), want);
  }
  const long = 'f<' + 'a'.repeat(1 << 16);
  assert.equal(shortName(long), 'f<…');
});

test('an address has the beginning of a long name, of whole letters', () => {
  assert.equal(reference('main'), 'main');
  assert.equal(reference('a'.repeat(1 << 16)), 'a'.repeat(1000));
  assert.equal(reference('😀'.repeat(1 << 15)), '😀'.repeat(1000));
});

const neighbor = (name, attributed, in_cycle = -1) => ({
  function: name,
  load_object: '',
  module: '',
  kind: '',
  attributed,
  in_cycle,
});

test('members of a cycle share a box until it is opened, and so do those beyond nine', () => {
  const list = [neighbor('a', 5), neighbor('b', 3, 0), neighbor('c', 4, 0), neighbor('d', 1, 1)];
  const closed = boxesOf(list, -1, [], 'callers');
  assert.deepEqual(
    closed.map((b) => [b.kind, b.value]),
    [
      ['cycle', 7],
      ['one', 5],
      ['one', 1],
    ],
  );
  assert.equal(boxesOf(list, -1, [closed[0].key], 'callers').length, 4);
  const many = Array.from({ length: 30 }, (_, i) => neighbor(`f${i}`, 100 - i));
  const some = boxesOf(many, -1, [], 'callees');
  assert.equal(some.length, most + 1);
  assert.equal(some[most].of.length, 30 - most);
  assert.equal(
    some.reduce((n, b) => n + b.value, 0),
    many.reduce((n, m) => n + m.attributed, 0),
  );
  assert.equal(boxesOf(many, -1, [some[most].key], 'callees').length, 30);
});

test('values beyond 53 bits are summed exactly', () => {
  const list = [neighbor('a', '9007199254740993', 0), neighbor('b', '9007199254740995', 0)];
  assert.equal(boxesOf(list, -1, [], 'callers')[0].exact, '18014398509481988');
});

test('lines meet side by side in the middle, and are as wide as their values', () => {
  const edges = edgesOf(boxesOf([neighbor('a', 60), neighbor('b', 40)], -1, [], 'callers'), 100, 200, 48, 8);
  assert.equal(edges[0].width / edges[1].width, 1.5);
  assert.equal(edges[0].to + edges[0].width / 2, edges[1].to - edges[1].width / 2);
});
