// The states of threads over time: what the server answers, and where it is drawn.
import { num, type Value } from './units';

// ThreadState describes a state of threads.
export interface ThreadState {
  title: string;
  letter: string; // stands for the state where there is room for one
  frame: string; // the artificial function that is the leaf of stacks that waited in this state
  light: string;
  dark: string;
  pattern: 'none' | 'stripes' | 'dots' | 'grid' | 'dashes';
}

// threadStates are the states in the order in which they are drawn above each other. Colors differ in lightness as
// well, and patterns tell them apart without colors.
export const threadStates: Record<string, ThreadState> = {
  on: { title: 'on a CPU', letter: 'C', frame: '', light: '#2f8f5b', dark: '#3f9d6c', pattern: 'none' },
  preempted: {
    title: 'preempted',
    letter: 'P',
    frame: '<Preempted>',
    light: '#f0a04b',
    dark: '#a8651c',
    pattern: 'stripes',
  },
  runqueue: {
    title: 'waiting for a CPU',
    letter: 'R',
    frame: '<Run-queue-wait>',
    light: '#f5d547',
    dark: '#857213',
    pattern: 'dots',
  },
  disk: { title: 'disk wait', letter: 'D', frame: '<Disk-wait>', light: '#d98bd0', dark: '#8c4785', pattern: 'grid' },
  blocked: { title: 'blocked', letter: 'B', frame: '<Blocked>', light: '#c3d3ea', dark: '#3c4f6b', pattern: 'none' },
  unknown: { title: 'unknown', letter: '?', frame: '', light: '#f4f5f7', dark: '#1f242b', pattern: 'dashes' },
};

const unknownBecause: Record<string, string> = {
  unknown: 'unknown',
  start: 'unknown: before the first switch',
  end: 'unknown: after the last switch',
  loss: 'unknown: records were lost',
  chain: 'unknown: a switch is missing',
};

// stateOf returns the state for a label of an answer, where the reason stands for an unknown state.
export function stateOf(label: string): ThreadState {
  return threadStates[label] ?? threadStates['unknown']!;
}

export function stateTitle(label: string): string {
  return unknownBecause[label] ?? stateOf(label).title;
}

const byFrame = new Map(
  Object.values(threadStates)
    .filter((s) => s.frame !== '')
    .map((s) => [s.frame, s]),
);

// waitOf returns the state in which stacks with an artificial function as their leaf waited.
export function waitOf(frame: string): ThreadState | undefined {
  return byFrame.get(frame);
}

// whereWaited returns the innermost function of a stack below the artificial ones of states.
export function whereWaited(stack: string[]): string | undefined {
  return stack.find((name) => !byFrame.has(name));
}

export interface Lane {
  process: number | null;
  pid: Value | null;
  thread_id: Value;
  thread_name: string | null;
  periods: number;
  ns: Value[]; // by state
}

export interface ThreadTimeline {
  experiment_id: string;
  experiment: string;
  t0_ns: Value;
  t1_ns: Value;
  from_ns: Value;
  until_ns: Value;
  exact: boolean; // pieces are periods; otherwise they are sums by interval
  width_ns: Value;
  threads: number;
  total: Value[]; // by state
  lanes: Lane[];
  pieces: Record<'lane' | 'from' | 'until' | 'state' | 'ns' | 'waker', number[]>;
}

export interface ThreadStatesAnswer {
  experiments: number; // with thread states
  states: string[];
  timelines: ThreadTimeline[];
}

// SampledThread is a thread of a sample, with its stack from the leaf on.
export interface SampledThread {
  thread_id: Value;
  thread_name: string | null;
  time_ns: Value | null;
  stack: string[];
  reason: string;
}

// Period is the period in which a thread is at some time.
export interface Period {
  thread_id: Value;
  t0_ns: Value;
  t1_ns: Value;
  state: string;
  border: string;
  cpu: number | null;
  wait: SampledThread | null;
  waker: SampledThread | null;
  by_interrupt: boolean;
}

