// The answer of /api/v1/compare, and what the page says about it.
import { textOf } from './result';
import { amount, signed } from './units';

export interface Comparison {
  by: string;
  metric: string;
  unit: string;
  normalise: string;
  fdr: number;
  level: number;
  min_share: number;
  judged: number;
  base: ComparedSide;
  test: ComparedSide;
  conditions: Condition[];
  warnings: string[];
  small: { rows: number; base: number; test: number };
  rows_in_all: number;
  rows: Row[]; // <Total> first
}

export interface ComparedSide {
  selectors: string[];
  experiments: string[] | null;
  runs: RunValue[];
}

export interface RunValue {
  experiment: string;
  started: string;
  host: string;
  build: string;
  value: number;
}

export interface Condition {
  what: string;
  base: { value: string; runs: number }[];
  test: { value: string; runs: number }[];
  same: boolean;
  unfair: boolean;
}

export interface Row {
  [name: string]: unknown;
  base: number | null;
  test: number | null;
  difference: number | null;
  ratio: number | null;
  low: number | null;
  high: number | null;
  q: number | null;
  verdict: string;
}

// Shown formats the values of a comparison.
export interface Shown {
  value: (v: number) => string;
  difference: (v: number) => string;
}

const changed = ['slower', 'faster', 'appeared', 'vanished'];

// valuesOf returns the values of a condition on both sides.
function valuesOf(c: Comparison, what: string): string[] {
  const of = c.conditions.find((d) => d.what === what);
  return [...new Set([...(of?.base ?? []), ...(of?.test ?? [])].map((v) => v.value))].filter((v) => v !== '');
}

// titleOf says in one sentence what the comparison found.
export function titleOf(c: Comparison): string {
  const programs = valuesOf(c, 'program');
  const who = programs.length === 0 ? 'The test' : programs.join(', ');
  const total = c.rows[0];
  const first = c.rows.slice(1).find((r) => changed.includes(r.verdict));
  if (total === undefined) return `${who} has no values to compare`;
  const carrier = first === undefined ? '' : `${nameOf(first, c.by)} ${verb(first)}`;
  const because = carrier === '' ? '' : `: ${carrier}`;
  if (changed.includes(total.verdict) && total.ratio !== null) {
    const by = signed(Math.abs(total.ratio - 1)).slice(1);
    return c.unit === 'ns' && c.normalise !== 'total'
      ? `${who} became ${total.verdict} by ${by}${because}`
      : `${who} has ${by} ${total.ratio > 1 ? 'more' : 'less'} ${c.metric}${because}`;
  }
  if (total.verdict === 'too few runs') return `${who}: too few runs to tell a difference${because}`;
  return carrier === '' ? `${who} did not change` : `${who} did not change as a whole, but ${carrier}`;
}

function verb(r: Row): string {
  return r.verdict === 'slower' || r.verdict === 'faster' ? `became ${r.verdict}` : r.verdict;
}

// nameKeys are the columns that name a row, by what rows are.
const nameKeys: Record<string, string> = {
  function: 'function',
  line: 'file',
  'load-object': 'load_object',
  'data-object': 'descriptor',
  path: 'path',
};

// nameOf returns a row's name.
export function nameOf(r: Row, by: string): string {
  const name = textOf(r[nameKeys[by] ?? 'function']).trim();
  return by === 'line' && textOf(r['line']) !== '' ? `${name}:${textOf(r['line'])}` : name;
}

// sentenceOf says which values the comparison is about, and how certain it is.
export function sentenceOf(c: Comparison, shown: Shown): string {
  const total = c.rows[0];
  if (total === undefined) return '';
  const percent = (v: number) => `${Number((100 * v).toPrecision(3))}\u202f%`;
  const parts = [
    `${shown.value(total.base ?? 0)} → ${shown.value(total.test ?? 0)} ${c.metric}, ` +
      `medians of ${c.base.runs.length} and ${runsOf(c.test.runs.length)}`,
  ];
  if (total.low !== null && total.high !== null)
    parts.push(`${percent(c.level)} interval ${signed(total.low - 1)} … ${signed(total.high - 1)}`);
  parts.push(`${c.judged} of ${c.rows_in_all} rows judged, ${percent(c.fdr)} false alarms accepted`);
  return parts.join(' · ');
}

