// Base and test as groups of runs: brushes over nights, presets, and the selectors that name a group in the address.

import { format } from './selection';

export interface Run {
  experiment: string;
  id: string;
  started: string; // UTC
  night: string; // the value that orders the runs: a date, or the value of a label
  program: string;
  host: string;
  build: string;
  value: number;
  labels: Record<string, string>;
}

// Step is what a brush moves by: the runs of a night, or a single run if the runs are of few nights.
export interface Step {
  name: string;
  runs: number[];
}

export const sides = ['base', 'test'] as const;
export type Side = (typeof sides)[number];

export function otherSide(side: Side): Side {
  return side === 'base' ? 'test' : 'base';
}

// Span is a range of steps; `to` is not in it.
export interface Span {
  from: number;
  to: number;
}
export type Spans = Record<Side, Span>;

const fewestNights = 6; // as in trend: with fewer, each run is a step

export function stepsOf(runs: Run[]): Step[] {
  const nights = new Set(runs.map((r) => r.night)).size >= fewestNights;
  const steps: Step[] = [];
  runs.forEach((r, n) => {
    const name = nights ? r.night : r.started;
    const last = steps[steps.length - 1];
    if (last?.name === name && nights) last.runs.push(n);
    else steps.push({ name, runs: [n] });
  });
  return steps;
}

export function runsIn(steps: Step[], span: Span): number[] {
  return steps.slice(span.from, span.to).flatMap((s) => s.runs);
}

// spanOf returns the steps of a group; undefined if it is empty, has gaps, or has only some of the runs of a step.
export function spanOf(steps: Step[], group: Iterable<number>): Span | undefined {
  const has = new Set(group);
  const from = steps.findIndex((s) => s.runs.some((r) => has.has(r)));
  if (from < 0) return undefined;
  let to = from;
  while (to < steps.length && steps[to]!.runs.every((r) => has.has(r))) to++;
  return runsIn(steps, { from, to }).length === has.size ? { from, to } : undefined;
}

// moveEdge moves an edge of a brush to a step. Each brush keeps at least one step: an edge that meets the other brush
// pushes that one's edge before it, until one step is left.
export function moveEdge(spans: Spans, side: Side, edge: 'from' | 'to', at: number, steps: number): Spans {
  const [span, other] = [{ ...spans[side] }, { ...spans[otherSide(side)] }];
  if (edge === 'from') {
    const least = other.to <= span.from ? other.from + 1 : 0;
    span.from = Math.max(least, Math.min(at, span.to - 1));
    if (other.from < span.from && other.to > span.from) other.to = span.from;
  } else {
    const most = other.from >= span.to ? other.to - 1 : steps;
    span.to = Math.min(most, Math.max(at, span.from + 1));
    if (other.to > span.to && other.from < span.to) other.from = span.to;
  }
  return side === 'base' ? { base: span, test: other } : { base: other, test: span };
}

// moveSpan moves a brush by some steps, until it meets the other one or an end, and keeps its length.
export function moveSpan(spans: Spans, side: Side, by: number, steps: number): Spans {
  const [span, other] = [spans[side], spans[otherSide(side)]];
  const limits = span.from < other.from ? { from: 0, to: other.from } : { from: other.to, to: steps };
  const bounded = Math.max(limits.from - span.from, Math.min(by, limits.to - span.to));
  return { ...spans, [side]: { from: span.from + bounded, to: span.to + bounded } };
}

// Grip is what a press takes hold of: an edge of a brush, or the whole brush.
export interface Grip {
  side: Side;
  edge: 'from' | 'to' | undefined;
}

// gripAt returns what a press takes hold of: the nearest edge if it is near or the press is outside of the brushes,
// otherwise the brush. at and near are in steps.
export function gripAt(spans: Spans, at: number, near: number): Grip {
  let edge: Grip = { side: 'base', edge: 'from' };
  let far = Infinity;
  for (const side of sides)
    for (const e of ['from', 'to'] as const) {
      const distance = Math.abs(spans[side][e] - at);
      if (distance >= far) continue;
      far = distance;
      edge = { side, edge: e };
    }
  if (far <= near) return edge;
  const inside = sides.find((side) => at > spans[side].from && at < spans[side].to);
  return inside === undefined ? edge : { side: inside, edge: undefined };
}

// startingSpans returns brushes to begin with: the last step against at most ten before. There must be two steps.
export function startingSpans(steps: number): Spans {
  return { base: { from: Math.max(0, steps - 11), to: steps - 1 }, test: { from: steps - 1, to: steps } };
}

export interface Preset {
  name: string;
  base: number[];
  test: number[];
  by?: string; // a label whose values make the groups
  why?: string; // nothing can be compared: the reason
}

export interface Change {
  at: number; // index of the first run at the new level
}

