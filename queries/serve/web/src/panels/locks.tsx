// The place of locks: what threads waited for, which thread waited for what, who woke whom, deadlocks and data races.
import { useData } from '../lib/api';
import { navigate, scope, useAddress } from '../lib/address';
import { amount, count, exact, percent, num } from '../lib/units';
import { NotRecorded } from '../parts/command';
import { FoldingTable, type FoldingColumn } from '../parts/foldingtable';
import { Heading } from '../parts/heading';
import { Link } from '../parts/link';
import { Name } from '../parts/name';
import { Panel } from '../parts/panel';
import { Segments } from '../parts/segments';
import { StackFrames, StackName } from '../parts/stack';
import { StacksOf } from '../parts/stacksof';
import { Deadlocks, Races } from './conflicts';
import type { LocksAnswer, LockUse, LockWaiter, Waker } from '../lib/memory';

const ways: [string, string][] = [
  ['', 'What was waited for'],
  ['threads', 'Who waits for what'],
  ['wakers', 'Who woke whom'],
  ['conflicts', 'Deadlocks and races'],
];

export function LocksPanel() {
  const address = useAddress();
  const limit = Number(address.get('limit', '200')) || 200;
  const answer = useData<LocksAnswer>('locks', { ...scope(address), limit: String(limit) });
  const way = address.get('by');
  return (
    <div class="locks">
      <Heading title="Locks" sentence="What threads waited for, how long, and who waits for what">
        <Segments label="Show" options={ways} value={way} set={(v) => navigate({ by: v, open: null, stack: null })} />
      </Heading>
      <Panel title="Locks" answer={answer}>
        {(a) => (
          <>
            {way === '' && <Objects of={a} />}
            {way === 'threads' && <Waiters of={a} limit={limit} />}
            {way === 'wakers' && <Wakers of={a} limit={limit} />}
            {way === 'conflicts' && <Conflicts of={a} />}
          </>
        )}
      </Panel>
    </div>
  );
}

function NoLocks({ of: a }: { of: LocksAnswer }) {
  const recorded = a.traced + a.contended > 0;
  return (
    <>
      <NotRecorded
        what={
          recorded
            ? 'Waits were traced, but none that passes the filters took longer than the recording’s threshold.'
            : 'Waits for locks were not traced in this selection.'
        }
        recipes={
          recorded
            ? []
            : [
                {
                  with: 'gprofng, synchronization tracing of all waits',
                  command: 'gprofng collect app -p off -s on,n -o night.er PROGRAM',
                },
                {
                  with: 'perf, locks of the kernel',
                  command:
                    'perf record -e lock:contention_begin -e lock:contention_end -c 1 -g -o night.data -- PROGRAM',
                },
              ]
        }
      />
      {a.scheduled > 0 && (
        <p class="note">
          {count(a.scheduled)} of the selected experiments say who woke whom:{' '}
          <Link to={{ by: 'wakers' }}>Who woke whom</Link>
        </p>
      )}
    </>
  );
}

function Lacking({ of: a, recorded }: { of: LocksAnswer; recorded: number }) {
  const without = a.experiments - recorded;
  if (without <= 0) return null;
  return (
    <span class="dim">
      {count(without)} of the selected experiments {without === 1 ? 'was' : 'were'} recorded without them
    </span>
  );
}

// LockName shows the variable of a synchronization object, or its kind and address.
function LockName({ of: l }: { of: LockUse }) {
  return (
    <span class="member-name">
      <b>{l.variable ?? l.address ?? l.kind}</b>
      <span class="dim">
        {l.kernel ? `${l.kind}, kernel` : l.variable === null ? 'not a variable' : l.program}
        {l.experiment !== null && l.variable === null && ` in ${l.experiment}`}
      </span>
    </span>
  );
}

