// Trend: values over the nights, as one series or several, and since when they have changed.
import { useState } from 'preact/hooks';
import { useData } from '../lib/api';
import { navigate, scope, useAddress, type Address } from '../lib/address';
import { stepsOf, type Step } from '../lib/groups';
import { parse, format } from '../lib/selection';
import {
  comparisonOf,
  linesOf,
  nightKey,
  runsOf,
  titleOf,
  useTrend,
  type Change,
  type Line,
  type Trend,
} from '../lib/trend';
import { amount, count, day, moment, percent, signed, start } from '../lib/units';
import { Find } from '../parts/find';
import { Heading } from '../parts/heading';
import { Beside } from '../parts/inspector';
import { Link } from '../parts/link';
import { Name } from '../parts/name';
import { Panel } from '../parts/panel';
import { Segments } from '../parts/segments';
import { Table } from '../parts/table';
import { TrendChart } from '../parts/trendchart';
import { Verdict } from '../parts/verdict';

const mostLines = 8; // in one chart
const isTime = /^(started|night)=/;

export function TrendPanel() {
  const address = useAddress();
  const place = <Place address={address} />;
  return address.get('function') === '' ? place : <Beside>{place}</Beside>;
}

// useScope returns the selectors of all nights of the selected programs: a trend over a night says nothing. The
// address can say that only the selection is meant.
function useScope(address: Address): { experiment: string[]; narrowed: boolean; loading: boolean } {
  const chosen = address.all('experiment');
  const { programs, runs } = parse(chosen);
  const known = programs.length > 0 || runs.length === 0;
  const targets = useData<{ target: string }[]>(known ? undefined : 'experiments', {
    experiment: chosen,
    columns: 'target',
  });
  const others = runs.map((r) =>
    r
      .split(',')
      .filter((c) => !isTime.test(c))
      .join(','),
  );
  const all = known
    ? format({ programs, runs: [...new Set(others)].filter((r) => r !== '') })
    : [...new Set(targets.data?.map((t) => t.target))].map((t) => `target=${t}`);
  const narrowed = chosen.join('\n') !== all.join('\n');
  const only = address.get('nights') === 'selection';
  return { experiment: only ? chosen : all, narrowed, loading: !known && targets.data === undefined && !only };
}

function Place({ address }: { address: Address }) {
  const { experiment, narrowed, loading } = useScope(address);
  const name = address.get('function');
  const what = address.get('what') || (name === '' ? 'total' : 'function');
  const by = address.get('by') || (parse(address.all('experiment')).programs.length === 1 ? 'none' : 'target');
  const answer = useTrend(
    loading
      ? undefined
      : {
          ...scope(address),
          experiment,
          metric: address.get('metric'),
          inclusive: what === 'total' ? '' : address.get('inclusive'),
          normalise: address.get('normalise'),
          order: address.get('order'),
          ...(what === 'function' ? { function: name } : {}),
          ...(what === 'functions' ? { function: '^', limit: String(mostLines + 1) } : {}),
          by: what === 'functions' || by === 'none' ? '' : by,
        },
  );
  const t = answer.data;
  const lines = t === undefined ? [] : linesOf(t);
  return (
    <div class="trendplace">
      <Heading
        title={t === undefined || answer.error !== undefined ? 'Trend' : titleOf(t, lines)}
        sentence={t === undefined ? undefined : sentenceOf(t, what)}
      >
        {narrowed && (
          <Segments
            label="Nights"
            value={address.get('nights', 'all')}
            options={[
              ['all', 'All nights'],
              ['selection', 'Selection'],
            ]}
            set={(v) => navigate({ nights: v === 'all' ? null : v })}
          />
        )}
      </Heading>
      <Controls address={address} name={name} what={what} by={by} />
      <Panel
        title="Trend"
        answer={answer}
        empty={(t) => t.points.length === 0 || t.series.length === 0}
        none="No experiment here has the metric and a start time: choose other experiments, or another metric."
      >
        {(t) => <View t={t} lines={linesOf(t)} address={address} />}
      </Panel>
    </div>
  );
}

function sentenceOf(t: Trend, what: string): string {
  const kind = what === 'total' ? '' : t.inclusive ? ', inclusive' : ', exclusive';
  const order = t.order.startsWith('label=') ? `by ${t.order.slice('label='.length)}` : 'by start';
  return (
    `${t.metric}${kind} of ${count(t.points.length)} runs ${order} · a rank test finds the changes, ` +
    `with a false one in at most ${percent(t.chance, 1)} of the series`
  );
}

