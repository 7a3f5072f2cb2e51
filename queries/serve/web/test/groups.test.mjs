import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  conditions,
  gripAt,
  labelsOf,
  moveEdge,
  moveSpan,
  presets,
  runsIn,
  spanOf,
  startingSpans,
  stepsOf,
} from '../src/lib/groups';

const date = (n) => new Date(Date.UTC(2026, 9, 20 + n)).toISOString().slice(0, 10);

// nights returns runs of some nights, several in each. The build changes at night 30, the branch in every other run.
const nights = (count, each = 1) =>
  Array.from({ length: count * each }, (_, n) => {
    const night = Math.floor(n / each);
    return {
      experiment: `run-${n}.er`,
      started: `${date(night)}T02:00:${String(n % each).padStart(2, '0')}Z`,
      night: date(night),
      program: 'ingestd',
      host: 'box',
      build: night < 30 ? '10a0f81' : '6db4478',
      value: night < 30 ? 100 : 113,
      labels: { branch: n % 3 === 1 ? 'next' : 'main', night: date(night) },
    };
  });

const all = (from, to) => Array.from({ length: to - from }, (_, n) => from + n);

// overlap reports whether brushes share a step, are empty, or leave the strip.
const wrong = (spans, steps) =>
  Math.max(spans.base.from, spans.test.from) < Math.min(spans.base.to, spans.test.to) ||
  [spans.base, spans.test].some((s) => s.from < 0 || s.to > steps || s.to <= s.from);

test('brushes never overlap, whatever moves them', () => {
  let seed = 1;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (const steps of [2, 3, 11, 40]) {
    let spans = startingSpans(steps);
    const seen = new Set();
    for (let i = 0; i < 5000; i++) {
      const side = ['base', 'test'][random(2)];
      const at = random(steps + 5) - 2;
      spans =
        random(3) === 0
          ? moveSpan(spans, side, at - (steps >> 1), steps)
          : moveEdge(spans, side, ['from', 'to'][random(2)], at, steps);
      assert.equal(wrong(spans, steps), false, JSON.stringify(spans));
      seen.add(JSON.stringify(spans));
    }
    if (steps > 3) assert.ok(seen.size > 20, 'the brushes have moved');
  }
});

test('an edge pushes the edge of the other brush, and stops at its last step', () => {
  const spans = { base: { from: 0, to: 30 }, test: { from: 30, to: 40 } };
  assert.deepEqual(moveEdge(spans, 'test', 'from', 20, 40), { base: { from: 0, to: 20 }, test: { from: 20, to: 40 } });
  assert.deepEqual(moveEdge(spans, 'test', 'from', -5, 40), { base: { from: 0, to: 1 }, test: { from: 1, to: 40 } });
  assert.deepEqual(moveEdge(spans, 'base', 'to', 99, 40), { base: { from: 0, to: 39 }, test: { from: 39, to: 40 } });
  assert.deepEqual(moveSpan(spans, 'test', -3, 40), spans);
  assert.deepEqual(moveSpan({ ...spans, base: { from: 0, to: 20 } }, 'test', -99, 40).test, { from: 20, to: 30 });
});

test('a press takes the edge that is near, the brush around it, or the nearest edge outside', () => {
  const spans = { base: { from: 2, to: 10 }, test: { from: 20, to: 30 } };
  assert.deepEqual(gripAt(spans, 10.4, 0.5), { side: 'base', edge: 'to' });
  assert.deepEqual(gripAt(spans, 6, 0.5), { side: 'base', edge: undefined });
  assert.deepEqual(gripAt(spans, 18, 0.5), { side: 'test', edge: 'from' });
  assert.deepEqual(gripAt(spans, 0, 0.5), { side: 'base', edge: 'from' });
});

test('a step is a night, or a run if there are few nights', () => {
  const runs = nights(40, 3);
  const steps = stepsOf(runs);
  assert.equal(steps.length, 40);
  assert.deepEqual(runsIn(steps, { from: 1, to: 3 }), all(3, 9));
  assert.deepEqual(spanOf(steps, all(3, 9)), { from: 1, to: 3 });
  assert.equal(spanOf(steps, all(3, 8)), undefined);
  assert.equal(spanOf(steps, [0, 1, 2, 6, 7, 8]), undefined);
  assert.equal(spanOf(steps, []), undefined);
  assert.equal(stepsOf(nights(2, 3)).length, 6);
});

test('selectors are ranges of nights, of starts, a label, or names', () => {
  const runs = nights(40);
  assert.deepEqual(conditions(runs, all(0, 30), 'night'), ['night=2026-10-20..2026-11-18']);
  assert.deepEqual(conditions(runs, [39], 'started'), ['started=2026-11-28']);
  assert.deepEqual(conditions(runs, all(0, 40), 'started'), []);
  assert.deepEqual(conditions(runs, [...all(0, 5), ...all(9, 20)], 'started'), [
    'started=2026-10-20..2026-10-24',
    'started=2026-10-29..2026-11-08',
  ]);
  const next = runs.flatMap((r, n) => (r.labels.branch === 'next' ? [n] : []));
  assert.deepEqual(conditions(runs, next, 'started', 'branch'), ['branch=next']);
  assert.deepEqual(conditions(runs, next.slice(0, 2), 'started', 'branch'), ['run-1.er', 'run-4.er']);
  const many = nights(2, 4);
  assert.deepEqual(conditions(many, all(1, 6), 'started'), ['started=2026-10-20T02:00:01..2026-10-21T02:00:01']);
});

test('presets have their runs, or the reason why there are none', () => {
  const runs = nights(40);
  const steps = stepsOf(runs);
  const of = (list) => list.map((p) => `${p.name}: ${p.why ?? `${p.base.length} and ${p.test.length}`}`);
  assert.deepEqual(of(presets(runs, steps, [{ at: 12 }, { at: 30 }], all(5, 25))), [
    'Before and after the last change: 18 and 10',
    'Last night and the 10 before: 10 and 1',
    'Last week and this week: 7 and 7',
    'Build 6db4478 and the build before: 30 and 10',
    'branch main and branch next: 27 and 13',
    'The pinned base, and all after it: 20 and 15',
  ]);
  const few = nights(1).map((r) => ({ ...r, labels: {}, night: 'first', build: '' }));
  assert.deepEqual(of(presets(few, stepsOf(few), [], [])), [
    'Before and after the last change: no change in 1 nights',
    'Last run and the 10 before: there is one run',
    'Last week and this week: the nights are not dates',
    'This build and the build before: no build is known',
    'Two values of a label: no label divides the runs',
    'The pinned base, and all after it: no base is pinned',
  ]);
  for (const p of presets(runs, steps, [{ at: 30 }], all(0, 4)))
    assert.equal(
      p.base.some((n) => p.test.includes(n)),
      false,
      `${p.name} has no run on both sides`,
    );
});

test('labels that divide runs are offered with their runs', () => {
  const found = labelsOf(nights(40));
  assert.deepEqual(
    found.map((l) => l.key),
    ['branch', 'build', 'night'],
  );
  assert.deepEqual(found[0].values[1], ['next', nights(40).flatMap((r, n) => (n % 3 === 1 ? [n] : []))]);
});