const before = 10; // nights before the last one

// presets returns groups that are often compared. changes are those of the total value of all runs together.
export function presets(runs: Run[], steps: Step[], changes: Change[] | undefined, pinned: number[]): Preset[] {
  const unit = steps.length > 0 && steps[0]!.name === runs[steps[0]!.runs[0]!]?.night ? 'night' : 'run';
  const last = steps.length - 1;
  return [
    sinceChange(runs, steps, changes),
    last < 1
      ? { name: `Last ${unit} and the ${before} before`, base: [], test: [], why: `there is one ${unit}` }
      : {
          name: `Last ${unit} and the ${Math.min(before, last)} before`,
          base: runsIn(steps, { from: Math.max(0, last - before), to: last }),
          test: runsIn(steps, { from: last, to: last + 1 }),
        },
    weeks(runs),
    builds(runs),
    ...labelPairs(runs),
    {
      name: 'The pinned base, and all after it',
      base: pinned,
      test: pinned.length === 0 ? [] : after(runs, pinned),
      ...(pinned.length === 0
        ? { why: 'no base is pinned' }
        : after(runs, pinned).length === 0
          ? { why: 'there are no runs after it' }
          : {}),
    },
  ];
}

function after(runs: Run[], group: number[]): number[] {
  const end = Math.max(...group);
  return runs.map((_, n) => n).filter((n) => n > end);
}

function sinceChange(runs: Run[], steps: Step[], changes: Change[] | undefined): Preset {
  const name = 'Before and after the last change';
  if (changes === undefined) return { name, base: [], test: [], why: 'choose one program' };
  const last = changes[changes.length - 1];
  if (last === undefined) return { name, base: [], test: [], why: `no change in ${steps.length} nights` };
  const from = changes[changes.length - 2]?.at ?? 0;
  const numbers = runs.map((_, n) => n);
  return { name, base: numbers.slice(from, last.at), test: numbers.slice(last.at) };
}

const dayLength = 24 * 3600 * 1000; // ms

function weeks(runs: Run[]): Preset {
  const name = 'Last week and this week';
  const times = runs.map((r) => Date.parse(r.night.slice(0, 10)));
  if (times.some((t) => Number.isNaN(t))) return { name, base: [], test: [], why: 'the nights are not dates' };
  const newest = Math.max(...times);
  const within = (from: number, to: number) =>
    times.flatMap((t, n) => (t > newest - to * dayLength && t <= newest - from * dayLength ? [n] : []));
  const [base, test] = [within(7, 14), within(0, 7)];
  return { name, base, test, ...(base.length === 0 ? { why: 'no runs in the week before' } : {}) };
}

function builds(runs: Run[]): Preset {
  const order = [...new Set(runs.map((r) => r.build).reverse())].filter((b) => b !== '');
  const of = (build: string | undefined) => runs.flatMap((r, n) => (r.build === build ? [n] : []));
  if (new Set(runs.map((r) => r.program)).size > 1)
    return { name: 'This build and the build before', base: [], test: [], why: 'choose one program' };
  if (order.length < 2) {
    const why = order.length === 0 ? 'no build is known' : 'all runs are of one build';
    return { name: 'This build and the build before', base: [], test: [], why };
  }
  return { name: `Build ${order[0]!.slice(0, 7)} and the build before`, base: of(order[1]), test: of(order[0]) };
}

const labelPresets = 2; // at most this many labels are offered

// labelsOf returns the labels that distinguish runs, with their values, the most frequent ones first. Labels that
// differ from night to night, such as the night itself, are no groups.
export function labelsOf(runs: Run[]): { key: string; values: [string, number[]][] }[] {
  const of = new Map<string, Map<string, number[]>>();
  runs.forEach((r, n) => {
    for (const [key, value] of Object.entries({ ...r.labels, host: r.labels['host'] ?? r.host, build: r.build })) {
      if (key === 'started' || key === 'note' || key.startsWith('phase.') || value === '') continue;
      const values = of.get(key) ?? new Map<string, number[]>();
      values.set(value, [...(values.get(value) ?? []), n]);
      of.set(key, values);
    }
  });
  return [...of]
    .filter(([, values]) => values.size > 1)
    .map(([key, values]) => ({ key, values: [...values].sort((a, b) => b[1].length - a[1].length) }))
    .sort((a, b) => a.values.length - b.values.length || a.key.localeCompare(b.key));
}

function labelPairs(runs: Run[]): Preset[] {
  const pairs = labelsOf(runs).filter((l) => l.key !== 'build' && l.values.length < runs.length / 2);
  if (pairs.length === 0)
    return [{ name: 'Two values of a label', base: [], test: [], why: 'no label divides the runs' }];
  return pairs.slice(0, labelPresets).map(({ key, values }) => {
    const [base, test] = [values[0]!, values[1]!];
    return { name: `${key} ${base[0]} and ${key} ${test[0]}`, base: base[1], test: test[1], by: key };
  });
}

