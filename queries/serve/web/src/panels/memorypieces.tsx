// Cache lines and pages: which threads and CPUs access each, what reads and writes it, and whether it is shared.
import { useData } from '../lib/api';
import { navigate, useAddress } from '../lib/address';
import { amount, count, exact, percent, num } from '../lib/units';
import { NotRecorded } from '../parts/command';
import { FoldingTable } from '../parts/foldingtable';
import { Link } from '../parts/link';
import { Name } from '../parts/name';
import { Panel } from '../parts/panel';
import { Segments } from '../parts/segments';
import { asked, Lacking, ObjectName, recipes } from './objects';
import type { AccessRow, MemoryAnswer, MemoryPiece } from '../lib/memory';

const sharing: Record<string, string> = {
  shared: 'shared',
  false: 'may be false sharing',
  unknown: 'several threads',
  '': '',
};

const explained: Record<string, string> = {
  shared: 'Several threads access it, and one of them writes.',
  false: 'A thread that writes and another thread access it, but no address in common.',
  unknown: 'Several threads access it. Whether one of them writes was not recorded.',
  '': '',
};

export function MemoryPieces({ by }: { by: 'line' | 'page' }) {
  const address = useAddress();
  const limit = Number(address.get('limit', '200')) || 200;
  const first = address.get('first', 'value');
  const answer = useData<MemoryAnswer>('memory', {
    ...asked(address),
    by: by === 'line' ? 'cache-line' : 'page',
    first,
    limit: String(limit),
  });
  const one = by === 'line' ? 'cache line' : 'page';
  return (
    <Panel title={by === 'line' ? 'Cache lines' : 'Pages'} answer={answer}>
      {(a) =>
        a.pieces === 0 ? (
          <NotRecorded
            what="No accesses with data addresses were recorded in this selection, or not in this metric."
            recipes={recipes}
          />
        ) : (
          <>
            <div class="bar">
              <Segments
                label="Which first"
                options={[
                  ['value', 'Highest value first'],
                  ['shared', 'Shared first'],
                ]}
                value={first}
                set={(v) => navigate({ first: v === 'value' ? null : v, open: null })}
              />
              <span class="dim">
                {count(a.pieces)} {one}s · {amount(a.value, a.unit)} of {amount(a.total, a.unit)} with an address ·{' '}
                {count(a.shared)} shared
              </span>
            </div>
            <Operations of={a} />
            <Lacking metric={a.metric} without={a.without} />
            <div class="card">
              <Pieces of={a} by={by} />
              {a.pieces > a.rows.length && (
                <p class="note pad">
                  {count(a.rows.length)} of {count(a.pieces)}. <Link to={{ limit: String(10 * limit) }}>Show more</Link>
                </p>
              )}
            </div>
          </>
        )
      }
    </Panel>
  );
}

// Operations says how much is known of reads and writes.
function Operations({ of: a }: { of: MemoryAnswer }) {
  const told = a.reads + a.writes;
  if (told === a.value) return null;
  return (
    <p class="note">
      {told === 0
        ? 'The recordings do not say which accesses read and which write, so sharing cannot be judged: ' +
          'perf mem record says it.'
        : `Of ${amount(num(a.value) - told, a.unit)} (${percent(num(a.value) - told, a.value)}) ` +
          'the recordings do not say whether they read or write.'}
    </p>
  );
}

function keyOf(p: MemoryPiece): string {
  return `${p.experiment_id}-${p.process}-${p.address}`;
}

