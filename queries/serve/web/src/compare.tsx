// The panel of comparisons: the experiments of one selector against those of another.
import { useState } from 'preact/hooks';
import { useData } from './api';
import { later } from './later';
import { Link } from './link';
import { Frame } from './parts';
import { filters, go, usePlace, type Changes } from './place';
import { Table } from './table';
import { amount } from './units';

interface Comparison {
  by: string;
  metric: string;
  unit: string;
  normalise: string;
  level: number;
  judged: number;
  base: { selectors: string[]; experiments: string[] | null };
  test: { selectors: string[]; experiments: string[] | null };
  environment: { what: string; base: string[] | null; test: string[] | null; unfair: boolean }[];
  warnings: string[];
  rows_in_all: number;
  rows: Row[];
}

interface Row {
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

const Difference = later(() => import('./difference').then((m) => m.Difference));

const subjects = ['function', 'line', 'load-object', 'data-object', 'path'];
const normalisations: Record<string, string> = { none: 'as they are', total: 'parts of their run’s total', run: 'by the second of their run' };

export function ComparePanel() {
  const place = usePlace();
  const [base, setBase] = useState(place.get('base', place.all('experiment')[0] ?? ''));
  const [test, setTest] = useState(place.get('test', place.all('experiment')[1] ?? ''));
  const asked = place.get('base') !== '' && place.get('test') !== '';
  const parameters: Changes = { base: place.all('base'), test: place.all('test'), metric: place.get('metric'), mode: place.get('mode'), normalise: place.get('normalise') };
  for (const f of filters) parameters[f] = place.all(f);
  const answer = useData<Comparison>(asked ? 'compare' : undefined, { ...parameters, by: place.get('by'), limit: '200' });
  return (
    <>
      <form class="bar" onSubmit={(e) => { e.preventDefault(); go({ base, test }); }}>
        <label class="grow">Base <input value={base} placeholder="a name, a pattern, or label=value" onInput={(e) => setBase(e.currentTarget.value)} /></label>
        <label class="grow">Test <input value={test} placeholder="a name, a pattern, or label=value" onInput={(e) => setTest(e.currentTarget.value)} /></label>
        <label>
          Rows are
          <select value={place.get('by', 'function')} onChange={(e) => go({ by: e.currentTarget.value })}>{subjects.map((s) => <option key={s}>{s}</option>)}</select>
        </label>
        <label>
          Values are
          <select value={place.get('normalise', 'none')} onChange={(e) => go({ normalise: e.currentTarget.value })}>{Object.entries(normalisations).map(([name, text]) => <option key={name} value={name}>{text}</option>)}</select>
        </label>
        <button type="submit">Compare</button>
      </form>
      {!asked && <section class="panel"><p class="note">Say which experiments are the base, and which are compared with them.</p></section>}
      {asked && (
        <Frame title="Comparison" answer={answer} empty={(c) => c.rows.length === 0}>
          {(c) => <Compared c={c} parameters={parameters} />}
        </Frame>
      )}
    </>
  );
}

function Compared({ c, parameters }: { c: Comparison; parameters: Changes }) {
  const value = (v: number | null) => (v === null ? '' : c.normalise === 'total' ? (100 * v).toFixed(2) + ' %' : c.normalise === 'run' ? amount(v, c.unit) + '/s' : amount(v, c.unit));
  const change = (v: number | null) => (v === null ? '' : (v >= 1 ? '+' : '') + (100 * (v - 1)).toFixed(1) + ' %');
  const names = Object.keys(c.rows[0]!).slice(0, Object.keys(c.rows[0]!).indexOf('base'));
  const interval = (r: Row) => (r.low === null ? '' : r.high === null ? `${change(r.low)} or more` : `${change(r.low)} … ${change(r.high)}`);
  const judged = (name: string, loadObject: string): string => {
    const r = c.by === 'function' ? c.rows.find((r) => r['function'] === name && r['load_object'] === loadObject) : undefined;
    return r === undefined ? '' : `${name}${name === '<Total>' ? '' : ' itself, on all paths'}, medians: ${[`${value(r.base)} → ${value(r.test)}`, interval(r), r.verdict].filter((t) => t !== '').join(', ')}`;
  };
  return (
    <>
      <p class="note">
        {c.metric}: medians of {c.base.experiments?.length ?? 0} and {c.test.experiments?.length ?? 0} runs; {c.judged} of {c.rows_in_all} rows were judged{c.rows.length < c.rows_in_all ? `; the ${c.rows.length} that differ most are shown` : ''}.
      </p>
      {c.environment.map((d) => (
        <p key={d.what} class={d.unfair ? 'warning' : 'note'}>{d.unfair ? 'Unfair: the sides differ in ' : 'The sides differ in '}{d.what}: {(d.base ?? []).join(', ') || 'none'} and {(d.test ?? []).join(', ') || 'none'}</p>
      ))}
      {c.warnings.map((w) => <p key={w} class="warning">{w}</p>)}
      {c.by !== 'data-object' && <Difference parameters={{ ...parameters, metric: c.metric }} show={value} judged={judged} />}
      <Table
        label="Comparison"
        rows={c.rows.map((r, n) => ({ ...r, n }))}
        keyOf={(r) => String(r.n)}
        columns={[
          { title: 'Base', numeric: true, value: (r) => r.base ?? 0, show: (r) => value(r.base) },
          { title: 'Test', numeric: true, value: (r) => r.test ?? 0, show: (r) => value(r.test) },
          { title: 'Difference', numeric: true, value: (r) => r.difference ?? 0, show: (r) => value(r.difference) },
          { title: 'Change', numeric: true, value: (r) => r.ratio ?? 0, show: (r) => change(r.ratio) },
          { title: `${100 * c.level} % interval`, numeric: true, value: (r) => r.low ?? 0, show: interval },
          { title: 'Verdict', value: (r) => r.verdict, show: (r) => <span class={'verdict ' + r.verdict.replaceAll(' ', '-')}>{r.verdict}</span> },
          ...names.slice(0, 2).map((name) => ({
            title: name.replaceAll('_', ' '),
            value: (r: Row) => String(r[name] ?? ''),
            show: (r: Row) => (name === 'function' ? <Link to={{ view: 'callers', function: String(r[name]) }}>{String(r[name])}</Link> : String(r[name] ?? '')),
          })),
        ]}
      />
    </>
  );
}