function Controls({ address, name, what, by }: { address: Address; name: string; what: string; by: string }) {
  const [text, setText] = useState<string | undefined>();
  return (
    <div class="bar">
      <Segments
        label="Values of"
        value={what}
        options={[
          ['total', 'Total'],
          ...(name === ''
            ? []
            : ([['function', name.length > 24 ? name.slice(0, 23) + '…' : name]] as [string, string][])),
          ['functions', `${mostLines} functions`],
        ]}
        set={(v) => navigate({ what: v === (name === '' ? 'total' : 'function') ? null : v })}
      />
      {what !== 'functions' && (
        <Segments
          label="Series"
          value={by}
          options={[
            ['none', 'Together'],
            ['target', 'By program'],
            ['host', 'By host'],
            ...(['none', 'target', 'host'].includes(by)
              ? []
              : ([[by, by.replace('label=', 'By ')]] as [string, string][])),
          ]}
          set={(v) => navigate({ by: v })}
        />
      )}
      {what !== 'total' && (
        <Segments
          label="Kind of values"
          value={address.get('inclusive', 'false')}
          options={[
            ['false', 'Self'],
            ['true', 'Total'],
          ]}
          set={(v) => navigate({ inclusive: v === 'true' ? 'true' : null })}
        />
      )}
      <Segments
        label="Values are"
        value={address.get('normalise', 'none')}
        options={[
          ['none', 'As they are'],
          ...(what === 'total' ? [] : ([['total', '% of the run']] as [string, string][])),
          ['run', 'Per second'],
        ]}
        set={(v) => navigate({ normalise: v === 'none' ? null : v })}
      />
      <Segments
        label="Axis"
        value={address.get('axis', 'fitted')}
        options={[
          ['fitted', 'Fitted'],
          ['zero', 'From 0'],
        ]}
        set={(v) => navigate({ axis: v === 'fitted' ? null : v })}
      />
      <Segments
        label="Charts"
        value={address.get('as', 'one')}
        options={[
          ['one', 'One chart'],
          ['multiples', 'Small ones'],
        ]}
        set={(v) => navigate({ as: v === 'one' ? null : v })}
      />
      <form
        onSubmit={(e) => {
          e.preventDefault();
          navigate({ function: (text ?? name).trim(), what: null });
          setText(undefined);
        }}
      >
        <Find label="Function" placeholder="Function, Enter shows it" value={text ?? name} set={setText} />
      </form>
    </div>
  );
}

function valueText(t: Trend): (v: number) => string {
  switch (t.normalise) {
    case 'total':
      return (v) => percent(v, 1);
    case 'run':
      return (v) => amount(v, t.unit) + '/s';
  }
  return (v) => amount(v, t.unit);
}

