import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShownState } from '../src/lib/shown.ts';
import { changeOf, changesText } from '../src/lib/store.ts';

test('the page shows one state of the store', () => {
  const shown = new ShownState();
  const moves = [];
  const end = shown.onMove(() => moves.push(shown.current));
  shown.answered(undefined, 'a');
  shown.answered('a', 'a');
  shown.answered('a', null);
  assert.deepEqual([shown.current, moves], ['a', []]);

  shown.answered('a', 'b'); // the server no longer has a
  assert.deepEqual([shown.current, moves], ['b', ['b']]);
  shown.answered('a', 'c'); // sent before the move: everything is asked again anyway
  shown.answered('a', 'a');
  assert.deepEqual([shown.current, moves], ['b', ['b']]);

  shown.move('c');
  shown.move('c');
  assert.deepEqual([moves, shown.moves], [['b', 'c'], 2]);
  shown.answered(undefined, 'd'); // of the first requests, one was answered before the store grew
  assert.equal(shown.current, 'd');
  end();
  shown.move('e');
  assert.deepEqual(moves, ['b', 'c', 'd']);
});

test('what is new in the store', () => {
  const newest = (experiments, since) => ({ state: 'b', experiments, newest: null, since });
  const grown = { added: 3, removed: 0, changed: 1 };
  assert.deepEqual(changeOf(newest(9, grown), 'a', 6), grown);
  assert.equal(changeOf(newest(9, grown), 'b', 6).added, 0);
  assert.equal(changeOf(newest(9, grown), undefined, undefined).added, 0);
  assert.deepEqual(changeOf(newest(9, null), 'a', 6), { added: 3, removed: 0, changed: 0 });
  assert.deepEqual(changeOf(newest(4, null), 'a', 6), { added: 0, removed: 2, changed: 0 });
  assert.equal(changesText(grown), '3 new, 1 changed');
  assert.equal(changesText({ added: 0, removed: 0, changed: 0 }), '');
});
