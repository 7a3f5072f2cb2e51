// Formatting of values for people.

// Value is a whole number; beyond 2^53 the server sends it as a string.
export type Value = number | string;

export function num(v: Value | null | undefined): number {
  return v === null || v === undefined ? 0 : Number(v);
}

const steps: Record<string, [number, string][]> = {
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

// amount formats a value in its unit: 1.605 s, 12.3 MiB, 17.
export function amount(v: Value, unit: string): string {
  const n = num(v);
  if (n === 0) return '0';
  const list = steps[unit] ?? [[1, unit] as [number, string]];
  const [size, name] = list.find(([s]) => Math.abs(n) >= s) ?? list[list.length - 1]!;
  const scaled = n / (size === 1e4 ? 1e3 : size);
  const text = size === 1 ? String(n) : Math.abs(scaled) >= 999.5 ? scaled.toFixed(0) : scaled.toPrecision(3);
  return name === '' ? text : text + ' ' + name;
}

export function percent(part: Value, total: Value): string {
  const t = num(total);
  return t === 0 ? '' : ((100 * num(part)) / t).toFixed(2) + ' %';
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
