// The place of the heap: how much memory was allocated over time, and which stacks of calls allocated and leaked it.
import { useData } from '../lib/api';
import { navigate, scope, useAddress } from '../lib/address';
import { matcher } from '../lib/search';
import { amount, count, exact, percent, num } from '../lib/units';
import { NotRecorded } from '../parts/command';
import { Find } from '../parts/find';
import { FoldingTable, type FoldingColumn } from '../parts/foldingtable';
import { HeapChart } from '../parts/heapchart';
import { Heading } from '../parts/heading';
import { Link } from '../parts/link';
import { Bar } from '../parts/meter';
import { Panel } from '../parts/panel';
import { Picker } from '../parts/picker';
import { Segments } from '../parts/segments';
import { StackFrames, StackName } from '../parts/stack';
import type { HeapAnswer, HeapOfStack, HeapPeak, HeapSizes } from '../lib/memory';

export function HeapPanel() {
  const address = useAddress();
  const what = address.get('what', 'leaks');
  const limit = Number(address.get('limit', '200')) || 200;
  const answer = useData<HeapAnswer>('heap', {
    ...scope(address),
    what: what === 'allocations' ? 'allocations' : null,
    run: address.get('run'),
    process: address.get('process'),
    limit: String(limit),
  });
  return (
    <div class="heap">
      <Heading
        title="Heap and leaks"
        sentence="How much memory was allocated over time, and which calls allocated what was never freed"
      />
      <Panel title="Heap and leaks" answer={answer}>
        {(a) =>
          a.processes === 0 ? (
            <NotRecorded
              what={
                a.experiments > 0
                  ? 'Calls of the heap were traced, but none allocated anything that passes the filters.'
                  : 'Calls that allocate and free memory were not traced in this selection.'
              }
              recipes={[
                { with: 'gprofng, heap tracing', command: 'gprofng collect app -p off -H on -o night.er PROGRAM' },
              ]}
            />
          ) : (
            <Heap of={a} what={what} limit={limit} />
          )
        }
      </Panel>
    </div>
  );
}

function processName(p: HeapPeak): string {
  return `${p.target === '' ? 'process' : p.target}${p.pid === null ? '' : ` ${p.pid}`}`;
}

function Heap({ of: a, what, limit }: { of: HeapAnswer; what: string; limit: number }) {
  return (
    <>
      <p class="sums">
        <span>
          <b>{amount(a.leaked_bytes, 'bytes')}</b> leaked in {count(a.leaks)} blocks
        </span>
        <span>
          <b>{amount(a.bytes, 'bytes')}</b> allocated in {count(a.allocations)} blocks
        </span>
        {a.shown !== null && a.peaks[0]!.peak_bytes !== null && (
          <span>
            <b>{amount(a.peaks[0]!.peak_bytes, 'bytes')}</b> highest peak of {count(a.processes)}{' '}
            {a.processes === 1 ? 'process' : 'processes'}
          </span>
        )}
        {a.without > 0 && (
          <span class="dim">
            {count(a.without)} of the selected experiments {a.without === 1 ? 'was' : 'were'} recorded without heap
            tracing
          </span>
        )}
      </p>
      <div class="heaptop">
        <OverTime of={a} />
        <Sizes sizes={a.sizes} what={what} />
      </div>
      <Stacks of={a} what={what} limit={limit} />
    </>
  );
}