function Objects({ of: a }: { of: LocksAnswer }) {
  if (a.locks.length === 0) return <NoLocks of={a} />;
  const total = a.locks.reduce((n, l) => n + num(l.wait_ns), 0);
  const columns: FoldingColumn<LockUse>[] = [
    {
      title: 'Waited',
      numeric: true,
      width: '80px',
      value: (l) => l.wait_ns ?? -1,
      show: (l) => (l.wait_ns === null ? '' : amount(l.wait_ns, 'ns')),
      hint: (l) => `${exact(l.timed, '')} of ${exact(l.waits, '')} waits have a duration`,
    },
    {
      title: '%',
      numeric: true,
      width: '64px',
      value: (l) => l.wait_ns ?? -1,
      show: (l) => (l.wait_ns === null ? '' : percent(l.wait_ns, total)),
    },
    { title: 'Waits', numeric: true, width: '72px', value: (l) => l.waits, show: (l) => count(l.waits) },
    {
      title: 'Longest',
      numeric: true,
      width: '84px',
      value: (l) => l.longest_ns ?? -1,
      show: (l) => (l.longest_ns === null ? '' : amount(l.longest_ns, 'ns')),
    },
    { title: 'Threads', numeric: true, width: '76px', value: (l) => l.threads },
    { title: 'Experiments', numeric: true, wide: true, width: '104px', value: (l) => l.experiments },
    { title: 'Waited for', value: (l) => l.variable ?? l.address ?? '', show: (l) => <LockName of={l} /> },
    {
      title: 'Address',
      wide: true,
      width: '160px',
      value: (l) => l.address ?? '',
      show: (l) => <span class="mono">{l.address ?? 'several'}</span>,
    },
  ];
  return (
    <>
      <p class="sums">
        <span>
          <b>{amount(total, 'ns')}</b> in {count(a.locks.reduce((n, l) => n + l.waits, 0))} waits for{' '}
          {count(a.locks.length)} objects
        </span>
        <Lacking of={a} recorded={a.traced + a.contended} />
      </p>
      <div class="card">
        <FoldingTable
          label="Locks by waits"
          rows={a.locks}
          keyOf={(l) => l.key}
          detail={(l) => (
            <>
              <h2>Threads that waited for it</h2>
              <WaiterTable
                of={a}
                rows={a.waiters.filter((w) => w.key === l.key)}
                label={`Threads that waited for ${l.variable ?? l.key}`}
              />
              <h2>Stacks</h2>
              <StacksOf kind={l.kernel ? 'lock' : 'object'} item={l.key} />
            </>
          )}
          columns={columns}
        />
      </div>
    </>
  );
}

function threadName(w: LockWaiter): string {
  return w.thread_name === null ? String(w.thread) : `${w.thread_name} ${w.thread}`;
}

// WaiterTable lists threads with what each waited for.
function WaiterTable({
  of: a,
  rows,
  label,
  objects,
}: {
  of: LocksAnswer;
  rows: LockWaiter[];
  label: string;
  objects?: boolean;
}) {
  const locks = new Map(a.locks.map((l) => [l.key, l]));
  const total = rows.reduce((n, w) => n + num(w.wait_ns), 0);
  const several = new Set(rows.map((w) => w.experiment)).size > 1;
  return (
    <FoldingTable
      label={label}
      open="thread-row"
      rows={rows}
      keyOf={(w) => `${w.experiment} ${w.thread} ${w.key}`}
      detail={(w) => (
        <>
          {w.stacks > 1 && <p class="note">The stack with the longest waits of {w.stacks}.</p>}
          <StackFrames stack={w.stack} />
        </>
      )}
      columns={[
        {
          title: 'Waited',
          numeric: true,
          width: '80px',
          value: (w) => w.wait_ns ?? -1,
          show: (w) => (w.wait_ns === null ? '' : amount(w.wait_ns, 'ns')),
        },
        {
          title: '%',
          numeric: true,
          width: '64px',
          value: (w) => w.wait_ns ?? -1,
          show: (w) => (w.wait_ns === null ? '' : percent(w.wait_ns, total)),
        },
        { title: 'Waits', numeric: true, width: '72px', value: (w) => w.waits, show: (w) => count(w.waits) },
        {
          title: 'Longest',
          numeric: true,
          wide: true,
          width: '84px',
          value: (w) => w.longest_ns ?? -1,
          show: (w) => (w.longest_ns === null ? '' : amount(w.longest_ns, 'ns')),
        },
        {
          title: 'Thread',
          width: '150px',
          value: threadName,
          show: (w) => <Name of={{ kind: 'thread', name: threadName(w) }} />,
        },
        ...(objects === true
          ? [
              {
                title: 'Waits for',
                value: (w: LockWaiter) => locks.get(w.key)?.variable ?? w.key,
                show: (w: LockWaiter) => (locks.has(w.key) ? <LockName of={locks.get(w.key)!} /> : w.key),
              },
            ]
          : []),
        { title: 'In', wide: true, value: (w) => w.stack, show: (w) => <StackName stack={w.stack} /> },
        ...(several ? [{ title: 'Experiment', wide: true, value: (w: LockWaiter) => w.experiment }] : []),
      ]}
    />
  );
}