function Pieces({ of: a, by }: { of: MemoryAnswer; by: 'line' | 'page' }) {
  const several = new Set(a.rows.map((r) => r.experiment_id)).size > 1;
  const known = a.reads + a.writes > 0;
  return (
    <FoldingTable
      label={by === 'line' ? 'Cache lines by value' : 'Pages by value'}
      rows={a.rows}
      keyOf={keyOf}
      detail={(p) => <Accesses of={p} by={by} unit={a.unit} />}
      columns={[
        {
          title: 'Value',
          numeric: true,
          width: '72px',
          value: (p) => p.value,
          show: (p) => amount(p.value, a.unit),
          hint: (p) => exact(p.value, a.unit),
        },
        { title: '%', numeric: true, width: '64px', value: (p) => p.value, show: (p) => percent(p.value, a.total) },
        ...(known
          ? [
              {
                title: 'Reads',
                numeric: true,
                wide: true,
                width: '72px',
                value: (p: MemoryPiece) => p.reads,
                show: (p: MemoryPiece) => amount(p.reads, a.unit),
              },
              {
                title: 'Writes',
                numeric: true,
                wide: true,
                width: '72px',
                value: (p: MemoryPiece) => p.writes,
                show: (p: MemoryPiece) => amount(p.writes, a.unit),
              },
            ]
          : []),
        { title: 'Threads', numeric: true, width: '76px', value: (p) => p.threads },
        {
          title: 'CPUs',
          numeric: true,
          wide: true,
          width: '64px',
          value: (p) => p.cpus,
          show: (p) => (p.cpus === 0 ? '' : p.cpus),
          hint: (p) => (p.cpus === 0 ? 'not recorded' : ''),
        },
        { title: 'Objects', numeric: true, wide: true, width: '76px', value: (p) => p.objects },
        {
          title: 'Sharing',
          width: '150px',
          value: (p) => sharing[p.sharing] ?? '',
          show: (p) => p.sharing !== '' && <span class={`sharing ${p.sharing}`}>{sharing[p.sharing]}</span>,
          hint: (p) => explained[p.sharing] ?? '',
        },
        {
          title: 'Object',
          value: (p) => p.top ?? '',
          show: (p) => (p.top === null ? <span class="dim">not known</span> : <ObjectName of={p.top} />),
        },
        {
          title: 'Address',
          wide: true,
          width: '150px',
          value: (p) => p.address,
          show: (p) => <span class="mono">{p.address}</span>,
        },
        {
          title: 'Memory',
          wide: true,
          width: '150px',
          value: (p) => p.region,
          show: (p) => (
            <span class="oneline" title={p.name}>
              {p.region}
              {p.name !== '' && <span class="dim"> {p.name.slice(p.name.lastIndexOf('/') + 1)}</span>}
            </span>
          ),
        },
        ...(several ? [{ title: 'Experiment', wide: true, value: (p: MemoryPiece) => p.experiment }] : []),
      ]}
    />
  );
}

function Accesses({ of: p, by, unit }: { of: MemoryPiece; by: 'line' | 'page'; unit: string }) {
  const address = useAddress();
  const answer = useData<AccessRow[]>('memory/accesses', {
    ...asked(address),
    experiment: p.experiment_id,
    process: String(p.process),
    address: p.address,
    by: by === 'line' ? 'cache-line' : 'page',
  });
  return (
    <Panel title="Accesses" answer={answer}>
      {(rows) => (
        <>
          <p class="note">{explained[p.sharing]}</p>
          {by === 'line' && <LineOfThreads rows={rows} size={p.size} />}
          <table class="nested" aria-label={`Accesses to ${p.address}`}>
            <thead>
              <tr>
                <th class="number">Offset</th>
                <th class="number">Value</th>
                <th class="number">Reads</th>
                <th class="number">Writes</th>
                <th>Thread</th>
                <th class="spare">CPUs</th>
                <th>Object</th>
                <th>Code</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((r, n) => (
                <tr key={n}>
                  <td class="number">{r.offset}</td>
                  <td class="number">{amount(r.value, unit)}</td>
                  <td class="number">{amount(r.reads, unit)}</td>
                  <td class="number">{amount(r.writes, unit)}</td>
                  <td>
                    <Name of={{ kind: 'thread', name: threadName(r) }} />
                  </td>
                  <td class="spare">{r.cpus.join(', ')}</td>
                  <td>{r.object === null ? <span class="dim">not known</span> : <ObjectName of={r.object} />}</td>
                  <td>
                    <span class="accessed">
                      <Name of={{ kind: 'function', name: r.function, loadObject: r.load_object }} />
                      {r.line > 0 && (
                        <Link to={{ view: 'source', function: r.function, file: r.file, line: String(r.line) }}>
                          line {r.line}
                        </Link>
                      )}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Panel>
  );
}

function threadName(r: { thread: number; thread_name: string | null }): string {
  return r.thread_name === null ? String(r.thread) : `${r.thread_name} ${r.thread}`;
}

const mostThreads = 16;

// LineOfThreads draws where in a cache line each thread reads and writes.
function LineOfThreads({ rows, size }: { rows: AccessRow[]; size: number }) {
  const threads = [...new Map(rows.map((r) => [r.thread, threadName(r)]))].slice(0, mostThreads);
  return (
    <div class="structlayout small" role="img" aria-label="Where in the cache line each thread reads and writes">
      {threads.map(([thread, name]) => {
        const places = new Map<number, boolean>();
        for (const r of rows) {
          if (r.thread === thread) places.set(r.offset, (places.get(r.offset) ?? false) || r.writes > 0);
        }
        return [
          <span key={`${thread}n`} class="dim oneline">
            {name}
          </span>,
          <div key={thread} class="cacheline">
            {[...places].map(([offset, writes]) => (
              <i
                key={offset}
                class={writes ? 'access writes' : 'access'}
                title={`offset ${offset}${writes ? ', written' : ''}`}
                style={{ left: `${(100 * offset) / size}%`, width: `${100 / size}%` }}
              />
            ))}
          </div>,
        ];
      })}
      <span />
      <div class="offsets">
        {Array.from({ length: 9 }, (_, n) => (
          <span key={n}>{(n * size) / 8}</span>
        ))}
      </div>
    </div>
  );
}
