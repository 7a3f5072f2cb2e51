import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupColors } from '../src/lib/flamecolor';
import {
  Layout,
  secondsText,
  stateTitle,
  threadStates,
  ticks,
  waitOf,
  whereWaited,
  zoomed,
} from '../src/lib/threadstates';

const states = ['unknown', 'on', 'preempted', 'runqueue', 'blocked', 'disk', 'start', 'end', 'loss', 'chain'];

// timeline has a thread that was on a CPU, blocked, and on a CPU again, and one that was blocked, then mixed.
const timeline = (exact) => ({
  experiment_id: 'a',
  experiment: 'a.data',
  t0_ns: 100,
  t1_ns: 900,
  from_ns: 100,
  until_ns: 500,
  exact,
  width_ns: exact ? 1 : 100,
  threads: 2,
  total: [],
  lanes: [{ thread_id: 7 }, { thread_id: 8 }],
  pieces: exact
    ? {
        lane: [0, 0, 0, 1],
        from: [0, 50, 250, 10],
        until: [50, 250, 400, 60],
        state: [1, 4, 1, 5],
        ns: [50, 200, 150, 50],
        waker: [-1, 8, -1, -1],
      }
    : {
        lane: [0, 1, 1, 1],
        from: [0, 0, 3, 3],
        until: [4, 3, 4, 4],
        state: [1, 4, 4, 1],
        ns: [400, 300, 40, 30],
        waker: [-1, -1, -1, -1],
      },
});

test('the span at a time is the period or interval that contains it, or the nearest before it', () => {
  const l = new Layout(timeline(true));
  assert.deepEqual(
    [100, 149, 150, 349, 350, 499].map((ns) => l.at(0, ns).first),
    [0, 0, 1, 1, 2, 2],
  );
  assert.equal(l.at(1, 100).first, 3);
  assert.equal(l.at(1, 480).first, 3);
  assert.equal(l.at(5, 100), undefined);
  assert.equal(l.find('7', 160).first, 1);
  assert.equal(l.find('8', 100), undefined); // before its first period
  assert.equal(l.find('9', 160), undefined);
  assert.deepEqual([l.x(100), l.x(300), l.x(500)], [0, 0.5, 1]);
});

test('keys move between the spans of a thread and stop at its ends', () => {
  const l = new Layout(timeline(true));
  const first = l.at(0, 100);
  assert.equal(l.beside(first, 1).from, 150);
  assert.equal(l.beside(first, -1), first);
  assert.equal(l.beside(first, Infinity).from, 350);
});

test('an interval has the shares of its states, on CPUs first', () => {
  const l = new Layout(timeline(false));
  assert.equal(l.ofLane(1).length, 2);
  const mixed = l.at(1, 450);
  assert.deepEqual([mixed.from, mixed.until], [400, 500]);
  assert.deepEqual(l.parts(mixed, states), [
    { state: 'on', share: 0.3, ns: 30 },
    { state: 'blocked', share: 0.4, ns: 40 },
  ]);
  assert.deepEqual(l.parts(l.at(0, 100), states), [{ state: 'on', share: 1, ns: 400 }]);
});

test('states differ by letter, and by color or pattern', () => {
  const all = Object.values(threadStates);
  assert.equal(new Set(all.map((s) => s.letter)).size, all.length);
  assert.equal(new Set(all.map((s) => s.light)).size, all.length);
  assert.equal(new Set(all.filter((s) => s.pattern !== 'none').map((s) => s.pattern)).size, all.length - 2);
  for (const label of states) assert.notEqual(stateTitle(label), '');
  assert.equal(stateTitle('loss'), 'unknown: records were lost');
});

test('waits in flame graphs have the color of their state, and the other groups the colors of their rank', () => {
  const names = ['<Blocked>', ...Array.from({ length: 10 }, (_, i) => `package${i}`), '<Unknown>'];
  const values = names.map((_, i) => 100 - i);
  for (const dark of [false, true]) {
    const token = (name) => (name === '--ground' ? 'rgb(255 255 255)' : `rgb(${name.slice(-1)} 0 0)`);
    const groups = { by: 'package', name: names, exclusive: values, inclusive: values, more: 0, more_exclusive: 0 };
    const colors = groupColors(groups, dark, token);
    assert.equal(colors.of[0], threadStates.blocked[dark ? 'dark' : 'light']);
    assert.deepEqual(
      colors.of.slice(1, 9),
      Array.from({ length: 8 }, (_, i) => `rgb(${i} 0 0)`),
    );
    assert.equal(colors.of[11], 'rgb(8 0 0)');
    assert.deepEqual(colors.named, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  }
  assert.equal(waitOf('<Disk-wait>'), threadStates.disk);
  assert.equal(waitOf('<Total>'), undefined);
});

test('the place of a wait is below the frames of states', () => {
  assert.equal(whereWaited(['<Blocked>', 'read', 'main']), 'read');
  assert.equal(whereWaited(['leave', 'run']), 'leave');
  assert.equal(whereWaited(['<Blocked>']), undefined);
});

test('ticks are round, and texts tell them apart', () => {
  assert.deepEqual(ticks(100, 500, 4), [100, 200, 300, 400, 500]);
  assert.deepEqual(ticks(0, 26_000_000_000, 5), [0, 1e10, 2e10]);
  assert.deepEqual(ticks(5, 5, 5), []);
  assert.equal(secondsText(1_234_567_890, 1e10), '1.235 s');
  assert.equal(secondsText(1_234_567_890, 1e6), '1.234568 s');
  assert.equal(secondsText(1_234_567_890, 0), '1.234567890 s');
});

test('zooming keeps a time in its place, within the whole time', () => {
  assert.deepEqual(zoomed([0, 1e6], [0, 1e6], 500_000, 0.5), [250_000, 750_000]);
  assert.deepEqual(zoomed([250_000, 750_000], [0, 1e6], 500_000, 2), [0, 1e6]);
  assert.deepEqual(zoomed([0, 500_000], [0, 1e6], 0, 4), [0, 1e6]);
  assert.deepEqual(zoomed([0, 2000], [0, 1e6], 2000, 0.1), [1000, 2000]);
});
