// Axes of time: round ticks, and ranges of time in the address. Times are in ns since the start of an experiment.

export type Range = [number, number]; // from, until

export interface Tick {
  at: number;
  text: string;
}

const space = '\u202f'; // before a unit
const minute = 60e9;
const hour = 60 * minute;
const day = 24 * hour;
const longSteps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((m) => m * minute);

// stepOf returns the round distance of at most n ticks in a span: 1, 2 or 5 times a power of ten below a minute, whole
// minutes, hours and days above.
export function stepOf(span: number, n: number): number {
  const rough = span / Math.max(n, 1);
  if (!(rough > 0)) return 1;
  if (rough > 20e9) return longSteps.find((s) => s >= rough) ?? Math.ceil(rough / day) * day;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999999) ?? 10 * power;
  return Math.max(Math.round(step), 1);
}

// timeTicks returns at most about n ticks in a range, at multiples of a round distance.
export function timeTicks([from, until]: Range, n: number): Tick[] {
  const step = stepOf(until - from, n);
  const largest = Math.max(Math.abs(from), Math.abs(until));
  const ticks = [];
  for (let k = Math.ceil(from / step); k * step <= until; k++) {
    ticks.push({ at: k * step, text: timeText(k * step, step, largest) });
  }
  return ticks;
}

const units: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

// timeText formats a time so that times that differ by `step` differ: 20 s, 1.25 s, 300 ms, 5 min, 1 h 30 min. The
// unit is that of the largest time.
export function timeText(ns: number, step: number, largest = Math.abs(ns)): string {
  const sign = ns < 0 ? '\u2212' : '';
  const abs = Math.abs(ns);
  if (step >= minute) {
    const parts: [number, string][] = [
      [Math.floor(abs / day), 'd'],
      [Math.floor((abs % day) / hour), 'h'],
      [Math.round((abs % hour) / minute), 'min'],
    ];
    const texts = parts.filter(([n]) => n !== 0).map(([n, unit]) => `${n}${space}${unit}`);
    return texts.length === 0 ? '0' : sign + texts.join(' ');
  }
  const [unit, name] = units.find(([size]) => largest >= size) ?? units[3]!;
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  return sign + (abs / unit).toFixed(Math.min(digits, 9)) + space + name;
}

// rangeText formats a range for the server and the address: 24s,44.5s.
export function rangeText([from, until]: Range): string {
  const text = (ns: number) => (Math.round(ns) / 1e9).toFixed(9).replace(/\.?0+$/, '') + 's';
  return `${text(from)},${text(until)}`;
}

// parseRange parses a range that rangeText wrote; undefined if it has another form.
export function parseRange(text: string): Range | undefined {
  const [, a, b] = /^(-?[\d.]+)s,(-?[\d.]+)s$/.exec(text) ?? [];
  if (a === undefined || b === undefined) return undefined;
  return [Math.round(Number(a) * 1e9), Math.round(Number(b) * 1e9)];
}

// zoomed returns a range that is `factor` times as long around a time, which keeps its place. It stays in the whole
// range, and is at least `least` long.
export function zoomed(
  [from, until]: Range,
  [first, last]: Range,
  around: number,
  factor: number,
  least = 1000,
): Range {
  const width = Math.min(Math.max((until - from) * factor, least), last - first);
  const place = (around - from) / (until - from || 1);
  const start = Math.min(Math.max(around - place * width, first), last - width);
  return [Math.round(start), Math.round(start + width)];
}
