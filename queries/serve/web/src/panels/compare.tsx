// Compare: what differs between two groups of runs, and how certain that is.
import { useEffect, useState } from 'preact/hooks';
import { useData } from '../lib/api';
import { filters, navigate, useAddress, type Address, type Params } from '../lib/address';
import type { Changes } from '../lib/changes';
import type { Door } from '../lib/door';
import { defaultGroups } from '../lib/groups';
import { nameOf, sentenceOf, titleOf, type Comparison, type Row, type Shown } from '../lib/comparison';
import { textOf } from '../lib/result';
import { amount, count, difference, exact, percent, signed } from '../lib/units';
import { Fairness } from '../parts/fairness';
import { GroupPicker, setGroups, useGroups } from '../parts/grouppicker';
import { Heading } from '../parts/heading';
import { Interval, scaleOf } from '../parts/interval';
import { lazy } from '../parts/lazy';
import { Name } from '../parts/name';
import { Panel } from '../parts/panel';
import { Popover } from '../frame/popover';
import { RunDots } from '../parts/rundots';
import { Segments } from '../parts/segments';
import { Table, type Column } from '../parts/table';
import { Verdict, type VerdictKind } from '../parts/verdict';

const Difference = lazy(() => import('./difference').then((m) => m.Difference));

const subjects: [string, string][] = [
  ['function', 'Function'],
  ['line', 'Line'],
  ['load-object', 'Load object'],
  ['data-object', 'Data object'],
  ['path', 'Path'],
];
const normalizations: [string, string][] = [
  ['none', 'As they are'],
  ['total', 'Parts of the run’s total'],
  ['run', 'Per second of the run'],
];

export function ComparePanel() {
  const address = useAddress();
  const both = address.all('base').length > 0 && address.all('experiment').length > 0;
  return both ? <Asked address={address} /> : <ChooseProgram address={address} />;
}

// ChooseProgram chooses the program with the most important change if the address has no runs at all.
function ChooseProgram({ address }: { address: Address }) {
  const none = address.all('base').length + address.all('experiment').length === 0;
  const changes = useData<Changes>(none ? 'changes' : undefined, {
    metric: address.get('metric'),
    mode: address.get('mode'),
  });
  const programs = changes.data?.programs ?? [];
  const name = (programs.find((p) => p.state !== '') ?? programs[0])?.program ?? '';
  if (none && changes.loading) return <section class="panel" aria-busy="true" aria-label="Comparison" />;
  return <ChooseGroups address={address} programs={none && name !== '' ? [name] : undefined} />;
}

// ChooseGroups puts base and test into the address if one of them is missing.
function ChooseGroups({ address, programs }: { address: Address; programs: string[] | undefined }) {
  const { groups: g, error, loading } = useGroups(address, programs);
  const chosen = g === undefined || loading ? undefined : defaultGroups(g.runs, g.steps, g.changes, g);
  useEffect(() => {
    if (g !== undefined && chosen !== undefined) setGroups(g, chosen.base, chosen.test, undefined, true);
  }, [g, chosen]);
  return (
    <>
      <Heading title="Compare" sentence="Two groups of runs: the base, and the test that is compared with it." />
      {error !== undefined && (
        <p class="error" role="alert">
          {error.message}
        </p>
      )}
      {g !== undefined && !loading && chosen === undefined ? (
        <section class="card pad">
          <GroupPicker />
        </section>
      ) : (
        <section class="panel" aria-busy={error === undefined} aria-label="Comparison" />
      )}
    </>
  );
}

function requestOf(address: Address): Params {
  const parameters: Params = {
    base: address.all('base'),
    test: address.all('experiment'),
    metric: address.get('metric'),
    mode: address.get('mode'),
    normalise: address.get('normalise'),
  };
  for (const f of filters) parameters[f] = address.all(f);
  return parameters;
}

function Asked({ address }: { address: Address }) {
  const parameters = requestOf(address);
  const by = address.get('by', 'function');
  const answer = useData<Comparison>('compare', { ...parameters, by, judged: 'true' });
  const c = answer.data;
  return (
    <div class="compare">
      <Heading
        title={c === undefined ? 'Compare' : titleOf(c)}
        sentence={c === undefined ? undefined : sentenceOf(c, shownOf(c))}
      >
        <Runs />
      </Heading>
      <div class="bar">
        <Segments
          label="Rows are"
          value={by}
          options={subjects}
          set={(v) => navigate({ by: v === 'function' ? null : v })}
        />
        <Segments
          label="Values are"
          value={address.get('normalise', 'none')}
          options={normalizations}
          set={(v) => navigate({ normalise: v === 'none' ? null : v })}
        />
      </div>
      <Panel title="Comparison" answer={answer} empty={(c) => c.rows.length === 0}>
        {(c) => <ComparisonView c={c} address={address} parameters={parameters} />}
      </Panel>
    </div>
  );
}

