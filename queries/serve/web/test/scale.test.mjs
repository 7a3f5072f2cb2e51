import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, runsIn, unitOf } from '../src/lib/result.ts';
import { apart, numberAxis, timeAxis } from '../src/lib/scale.ts';

const texts = (axis) => axis.ticks.map((t) => t.text);

test('axes of numbers have round ticks with one unit', () => {
  assert.deepEqual(texts(numberAxis(0, 97, 6, '')), ['0', '20', '40', '60', '80', '100']);
  const large = numberAxis(0, 2_345_678_901, 6, '');
  assert.deepEqual([texts(large), large.unit], [['0', '500', '1,000', '1,500', '2,000', '2,500'], 'M']);
  const ns = numberAxis(0, 3.2e9, 6, 'ns');
  assert.deepEqual([texts(ns), ns.unit], [['0', '1', '2', '3', '4'], 's']);
  assert.deepEqual(texts(numberAxis(-0.3, 0.5, 6, '')), ['−0.4', '−0.2', '0.0', '0.2', '0.4', '0.6']);
  const bytes = numberAxis(0, 5 * 2 ** 20, 6, 'bytes');
  assert.deepEqual([texts(bytes), bytes.unit, bytes.high], [['0', '1', '2', '3', '4', '5'], 'MiB', 5 * 2 ** 20]);
  for (const [low, high] of [
    [0, 0],
    [5, 5],
    [1e-9, 2e-9],
    [-3e18, 9e18],
    [99.99, 100.01],
  ]) {
    const a = numberAxis(low, high, 6, '');
    assert.ok(a.low <= low && a.high >= high && a.ticks.length >= 2 && a.ticks.length <= 8, JSON.stringify(a));
    assert.equal(new Set(texts(a)).size, a.ticks.length, `two ticks have one text: ${texts(a)}`);
  }
});

test('axes of times have ticks at round times in UTC', () => {
  const at = (text) => Date.parse(text) / 1000;
  assert.deepEqual(texts(timeAxis(at('2026-11-01T00:00Z'), at('2026-11-30T00:00Z'), 6)), [
    '2 Nov',
    '9 Nov',
    '16 Nov',
    '23 Nov',
    '30 Nov',
  ]);
  assert.deepEqual(texts(timeAxis(at('2026-11-01T22:50Z'), at('2026-11-02T01:10Z'), 6)), [
    '23:00',
    '23:30',
    '2 Nov',
    '00:30',
    '01:00',
  ]);
  assert.deepEqual(texts(timeAxis(at('2024-10-20T00:00Z'), at('2025-08-20T00:00Z'), 6)), [
    'Nov',
    '2025',
    'Mar',
    'May',
    'Jul',
  ]);
  assert.deepEqual(texts(timeAxis(at('2019-02-01T00:00Z'), at('2026-02-01T00:00Z'), 8)), [
    '2020',
    '2021',
    '2022',
    '2023',
    '2024',
    '2025',
    '2026',
  ]);
});

test('labels do not touch', () => {
  assert.deepEqual(apart([0, 50, 100, 150], [30, 30, 30, 30], 10), [0, 1, 2, 3]);
  assert.deepEqual(apart([0, 50, 100, 150], [60, 60, 60, 60], 10), [0, 2]);
  assert.deepEqual(apart([], [], 10), []);
});

test('units and runs of a result', () => {
  const relations = [
    { name: 'v', kind: 'view', row: '', columns: [{ name: 'busy', type: '', unit: 'ns', meaning: '' }] },
  ];
  const rows = [
    { experiment: 'a', value: 1, unit: 'bytes', duration_ns: 3, busy: 1, seconds: 2, other: 1 },
    { experiment: 'b', value: 2, unit: 'bytes', duration_ns: 4, busy: 1, seconds: 2, other: 1 },
    { experiment: 'a', value: 2, unit: 'bytes', duration_ns: 4, busy: 1, seconds: 2, other: 1 },
  ];
  const units = Object.fromEntries(columnsOf(rows).map((c) => [c.name, unitOf(c.name, rows, relations)]));
  assert.deepEqual(units, {
    experiment: '',
    value: 'bytes',
    unit: '',
    duration_ns: 'ns',
    busy: 'ns',
    seconds: 's',
    other: '',
  });
  assert.equal(unitOf('value', [...rows, { ...rows[0], unit: 'ns' }], relations), '');
  assert.deepEqual(runsIn(rows), ['a', 'b']);
  assert.deepEqual(runsIn([{ experiment_id: 'x' }, { experiment_id: null }]), ['x']);
  assert.deepEqual(runsIn([{ n: 1 }]), []);
});
