import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeatScale } from '../src/lib/heat';
import { parseRange, rangeText, stepOf, timeTicks } from '../src/lib/timeaxis';

const texts = (range, n) => timeTicks(range, n).map((t) => t.text.replaceAll('\u202f', ' '));

test('ticks are round in the unit of the axis', () => {
  assert.deepEqual(texts([0, 21e9], 5), ['0 s', '5 s', '10 s', '15 s', '20 s']);
  assert.deepEqual(texts([0, 1e9], 5), ['0.0 s', '0.2 s', '0.4 s', '0.6 s', '0.8 s', '1.0 s']);
  assert.deepEqual(texts([0, 800e6], 4), ['0 ms', '200 ms', '400 ms', '600 ms', '800 ms']);
  assert.deepEqual(texts([0, 86400e9], 6), ['0', '6 h', '12 h', '18 h', '1 d']);
  assert.deepEqual(texts([0, 5400e9], 3), ['0', '30 min', '1 h', '1 h 30 min']);
  assert.deepEqual(texts([-1e9, 1e9], 2), ['\u22121 s', '0 s', '1 s']);
  assert.equal(stepOf(0, 5), 1);
});

test('a range is written as it is read', () => {
  for (const range of [
    [0, 1e9],
    [110e6, 220e6],
    [1, 2],
    [-5e8, 86_400_000_000_001],
  ]) {
    assert.deepEqual(parseRange(rangeText(range)), range);
  }
  assert.equal(rangeText([24e9, 44.5e9]), '24s,44.5s');
  assert.equal(parseRange('2026-11-28,'), undefined);
});

test('scales give 0 no color and the highest value the strongest one', () => {
  const values = Float64Array.from([0, 1, 1, 4, 16]);
  for (const kind of ['linear', 'root', 'rank']) {
    const scale = new HeatScale(kind, values);
    assert.equal(scale.share(0), 0);
    assert.equal(scale.share(16), 1);
    assert.equal(scale.value(1), 16);
  }
  assert.equal(new HeatScale('root', values).share(4), 0.5);
  assert.equal(new HeatScale('linear', values).share(4), 0.25);
  assert.equal(new HeatScale('rank', values).share(1), 0.5);
});
