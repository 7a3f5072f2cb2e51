import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf, stackHas } from '../src/lib/door';
import { chipText, filterKinds, written } from '../src/lib/filters';
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

test('a condition on a function has exactly its name, and its chip shows that', () => {
  const condition = stackHas("operator new(unsigned long) [clone '.cold']");
  assert.equal(condition, "stack_has('^operator new\\(unsigned long\\) \\[clone ''\\.cold''\\]$')");
  assert.equal(chipText('where', condition), "with operator new(unsigned long) [clone '.cold']");
  assert.equal(chipText('where', `NOT ${stackHas('main')}`), 'without main');
  assert.equal(chipText('where', "stack_has('parse')"), 'with …parse…');
  assert.equal(chipText('where', 'cpu = 3'), 'cpu = 3');
});

test('a chip is edited as it was written', () => {
  const { kind, text } = written('where', "stack_has('it''s')");
  assert.equal(filterKinds[kind].parse(text), "stack_has('it''s')");
  assert.equal(filterKinds[written('thread', '17').kind].parameter, 'thread');
  assert.equal(filterKinds[written('where', 'cpu = 3').kind].name, 'SQL condition');
});