// conditions returns selectors of runs, without the program, that match exactly the chosen ones among all runs. A
// label that tells them is used, if it is named; then ranges of nights or of starts, and the names if they are shorter.
export function conditions(runs: Run[], chosen: number[], key: string, by?: string): string[] {
  const has = new Set(chosen);
  if (has.size === runs.length) return [];
  if (by !== undefined) {
    const values = new Set(chosen.map((n) => valueOf(runs[n]!, by)));
    const exact = runs.every((r, n) => has.has(n) === values.has(valueOf(r, by)));
    if (exact && [...values].every((v) => v !== '' && !/,|^\s|\s$/.test(v)))
      return [...values].map((v) => `${by}=${v}`);
  }
  const nights = ranges(runs, has, key, (r) => r.night);
  const starts = key === 'started' ? ranges(runs, has, key, (r) => r.started.slice(0, 19)) : undefined;
  const shortest = [nights, starts].find((r) => r !== undefined && r.length <= Math.max(1, has.size / 2));
  return shortest ?? chosen.map((n) => runs[n]!.experiment);
}

function valueOf(r: Run, key: string): string {
  return r.labels[key] ?? (key === 'host' ? r.host : '');
}

// ranges returns ranges of nights or starts that match the chosen runs; undefined if some of the runs of one are chosen
// and others are not, or the runs are not in its order.
function ranges(runs: Run[], has: Set<number>, key: string, of: (r: Run) => string): string[] | undefined {
  const groups: { name: string; in: boolean }[] = [];
  const seen = new Set<string>();
  for (const [n, r] of runs.entries()) {
    const name = of(r);
    const last = groups[groups.length - 1];
    if (last?.name === name) {
      if (last.in !== has.has(n)) return undefined;
    } else if (seen.has(name) || name === '' || /,|\.\.|^\s|\s$/.test(name)) return undefined;
    else {
      seen.add(name);
      groups.push({ name, in: has.has(n) });
    }
  }
  const list: string[] = [];
  for (let i = 0; i < groups.length; i++) {
    if (!groups[i]!.in) continue;
    const from = i;
    while (groups[i + 1]?.in === true) i++;
    list.push(from === i ? `${key}=${groups[i]!.name}` : `${key}=${groups[from]!.name}..${groups[i]!.name}`);
  }
  return list;
}

// rangeText describes conditions of runs for people: 30 nights to 18 Nov.
export function rangeText(condition: string, day: (night: string) => string): string {
  const range = /^(?:started|night)=(\d{4}-\d{2}-\d{2})?\.\.(\d{4}-\d{2}-\d{2})?$/.exec(condition);
  if (range === null) {
    const night = /^(?:started|night)=(\d{4}-\d{2}-\d{2})$/.exec(condition);
    return night === null ? condition : `night of ${day(night[1]!)}`;
  }
  const [from, to] = [range[1], range[2]];
  if (from === undefined) return to === undefined ? 'all nights' : `nights to ${day(to)}`;
  return to === undefined ? `nights from ${day(from)}` : `${day(from)} … ${day(to)}`;
}

// defaultGroups returns base and test if the address has only one of them, or none; undefined if there are no two
// groups. A base is compared with all that is newer; a test with at most ten nights before it.
export function defaultGroups(
  runs: Run[],
  steps: Step[],
  changes: Change[] | undefined,
  given: { base: number[]; test: number[] },
): { base: number[]; test: number[] } | undefined {
  const all = runs.map((_, n) => n);
  const without = (group: number[]) => all.filter((n) => !group.includes(n));
  if (given.base.length > 0 && given.base.length < runs.length) {
    const newer = after(runs, given.base);
    return { base: given.base, test: newer.length > 0 ? newer : without(given.base) };
  }
  if (given.test.length > 0 && given.test.length < runs.length) {
    const first = steps.findIndex((s) => s.runs.some((r) => given.test.includes(r)));
    const base = runsIn(steps, { from: Math.max(0, first - before), to: first });
    return { base: base.length > 0 ? base : without(given.test), test: given.test };
  }
  return presets(runs, steps, changes, []).find((p) => p.why === undefined);
}

// selectorsOf returns the selectors of a group of runs of some programs, for the address.
export function selectorsOf(runs: Run[], chosen: number[], key: string, programs: string[], by?: string): string[] {
  const of = conditions(runs, chosen, key, by);
  const names = of.length > 0 && of.every((c, n) => c === runs[chosen[n] ?? -1]?.experiment);
  return names ? of : format({ programs, runs: of });
}