function View({ t, lines, address }: { t: Trend; lines: Line[]; address: Address }) {
  const runs = runsOf(t);
  const steps = stepsOf(runs);
  const value = valueText(t);
  const zero = address.get('axis') === 'zero';
  const multiples = address.get('as') === 'multiples';
  const shown = multiples ? lines : lines.slice(0, mostLines);
  return (
    <>
      {t.warnings.map((w) => (
        <p key={w} class="warning">
          {w}
        </p>
      ))}
      <div class="card pad">
        {multiples ? (
          <ul class="multiples">
            {shown.map((l) => (
              <li key={l.id}>
                <h2>
                  <LineName l={l} t={t} />
                  <small>{value(l.values[l.values.length - 1] ?? 0)}</small>
                  {l.changes.length > 0 && <ChangeMark c={l.changes[l.changes.length - 1]!} />}
                </h2>
                <TrendChart runs={runs} steps={steps} lines={[l]} value={value} zero={zero} small />
              </li>
            ))}
          </ul>
        ) : (
          <>
            <TrendChart runs={runs} steps={steps} lines={shown} value={value} zero={zero} />
            {shown.length > 1 && (
              <ul class="legend">
                {shown.map((l, n) => (
                  <li key={l.id}>
                    <span class={`swatch line${n}`} aria-hidden="true" />
                    <LineName l={l} t={t} />
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
        <p class="note">
          {zero ? 'The axis begins at 0.' : 'The axis is fitted to the values: it does not begin at 0.'}
          {shown.length < lines.length &&
            ` The ${shown.length} of ${lines.length} series with the highest sums are drawn: small charts show all.`}
          {t.matched > mostLines && ` ${count(t.matched)} functions match: those with the highest sums are shown.`}
        </p>
        <Notes t={t} steps={steps} />
      </div>
      <div class="card">
        <Changes t={t} lines={shown} value={value} address={address} />
      </div>
      <details class="card pad">
        <summary>All values as a table</summary>
        <Values t={t} lines={shown} value={value} />
      </details>
    </>
  );
}

// LineName is the name of a series, which leads to what it is about.
function LineName({ l, t }: { l: Line; t: Trend }) {
  if (t.by === 'target' && l.by !== '' && l.function === '<Total>')
    return (
      <Link to={{ experiment: `target=${l.by}`, by: null }} className="named">
        <b>{l.by}</b>
      </Link>
    );
  if (l.function === '<Total>') return <b>{l.name}</b>;
  return (
    <>
      <Name of={{ kind: 'function', name: l.function, loadObject: l.loadObject, module: l.module }} />
      {l.by !== '' && <small>{l.by}</small>}
    </>
  );
}

function Notes({ t, steps }: { t: Trend; steps: Step[] }) {
  const notes = steps.flatMap((s) =>
    [...new Set(s.runs.map((r) => t.points[r]!.labels?.['note'] ?? ''))]
      .filter((text) => text !== '')
      .map((text) => ({ night: s.name, text })),
  );
  if (notes.length === 0) return <></>;
  return (
    <ul class="nightnotes" aria-label="Notes">
      {notes.map((n) => (
        <li key={n.night + n.text}>
          <i aria-hidden="true">◆</i> {day(n.night)}: {n.text}
        </li>
      ))}
    </ul>
  );
}

function ChangeMark({ c }: { c: Change }) {
  const text = c.before === 0 ? 'appeared' : c.after === 0 ? 'vanished' : signed(c.after / c.before - 1);
  const kind = c.before === 0 ? 'appeared' : c.after === 0 ? 'vanished' : c.after > c.before ? 'slower' : 'faster';
  return (
    <Verdict kind={kind} maybe={c.state === 'maybe'}>
      {c.state === 'maybe' ? 'maybe ' : ''}
      {text}
    </Verdict>
  );
}

function Changes(p: { t: Trend; lines: Line[]; value: (v: number) => string; address: Address }) {
  const { t, value } = p;
  const rows = p.lines.flatMap((l) => l.changes.map((c) => ({ l, c })));
  if (rows.length === 0) return <p class="note pad">No change in {p.lines.length === 1 ? 'this' : 'any'} series.</p>;
  const key = nightKey(t);
  const at = (l: Line, c: Change) => t.points[l.points[c.at]!]!;
  return (
    <Table
      label="Changes"
      className="trendchanges"
      rows={rows}
      keyOf={(r) => `${r.l.id} ${r.c.at}`}
      columns={[
        {
          title: 'Since',
          value: (r) => at(r.l, r.c).started,
          show: (r) => {
            const point = at(r.l, r.c);
            const night = key === 'started' ? point.started.slice(0, 10) : (point.labels?.[key] ?? '');
            return (
              <Link to={{ view: 'flame', experiment: point.experiment, zoom: null }} title={point.experiment}>
                {night === '' ? moment(point.started) : day(night)}
              </Link>
            );
          },
        },
        { title: 'Before', numeric: true, value: (r) => r.c.before, show: (r) => value(r.c.before) },
        { title: 'After', numeric: true, value: (r) => r.c.after, show: (r) => value(r.c.after) },
        { title: 'Change', value: (r) => r.c.after - r.c.before, show: (r) => <ChangeMark c={r.c} /> },
        {
          title: 'p',
          numeric: true,
          value: (r) => r.c.p,
          show: (r) => (r.c.p < 1e-99 ? '< 1e-99' : r.c.p.toExponential(1).replace('-', '\u2212')),
        },
        {
          title: 'Compare',
          value: (r) => r.c.at,
          show: (r) => {
            const to = comparisonOf(t, r.l, r.c, p.address);
            return (
              <Link to={to.address} className="link">
                {to.before} before, {to.after} after
              </Link>
            );
          },
        },
        { title: 'Series', value: (r) => r.l.name, show: (r) => <LineName l={r.l} t={t} /> },
      ]}
    />
  );
}

function Values({ t, lines, value }: { t: Trend; lines: Line[]; value: (v: number) => string }) {
  const rows = lines.flatMap((l) => l.values.map((v, n) => ({ l, v, p: t.points[l.points[n]!]! })));
  return (
    <Table
      label="All values"
      rows={rows}
      keyOf={(r) => `${r.l.id} ${r.p.experiment_id}`}
      columns={[
        { title: 'Value', numeric: true, value: (r) => r.v, show: (r) => value(r.v) },
        { title: 'Started (UTC)', value: (r) => r.p.started, show: (r) => start(r.p.started, r.p.started_from) },
        {
          title: 'Run',
          value: (r) => r.p.experiment,
          show: (r) => <Name of={{ kind: 'experiment', name: r.p.experiment, experiment: r.p.experiment }} />,
        },
        { title: 'Build', value: (r) => r.p.build },
        { title: 'Program', value: (r) => r.p.target },
        { title: 'Host', value: (r) => r.p.host },
        { title: 'Status', value: (r) => r.p.status },
        { title: 'Note', value: (r) => r.p.labels?.['note'] ?? '' },
        ...(lines.length > 1 ? [{ title: 'Series', value: (r: { l: Line }) => r.l.name }] : []),
      ]}
    />
  );
}