// Runs is the button that opens the picker of base and test.
function Runs() {
  const [open, setOpen] = useState(false);
  return (
    <Popover label="Choose runs" className="btn" text="Choose runs" open={open} setOpen={setOpen}>
      <GroupPicker done={() => setOpen(false)} />
    </Popover>
  );
}

// shownOf returns how values and their differences are written: normalized ones are shares or rates.
function shownOf(c: Comparison): Shown {
  switch (c.normalise) {
    case 'total':
      return { value: (v) => percent(v, 1) || '0', difference: (v) => (v > 0 ? '+' : '') + (percent(v, 1) || '0') };
    case 'run':
      return { value: (v) => amount(v, c.unit) + '/s', difference: (v) => difference(v, c.unit) + '/s' };
  }
  return { value: (v) => amount(v, c.unit), difference: (v) => difference(v, c.unit) };
}

function ComparisonView({ c, address, parameters }: { c: Comparison; address: Address; parameters: Params }) {
  const shown = shownOf(c);
  const judged = (name: string, loadObject: string): string => {
    const r = c.by === 'function' ? c.rows.find((r) => isOf(r, name, loadObject)) : undefined;
    if (r === undefined || r.base === null || r.test === null) return '';
    const interval = r.low === null || r.high === null ? [] : [`${signed(r.low - 1)} … ${signed(r.high - 1)}`];
    const medians = [`${shown.value(r.base)} → ${shown.value(r.test)}`, ...interval, r.verdict].join(', ');
    return `${name}${name === '<Total>' ? '' : ' itself, on all paths'}, medians: ${medians}`;
  };
  return (
    <>
      {c.warnings.map((w) => (
        <p key={w} class="warning">
          {w}
        </p>
      ))}
      <div class="card two">
        <div class="pad">
          <h2>Each run is a dot, the line is the median</h2>
          <RunDots base={c.base.runs} test={c.test.runs} value={shown.value} />
        </div>
        <div class="pad">
          <h2>Is it fair?</h2>
          <Fairness c={c} />
        </div>
      </div>
      {c.by !== 'data-object' && (
        <div class="card graph">
          <Difference parameters={{ ...parameters, metric: c.metric }} show={shown.value} judged={judged} />
        </div>
      )}
      <div class="card">
        <Rows c={c} rows={c.rows.filter((r, n) => n === 0 || !isZero(r))} shown={shown} />
        <Small c={c} shown={shown} address={address} parameters={parameters} />
      </div>
    </>
  );
}

function isOf(r: Row, name: string, loadObject: string): boolean {
  return r['function'] === name && r['load_object'] === loadObject;
}

const kinds: Record<string, VerdictKind> = { 'too few runs': 'few', ambiguous: 'few' };

// doorOf returns what a row's name leads to.
function doorOf(c: Comparison, r: Row): Door | undefined {
  const text = (name: string) => textOf(r[name]);
  const value = { value: r.test ?? 0, unit: c.unit };
  switch (c.by) {
    case 'function':
      return {
        kind: 'function',
        name: text('function'),
        loadObject: text('load_object'),
        module: text('module'),
        ...value,
      };
    case 'load-object':
      return { kind: 'load object', name: text('load_object'), ...value };
    case 'data-object':
      return { kind: 'data object', name: text('descriptor'), ...value };
    case 'line': {
      const line = Number(text('line'));
      return { kind: 'line', name: `${text('file')}:${text('line')}`, file: text('file'), line, ...value };
    }
  }
  return undefined;
}

const nameTitles: Record<string, [string, string | undefined]> = {
  function: ['Function', 'load_object'],
  line: ['Line', undefined],
  'load-object': ['Load object', 'path'],
  'data-object': ['Data object', 'scope'],
  path: ['Path', 'load_object'],
};
const secondTitles: Record<string, string> = { load_object: 'Load object', path: 'Path', scope: 'Scope' };

// isZero reports whether a row is 0 in the median of both sides, and no difference was found.
function isZero(r: Row): boolean {
  return r.base === 0 && r.test === 0 && r.verdict === 'same';
}