// Span is a range of time of one lane with its pieces: one period, or an interval with the sums of its states.
export interface Span {
  lane: number;
  from: number; // ns
  until: number;
  first: number; // index of the first piece
  end: number; // index after the last piece
}

// Layout finds the pieces of a timeline by lane and time.
export class Layout {
  readonly from: number;
  readonly until: number;
  private readonly spans: Span[][]; // by lane, ordered by time

  constructor(readonly timeline: ThreadTimeline) {
    this.from = num(timeline.from_ns);
    this.until = num(timeline.until_ns);
    const p = timeline.pieces;
    const width = num(timeline.width_ns);
    this.spans = timeline.lanes.map(() => []);
    for (let i = 0; i < p.lane.length; i++) {
      const list = this.spans[p.lane[i]!]!;
      const from = this.from + p.from[i]! * width;
      const last = list[list.length - 1];
      if (last !== undefined && last.from === from) last.end = i + 1;
      else
        list.push({
          lane: p.lane[i]!,
          from,
          until: Math.min(this.from + p.until[i]! * width, this.until),
          first: i,
          end: i + 1,
        });
    }
  }

  ofLane(lane: number): Span[] {
    return this.spans[lane] ?? [];
  }

  // at returns the span of a lane that contains a time, or failing that the last one before it or the first one.
  at(lane: number, ns: number): Span | undefined {
    const list = this.ofLane(lane);
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle]!.from <= ns) low = middle + 1;
      else high = middle;
    }
    return list[Math.max(low - 1, 0)];
  }

  // find returns the span of a thread that contains a time.
  find(thread: string, ns: number): Span | undefined {
    for (let lane = 0; lane < this.spans.length; lane++) {
      if (String(this.timeline.lanes[lane]!.thread_id) !== thread) continue;
      const found = this.at(lane, ns);
      if (found !== undefined && found.from <= ns && ns < found.until) return found;
    }
    return undefined;
  }

  // beside returns the span that many places after another, within its lane.
  beside(of: Span, places: number): Span {
    const list = this.ofLane(of.lane);
    const at = list.findIndex((s) => s.first === of.first);
    return list[Math.min(Math.max(at + places, 0), list.length - 1)]!;
  }

  // x returns where a time is, as a fraction of the width.
  x(ns: number): number {
    return this.until === this.from ? 0 : (ns - this.from) / (this.until - this.from);
  }

  // parts returns the shares of the states in a span, from the bottom to the top.
  parts(s: Span, states: string[]): { state: string; share: number; ns: number }[] {
    const p = this.timeline.pieces;
    const found = [];
    for (let i = s.first; i < s.end; i++) {
      found.push({ state: states[p.state[i]!]!, share: p.ns[i]! / (s.until - s.from || 1), ns: p.ns[i]! });
    }
    return found.sort((a, b) => order(a.state) - order(b.state));
  }
}

function order(label: string): number {
  const at = Object.keys(threadStates).indexOf(label);
  return at < 0 ? Object.keys(threadStates).length : at;
}

// ticks returns about n round times in a range, in ns.
export function ticks(from: number, until: number, n: number): number[] {
  const rough = (until - from) / Math.max(n, 1);
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) ?? 10 * power;
  const found = [];
  for (let k = Math.ceil(from / step); k * step <= until; k++) found.push(k * step);
  return found;
}

// secondsText formats a time so that times that differ by a thousandth of a span differ.
export function secondsText(ns: number, span: number): string {
  const digits = Math.min(Math.max(Math.ceil(-Math.log10(Math.max(span, 1) / 1e9)) + 3, 3), 9);
  return (ns / 1e9).toFixed(digits) + ' s';
}

// zoomed returns a range of time that is `factor` times as long around a time, which keeps its place. It stays in
// the whole range, and has at least a microsecond.
export function zoomed(
  [from, until]: [number, number],
  [first, last]: [number, number],
  around: number,
  factor: number,
): [number, number] {
  const width = Math.min(Math.max((until - from) * factor, 1000), last - first);
  const place = (around - from) / (until - from || 1);
  const start = Math.min(Math.max(around - place * width, first), last - width);
  return [Math.round(start), Math.round(start + width)];
}
