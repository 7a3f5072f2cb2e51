// The place of what is unknown: how much, why, and what helps; and of the problems of recordings.
import { useData } from '../lib/api';
import { navigate, scope, useAddress } from '../lib/address';
import { amount, count, day, exact, percent, num } from '../lib/units';
import { Command } from '../parts/command';
import { FoldingTable, type FoldingColumn } from '../parts/foldingtable';
import { Heading } from '../parts/heading';
import { Link } from '../parts/link';
import { Meter } from '../parts/meter';
import { Name } from '../parts/name';
import { Panel } from '../parts/panel';
import { Segments } from '../parts/segments';
import type { ProblemRow } from '../lib/rows';
import type { UnknownAnswer, UnknownReason } from '../lib/memory';

export function UnknownPanel() {
  const address = useAddress();
  const answer = useData<UnknownAnswer>('unknown', { ...scope(address), metric: address.get('metric') });
  const problems = useData<ProblemRow[]>('problems', { experiment: address.all('experiment') });
  const way = address.get('by');
  return (
    <div class="unknown">
      <Heading title="Unknown" sentence="What could not be told, why, and what helps">
        <Segments
          label="Show"
          options={[
            ['', 'Values'],
            ['problems', 'Problems of recordings'],
          ]}
          value={way}
          set={(v) => navigate({ by: v, open: null })}
        />
      </Heading>
      {way === 'problems' ? (
        <Panel
          title="Problems"
          answer={problems}
          empty={(rows) => rows.length === 0}
          none="Nothing is wrong with the recordings."
        >
          {(rows) => <Problems rows={rows} />}
        </Panel>
      ) : (
        <Panel title="Unknown" answer={answer}>
          {(a) => <Unknown of={a} />}
        </Panel>
      )}
    </div>
  );
}

function things(n: number, one: string): string {
  return `${count(n)} ${one}${n === 1 ? '' : 's'}`;
}

function Unknown({ of: a }: { of: UnknownAnswer }) {
  if (a.metric === '') return <p class="note">The selection has no metric.</p>;
  const parts: [string, number, string][] = [
    ['function', num(a.functions), 'belong to no function, or to no stack'],
    ['instruction', num(a.code), 'belong to a function, but to no known instruction of it'],
    ...(a.has_data
      ? ([['data object', a.data_objects, 'access a data object that is not known']] as [string, number, string][])
      : []),
  ];
  return (
    <>
      <section class="card pad totals" aria-label="Sums">
        {parts.map(([subject, value, text]) => (
          <div key={subject}>
            <b class="big">{value === 0 ? '0' : percent(value, a.total)}</b>
            <Meter part={value} total={num(a.total)} />
            <span>
              {amount(value, a.unit)} of {amount(a.total, a.unit)} of {a.metric} {text}
            </span>
          </div>
        ))}
      </section>
      {a.without > 0 && (
        <p class="note">
          {count(a.without)} of the selected experiments {a.without === 1 ? 'lacks' : 'lack'} the metric {a.metric}.
        </p>
      )}
      {a.reasons.length === 0 ? (
        <p class="note">
          Every sample has a function and an instruction{a.has_data ? ', and each access a data object' : ''}.
        </p>
      ) : (
        <section class="card" aria-label="Reasons">
          <FoldingTable
            label="Unknown by reason"
            rows={a.reasons}
            keyOf={(r) => [r.subject, r.reason, r.load_object].join('|')}
            detail={(r) => <Remedy of={r} />}
            columns={columnsOf(a)}
          />
        </section>
      )}
    </>
  );
}

function nightsOf(r: UnknownReason): string {
  if (r.first_night === null || r.last_night === null) return '';
  if (r.nights === 1) return day(r.first_night);
  return `${things(r.nights, 'night')}, ${day(r.first_night)} to ${day(r.last_night)}`;
}

// runsOf says which runs a reason concerns: 6 programs, 40 nights.
function runsOf(r: UnknownReason): string {
  const programs = r.programs === 1 ? (r.program ?? '') : r.programs === 0 ? '' : things(r.programs, 'program');
  const nights = r.nights === 0 ? '' : r.nights === 1 ? day(r.first_night!) : things(r.nights, 'night');
  return [programs, nights, things(r.experiments, 'run')].filter((t) => t !== '').join(', ');
}

