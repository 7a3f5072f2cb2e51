// Results of SQL: which columns can be charted, and flame graphs of folded stacks.
import type { FlameAnswer } from './flametree';
import type { Relation } from './sqlnames';

export type Row = Record<string, unknown>;

export interface ResultColumn {
  name: string;
  kind: 'number' | 'time' | 'text'; // what all values that are not null are
}

const wholeNumber = /^-?\d+$/;
const time = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/;

// columnsOf returns the columns of a result, classified by their values. The server sends whole numbers
// beyond 2^53 and identifiers as strings; the former count as numbers.
export function columnsOf(rows: Row[]): ResultColumn[] {
  return Object.keys(rows[0] ?? {}).map((name) => {
    const values = rows.map((r) => r[name]).filter((v) => v !== null && v !== undefined);
    const all = (test: (v: unknown) => boolean) => values.length > 0 && values.every(test);
    const number = all(
      (v) => typeof v === 'number' || (typeof v === 'string' && wholeNumber.test(v) && !/_(id|key)$/.test(name)),
    );
    return { name, kind: number ? 'number' : all((v) => typeof v === 'string' && time.test(v)) ? 'time' : 'text' };
  });
}

export function numberOf(v: unknown): number | null {
  return v === null || v === undefined || !Number.isFinite(Number(v)) ? null : Number(v);
}

// secondsOf converts a timestamp of the server, in UTC, to seconds since 1970.
export function secondsOf(v: unknown): number | null {
  if (typeof v !== 'string') return null;
  let text = v.replace(' ', 'T').replace(/(\.\d{3})\d+/, '$1');
  if (!text.includes('T')) text += 'T00:00';
  if (!/(Z|[+-]\d\d(:?\d\d)?)$/.test(text.slice(11))) text += 'Z';
  text = text.replace(/([+-]\d\d)$/, '$1:00');
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms / 1000;
}

export function textOf(v: unknown): string {
  if (v === null || v === undefined) return '';
  return typeof v === 'string' ? v : JSON.stringify(v);
}

// unitOf returns the unit of a column's numbers, or '' if it is unknown. Rows may name it in a column `unit`, the
// column's name may end with it, and columns of views have the unit that the catalog says.
export function unitOf(column: string, rows: Row[], relations: Relation[]): string {
  const ofRows = new Set(rows.map((r) => r['unit']));
  const [named] = ofRows;
  if (ofRows.size === 1 && typeof named === 'string' && /^(value|exclusive|inclusive|attributed)(\W|_|$)/.test(column))
    return named;
  const end = /_(ns|bytes)$/.exec(column)?.[1];
  if (end !== undefined) return end;
  if (/^(seconds|s)$/.test(column) || /_(seconds|s)$/.test(column)) return 's';
  const units = new Set(
    relations.flatMap((r) => r.columns.filter((c) => c.name === column).map((c) => c.unit)).filter((u) => u !== ''),
  );
  const [unit] = units;
  return units.size === 1 && /^(ns|bytes)$/.test(unit!) ? unit! : '';
}

// runsIn returns the experiments that rows name, without duplicates: their names, or ids if there are no names.
export function runsIn(rows: Row[]): string[] {
  const column = ['experiment', 'experiment_id'].find((name) => typeof rows[0]?.[name] === 'string');
  if (column === undefined) return [];
  return [...new Set(rows.map((r) => r[column]).filter((v): v is string => typeof v === 'string' && v !== ''))];
}

// Folded is a tree made from folded stacks.
export interface Folded {
  answer: FlameAnswer;
  skipped: number; // number of rows without a stack or without a value above 0
}

interface Node {
  name: string;
  value: number;
  exclusive: number;
  below: Map<string, Node>;
}

// fold builds a tree from rows. The column `stack` has folded stacks: names from root to leaf, separated by
// semicolons.
export function fold(rows: Row[], stack: string, value: string): Folded {
  const node = (name: string): Node => ({ name, value: 0, exclusive: 0, below: new Map() });
  const root = node('<Total>');
  let skipped = 0;
  for (const row of rows) {
    const names = textOf(row[stack]);
    const v = numberOf(row[value]);
    if (names === '' || v === null || v <= 0) {
      skipped++;
      continue;
    }
    let at = root;
    at.value += v;
    for (const name of names === root.name ? [] : names.split(';')) {
      const next = at.below.get(name) ?? node(name);
      at.below.set(name, next);
      at = next;
      at.value += v;
    }
    at.exclusive += v;
  }
  const unit = ['ns', 'bytes', 'count'].find((u) => rows.every((r) => r['unit'] === u)) ?? '';
  const answer: FlameAnswer = {
    metric: value,
    unit,
    mode: '',
    experiments: 1,
    nodes: 0,
    names: { name: [], load_object: [], module: [], kind: [] },
    level: [],
    name: [],
    value: [],
    exclusive: [],
  };
  const numbers = new Map<string, number>();
  const intern = (name: string) => {
    const n = numbers.get(name) ?? answer.names.name.push(name) - 1;
    if (!numbers.has(name)) for (const of of ['load_object', 'module', 'kind'] as const) answer.names[of].push('');
    numbers.set(name, n);
    return n;
  };
  const open: [Node, number][] = root.value === 0 ? [] : [[root, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // no recursion: stacks may be deep
    const [n, level] = next;
    answer.level.push(level);
    answer.name.push(intern(n.name));
    answer.value.push(n.value);
    answer.exclusive.push(n.exclusive);
    answer.nodes++;
    const below = [...n.below.values()].sort((a, b) => a.value - b.value || (a.name < b.name ? 1 : -1));
    for (const b of below) open.push([b, level + 1]); // so that pop returns the highest value first
  }
  return { answer, skipped };
}