function OverTime({ of: a }: { of: HeapAnswer }) {
  const p = a.shown!;
  const keyOf = (of: HeapPeak) => `${of.experiment_id} ${of.process}`;
  return (
    <section class="card pad" aria-label="Heap over time">
      <div class="cardtitle">
        <h2>Allocated over time</h2>
        {a.peaks.length > 1 ? (
          <Picker
            label="Process"
            text={`${processName(p)} of ${p.experiment}`}
            value={keyOf(p)}
            options={a.peaks.map((of) => ({
              value: keyOf(of),
              text: `${processName(of)} of ${of.experiment}`,
              note: of.peak_bytes === null ? 'peak not known' : amount(of.peak_bytes, 'bytes'),
            }))}
            set={(v) => navigate({ run: v.split(' ')[0]!, process: v.split(' ')[1]! })}
          />
        ) : (
          <span class="dim">
            {processName(p)} of {p.experiment}
          </span>
        )}
      </div>
      {p.peak_bytes === null ? (
        <p class="note">
          Some calls that allocated or freed its blocks are missing, because a filter leaves them out or they were not
          recorded: how much was allocated at a time is not known.
        </p>
      ) : (
        <>
          <p class="dim">
            Peak of <b>{amount(p.peak_bytes, 'bytes')}</b> after {amount(p.peak_ns ?? 0, 'ns')}; each interval shows the
            most that was allocated in it
          </p>
          <HeapChart moments={a.timeline} peak={p} />
        </>
      )}
      {a.processes > a.peaks.length && (
        <p class="note">
          The {a.peaks.length} processes with the highest peaks of {count(a.processes)} can be chosen.
        </p>
      )}
    </section>
  );
}

