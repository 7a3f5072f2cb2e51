// The start page: the recent changes of all programs, and the functions that carry them.
import { useEffect } from 'preact/hooks';
import { useData } from '../lib/api';
import { navigate, useAddress, type Params } from '../lib/address';
import {
  verdictOf,
  type ChangedFunction,
  type Changes,
  type Finding,
  type Program,
  type Verdict,
} from '../lib/changes';
import { setMark } from '../lib/marks';
import { titleOf, useSelection } from '../lib/selectionanswer';
import { amount, count, day, difference, percent, signed } from '../lib/units';
import { toPlace } from '../places';
import { Heading } from '../parts/heading';
import { Link } from '../parts/link';
import { Meter } from '../parts/meter';
import { Name } from '../parts/name';
import { IntervalMark, NightChart, Spark } from '../parts/nights';
import { Panel } from '../parts/panel';
import { Segments } from '../parts/segments';
import { Verdict as VerdictMark, type VerdictKind } from '../parts/verdict';

const words: Record<Verdict, string> = { slower: 'slower', faster: 'faster', usual: 'as usual', few: 'too few' };
const order: Verdict[] = ['slower', 'faster', 'usual', 'few'];
const rowsAtOnce = 200;
const leastNights = 6; // for a verdict

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
    <Panel title="What changed" answer={answer}>
      {(c) => (c.experiments === 0 ? <EmptyStore /> : <Overview changes={c} />)}
    </Panel>
  );
}

