// The panel of comparisons: one group of experiments against another.
import { useState } from 'preact/hooks';
import { useData } from '../lib/api';
import { lazy } from '../parts/lazy';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';
import { filters, navigate, useAddress, type Params } from '../lib/address';
import { Table } from '../parts/table';
import { textOf } from '../lib/result';
import { amount } from '../lib/units';

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

const Difference = lazy(() => import('./difference').then((m) => m.Difference));

const subjects = ['function', 'line', 'load-object', 'data-object', 'path'];
const normalisations: Record<string, string> = {
  none: 'as they are',
  total: 'parts of their run’s total',
  run: 'per second of their run',
};

export function ComparePanel() {
  const address = useAddress();
  const [base, setBase] = useState(address.get('base', address.all('experiment')[0] ?? ''));
  const [test, setTest] = useState(address.get('test', address.all('experiment')[1] ?? ''));
  const asked = address.get('base') !== '' && address.get('test') !== '';
  const parameters: Params = {
    base: address.all('base'),
    test: address.all('test'),
    metric: address.get('metric'),
    mode: address.get('mode'),
    normalise: address.get('normalise'),
  };
  for (const f of filters) parameters[f] = address.all(f);
  const answer = useData<Comparison>(asked ? 'compare' : undefined, {
    ...parameters,
    by: address.get('by'),
    limit: '200',
  });
  return (
    <>
      <form
        class="bar"
        onSubmit={(e) => {
          e.preventDefault();
          navigate({ base, test });
        }}
      >
        <label class="grow">
          Base{' '}
          <input
            value={base}
            placeholder="a name, a pattern, or label=value"
            onInput={(e) => setBase(e.currentTarget.value)}
          />
        </label>
        <label class="grow">
          Test{' '}
          <input
            value={test}
            placeholder="a name, a pattern, or label=value"
            onInput={(e) => setTest(e.currentTarget.value)}
          />
        </label>
        <label>
          Rows are
          <select value={address.get('by', 'function')} onChange={(e) => navigate({ by: e.currentTarget.value })}>
            {subjects.map((s) => (
              <option key={s}>{s}</option>
            ))}
          </select>
        </label>
        <label>
          Values are
          <select
            value={address.get('normalise', 'none')}
            onChange={(e) => navigate({ normalise: e.currentTarget.value })}
          >
            {Object.entries(normalisations).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Compare</button>
      </form>
      {!asked && (
        <section class="panel">
          <p class="note">Enter the experiments that are the base, and those to compare with them.</p>
        </section>
      )}
      {asked && (
        <Panel title="Comparison" answer={answer} empty={(c) => c.rows.length === 0}>
          {(c) => <ComparisonView c={c} parameters={parameters} />}
        </Panel>
      )}
    </>
  );
}

function ComparisonView({ c, parameters }: { c: Comparison; parameters: Params }) {
  const value = (v: number | null) =>
    v === null
      ? ''
      : c.normalise === 'total'
        ? (100 * v).toFixed(2) + ' %'
        : c.normalise === 'run'
          ? amount(v, c.unit) + '/s'
          : amount(v, c.unit);
  const change = (v: number | null) => (v === null ? '' : (v >= 1 ? '+' : '') + (100 * (v - 1)).toFixed(1) + ' %');
  const names = Object.keys(c.rows[0]!).slice(0, Object.keys(c.rows[0]!).indexOf('base'));
  const interval = (r: Row) =>
    r.low === null ? '' : r.high === null ? `${change(r.low)} or more` : `${change(r.low)} … ${change(r.high)}`;
  const runs = (side: { experiments: string[] | null }) => side.experiments?.length ?? 0;
  const judged = (name: string, loadObject: string): string => {
    const r =
      c.by === 'function' ? c.rows.find((r) => r['function'] === name && r['load_object'] === loadObject) : undefined;
    if (r === undefined) return '';
    const parts = [`${value(r.base)} → ${value(r.test)}`, interval(r), r.verdict];
    const medians = parts.filter((t) => t !== '').join(', ');
    return `${name}${name === '<Total>' ? '' : ' itself, on all paths'}, medians: ${medians}`;
  };
  return (
    <>
      <p class="note">
        {c.metric}: medians of {runs(c.base)} and {runs(c.test)} runs; {c.judged} of {c.rows_in_all} rows were judged
        {c.rows.length < c.rows_in_all ? `; the ${c.rows.length} that differ most are shown` : ''}.
      </p>
      {c.environment.map((d) => (
        <p key={d.what} class={d.unfair ? 'warning' : 'note'}>
          {d.unfair ? 'Not comparable: the sides differ in ' : 'The sides differ in '}
          {d.what}: {(d.base ?? []).join(', ') || 'none'} and {(d.test ?? []).join(', ') || 'none'}
        </p>
      ))}
      {c.warnings.map((w) => (
        <p key={w} class="warning">
          {w}
        </p>
      ))}
      {c.by !== 'data-object' && (
        <Difference parameters={{ ...parameters, metric: c.metric }} show={value} judged={judged} />
      )}
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
          {
            title: 'Verdict',
            value: (r) => r.verdict,
            show: (r) => <span class={'verdict ' + r.verdict.replaceAll(' ', '-')}>{r.verdict}</span>,
          },
          ...names.slice(0, 2).map((name) => ({
            title: name.replaceAll('_', ' '),
            value: (r: Row) => textOf(r[name]),
            show: (r: Row) =>
              name === 'function' ? (
                <Link to={{ view: 'callers', function: textOf(r[name]) }}>{textOf(r[name])}</Link>
              ) : (
                textOf(r[name])
              ),
          })),
        ]}
      />
    </>
  );
}
