// The answer of /api/v1/trend: values over experiments, in the order in which they were made, with change points.
import { useData, type Answer } from './api';
import type { Params } from './address';
import type { Run } from './groups';

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