function Sizes({ sizes, what }: { sizes: HeapSizes[]; what: string }) {
  const leaks = what !== 'allocations';
  const rows = sizes.filter((s) => s.what === (leaks ? 'leak' : 'allocation'));
  const most = rows.reduce((n, s) => Math.max(n, num(s.bytes)), 0);
  return (
    <section class="card" aria-label="Sizes">
      <h2 class="padded">{leaks ? 'Sizes of leaks' : 'Sizes of allocations'}</h2>
      {rows.length === 0 ? (
        <p class="note pad">Nothing leaked.</p>
      ) : (
        <table aria-label="Sizes of blocks">
          <thead>
            <tr>
              <th>Size</th>
              <th class="number">Blocks</th>
              <th class="number">Bytes</th>
              <th class="barcell">
                <span class="hidden">Bar</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((s) => (
              <tr key={s.range}>
                <td class="nw">{s.range}</td>
                <td class="number">{count(s.blocks)}</td>
                <td class="number" title={exact(s.bytes, 'bytes')}>
                  {amount(s.bytes, 'bytes')}
                </td>
                <td class="barcell">
                  <Bar part={num(s.bytes)} total={most} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

// spread formats a range of values: 12 ms to 3 s, or one value if both are equal.
export function spread(from: number | null, to: number | null, unit: string): string {
  if (from === null || to === null) return '';
  const [a, b] = [amount(from, unit), amount(to, unit)];
  return a === b ? a : `${a} – ${b}`;
}

function Stacks({ of: a, what, limit }: { of: HeapAnswer; what: string; limit: number }) {
  const address = useAddress();
  const search = address.get('find');
  const test = matcher(search);
  const leaks = what !== 'allocations';
  const all = leaks ? a.stacks.filter((s) => s.leaks > 0) : a.stacks;
  const rows = all.filter((s) => test === undefined || test(s.stack));
  return (
    <section class="card" aria-label={leaks ? 'Leaks by stack' : 'Allocations by stack'}>
      <div class="bar findrow">
        <Segments
          label="Blocks"
          options={[
            ['leaks', 'Leaks'],
            ['allocations', 'All allocations'],
          ]}
          value={leaks ? 'leaks' : 'allocations'}
          set={(v) => navigate({ what: v === 'leaks' ? null : v, open: null })}
        />
        <Find
          label="Find a function"
          placeholder="Function on the stack"
          value={search}
          set={(v) => navigate({ find: v }, true)}
          note={search === '' ? undefined : `${rows.length} of ${all.length}`}
        />
      </div>
      {all.length === 0 ? (
        <p class="note pad">Nothing leaked: every block that was allocated was freed.</p>
      ) : (
        <FoldingTable
          label={leaks ? 'Leaks by stack' : 'Allocations by stack'}
          rows={rows}
          keyOf={(s) => s.stack}
          detail={(s) => <StackFrames stack={s.stack} />}
          columns={leaks ? leakColumns(a) : allocationColumns(a)}
        />
      )}
      {a.stack_count > a.stacks.length && (
        <p class="note pad">
          {count(a.stacks.length)} of {count(a.stack_count)} stacks.{' '}
          <Link to={{ limit: String(10 * limit) }}>Show more</Link>
        </p>
      )}
    </section>
  );
}

const stackColumn: FoldingColumn<HeapOfStack> = {
  title: 'Allocated by',
  value: (s) => s.stack,
  show: (s) => <StackName stack={s.stack} />,
};

function leakColumns(a: HeapAnswer): FoldingColumn<HeapOfStack>[] {
  return [
    {
      title: 'Leaked',
      numeric: true,
      width: '84px',
      value: (s) => s.leaked_bytes,
      show: (s) => amount(s.leaked_bytes, 'bytes'),
      hint: (s) => exact(s.leaked_bytes, 'bytes'),
    },
    {
      title: '%',
      numeric: true,
      width: '64px',
      value: (s) => s.leaked_bytes,
      show: (s) => percent(s.leaked_bytes, a.leaked_bytes),
    },
    { title: 'Blocks', numeric: true, width: '72px', value: (s) => s.leaks, show: (s) => count(s.leaks) },
    {
      title: 'Of allocated',
      numeric: true,
      wide: true,
      width: '104px',
      value: (s) => num(s.leaked_bytes) / (num(s.bytes) || 1),
      show: (s) => percent(s.leaked_bytes, s.bytes),
      hint: (s) => `${exact(s.leaks, '')} of ${exact(s.allocations, '')} blocks`,
    },
    {
      title: 'Sizes',
      numeric: true,
      wide: true,
      width: '150px',
      value: (s) => s.largest_leak ?? 0,
      show: (s) => spread(s.smallest_leak, s.largest_leak, 'bytes'),
    },
    {
      title: 'Age at the end',
      numeric: true,
      wide: true,
      width: '160px',
      value: (s) => s.mean_leak_age ?? 0,
      show: (s) => spread(s.youngest_leak, s.oldest_leak, 'ns'),
      hint: (s) => (s.mean_leak_age === null ? '' : `on average ${amount(s.mean_leak_age, 'ns')}`),
    },
    stackColumn,
  ];
}

function allocationColumns(a: HeapAnswer): FoldingColumn<HeapOfStack>[] {
  return [
    {
      title: 'Allocated',
      numeric: true,
      width: '84px',
      value: (s) => s.bytes,
      show: (s) => amount(s.bytes, 'bytes'),
      hint: (s) => exact(s.bytes, 'bytes'),
    },
    { title: '%', numeric: true, width: '64px', value: (s) => s.bytes, show: (s) => percent(s.bytes, a.bytes) },
    { title: 'Blocks', numeric: true, width: '72px', value: (s) => s.allocations, show: (s) => count(s.allocations) },
    {
      title: 'Leaked',
      numeric: true,
      wide: true,
      width: '84px',
      value: (s) => s.leaked_bytes,
      show: (s) => amount(s.leaked_bytes, 'bytes'),
    },
    {
      title: 'Sizes',
      numeric: true,
      wide: true,
      width: '150px',
      value: (s) => s.largest,
      show: (s) => spread(s.smallest, s.largest, 'bytes'),
    },
    {
      title: 'Life until freed',
      numeric: true,
      wide: true,
      width: '160px',
      value: (s) => s.mean_life ?? 0,
      show: (s) => spread(s.shortest_life, s.longest_life, 'ns'),
      hint: (s) => (s.mean_life === null ? 'none was freed' : `on average ${amount(s.mean_life, 'ns')}`),
    },
    stackColumn,
  ];
}