function Rows({ c, rows, shown }: { c: Comparison; rows: Row[]; shown: Shown }) {
  const scale = scaleOf(rows);
  const [title, second] = nameTitles[c.by] ?? nameTitles['function']!;
  const change = (r: Row) =>
    r.ratio === null ? (r.base === 0 && (r.test ?? 0) > 0 ? 'new' : '') : r.test === 0 ? 'gone' : signed(r.ratio - 1);
  const columns: Column<Row>[] = [
    {
      title: 'Base',
      numeric: true,
      value: (r) => r.base ?? 0,
      show: (r) => <Exact v={r.base} c={c} show={shown.value} />,
    },
    {
      title: 'Test',
      numeric: true,
      value: (r) => r.test ?? 0,
      show: (r) => <Exact v={r.test} c={c} show={shown.value} />,
    },
    {
      title: 'Difference',
      numeric: true,
      value: (r) => r.difference ?? 0,
      show: (r) => (
        <span class={r.verdict === 'same' ? '' : 'strong'}>
          <Exact v={r.difference} c={c} show={shown.difference} />
          <small class="narrow">
            {shown.value(r.base ?? 0)} → {shown.value(r.test ?? 0)}
          </small>
        </span>
      ),
    },
    { title: 'Change', numeric: true, value: (r) => r.ratio ?? Infinity, show: change },
    {
      title: `${100 * c.level} % interval, to ±${Math.round(100 * scale)} %`,
      value: (r) => r.low ?? 0,
      show: (r) => <Interval row={r} scale={scale} />,
    },
    {
      title: 'Verdict',
      value: (r) => r.verdict,
      show: (r) => <Verdict kind={kinds[r.verdict] ?? (r.verdict as VerdictKind)}>{r.verdict}</Verdict>,
    },
    {
      title,
      value: (r) => nameOf(r, c.by),
      show: (r) => {
        const door = doorOf(c, r);
        const name = nameOf(r, c.by);
        if (name === '<Total>') return <b>Total</b>;
        return door === undefined ? <span class="mono">{name}</span> : <Name of={door} text={name} />;
      },
    },
  ];
  if (second !== undefined)
    columns.push({
      title: secondTitles[second]!,
      value: (r) => textOf(r[second]),
      show: (r) => (nameOf(r, c.by) === '<Total>' ? '' : <span title={textOf(r[second])}>{textOf(r[second])}</span>),
    });
  return (
    <Table
      label="Compared rows"
      rows={rows}
      keyOf={(r) => keyOfRow(r)}
      columns={columns}
      className={`comparison ${c.by}`}
    />
  );
}

// keyOfRow identifies a row.
function keyOfRow(r: Row): string {
  const names = Object.keys(r).slice(0, Object.keys(r).indexOf('base'));
  return names.map((n) => textOf(r[n])).join('\n');
}

function Exact({ v, c, show }: { v: number | null; c: Comparison; show: (v: number) => string }) {
  if (v === null) return <></>;
  return <span title={c.normalise === 'none' ? exact(v, c.unit) : ''}>{show(v)}</span>;
}

// Small folds the rows that are too small to be judged, and those without a value in the median, into a line, and shows
// them on request.
function Small(p: { c: Comparison; shown: Shown; address: Address; parameters: Params }) {
  const { c, shown } = p;
  const open = p.address.get('small') === '1';
  const answer = useData<Comparison>(open ? 'compare' : undefined, { ...p.parameters, by: c.by, judged: 'false' });
  const zero = c.rows.slice(1).filter(isZero);
  const { rows, base, test } = c.small;
  if (rows + zero.length === 0) return <></>;
  const texts = [];
  if (rows > 0)
    texts.push(
      `${count(rows)} more ${rows === 1 ? 'row has' : 'rows have'} too little to be judged, under ` +
        `${percent(c.min_share, 1)} of the total each: ${shown.value(base)} → ${shown.value(test)} in all`,
    );
  if (zero.length > 0)
    texts.push(`${count(zero.length)} ${rows === 0 ? 'more ' : ''}are 0 in the median of both sides`);
  return (
    <div class="small">
      <p class="note">
        {texts.join('; ')}.{' '}
        <button type="button" class="link" aria-expanded={open} onClick={() => navigate({ small: open ? null : '1' })}>
          {open ? 'Fold them' : 'Show them'}
        </button>
      </p>
      {open && (
        <Panel title="Rows that are not judged" answer={answer}>
          {(s) => <Rest c={c} rows={[...zero, ...s.rows]} shown={shown} />}
        </Panel>
      )}
    </div>
  );
}

function Rest({ c, rows, shown }: { c: Comparison; rows: Row[]; shown: Shown }) {
  return (
    <Table
      label="Rows that are not judged"
      rows={rows}
      keyOf={keyOfRow}
      columns={[
        { title: 'Base', numeric: true, value: (r) => r.base ?? 0, show: (r) => shown.value(r.base ?? 0) },
        { title: 'Test', numeric: true, value: (r) => r.test ?? 0, show: (r) => shown.value(r.test ?? 0) },
        {
          title: 'Difference',
          numeric: true,
          value: (r) => r.difference ?? 0,
          show: (r) => shown.difference(r.difference ?? 0),
        },
        {
          title: nameTitles[c.by]?.[0] ?? 'Name',
          value: (r) => nameOf(r, c.by),
          show: (r) => {
            const door = doorOf(c, r);
            return door === undefined ? nameOf(r, c.by) : <Name of={door} text={nameOf(r, c.by)} />;
          },
        },
      ]}
    />
  );
}
