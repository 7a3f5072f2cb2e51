// The start page: the recent changes of all programs, and the functions and lines that carry them.
import { useData } from '../lib/api';
import { navigate, useAddress, type Params } from '../lib/address';
import { verdictOf, type Changes, type Finding, type Program, type Verdict } from '../lib/changes';
import { amount, day, signed } from '../lib/units';
import { NightChart, Spark, IntervalMark } from '../parts/nights';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';

const names: Record<Verdict, string> = { slower: 'slower', faster: 'faster', usual: 'as usual', few: 'too few nights' };
const signs: Record<string, string> = { slower: '▲', faster: '▼', appeared: '+', vanished: '−', usual: '=', few: '' };
const order: Verdict[] = ['slower', 'faster', 'usual', 'few'];
const mostRows = 200;

export function ChangesPanel() {
  const address = useAddress();
  const answer = useData<Changes>('changes', {
    experiment: address.all('experiment'),
    metric: address.get('metric'),
    mode: address.get('mode'),
    since: address.get('since'),
    order: address.get('order'),
    series: address.get('series'),
  });
  return (
    <Panel
      title="What changed"
      answer={answer}
      empty={(c) => c.experiments === 0}
      none="No experiment with a known start is in the store. Add recordings: stackmill ingest --recursive FOLDER"
    >
      {(c) => <Overview changes={c} />}
    </Panel>
  );
}

function Overview({ changes }: { changes: Changes }) {
  const address = useAddress();
  const only = address.get('verdict') as Verdict | '';
  const sorted = order.flatMap((v) => changes.programs.filter((p) => verdictOf(p) === v));
  const shown = only === '' ? sorted : sorted.filter((p) => verdictOf(p) === only);
  const changed = sorted.find((p) => verdictOf(p) !== 'few' && p.state !== '');
  const open = address.get('program', changed === undefined ? '' : keyOf(changed));
  const before = changes.nights.length - 1;
  const last = changes.nights[before] ?? '';
  return (
    <div class="changes">
      <div class="heading">
        <div>
          <h2>What changed</h2>
          <p class="note">
            Night of {day(last)}, against what was usual in the {before} nights before. Changes since{' '}
            {day(changes.since)}.
          </p>
        </div>
        <div class="segments" role="group" aria-label="Verdict">
          <Segment label={`All ${sorted.length}`} value="" current={only} />
          {order.map((v) => (
            <Segment
              key={v}
              label={`${sorted.filter((p) => verdictOf(p) === v).length} ${names[v]}`}
              value={v}
              current={only}
            />
          ))}
        </div>
      </div>
      {changes.warnings.map((w) => (
        <p key={w} class="warning">
          {w}
        </p>
      ))}
      <Shared changes={changes} />
      <div class="card scroll" tabIndex={0} role="region" aria-label="Programs">
        <table class="programs">
          <thead>
            <tr>
              <th scope="col">Program</th>
              <th scope="col">Verdict</th>
              <th scope="col" class="number">
                Last night
              </th>
              <th scope="col" class="number">
                Against usual
              </th>
              <th scope="col">95 % interval</th>
              <th scope="col">Nights</th>
              <th scope="col">Carried by</th>
              <th scope="col">Problems</th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, mostRows).map((p) => (
              <Rows key={keyOf(p)} program={p} changes={changes} open={keyOf(p) === open} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length > mostRows && (
        <p class="note">
          {mostRows} of {shown.length} programs: choose a verdict, or experiments, to see the others.
        </p>
      )}
    </div>
  );
}

function keyOf(p: Program): string {
  return p.series + ' ' + p.metric;
}

function Segment({ label, value, current }: { label: string; value: string; current: string }) {
  return (
    <button
      type="button"
      aria-pressed={value === current}
      onClick={() => navigate({ verdict: value === '' ? null : value })}
    >
      {label}
    </button>
  );
}

