// The answer of /api/v1/trend: values over experiments, in the order in which they were made, with change points.
import { useData, type Answer } from './api';
import type { Address, Params } from './address';
import { selectorsOf, type Run } from './groups';
import { day, signed } from './units';

export interface Trend {
  metric: string;
  unit: string;
  mode: string;
  inclusive: boolean;
  normalise: string;
  order: string;
  by?: string;
  chance: number;
  points: Point[];
  matched: number;
  series: Series[];
  warnings: string[];
}

export interface Point {
  experiment_id: string;
  experiment: string;
  started: string;
  started_from: string;
  ordered?: string; // the value of the label that orders the points
  host: string;
  target: string;
  build: string;
  status: string;
  labels?: Record<string, string>;
}

export interface Series {
  function: string;
  function_key: string;
  load_object: string;
  module: string;
  by?: string;
  points?: number[]; // of each value; without it, all points
  values: number[];
  changes: Change[];
}

export interface Change {
  at: number; // index of the first value at the new level
  before: number; // median
  after: number;
  p: number;
  state: 'sure' | 'maybe';
}

// nightLabel is the label that names nights, for recordings whose start says nothing about when they were made.
const nightLabel = 'night';

// useTrend requests a trend in the order of the starts. If all points have a label `night` whose order differs from
// that of the starts, which are then wrong, it requests the order of the label.
export function useTrend(parameters: Params | undefined): Answer<Trend> {
  const first = useData<Trend>(parameters === undefined ? undefined : 'trend', parameters ?? {});
  const again = parameters !== undefined && parameters['order'] === '' && first.data !== undefined;
  const second = useData<Trend>(again && mixesNights(first.data!.points) ? 'trend' : undefined, {
    ...parameters,
    order: `label=${nightLabel}`,
  });
  return again && mixesNights(first.data!.points) ? second : first;
}

function mixesNights(points: Point[]): boolean {
  const seen = new Set<string>();
  let last: string | undefined;
  for (const p of points) {
    const night = p.labels?.[nightLabel];
    if (night === undefined) return false;
    if (night !== last && seen.has(night)) return true;
    seen.add(night);
    last = night;
  }
  return false;
}

// nightKey returns the key of selectors of nights: the label that orders the points, the label `night` if all have it,
// otherwise the start.
export function nightKey(t: Trend): string {
  if (t.order.startsWith('label=')) return t.order.slice('label='.length);
  return t.points.length > 0 && t.points.every((p) => (p.labels?.[nightLabel] ?? '') !== '') ? nightLabel : 'started';
}

// nightOf returns the night of a point: a date, or its value of the label.
export function nightOf(p: Point, key: string): string {
  return key === 'started' ? p.started.slice(0, 10) : (p.ordered ?? p.labels?.[key] ?? '');
}

// runsOf returns the points as runs, with their value of the series.
export function runsOf(t: Trend): Run[] {
  const key = nightKey(t);
  const values = new Map<number, number>();
  for (const s of t.series) s.values.forEach((v, n) => values.set(s.points?.[n] ?? n, v));
  return t.points.map((p, n) => ({
    experiment: p.experiment,
    id: p.experiment_id,
    started: p.started,
    night: nightOf(p, key),
    program: p.target,
    host: p.host,
    build: p.build,
    value: values.get(n) ?? 0,
    labels: p.labels ?? {},
  }));
}

// Line is a series as it is drawn.
export interface Line {
  id: string;
  name: string;
  function: string;
  loadObject: string;
  module: string;
  by: string; // its value of what makes series; empty without one
  points: number[]; // of each value
  values: number[];
  changes: Change[];
}

// linesOf returns the series of a trend, those with the highest sums first. Among functions, <Total> is none.
export function linesOf(t: Trend): Line[] {
  const several = new Set(t.series.map((s) => s.function_key)).size > 1;
  const programs = [...new Set(t.points.map((p) => p.target))];
  const sum = (l: Line) => l.values.reduce((a, b) => a + b, 0);
  return t.series
    .filter((s) => !several || s.function !== '<Total>')
    .map((s): Line => {
      const by = s.by ?? '';
      const total = s.function === '<Total>';
      const whole = by !== '' ? by : programs.length === 1 ? programs[0]! : 'all programs';
      return {
        id: `${s.function_key} ${by}`,
        name: total ? whole : by === '' ? s.function : `${s.function} of ${by}`,
        function: s.function,
        loadObject: s.load_object,
        module: s.module,
        by,
        points: s.points ?? s.values.map((_, n) => n),
        values: s.values,
        changes: s.changes,
      };
    })
    .sort((a, b) => sum(b) - sum(a));
}

// titleOf says in one sentence what the trend shows.
export function titleOf(t: Trend, lines: Line[]): string {
  const key = nightKey(t);
  const nights = new Set(t.points.map((p) => nightOf(p, key))).size;
  const during = `${nights} ${nights === 1 ? 'night' : 'nights'}`;
  const changed = lines.filter((l) => l.changes.length > 0);
  if (lines.length !== 1) {
    const functions = [...new Set(lines.map((l) => l.function))];
    const of = functions.length === 1 && functions[0] !== '<Total>' ? `${functions[0]}: ` : '';
    const many = changed.length > 0 ? String(changed.length) : of === '' ? 'None' : 'none';
    return `${of}${many} of ${lines.length} series changed in ${during}`;
  }
  const l = lines[0]!;
  const c = l.changes[l.changes.length - 1];
  if (c === undefined) return `${l.name} did not change in ${during}`;
  const since = day(nightOf(t.points[l.points[c.at]!]!, key));
  const maybe = c.state === 'maybe' ? 'may have ' : 'has ';
  if (c.before === 0) return `${l.name} ${maybe}appeared on ${since}`;
  if (c.after === 0) return `${l.name} ${maybe}vanished on ${since}`;
  const by = signed(Math.abs(c.after / c.before - 1)).slice(1);
  const word = t.unit === 'ns' ? (c.after > c.before ? 'slower' : 'faster') : c.after > c.before ? 'more' : 'less';
  return `${l.name} ${c.state === 'maybe' ? 'may be' : 'is'} ${by} ${word} since ${since}`;
}

// comparisonOf leads to the comparison of the runs before a change with those after it. Neither side reaches beyond the
// next change.
export function comparisonOf(
  t: Trend,
  l: Line,
  c: Change,
  address: Address,
): { address: Params; before: number; after: number } {
  const all = runsOf(t);
  const runs = l.points.map((n) => all[n]!);
  const n = l.changes.indexOf(c);
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const base = numbers(l.changes[n - 1]?.at ?? 0, c.at);
  const test = numbers(c.at, l.changes[n + 1]?.at ?? runs.length);
  const programs = [...new Set(runs.map((r) => r.program))].filter((p) => p !== '');
  const term = t.by === undefined || t.by === 'target' || l.by === '' ? '' : `${t.by.replace('label=', '')}=${l.by}`;
  const selectors = (group: number[]) =>
    selectorsOf(runs, group, nightKey(t), programs).map((s) =>
      term === '' || s === '' || !s.includes('=') ? s : `${s},${term}`,
    );
  return {
    address: {
      ...Object.fromEntries(trendParameters.map((name) => [name, null])),
      view: 'compare',
      base: selectors(base),
      experiment: selectors(test),
      metric: t.metric,
      mode: address.get('mode'),
    },
    before: base.length,
    after: test.length,
  };
}

// trendParameters are the parameters of the address that only Trend understands.
const trendParameters = ['by', 'order', 'inclusive', 'normalise', 'what', 'axis', 'as', 'nights'];