function More({ shown, all, limit, what }: { shown: number; all: number; limit: number; what: string }) {
  if (all <= shown) return null;
  return (
    <p class="note pad">
      {count(shown)} of {count(all)} {what}. <Link to={{ limit: String(10 * limit) }}>Show more</Link>
    </p>
  );
}

function Waiters({ of: a, limit }: { of: LocksAnswer; limit: number }) {
  if (a.waiters.length === 0) return <NoLocks of={a} />;
  return (
    <section class="card" aria-label="Who waits for what">
      <WaiterTable of={a} rows={a.waiters} label="Who waits for what" objects />
      <More shown={a.waiters.length} all={a.waiter_count} limit={limit} what="threads and objects" />
    </section>
  );
}

function Wakers({ of: a, limit }: { of: LocksAnswer; limit: number }) {
  if (a.wakers.length === 0)
    return (
      <NotRecorded
        what={
          a.scheduled > 0
            ? 'Context switches were recorded, but no wake-up that ends a wait, or none that passes the filters.'
            : 'Context switches and wake-ups were not recorded in this selection.'
        }
        recipes={[
          {
            with: 'perf, scheduler',
            command:
              'perf record -k CLOCK_MONOTONIC -e cpu-clock -e sched:sched_switch -e sched:sched_waking -g ' +
              '--switch-events -o night.data -- PROGRAM',
          },
          { with: 'stackmill, which runs perf in this way', command: 'stackmill record PROGRAM' },
        ]}
      />
    );
  const total = a.wakers.reduce((n, w) => n + num(w.wait_ns), 0);
  const columns: FoldingColumn<Waker>[] = [
    { title: 'Waited', numeric: true, width: '80px', value: (w) => w.wait_ns, show: (w) => amount(w.wait_ns, 'ns') },
    { title: '%', numeric: true, width: '64px', value: (w) => w.wait_ns, show: (w) => percent(w.wait_ns, total) },
    { title: 'Waits', numeric: true, width: '72px', value: (w) => w.waits, show: (w) => count(w.waits) },
    {
      title: 'Thread',
      width: '140px',
      value: (w) => w.thread ?? '',
      show: (w) => w.thread ?? <span class="dim">unknown</span>,
    },
    {
      title: 'Waited in',
      value: (w) => w.function ?? '',
      show: (w) => (w.function === null ? '' : <Name of={{ kind: 'function', name: w.function }} />),
    },
    {
      title: 'Woken by',
      width: '140px',
      value: (w) => w.waker ?? '',
      show: (w) => w.waker ?? <span class="dim">no thread</span>,
    },
    {
      title: 'In',
      wide: true,
      value: (w) => w.waker_function ?? '',
      show: (w) => (w.waker_function === null ? '' : <Name of={{ kind: 'function', name: w.waker_function }} />),
    },
  ];
  return (
    <section class="card" aria-label="Who woke whom">
      <FoldingTable
        label="Who woke whom"
        rows={a.wakers}
        keyOf={(w) => [w.thread, w.function, w.waker, w.waker_function].join('|')}
        columns={columns}
      />
      <More shown={a.wakers.length} all={a.waker_count} limit={limit} what="pairs" />
    </section>
  );
}

function Conflicts({ of: a }: { of: LocksAnswer }) {
  if (a.deadlocks.length + a.races.length === 0)
    return (
      <NotRecorded
        what={
          a.analyzed > 0
            ? 'The recordings were made to find deadlocks or data races, and found none that pass the filters.'
            : 'Only the Thread Analyzer looks for deadlocks and data races: gprofng and perf do not.'
        }
        recipes={
          a.analyzed > 0
            ? []
            : [{ with: 'Thread Analyzer (Oracle Developer Studio)', command: 'collect -r on -o night.er PROGRAM' }]
        }
      />
    );
  return (
    <>
      <Deadlocks events={a.deadlocks} />
      <Races accesses={a.races} />
    </>
  );
}
