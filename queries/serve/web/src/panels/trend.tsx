// The panel of trends: the values of a function over experiments in chronological order, with change
// points.
import { useState } from 'preact/hooks';
import { useData } from '../lib/api';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';
import { navigate, scope, useAddress, type Params } from '../lib/address';
import { Table } from '../parts/table';
import { amount, moment, start } from '../lib/units';

interface Trend {
  metric: string;
  unit: string;
  inclusive: boolean;
  normalise: string;
  chance: number;
  points: Point[];
  matched: number;
  series: Series[];
  warnings: string[];
}

interface Point {
  experiment_id: string;
  experiment: string;
  started: string;
  started_from: string;
  host: string;
  target: string;
  status: string;
}

interface Series {
  function: string;
  function_key: string;
  load_object: string;
  module: string;
  values: number[];
  changes: Change[];
}

interface Change {
  at: number;
  before: number;
  after: number;
  p: number;
  state: 'sure' | 'maybe';
}

const aside = 10; // maximum of experiments to compare on each side of a change point
const high = 140;

export function TrendPanel() {
  const address = useAddress();
  const [name, setName] = useState(address.get('function'));
  const answer = useData<Trend>('trend', {
    ...scope(address),
    metric: address.get('metric'),
    function: address.get('function'),
    inclusive: address.get('inclusive'),
    normalise: address.get('normalise'),
  });
  return (
    <>
      <form
        class="bar"
        onSubmit={(e) => {
          e.preventDefault();
          navigate({ function: name.trim() });
        }}
      >
        <label class="grow">
          Function{' '}
          <input
            type="search"
            value={name}
            placeholder="a name or part of a name; empty: <Total>"
            onInput={(e) => setName(e.currentTarget.value)}
          />
        </label>
        <label>
          Values are
          <select
            value={address.get('inclusive', 'false')}
            onChange={(e) => navigate({ inclusive: e.currentTarget.value === 'true' ? 'true' : null })}
          >
            <option value="false">exclusive</option>
            <option value="true">inclusive</option>
          </select>
        </label>
        <label>
          Measured
          <select
            value={address.get('normalise', 'none')}
            onChange={(e) => navigate({ normalise: e.currentTarget.value === 'none' ? null : e.currentTarget.value })}
          >
            <option value="none">as they are</option>
            <option value="total">as shares of &lt;Total&gt;</option>
            <option value="run">per second of the run</option>
          </select>
        </label>
        <button type="submit">Show</button>
      </form>
      <Panel
        title="Trend"
        answer={answer}
        empty={(t) => t.points.length === 0 || t.series.length === 0}
        none="No experiment here has the metric and a start time: choose other experiments, or another metric."
      >
        {(t) => <Trends t={t} />}
      </Panel>
    </>
  );
}

function Trends({ t }: { t: Trend }) {
  const value = (v: number) =>
    t.normalise === 'total'
      ? (100 * v).toFixed(2) + ' %'
      : amount(v, t.unit) + (t.normalise === 'run' ? ' per second' : '');
  return (
    <>
      {t.warnings.map((w) => (
        <p key={w} class="warning">
          {w}
        </p>
      ))}
      <p class="note">
        {t.metric}, {t.inclusive ? 'inclusive' : 'exclusive'}, of {t.points.length} experiments in the order of their
        start. A rank test finds the changes: where nothing changed it reports one with a probability of at most{' '}
        {100 * t.chance} %. A change of the newest experiments is “maybe” until more of them confirm it.
        {t.matched > t.series.length &&
          ` ${t.matched} functions match: the ${t.series.length} with the highest sums are shown.`}
      </p>
      {t.series.map((s) => (
        <SeriesChart key={s.function_key} t={t} s={s} value={value} />
      ))}
    </>
  );
}