function EmptyStore() {
  return (
    <>
      <Heading title="What changed" />
      <section class="card pad">
        <h2>No recordings with a known time</h2>
        <p>Put some in; this page announces them without a reload.</p>
        <pre tabIndex={0}>
          {'stackmill ingest --store DIR --recursive \\\n  --label-from "/(?P<night>[^/]+)/" RECORDINGS'}
        </pre>
        <p class="dim">
          perf.data, .er directories and pprof profiles are read as they are. <code>perf record -k mono</code> keeps the
          time of each sample, so that recordings are ordered by it and not by their files.
        </p>
      </section>
    </>
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
  const slower = sorted.filter((p) => verdictOf(p) === 'slower').length;
  useEffect(
    () =>
      setMark('changes', slower === 0 ? undefined : { text: String(slower), title: `${slower} slower`, slower: true }),
    [slower],
  );
  const most = Number(address.get('rows', String(rowsAtOnce)));
  return (
    <div class="changes">
      <Heading
        title="What changed"
        sentence={`Night of ${day(last)}, against what was usual in the ${before} nights before`}
      >
        <Segments
          label="Verdict"
          options={[
            ['', `All ${sorted.length}`],
            ...order.map((v): [Verdict, string] => [
              v,
              `${sorted.filter((p) => verdictOf(p) === v).length} ${words[v]}`,
            ]),
          ]}
          value={only}
          set={(v) => navigate({ verdict: v === '' ? null : v })}
        />
      </Heading>
      {changes.warnings.map((w) => (
        <p key={w} class="warning">
          {w}
        </p>
      ))}
      <Shared changes={changes} />
      <div class="card scroll" tabIndex={0} role="region" aria-label="Programs">
        <table class="programs fix">
          <colgroup>
            {Array.from({ length: 8 }, (_, i) => (
              <col key={i} />
            ))}
          </colgroup>
          <thead>
            <tr>
              <th scope="col">Program</th>
              <th scope="col">Verdict</th>
              <th scope="col" class="number">
                Last night
              </th>
              <th scope="col" class="number" colSpan={2}>
                Against usual <small>95 % interval</small>
              </th>
              <th scope="col">{changes.nights.length} nights</th>
              <th scope="col">Carried by</th>
              <th scope="col">Problems</th>
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, most).map((p) => (
              <Rows key={keyOf(p)} program={p} changes={changes} open={keyOf(p) === open} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length > most && (
        <p class="note">
          {most} of {shown.length} programs.{' '}
          <Link to={{ rows: String(most + rowsAtOnce) }} className="link">
            Show more
          </Link>
        </p>
      )}
      <div class="cards">
        <Problems changes={changes} />
        <Recent changes={changes} />
        <Store changes={changes} last={last} />
      </div>
    </div>
  );
}

function keyOf(p: Program): string {
  return p.series + ' ' + p.metric;
}

function nameOf(p: Program): string {
  return p.program === '' ? p.series : p.program;
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

// carriersOf returns the functions that changed with a program.
function carriersOf(p: Program): ChangedFunction[] {
  return (p.finding.changes ?? []).filter((c) => c.function !== '<Total>');
}

function Rows({ program: p, changes, open }: { program: Program; changes: Changes; open: boolean }) {
  const verdict = verdictOf(p);
  const n = p.nights.length;
  const last = changes.nights.length - 1;
  return (
    <>
      <tr class={open ? 'open' : ''}>
        <td>
          <button
            type="button"
            class="program"
            aria-expanded={open}
            onClick={() => navigate({ program: open ? '-' : keyOf(p) })}
            title={p.series}
          >
            {nameOf(p)}
          </button>
          <small>
            {n} {n === 1 ? 'night' : 'nights'}
            {p.nights[n - 1] !== last && `, none since ${day(changes.nights[p.nights[n - 1]!]!)}`}
          </small>
        </td>
        <td>
          <ProgramVerdict program={p} verdict={verdict} />
        </td>
        <td class="number">
          <b>{amount(p.values[n - 1] ?? 0, p.unit)}</b>
          <small>usual {p.few ? 'not yet' : amount(p.usual, p.unit)}</small>
        </td>
        <td class="number">
          {p.ratio === null ? <span class="dim">–</span> : signed(p.ratio - 1)}
          {p.ratio === null && n < leastNights && <small>{leastNights - n} more needed</small>}
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
          <Carrier program={p} verdict={verdict} />
        </td>
        <td>
          <ProgramProblems program={p} />
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

function ProgramVerdict({ program: p, verdict }: { program: Program; verdict: Verdict }) {
  const kind: VerdictKind = verdict === 'usual' ? 'same' : verdict;
  const maybe = p.state === 'maybe';
  return (
    <VerdictMark kind={kind} maybe={maybe}>
      {maybe ? 'maybe ' : ''}
      {verdict === 'few' ? 'too few nights' : words[verdict]}
      {p.state !== '' && !maybe && ` since ${day(p.finding.since)}`}
    </VerdictMark>
  );
}

function Carrier({ program: p, verdict }: { program: Program; verdict: Verdict }) {
  const first = carriersOf(p)[0];
  if (first === undefined) return <span class="dim">{verdict === 'usual' ? 'nothing new' : '–'}</span>;
  const total = p.finding.changes?.find((c) => c.function === '<Total>');
  const by = first.after - first.before;
  return (
    <>
      <Name of={{ kind: 'function', name: first.function, loadObject: first.load_object }} />
      <small>
        {first.kind === 'appeared' && '+ appeared, '}
        {first.kind === 'vanished' && '− gone, '}
        {difference(by, p.unit)}
        {total !== undefined && total.after !== total.before && ` · ${percent(by, total.after - total.before)} of it`}
      </small>
    </>
  );
}

function ProgramProblems({ program: p }: { program: Program }) {
  const first = p.problems[0];
  if (first === undefined) return <span class="dim">none</span>;
  return (
    <>
      <Link to={{ ...toPlace('unknown'), experiment: programSelector(p), metric: p.metric }} className="link">
        {first.reason.replaceAll('-', ' ')}
      </Link>
      <small>
        {first.experiments} {first.experiments === 1 ? 'recording' : 'recordings'}
        {p.problems.length > 1 && `, ${p.problems.length - 1} more`}
      </small>
    </>
  );
}

// Details shows the nights of a program, what carries its change, what differs, and what one can do next.
function Details({ program: p, changes, verdict }: { program: Program; changes: Changes; verdict: Verdict }) {
  const address = useAddress();
  const selection = useSelection(address).data;
  const title = selection === undefined ? p.metric : titleOf(selection, p.metric);
  const perNight = p.runs.every((r) => r === p.runs[0]) ? p.runs[0] : undefined;
  const runs = perNight === undefined ? 'by night' : perNight === 1 ? 'one run a night' : `${perNight} runs a night`;
  const carriers = carriersOf(p);
  const most = Math.max(...carriers.map((c) => Math.abs(c.after - c.before)), 1e-9);
  const scope = { experiment: programSelector(p), metric: p.metric };
  return (
    <div class="detail">
      <div>
        <div class="title">
          <h2 class="small">
            {title} of {nameOf(p)}, {runs}
          </h2>
          <span class="sp" />
          <Link to={{ ...toPlace('trend'), ...scope, function: null }} className="dim">
            Open trend
          </Link>
        </div>
        <NightChart program={p} changes={changes} />
      </div>
      <div>
        <h2 class="small">{carriers.length === 0 ? 'No function stands out' : 'What carries the change'}</h2>
        <div class="carriers">
          {carriers.slice(0, 5).map((c) => (
            <div key={c.function_key}>
              <Name of={{ kind: 'function', name: c.function, loadObject: c.load_object }} />
              <span class="number">{difference(c.after - c.before, p.unit)}</span>
              <Meter part={Math.abs(c.after - c.before)} total={most} kind={c.after > c.before ? 'slower' : 'faster'} />
              <span>
                <VerdictMark kind={c.kind} maybe={c.state === 'maybe'} />
              </span>
            </div>
          ))}
        </div>
        {carriers.length > 5 && <p class="note">{carriers.length - 5} more functions changed.</p>}
        <Facts finding={p.finding} noise={p.noise} />
        <p class="actions">
          {p.state !== '' && <CompareButton program={p} changes={changes} />}
          <Link to={{ ...toPlace('flame'), experiment: lastNight(p, changes), metric: p.metric }} className="btn">
            Flame graph
          </Link>
          <Link
            to={{
              ...toPlace('source'),
              experiment: lastNight(p, changes),
              metric: p.metric,
              function: carriers[0]?.function ?? null,
            }}
            className="btn"
          >
            Source
          </Link>
        </p>
        {verdict === 'few' && <p class="note">A verdict needs at least {leastNights} nights.</p>}
      </div>
    </div>
  );
}

function Facts({ finding, noise }: { finding: Finding; noise: number }) {
  const more = finding.more_nights ?? 0;
  return (
    <dl class="environment">
      {(finding.differences ?? []).slice(0, 4).map((d) => (
        <div key={d.what}>
          <dt>{d.what}</dt>
          <dd>
            <code>{d.before.slice(0, 2).join(', ')}</code> → <code>{d.after.slice(0, 2).join(', ')}</code>
          </dd>
        </div>
      ))}
      {more > 0 && (
        <div>
          <dt>For a verdict</dt>
          <dd>
            {more} more {more === 1 ? 'night' : 'nights'} like the newest
          </dd>
        </div>
      )}
      <div>
        <dt>Varies from night to night by</dt>
        <dd>{percent(noise, 1)}</dd>
      </div>
    </dl>
  );
}

function CompareButton({ program: p, changes }: { program: Program; changes: Changes }) {
  const at = p.nights.findIndex((n) => changes.nights[n] === p.finding.since);
  if (at <= 0) return null;
  const before = Math.min(at, nightsBefore);
  return (
    <Link to={toComparison(p, changes, at)} className="btn pri">
      Compare {before} with {p.nights.length - at} {p.nights.length - at === 1 ? 'night' : 'nights'}
    </Link>
  );
}

const nightsBefore = 30; // nights of a comparison's base at most

// toComparison compares the nights since the change with those before it.
function toComparison(p: Program, changes: Changes, at: number): Params {
  const night = (i: number) => changes.nights[p.nights[i]!]!;
  const range = (from: number, to: number) =>
    [`${orderKey()}=${from === to ? night(from) : `${night(from)}..${night(to)}`}`, programSelector(p)]
      .filter((t) => t !== '')
      .join(',');
  return {
    ...toPlace('compare'),
    metric: p.metric,
    base: range(Math.max(0, at - nightsBefore), at - 1),
    experiment: range(at, p.nights.length - 1),
  };
}

// programSelector returns the selector of a program.
function programSelector(p: Program): string {
  return p.program === '' ? '' : `target=${p.program}`;
}

function orderKey(): string {
  return (new URLSearchParams(location.search).get('order') ?? 'started').replace(/^label=/, '');
}

function lastNight(p: Program, changes: Changes): string {
  const night = changes.nights[p.nights[p.nights.length - 1]!]!;
  return [`${orderKey()}=${night}`, programSelector(p)].filter((t) => t !== '').join(',');
}

// Problems lists the problems of the last night over all programs, the most frequent first.
function Problems({ changes }: { changes: Changes }) {
  const sums = new Map<string, { recordings: number; programs: string[] }>();
  for (const p of changes.programs)
    for (const q of p.problems) {
      const s = sums.get(q.reason) ?? { recordings: 0, programs: [] };
      s.recordings += q.experiments;
      s.programs.push(nameOf(p));
      sums.set(q.reason, s);
    }
  const list = [...sums].sort((a, b) => b[1].recordings - a[1].recordings);
  return (
    <section class="card pad">
      <h2>Open problems</h2>
      <ul>
        {list.slice(0, 6).map(([reason, s]) => (
          <li key={reason}>
            <VerdictMark kind="few" plain>
              {reason.replaceAll('-', ' ')}
            </VerdictMark>
            <span class="cut" title={s.programs.join(', ')}>
              {s.programs[0]}
              {s.programs.length > 1 && ` and ${s.programs.length - 1} more`}
            </span>
            <span>
              {count(s.recordings)} {s.recordings === 1 ? 'recording' : 'recordings'}
            </span>
          </li>
        ))}
        {list.length > 6 && <li>{list.length - 6} more reasons</li>}
        {list.length === 0 && <li>none in the last night</li>}
      </ul>
    </section>
  );
}

// Recent lists the changes of all programs, the newest first.
function Recent({ changes }: { changes: Changes }) {
  const list = changes.programs
    .filter((p) => p.state !== '')
    .sort((a, b) => (a.finding.since < b.finding.since ? 1 : -1));
  return (
    <section class="card pad">
      <h2>Changes since {day(changes.since)}</h2>
      <ul>
        {list.slice(0, 6).map((p) => (
          <li key={keyOf(p)}>
            <ChangeMark program={p} />
            <span class="cut">
              {carriersOf(p)[0] !== undefined && `${carriersOf(p)[0]!.function} in `}
              {nameOf(p)}
            </span>
            <span>since {day(p.finding.since)}</span>
          </li>
        ))}
        {list.length > 6 && <li>{list.length - 6} more</li>}
        {list.length === 0 && <li>none</li>}
      </ul>
    </section>
  );
}

// ChangeMark says in which direction a program changed and by how much; if a function carries that, it is about it.
function ChangeMark({ program: p }: { program: Program }) {
  const c = carriersOf(p)[0] ?? p.finding.changes?.[0];
  if (c === undefined) return null;
  return (
    <VerdictMark kind={c.kind} maybe={c.state === 'maybe'}>
      {c.kind === 'appeared' ? 'new' : c.kind === 'vanished' ? 'gone' : c.ratio !== null && signed(c.ratio - 1)}
    </VerdictMark>
  );
}

function Store({ changes, last }: { changes: Changes; last: string }) {
  const at = changes.nights.length - 1;
  const ran = changes.programs.filter((p) => p.nights[p.nights.length - 1] === at);
  const missing = changes.programs.filter((p) => p.nights[p.nights.length - 1] === at - 1);
  const recordings = ran.reduce((n, p) => n + (p.runs[p.runs.length - 1] ?? 0), 0);
  return (
    <section class="card pad">
      <h2>The store</h2>
      <ul>
        <li>
          <span>Night of {day(last)}</span>
          <span>
            {count(recordings)} {recordings === 1 ? 'recording' : 'recordings'} of {ran.length} programs
          </span>
        </li>
        <li>
          <span>Ran the night before, not seen</span>
          <span class="cut">{missing.length === 0 ? 'none' : missing.map(nameOf).join(', ')}</span>
        </li>
        <li>
          <span>All nights</span>
          <span>{count(changes.experiments)} experiments</span>
        </li>
      </ul>
    </section>
  );
}