// Shared shows the changes that many programs have in common.
function Shared({ changes }: { changes: Changes }) {
  if (changes.common.length + changes.together.length === 0) return null;
  return (
    <ul class="card common">
      {changes.common.map((c) => (
        <li key={c.host + c.since}>
          All {c.series} programs{c.host === '' ? '' : ` on ${c.host}`}: {signed(c.after / c.before - 1)} since{' '}
          {day(c.since)}
          {c.state === 'maybe' ? ', maybe' : ''}. It is left out of the changes below.
        </li>
      ))}
      {changes.together.map((t) => (
        <li key={t.since}>
          {t.series} of {t.of} programs changed since {day(t.since)}
          {t.perhaps > 0 && ` (${t.perhaps} more may have)`}, in the median by {signed(t.ratio - 1)}.
        </li>
      ))}
    </ul>
  );
}

function Rows({ program: p, changes, open }: { program: Program; changes: Changes; open: boolean }) {
  const verdict = verdictOf(p);
  const first = p.finding.changes?.find((c) => c.function !== '<Total>');
  const values = p.nights.length;
  const toggle = () => navigate({ program: open ? '-' : keyOf(p) });
  return (
    <>
      <tr class={open ? 'open' : ''}>
        <td>
          <button type="button" class="name" aria-expanded={open} onClick={toggle} title={p.series}>
            {p.program === '' ? p.series : p.program}
          </button>
          <small>
            {values} {values === 1 ? 'night' : 'nights'}
          </small>
          {p.nights[values - 1] !== changes.nights.length - 1 && (
            <small>none since {day(changes.nights[p.nights[values - 1]!]!)}</small>
          )}
        </td>
        <td>
          <VerdictMark program={p} verdict={verdict} />
        </td>
        <td class="number">
          <b>{amount(p.values[values - 1] ?? 0, p.unit)}</b>
          <small>usual {p.few ? 'not yet' : amount(p.usual, p.unit)}</small>
        </td>
        <td class="number">
          {p.ratio === null ? '–' : signed(p.ratio - 1)}
          {p.low !== null && p.high !== null && (
            <small>
              {signed(p.low - 1)} … {signed(p.high - 1)}
            </small>
          )}
        </td>
        <td>
          {p.ratio !== null && p.low !== null && p.high !== null && (
            <IntervalMark low={p.low - 1} change={p.ratio - 1} high={p.high - 1} verdict={verdict} />
          )}
        </td>
        <td>
          <Spark program={p} changes={changes} verdict={verdict} />
        </td>
        <td>
          {first === undefined ? (
            <span class="quiet">{verdict === 'usual' ? 'nothing new' : '–'}</span>
          ) : (
            <>
              <code>{first.function}</code>
              <small>
                {first.kind}, {signed(first.impact)}
              </small>
            </>
          )}
        </td>
        <td>
          {p.problems.length === 0 ? (
            <span class="quiet">none</span>
          ) : (
            <>
              {p.problems[0]!.reason}
              <small>
                {p.problems[0]!.experiments} {p.problems[0]!.experiments === 1 ? 'recording' : 'recordings'}
                {p.problems.length > 1 && `, ${p.problems.length - 1} more`}
              </small>
            </>
          )}
        </td>
      </tr>
      {open && (
        <tr class="details">
          <td colSpan={8}>
            <Details program={p} changes={changes} verdict={verdict} />
          </td>
        </tr>
      )}
    </>
  );
}

function VerdictMark({ program: p, verdict }: { program: Program; verdict: Verdict }) {
  const maybe = p.state === 'maybe';
  return (
    <span class={`verdict ${verdict}${maybe ? ' maybe' : ''}`}>
      <i aria-hidden="true">{maybe ? '?' : signs[verdict]}</i>
      {maybe ? 'maybe ' : ''}
      {names[verdict]}
      {p.state !== '' && ` since ${day(p.finding.since)}`}
    </span>
  );
}

