// Axes of charts: round ticks with texts, and where a value is drawn.
import { day, steps } from './units';

export interface Axis {
  low: number; // the axis begins and ends at these values
  high: number;
  ticks: { at: number; text: string }[];
  unit: string; // of the texts; empty if they have none
}

const decimal: [number, string][] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];
// Counts are in decimal steps: an axis has no digits to spare.
const units: Partial<typeof steps> = { ns: steps['ns']!, bytes: steps['bytes']! };

// roundStep returns the smallest of 1, 2, 5, 10, 20 … that is at least a step.
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * ([1, 2, 5, 10].find((m) => m * power >= step * 0.999_999) ?? 10);
}

// numberAxis returns an axis for values in a unit (ns, bytes, or any other). It has at most `most` ticks, whose texts
// have one unit and the same number of decimals.
export function numberAxis(low: number, high: number, most: number, unit: string): Axis {
  const [from, until] = low === high ? [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2] : [low, high];
  const largest = Math.max(Math.abs(from), Math.abs(until));
  const known = units[unit];
  const [size, name] = (known ?? decimal).find(([s]) => largest >= s * (known === undefined ? 10 : 1)) ??
    known?.at(-1) ?? [1, ''];
  const step = roundStep((until - from) / size / Math.max(1, most - 1));
  const first = Math.floor(from / size / step + 1e-9);
  const last = Math.ceil(until / size / step - 1e-9);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let n = first; n <= last; n++) {
    const text = (n * step).toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    ticks.push({ at: n * step * size, text: text.replace('-', '\u2212') });
  }
  return {
    low: Math.min(from, first * step * size),
    high: Math.max(until, last * step * size),
    ticks,
    unit: known === undefined ? name + unit : name,
  };
}

const second = 1;
const minute = 60;
const hour = 3600;
const date = 86_400;
const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14].map((n) => n * date),
];
const monthSteps = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];

// timeAxis returns an axis for times in seconds since 1970, in UTC.
export function timeAxis(low: number, high: number, most: number): Axis {
  const [from, until] = low === high ? [low - date / 2, high + date / 2] : [low, high];
  const least = (until - from) / Math.max(1, most);
  const step = timeSteps.find((s) => s >= least);
  const ticks = [];
  if (step !== undefined) {
    // Weeks begin on a Monday; 1970 began on a Thursday.
    const shift = step % (7 * date) === 0 ? 4 * date : 0;
    for (let at = Math.ceil((from - shift) / step) * step + shift; at <= until; at += step)
      ticks.push({ at, text: timeText(at, step) });
  } else {
    const months = monthSteps.find((m) => m * 30.4 * date >= least) ?? monthSteps.at(-1)!;
    const start = new Date(from * 1000);
    let month = Math.floor((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months;
    for (; ; month += months) {
      const at = Date.UTC(Math.floor(month / 12), month % 12) / 1000;
      if (at > until) break;
      if (at >= from) ticks.push({ at, text: monthText(month, months) });
    }
  }
  return { low: from, high: until, ticks, unit: 'UTC' };
}

function timeText(at: number, step: number): string {
  const text = new Date(at * 1000).toISOString();
  if (step >= date) return day(text.slice(0, 10));
  if (step >= minute) return at % date === 0 ? day(text.slice(0, 10)) : text.slice(11, 16);
  return text.slice(11, 19);
}

function monthText(month: number, step: number): string {
  const year = String(Math.floor(month / 12));
  if (step >= 12) return year;
  const name = new Date(Date.UTC(2000, month % 12)).toLocaleDateString('en-GB', { month: 'short', timeZone: 'UTC' });
  return month % 12 === 0 ? year : name;
}

// apart returns the indexes of the texts that can be written without touching each other, given their middles and
// widths, with a gap: of n texts, each k-th one with the smallest k that fits.
export function apart(middles: number[], widths: number[], gap: number): number[] {
  for (let every = 1; every <= middles.length; every++) {
    const kept = middles.map((_, i) => i).filter((i) => i % every === 0);
    const fits = kept.every(
      (i, n) => n === 0 || middles[i]! - widths[i]! / 2 - (middles[kept[n - 1]!]! + widths[kept[n - 1]!]! / 2) >= gap,
    );
    if (fits) return kept;
  }
  return [];
}
