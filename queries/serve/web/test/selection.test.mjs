import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf } from '../src/lib/door';
import { format, parse } from '../src/lib/selection';

test('selectors are divided into programs and runs, and put together again', () => {
  for (const selectors of [
    [],
    ['target=a'],
    ['started=2026-11-28,target=a', 'started=2026-11-29,target=a'],
    ['x=1,target=a', 'x=2,target=a', 'x=1,target=b', 'x=2,target=b'],
    ['cxx.er', 'heap.er'],
  ])
    assert.deepEqual(format(parse(selectors)).sort(), [...selectors].sort());
  assert.deepEqual(parse(['x=1,target=a', 'x=2,target=a']), { programs: ['a'], runs: ['x=1', 'x=2'] });
});

test('selectors that are no product of programs and runs stay whole', () => {
  const selectors = ['x=1,target=a', 'x=2,target=b'];
  assert.deepEqual(parse(selectors), { programs: [], runs: selectors });
  assert.deepEqual(parse(['target=a', 'cxx.er']).runs, ['target=a', 'cxx.er']);
});

test('a name is cut in its path, not in its last part', () => {
  for (const [name, path] of [
    ['main', ''],
    ['cmd/compile/internal/ssagen.(*state).stmt', 'cmd/compile/internal/'],
    ['std::vector<std::string>::push_back(std::string const&)', 'std::vector<std::string>::'],
    ['geo::Ring<int>::area', 'geo::Ring<int>::'],
    ['<Total>', ''],
    ['<alloc::vec::Vec<T> as core::ops::Drop>::drop', '<alloc::vec::Vec<T> as core::ops::Drop>::'],
    ['(anonymous namespace)::work', '(anonymous namespace)::'],
  ])
    assert.deepEqual(partsOf(name), [path, name.slice(path.length)]);
});
