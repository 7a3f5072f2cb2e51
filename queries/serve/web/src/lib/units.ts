// Numbers for people: three significant digits and one unit, which a narrow space separates.

// Value is a whole number; beyond 2^53 the server sends it as a string.
export type Value = number | string;

const narrow = '\u202f'; // the space before a unit
const minus = '\u2212';

export function num(v: Value | null | undefined): number {
  return v === null || v === undefined ? 0 : Number(v);
}

// steps are the units of values, the largest first.
export const steps: Record<string, [number, string][]> = {
  ns: [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'µs'],
    [1, 'ns'],
  ],
  bytes: [
    [2 ** 40, 'TiB'],
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
    [1, 'B'],
  ],
  count: [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
    [1, ''],
  ],
};

// amount formats a value in its unit: 1.61 s, 12.3 MiB, 17.
export function amount(v: Value, unit: string): string {
  const n = num(v);
  if (n === 0) return '0';
  const list = steps[unit] ?? [[1, unit] as [number, string]];
  const size = Math.abs(n);
  // 999.96 ms are 1.00 s, but counts under 10,000 are exact.
  const at = list.findIndex(([s]) => size >= (s === 1e4 ? s : 0.9995 * s));
  const [step, name] = list[at < 0 ? list.length - 1 : at]!;
  const scaled = size / (step === 1e4 ? 1e3 : step);
  const text = step === 1 && Number.isInteger(size) ? grouped(size) : digits(scaled);
  return (n < 0 ? minus : '') + text + (name === '' ? '' : narrow + name);
}

function digits(v: number): string {
  return v >= 999.5
    ? grouped(Math.round(v))
    : v < 0.001
      ? v.toPrecision(3)
      : v.toFixed(v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2);
}

function grouped(v: number): string {
  return v.toLocaleString('en', { maximumFractionDigits: 20 });
}

// count formats a number of things: 9,431 or 12.3 k.
export function count(n: Value): string {
  return amount(n, 'count');
}

// plural formats a number of things with its noun: 1 thread, 2 threads.
export function plural(n: number, one: string, several: string): string {
  return `${count(n)} ${n === 1 ? one : several}`;
}

// exact formats a value with all its digits, for tooltips: 1,453,204,117 ns.
export function exact(v: Value, unit: string): string {
  const text = typeof v === 'string' ? BigInt(v).toLocaleString('en') : grouped(v);
  return text.replace('-', minus) + (unit === 'count' || unit === '' ? '' : narrow + unit);
}

// percent formats a part of a total: 37.4 %. It is empty if the total is 0.
export function percent(part: Value, total: Value): string {
  const [p, t] = [num(part), num(total)];
  if (t === 0) return '';
  if (p === 0) return '0';
  const value = (100 * p) / t;
  if (Math.abs(value) < 0.05) return `${value < 0 ? minus : ''}<${narrow}0.1${narrow}%`;
  return value.toFixed(1).replace('-', minus) + narrow + '%';
}

// signed formats a relative change, 0.13 as +13.0 %.
export function signed(change: number): string {
  return `${change < 0 ? minus : '+'}${(100 * Math.abs(change)).toFixed(1)}${narrow}%`;
}

// difference formats a difference of values with its sign: +8.25 ms.
export function difference(v: Value, unit: string): string {
  return (num(v) > 0 ? '+' : '') + amount(v, unit);
}

// day formats the name of a night: 28 Nov, if it is a date, with the year if it is not this year's; otherwise as it
// is.
export function day(night: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(night)) return night;
  const options: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', timeZone: 'UTC' };
  if (Number(night.slice(0, 4)) !== new Date().getFullYear()) options.year = 'numeric';
  return new Date(night + 'T00:00:00Z').toLocaleDateString('en-GB', options);
}

export function seconds(ns: Value | null): string {
  return ns === null ? '' : (num(ns) / 1e9).toFixed(3);
}

// moment formats a timestamp of the server for people, in UTC.
export function moment(text: string | null): string {
  return text === null ? '' : text.slice(0, 19).replace('T', ' ');
}

// start formats the start of an experiment, with its source unless it was recorded.
export function start(at: string | null, from: string | null): string {
  return moment(at) + (from === null || from === 'recorded' ? '' : ` (${from})`);
}

// hash returns the FNV-1a hash of a text.
export function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}