function SeriesChart({ t, s, value }: { t: Trend; s: Series; value: (v: number) => string }) {
  const highest = s.values.reduce((n, v) => Math.max(n, v), 0);
  const wide = 1000 / t.points.length;
  const x = (i: number) => (i + 0.5) * wide;
  const y = (v: number) => high - 4 - (v / (highest || 1)) * (high - 8);
  const ends = [0, ...s.changes.map((c) => c.at), s.values.length];
  const levels = s.changes.length === 0 ? [] : [s.changes[0]!.before, ...s.changes.map((c) => c.after)];
  const to = (p: Point): Params => ({ view: 'flame', experiment: p.experiment, zoom: null, side: null, of: null });
  return (
    <section>
      <h2>
        {s.function}
        {s.load_object !== s.function && (
          <>
            {' '}
            <small>{s.load_object}</small>
          </>
        )}
      </h2>
      <svg
        class={t.points.length > 300 ? 'trend dense' : 'trend'}
        viewBox={`0 0 1000 ${high}`}
        preserveAspectRatio="none"
        style={{ height: `${high}px` }}
        role="img"
        aria-label={`${s.function}: ${t.points.length} values up to ${value(highest)}, ${s.changes.length} changes`}
      >
        {levels.map((v, i) => (
          <path key={i} class="level" d={`M${ends[i]! * wide},${y(v)}H${ends[i + 1]! * wide}`} />
        ))}
        {s.changes.map((c) => (
          <path key={c.at} class={c.state === 'maybe' ? 'change maybe' : 'change'} d={`M${c.at * wide},0V${high}`} />
        ))}
        <polyline class="line" points={s.values.map((v, i) => `${x(i)},${y(v)}`).join(' ')} />
        {s.values.map((v, i) => {
          const p = t.points[i]!;
          return (
            <path key={p.experiment_id} class="point" d={`M${x(i)},${y(v)}h0.001`} onClick={() => navigate(to(p))}>
              <title>{`${p.experiment}, ${moment(p.started)}: ${value(v)}`}</title>
            </path>
          );
        })}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{moment(t.points[0]!.started)}</span>
        <span>from 0 to {value(highest)}</span>
        <span>{moment(t.points[t.points.length - 1]!.started)}</span>
      </p>
      {s.changes.length === 0 ? (
        <p class="note">No change.</p>
      ) : (
        <Table
          label={`Changes of ${s.function}`}
          rows={s.changes}
          keyOf={(c) => String(c.at)}
          columns={[
            {
              title: 'Since',
              value: (c) => t.points[c.at]!.started,
              show: (c) => (
                <Link to={to(t.points[c.at]!)}>
                  {moment(t.points[c.at]!.started)}, {t.points[c.at]!.experiment}
                </Link>
              ),
            },
            { title: 'Median before', numeric: true, value: (c) => c.before, show: (c) => value(c.before) },
            { title: 'After', numeric: true, value: (c) => c.after, show: (c) => value(c.after) },
            {
              title: 'Change',
              numeric: true,
              value: (c) => c.after - c.before,
              show: (c) => (
                <span class={'verdict ' + (c.after > c.before ? 'slower' : 'faster')}>
                  {c.before === 0
                    ? 'new'
                    : `${c.after > c.before ? '+' : ''}${(100 * (c.after / c.before - 1)).toFixed(1)} %`}
                  {c.state === 'maybe' && ' (maybe)'}
                </span>
              ),
            },
            {
              title: 'p',
              numeric: true,
              value: (c) => c.p,
              show: (c) => (c.p < 1e-99 ? '< 1e-99' : c.p.toExponential(1)),
            },
            { title: 'Compare', value: (c) => c.at, show: (c) => <CompareLink t={t} s={s} c={c} /> },
          ]}
        />
      )}
      <details>
        <summary>All values</summary>
        <Table
          label={`Values of ${s.function}`}
          rows={s.values.map((v, i) => ({ v, p: t.points[i]! }))}
          keyOf={(r) => r.p.experiment_id}
          columns={[
            {
              title: 'Started (UTC)',
              value: (r) => r.p.started,
              show: (r) => start(r.p.started, r.p.started_from),
            },
            {
              title: 'Experiment',
              value: (r) => r.p.experiment,
              show: (r) => <Link to={to(r.p)}>{r.p.experiment}</Link>,
            },
            { title: 'Value', numeric: true, value: (r) => r.v, show: (r) => value(r.v) },
            { title: 'Program', value: (r) => r.p.target },
            { title: 'Host', value: (r) => r.p.host },
            { title: 'Status', value: (r) => r.p.status },
          ]}
        />
      </details>
    </section>
  );
}

// CompareLink links to a comparison of the experiments before a change point with those after it. Neither
// side reaches beyond the next change point.
function CompareLink({ t, s, c }: { t: Trend; s: Series; c: Change }) {
  const n = s.changes.indexOf(c);
  const names = (from: number, to: number) => t.points.slice(from, to).map((p) => p.experiment);
  const base = names(Math.max(s.changes[n - 1]?.at ?? 0, c.at - aside), c.at);
  const test = names(c.at, Math.min(s.changes[n + 1]?.at ?? t.points.length, c.at + aside));
  return (
    <Link to={{ view: 'compare', base, test, metric: t.metric }}>
      {base.length} before, {test.length} after
    </Link>
  );
}