function runsOf(n: number): string {
  return `${n} ${n === 1 ? 'run' : 'runs'}`;
}

// Fact is a row of the table that says whether a comparison is fair.
export interface Fact {
  title: string;
  text: string;
  same: boolean;
  unfair: boolean;
}

const hardware = ['host', 'CPUs', 'operating system', 'architecture', 'clock rate', 'page size'];
const sampling = ['recorded with', 'recorded events', 'value of a sample'];

// factsOf sums up the conditions of a comparison.
export function factsOf(c: Comparison): Fact[] {
  const isBuild = (d: Condition) => d.what.startsWith('build of ');
  const programs = valuesOf(c, 'program');
  const own = (d: Condition) => isBuild(d) && programs.includes(d.what.slice('build of '.length));
  const facts = [
    fact(
      'Program',
      c.conditions.filter((d) => d.what === 'program'),
    ),
    fact('Build', c.conditions.filter(own)),
    fact(
      'Other builds',
      c.conditions.filter((d) => isBuild(d) && !own(d)),
      'builds',
    ),
    fact(
      'Host, CPUs, kernel',
      c.conditions.filter((d) => hardware.includes(d.what)),
    ),
    fact(
      'Sampling',
      c.conditions.filter((d) => sampling.includes(d.what)),
    ),
    fact(
      'Command',
      c.conditions.filter((d) => d.what === 'command'),
    ),
    lost(c),
  ];
  return facts.filter((f) => f !== undefined);
}

function fact(title: string, of: Condition[], many?: string): Fact | undefined {
  if (of.length === 0) return undefined;
  const differing = of.filter((d) => !d.same);
  const same = differing.length === 0;
  const says = (d: Condition) => d.what !== 'page size' && d.base.some((v) => valueText(d.what, v.value) !== '');
  const known = of.filter(says);
  const text =
    same && many !== undefined && of.length > 2
      ? `${of.length} ${many}`
      : (same ? known : differing).map((d) => conditionText(d, of.length > 1 && !same)).join(', ');
  return { title, text, same, unfair: differing.some((d) => d.unfair) };
}

const few = 2; // values that are written

// conditionText describes a condition. Those that differ among others are named.
function conditionText(d: Condition, named: boolean): string {
  const side = (values: Condition['base']) => {
    const list = values.map((v) => valueText(d.what, v.value)).filter((v) => v !== '');
    if (list.length === 0) return 'none';
    return list.length > few ? `${list.length} values` : list.join(', ');
  };
  if (d.same) return side(d.base);
  const text = `${side(d.base)} → ${side(d.test)}`;
  return named ? `${d.what.replace('build of ', '')} ${text}` : text;
}

// valueText returns a value of a condition with its unit; empty if it says nothing.
function valueText(what: string, value: string): string {
  if (value === '' || value === '0 MHz') return '';
  if (what === 'CPUs') return `${value} ${value === '1' ? 'CPU' : 'CPUs'}`;
  if (what.startsWith('build of ')) return value.slice(0, 7);
  if (what === 'page size') return `${amount(Number(value), 'bytes')} pages`;
  const sample = what === 'value of a sample' ? /^(\S+) (\S+)$/.exec(value) : null;
  if (sample !== null) return `${amount(Number(sample[1]), sample[2]!)} a sample`;
  return value;
}

// lost says how many runs lost data.
function lost(c: Comparison): Fact | undefined {
  const d = c.conditions.find((d) => d.what === 'status');
  if (d === undefined) return undefined;
  const count = (values: Condition['base']) =>
    values.filter((v) => v.value === 'partial').reduce((n, v) => n + v.runs, 0);
  const [base, test] = [count(d.base), count(d.test)];
  const all = c.base.runs.length + c.test.runs.length;
  const text =
    base + test === 0
      ? `none in ${runsOf(all)}`
      : `in ${base} of ${c.base.runs.length} → ${test} of ${c.test.runs.length} runs`;
  return { title: 'Data lost', text, same: base + test === 0 || d.same, unfair: true };
}
