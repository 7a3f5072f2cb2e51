// The answer of /api/v1/timeline, and what the page computes from it.
import { num, type Value } from './units';

export interface Row {
  key: string;
  kind: 'process' | 'thread' | 'cpu';
  experiment: string;
  pid: Value;
  thread_id: Value;
  cpu: number;
  name: string;
  names: string[]; // all names of a thread, the latest first
  command: string;
  value: Value; // in the shown time
  whole: Value;
  marked: Value;
  threads: number;
  open: boolean;
  pinned: boolean;
  rest: Rest;
  top: { name: string; load_object: string; module: string; value: Value } | null;
}

export interface Rest {
  rows: number;
  threads: number;
  value: Value;
  whole: Value;
}

export interface TimelineAnswer {
  metric: string;
  unit: string;
  kind: 'processes' | 'cpus';
  experiments: number;
  lacking: number;
  t0_ns: Value;
  t1_ns: Value;
  from_ns: Value;
  until_ns: Value;
  width_ns: Value;
  timed: boolean;
  rule: string;
  groups: { name: string; value: Value; others: number }[];
  value: Value;
  whole: Value;
  marked: Value;
  processes: number;
  threads: number;
  cpus: number;
  found: number;
  rows: Row[];
  rest: Rest;
  bars: { row: number[]; interval: number[]; group: number[]; value: Value[] };
}

// Track has the values of a row by interval and group. Row -1 is the sum of all.
export class Track {
  readonly values: Float64Array;
  constructor(
    readonly intervals: number,
    readonly groups: number,
  ) {
    this.values = new Float64Array(intervals * groups);
  }

  // of returns the sum of an interval's groups.
  of(interval: number): number {
    let sum = 0;
    for (let g = 0; g < this.groups; g++) sum += this.values[interval * this.groups + g]!;
    return sum;
  }

  highest(): number {
    let most = 0;
    for (let i = 0; i < this.intervals; i++) most = Math.max(most, this.of(i));
    return most;
  }
}

// Tracks are the tracks of an answer.
export class Tracks {
  readonly from: number;
  readonly until: number;
  readonly width: number;
  readonly intervals: number;
  private readonly list: Track[];

  constructor(readonly answer: TimelineAnswer) {
    [this.from, this.until, this.width] = [num(answer.from_ns), num(answer.until_ns), num(answer.width_ns)];
    this.intervals = Math.round((this.until - this.from) / this.width);
    this.list = Array.from({ length: answer.rows.length + 1 }, () => new Track(this.intervals, answer.groups.length));
    const { row, interval, group, value } = answer.bars;
    for (let i = 0; i < row.length; i++) {
      this.list[row[i]! + 1]!.values[interval[i]! * answer.groups.length + group[i]!] = num(value[i]);
    }
  }

  // row returns the track of a row; -1 is the sum of all.
  row(n: number): Track {
    return this.list[n + 1]!;
  }

  // scales returns the highest value of an interval by kind of rows: rows of one kind have one scale.
  scales(): Record<Row['kind'] | 'all', number> {
    const most = { all: this.row(-1).highest(), process: 0, thread: 0, cpu: 0 };
    this.answer.rows.forEach((r, i) => {
      most[r.kind] = Math.max(most[r.kind], this.row(i).highest());
    });
    return most;
  }

  // at returns the interval of a time; intervals outside are those at the ends.
  at(ns: number): number {
    return Math.min(Math.max(Math.floor((ns - this.from) / this.width), 0), this.intervals - 1);
  }

  start(interval: number): number {
    return this.from + interval * this.width;
  }

  // path returns the bars of a group as the path of an SVG: an interval is one unit wide, and `highest` 100 units high.
  // The group's bars stand on those of the groups before it.
  path(row: number, group: number, highest: number): string {
    const track = this.row(row);
    let path = '';
    for (let i = 0; i < this.intervals; i++) {
      const value = track.values[i * track.groups + group]!;
      if (value <= 0) continue;
      let below = 0;
      for (let g = 0; g < group; g++) below += track.values[i * track.groups + g]!;
      const height = Math.max((100 * value) / highest, leastHeight);
      const y = 100 - (100 * below) / highest - height;
      path += `M${i} ${round(y)}h.93v${round(height)}h-.93z`;
    }
    return path;
  }
}

const leastHeight = 4; // so that small values are visible

function round(n: number): number {
  return Math.round(n * 10) / 10;
}

// idOf returns the number by which the samples of a row are selected, and the parameter for it.
export function idOf(row: Row): { parameter: 'thread' | 'pid' | 'cpu'; id: string } {
  if (row.kind === 'thread') return { parameter: 'thread', id: String(row.thread_id) };
  if (row.kind === 'process') return { parameter: 'pid', id: String(row.pid) };
  return { parameter: 'cpu', id: String(row.cpu) };
}

// titleOf returns a row's name with its number.
export function titleOf(row: Row): string {
  if (row.kind === 'cpu') return row.name;
  const { id } = idOf(row);
  return row.name === '' ? `${row.kind} ${id}` : `${row.name} ${id}`;
}