function columnsOf(a: UnknownAnswer): FoldingColumn<UnknownReason>[] {
  return [
    {
      title: 'Value',
      numeric: true,
      width: '80px',
      value: (r) => r.value,
      show: (r) => amount(r.value, a.unit),
      hint: (r) => `${exact(r.value, a.unit)} in ${things(num(r.samples), 'sample')}`,
    },
    {
      title: '%',
      numeric: true,
      width: '68px',
      value: (r) => r.value,
      show: (r) => percent(r.value, a.total),
      hint: () => `of ${a.metric}`,
    },
    { title: 'What', width: '96px', wide: true, value: (r) => r.subject },
    {
      title: 'Why',
      value: (r) => r.reason,
      show: (r) => (
        <span class="why">
          {r.reason}
          {r.help !== '' && <small class="dim">{r.help}</small>}
        </span>
      ),
    },
    {
      title: 'Load object',
      width: '190px',
      wide: true,
      value: (r) => r.load_object,
      show: (r) => (r.load_object === '' ? '' : <Name of={{ kind: 'load object', name: r.load_object }} />),
    },
    { title: 'In', width: '200px', wide: true, value: runsOf, hint: nightsOf },
  ];
}

function Remedy({ of: r }: { of: UnknownReason }) {
  return (
    <div class="whathelps">
      <p>{r.help === '' ? 'No remedy is known.' : r.help}</p>
      {r.command !== '' && <Command text={r.command} />}
      <p class="note">
        {runsOf(r)}
        {nightsOf(r) !== '' && `; ${nightsOf(r)}`}. Largest in{' '}
        <Link to={{ experiment: r.experiment, view: 'unknown' }}>{r.experiment}</Link>.
      </p>
    </div>
  );
}

// ProblemGroup is the problems of all recordings with one reason and file.
interface ProblemGroup {
  severity: string;
  reason: string;
  message: string;
  file: string;
  files: number;
  count: number;
  experiments: Set<string>;
}

function Problems({ rows }: { rows: ProblemRow[] }) {
  const groups = new Map<string, ProblemGroup & { names: Set<string> }>();
  for (const r of rows) {
    const key = `${r.severity}|${r.reason}`;
    const g = groups.get(key) ?? {
      severity: r.severity,
      reason: r.reason,
      message: r.message,
      file: r.file,
      files: 0,
      count: 0,
      experiments: new Set<string>(),
      names: new Set<string>(),
    };
    g.count += Number(r.count);
    g.experiments.add(r.experiment ?? r.experiment_id);
    g.names.add(r.file);
    g.files = g.names.size;
    groups.set(key, g);
  }
  const order = ['error', 'warning', 'info'];
  const list = [...groups.values()].sort(
    (a, b) => order.indexOf(a.severity) - order.indexOf(b.severity) || b.experiments.size - a.experiments.size,
  );
  return (
    <div class="card">
      <FoldingTable
        label="Problems"
        rows={list}
        keyOf={(g) => `${g.severity}|${g.reason}`}
        detail={(g) => <ProblemList rows={rows.filter((r) => r.severity === g.severity && r.reason === g.reason)} />}
        columns={[
          { title: 'Severity', width: '84px', value: (g) => g.severity },
          { title: 'Runs', numeric: true, width: '64px', value: (g) => g.experiments.size },
          { title: 'Count', numeric: true, width: '72px', value: (g) => g.count, show: (g) => count(g.count) },
          { title: 'Reason', width: '220px', value: (g) => g.reason },
          { title: 'Message', wide: true, value: (g) => g.message },
          {
            title: 'Files',
            width: '220px',
            wide: true,
            value: (g) => g.file,
            show: (g) => (g.files === 1 ? <span class="oneline">{g.file}</span> : things(g.files, 'file')),
          },
        ]}
      />
    </div>
  );
}

const mostProblems = 100;

function ProblemList({ rows }: { rows: ProblemRow[] }) {
  return (
    <>
      <table class="nested" aria-label="Recordings with this problem">
        <tbody>
          {rows.slice(0, mostProblems).map((r) => (
            <tr key={r.experiment_id + r.problem}>
              <td>{r.experiment ?? r.experiment_id}</td>
              <td class="number">{count(r.count)}</td>
              <td>{r.file}</td>
              <td>{r.message}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > mostProblems && (
        <p class="note">
          {mostProblems} of {rows.length}; choose fewer experiments to see the others.
        </p>
      )}
    </>
  );
}