// Details shows the nights of a program, what carries its change, what differs, and links to other panels.
function Details({ program: p, changes, verdict }: { program: Program; changes: Changes; verdict: Verdict }) {
  const carriers = (p.finding.changes ?? []).filter((c) => c.function !== '<Total>');
  const most = Math.max(...carriers.map((c) => Math.abs(c.after - c.before)), 1e-9);
  return (
    <div class="detail">
      <div>
        <h3>
          {p.metric} of {p.program === '' ? p.series : p.program} by night
        </h3>
        <NightChart program={p} changes={changes} />
      </div>
      <div>
        <h3>{carriers.length === 0 ? 'No function stands out' : 'What carries the change'}</h3>
        <div class="carriers">
          {carriers.slice(0, 5).map((c) => (
            <Link key={c.function_key} to={toFunction(p, changes, c.function)}>
              <code>{c.function}</code>
              <span class="number">
                {c.after < c.before ? '−' : '+'}
                {amount(Math.abs(c.after - c.before), p.unit)}
              </span>
              <span class={`meter ${c.after > c.before ? 'slower' : 'faster'}`} aria-hidden="true">
                <i style={{ width: `${(100 * Math.abs(c.after - c.before)) / most}%` }} />
              </span>
              <span class={`verdict ${c.kind}`}>
                <i aria-hidden="true">{signs[c.kind]}</i>
                {c.kind}
              </span>
            </Link>
          ))}
        </div>
        {carriers.length > 5 && <p class="note">{carriers.length - 5} more functions changed.</p>}
        <Facts finding={p.finding} noise={p.noise} />
        <p class="actions">
          {p.state !== '' && (
            <Link to={toComparison(p, changes)}>
              <span class="primary">Compare before and after</span>
            </Link>
          )}
          <Link to={{ view: 'flame', experiment: lastNight(p, changes), metric: p.metric }}>Flame graph</Link>
          <Link
            to={{
              view: 'trend',
              experiment: program(p),
              metric: p.metric,
              function: carriers[0]?.function ?? '',
            }}
          >
            Trend
          </Link>
        </p>
        {verdict === 'few' && <p class="note">A verdict needs at least six nights.</p>}
      </div>
    </div>
  );
}

function Facts({ finding, noise }: { finding: Finding; noise: number }) {
  return (
    <dl class="facts">
      {(finding.differences ?? []).slice(0, 4).map((d) => (
        <div key={d.what}>
          <dt>{d.what}</dt>
          <dd>
            {d.before.slice(0, 2).join(', ')} → {d.after.slice(0, 2).join(', ')}
          </dd>
        </div>
      ))}
      {finding.more_nights !== undefined && finding.more_nights > 0 && (
        <div>
          <dt>For a verdict</dt>
          <dd>
            {finding.more_nights} more {finding.more_nights === 1 ? 'night' : 'nights'} like the newest
          </dd>
        </div>
      )}
      <div>
        <dt>Varies from night to night by</dt>
        <dd>{(100 * noise).toFixed(1)} %</dd>
      </div>
    </dl>
  );
}

// program returns the selector of a program.
function program(p: Program): string {
  return p.program === '' ? '' : `target=${p.program}`;
}

// nightOf returns the selector of a program's experiments of a night.
function nightOf(p: Program, night: string, key: string): string {
  return [`${key}=${night}`, program(p)].filter((t) => t !== '').join(',');
}

function orderKey(): string {
  return (new URLSearchParams(location.search).get('order') ?? 'started').replace(/^label=/, '');
}

function lastNight(p: Program, changes: Changes): string {
  return nightOf(p, changes.nights[p.nights[p.nights.length - 1]!]!, orderKey());
}

function toFunction(p: Program, changes: Changes, name: string): Params {
  return { view: 'source', experiment: lastNight(p, changes), metric: p.metric, function: name };
}

// toComparison compares the nights since the change with as many as ten nights before.
function toComparison(p: Program, changes: Changes): Params {
  const at = p.nights.findIndex((n) => changes.nights[n] === p.finding.since);
  const of = (list: number[]) => list.map((n) => nightOf(p, changes.nights[n]!, orderKey()));
  return {
    view: 'compare',
    experiment: null,
    metric: p.metric,
    base: of(p.nights.slice(Math.max(0, at - 10), at)),
    test: of(p.nights.slice(at, at + 10)),
  };
}
