// The answer of /api/v1/heatmap, and how values become colors.
import type { Range } from './timeaxis';
import { num, type Value } from './units';

export interface HeatAnswer {
  metric: string;
  unit: string;
  experiments: number;
  lacking: number;
  t0_ns: Value;
  t1_ns: Value;
  from_ns: Value;
  until_ns: Value;
  timed: boolean;
  column_ns: Value;
  coarser: boolean;
  columns: number;
  cells: number; // of a column
  value: Value;
  whole: Value;
  marked: Value;
  values: { cell: number[]; value: Value[] };
}

// HeatGrid has the value of each cell. Cells are counted from the start of the first column.
export class HeatGrid {
  readonly from: number;
  readonly column: number; // ns
  readonly cell: number; // ns
  readonly columns: number;
  readonly cells: number; // of a column
  readonly values: Float64Array;
  readonly highest: number;

  constructor(answer: HeatAnswer) {
    this.from = num(answer.from_ns);
    this.column = num(answer.column_ns);
    [this.columns, this.cells] = [answer.columns, answer.cells];
    this.cell = this.column / this.cells;
    this.values = new Float64Array(this.columns * this.cells);
    answer.values.cell.forEach((n, i) => {
      this.values[n] = num(answer.values.value[i]);
    });
    this.highest = this.values.reduce((n, v) => Math.max(n, v), 0);
  }

  start(cell: number): number {
    return this.from + cell * this.cell;
  }

  // range returns the time from one cell to another one, whichever is first.
  range(a: number, b: number): Range {
    return [this.start(Math.min(a, b)), this.start(Math.max(a, b) + 1)];
  }

  // covered returns the first and last cell of a time; undefined if none is in it.
  covered([from, until]: Range): [number, number] | undefined {
    const [first, last] = [
      Math.floor((from - this.from) / this.cell + 1e-6),
      Math.ceil((until - this.from) / this.cell - 1e-6) - 1,
    ];
    const end = this.values.length - 1;
    return last < 0 || first > end || last < first ? undefined : [Math.max(first, 0), Math.min(last, end)];
  }

  sum(a: number, b: number): number {
    let sum = 0;
    for (let i = Math.min(a, b); i <= Math.max(a, b); i++) sum += this.values[i]!;
    return sum;
  }
}

export const scales = { linear: 'linear', root: 'square root', rank: 'rank' };
export type Scale = keyof typeof scales;

// HeatScale maps values to shares of the strongest color.
export class HeatScale {
  private readonly sorted: Float64Array; // the values above 0

  constructor(
    readonly kind: Scale,
    values: Float64Array,
  ) {
    this.sorted = values.filter((v) => v > 0).sort();
  }

  get highest(): number {
    return this.sorted[this.sorted.length - 1] ?? 0;
  }

  // share returns how strong the color of a value is: 0 for 0, 1 for the highest.
  share(value: number): number {
    if (value <= 0 || this.highest === 0) return 0;
    if (this.kind === 'linear') return value / this.highest;
    if (this.kind === 'root') return Math.sqrt(value / this.highest);
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sorted[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low / this.sorted.length;
  }

  // value returns the value that has a share.
  value(share: number): number {
    if (this.kind === 'linear') return share * this.highest;
    if (this.kind === 'root') return share * share * this.highest;
    return share === 0 ? 0 : (this.sorted[Math.max(Math.ceil(share * this.sorted.length) - 1, 0)] ?? 0);
  }
}

type Color = [number, number, number];

// mix returns the color at a share between the given ones, as rgb(...). A value above 0 never has the first one.
export function mix(colors: Color[], share: number): string {
  if (share <= 0) return `rgb(${colors[0]!.join(' ')})`;
  const at = 1 + Math.min(share, 1) * (colors.length - 2);
  const n = Math.min(Math.floor(at), colors.length - 2);
  const [a, b] = [colors[n]!, colors[n + 1]!];
  return `rgb(${a.map((v, i) => Math.round(v + (b[i]! - v) * (at - n))).join(' ')})`;
}

// parseColor parses rgb(1, 2, 3).
export function parseColor(text: string): Color {
  const [r, g, b] = (text.match(/[\d.]+/g) ?? []).map(Number);
  return [r ?? 0, g ?? 0, b ?? 0];
}
