// The place of files: which files, system calls and devices the time of input and output goes to.
import { useData } from '../lib/api';
import { navigate, scope, useAddress } from '../lib/address';
import { matcher } from '../lib/search';
import { amount, count, exact, percent, num } from '../lib/units';
import { NotRecorded, type Recipe } from '../parts/command';
import { Find } from '../parts/find';
import { FoldingTable, type FoldingColumn } from '../parts/foldingtable';
import { Heading } from '../parts/heading';
import { Link } from '../parts/link';
import { Bar } from '../parts/meter';
import { Panel } from '../parts/panel';
import { Segments } from '../parts/segments';
import { StacksOf } from '../parts/stacksof';
import { spread } from './heap';
import type { DeviceUse, FileActivity, FilesAnswer, IoSizes, SystemCall } from '../lib/memory';

type Kind = 'files' | 'calls' | 'devices';

const recipes: Record<Kind, { what: string; recipes: Recipe[] }> = {
  files: {
    what: 'Calls on files were not traced in this selection.',
    recipes: [{ with: 'gprofng, I/O tracing', command: 'gprofng collect app -p off -i on -o night.er PROGRAM' }],
  },
  calls: {
    what: 'System calls were not recorded in this selection.',
    recipes: [
      {
        with: 'perf, tracepoints of system calls',
        command: 'perf record -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -c 1 -g -o night.data -- PROGRAM',
      },
    ],
  },
  devices: {
    what: 'Requests to block devices were not recorded in this selection.',
    recipes: [
      {
        with: 'perf, tracepoints of block devices',
        command: 'perf record -a -e block:block_rq_issue -e block:block_rq_complete -c 1 -g -o night.data -- PROGRAM',
      },
    ],
  },
};

export function FilesPanel() {
  const address = useAddress();
  const limit = Number(address.get('limit', '200')) || 200;
  const answer = useData<FilesAnswer>('files', { ...scope(address), limit: String(limit) });
  const a = answer.data;
  // Without a choice, the place shows the first kind that was recorded.
  const otherwise: Kind =
    a === undefined || a.traced > 0 || (a.called === 0 && a.requested === 0)
      ? 'files'
      : a.called > 0
        ? 'calls'
        : 'devices';
  const kind = (address.get('kind') || otherwise) as Kind;
  return (
    <div class="files">
      <Heading
        title="Files"
        sentence="Which files, system calls and devices were read and written, how long it took, and what failed"
      >
        <Segments<Kind>
          label="Kind of calls"
          options={[
            ['files', 'Files'],
            ['calls', 'System calls'],
            ['devices', 'Devices'],
          ]}
          value={kind}
          set={(v) => navigate({ kind: v, open: null, find: null })}
        />
      </Heading>
      <Panel title="Files" answer={answer}>
        {(a) => (
          <>
            {kind === 'files' && <Files of={a} limit={limit} />}
            {kind === 'calls' && <Calls of={a} />}
            {kind === 'devices' && <Devices of={a} />}
          </>
        )}
      </Panel>
    </div>
  );
}

function Missing({ kind, of: a, recorded }: { kind: Kind; of: FilesAnswer; recorded: number }) {
  return (
    <NotRecorded
      what={recorded > 0 ? 'They were recorded, but no call passes the filters.' : recipes[kind].what}
      recipes={recorded > 0 || a.experiments === 0 ? [] : recipes[kind].recipes}
    />
  );
}

function Lacking({ of: a, recorded }: { of: FilesAnswer; recorded: number }) {
  const without = a.experiments - recorded;
  if (without === 0) return null;
  return (
    <span class="dim">
      {count(without)} of the selected experiments {without === 1 ? 'was' : 'were'} recorded without them
    </span>
  );
}

const parts: Record<string, string> = { read: 'reads', write: 'writes', other: 'other calls', error: 'failed calls' };

function Files({ of: a, limit }: { of: FilesAnswer; limit: number }) {
  const address = useAddress();
  if (a.files.length === 0) return <Missing kind="files" of={a} recorded={a.traced} />;
  const search = address.get('find');
  const test = matcher(search);
  const rows = a.files.filter((f) => test === undefined || test(f.name));
  const total = a.kinds.reduce((n, k) => n + num(k.time_ns), 0);
  return (
    <>
      <p class="sums">
        {a.kinds.map((k) => (
          <span key={k.part}>
            <b>{amount(k.time_ns, 'ns')}</b> in {count(k.calls)} {parts[k.part]}
            {num(k.bytes) > 0 && `, ${amount(k.bytes, 'bytes')}`}
          </span>
        ))}
        <Lacking of={a} recorded={a.traced} />
      </p>
      <div class="card">
        <div class="bar findrow">
          <Find
            label="Find a file"
            placeholder="File"
            value={search}
            set={(v) => navigate({ find: v }, true)}
            note={search === '' ? undefined : `${rows.length} of ${a.files.length}`}
          />
        </div>
        <FoldingTable
          label="Files by time"
          rows={rows}
          keyOf={(f) => f.name}
          detail={(f) => <StacksOf kind="file" item={f.name} bytes />}
          columns={fileColumns(total)}
        />
        {a.file_count > a.files.length && (
          <p class="note pad">
            {count(a.files.length)} of {count(a.file_count)} files.{' '}
            <Link to={{ limit: String(10 * limit) }}>Show more</Link>
          </p>
        )}
      </div>
      <div class="sizes">
        {['read', 'write'].map((part) => (
          <TransferSizes key={part} part={part} sizes={a.sizes.filter((s) => s.part === part)} />
        ))}
      </div>
    </>
  );
}

function fileColumns(total: number): FoldingColumn<FileActivity>[] {
  const bytes = (title: string, of: (f: FileActivity) => number): FoldingColumn<FileActivity> => ({
    title,
    numeric: true,
    wide: true,
    width: '84px',
    value: of,
    show: (f) => amount(of(f), 'bytes'),
    hint: (f) => exact(of(f), 'bytes'),
  });
  return [
    {
      title: 'Time',
      numeric: true,
      width: '76px',
      value: (f) => f.time_ns,
      show: (f) => amount(f.time_ns, 'ns'),
      hint: (f) =>
        [
          `reads ${amount(f.read_ns, 'ns')}`,
          `writes ${amount(f.write_ns, 'ns')}`,
          `others ${amount(f.other_ns, 'ns')}`,
          `failed ${amount(f.error_ns, 'ns')}`,
        ].join(', '),
    },
    { title: '%', numeric: true, width: '64px', value: (f) => f.time_ns, show: (f) => percent(f.time_ns, total) },
    {
      title: 'Longest',
      numeric: true,
      wide: true,
      width: '76px',
      value: (f) => f.longest_ns,
      show: (f) => amount(f.longest_ns, 'ns'),
    },
    { title: 'Opens', numeric: true, width: '64px', value: (f) => f.opens, show: (f) => count(f.opens) },
    { title: 'Reads', numeric: true, wide: true, width: '64px', value: (f) => f.reads, show: (f) => count(f.reads) },
    bytes('Read', (f) => num(f.read_bytes)),
    { title: 'Writes', numeric: true, wide: true, width: '68px', value: (f) => f.writes, show: (f) => count(f.writes) },
    bytes('Written', (f) => num(f.written_bytes)),
    {
      title: 'Sizes',
      numeric: true,
      wide: true,
      width: '130px',
      value: (f) => f.largest ?? 0,
      show: (f) => spread(f.smallest, f.largest, 'bytes'),
    },
    {
      title: 'Errors',
      numeric: true,
      width: '64px',
      value: (f) => f.errors,
      show: (f) => (f.errors === 0 ? '0' : <b class="bad">{count(f.errors)}</b>),
    },
    { title: 'File', value: (f) => f.name, show: (f) => <FileName name={f.name} /> },
  ];
}

function FileName({ name }: { name: string }) {
  const slash = name.startsWith('<') ? -1 : name.lastIndexOf('/');
  return (
    <span class="filename" title={name}>
      <span class="dim">{name.slice(0, slash + 1)}</span>
      <b>{name.slice(slash + 1)}</b>
    </span>
  );
}

function TransferSizes({ part, sizes }: { part: string; sizes: IoSizes[] }) {
  const most = sizes.reduce((n, s) => Math.max(n, num(s.calls)), 0);
  if (sizes.length === 0) return null;
  return (
    <section class="card" aria-label={`Sizes of ${part}s`}>
      <h2 class="padded">Sizes of {part}s</h2>
      <table aria-label={`Sizes of ${part}s`}>
        <thead>
          <tr>
            <th>Size</th>
            <th class="number">Calls</th>
            <th class="number">Bytes</th>
            <th class="barcell">
              <span class="hidden">Bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sizes.map((s) => (
            <tr key={s.range}>
              <td class="nw">{s.range}</td>
              <td class="number">{count(s.calls)}</td>
              <td class="number">{amount(s.bytes, 'bytes')}</td>
              <td class="barcell">
                <Bar part={num(s.calls)} total={most} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Calls({ of: a }: { of: FilesAnswer }) {
  const address = useAddress();
  if (a.calls.length === 0) return <Missing kind="calls" of={a} recorded={a.called} />;
  const search = address.get('find');
  const test = matcher(search);
  const rows = a.calls.filter((c) => test === undefined || test(c.name));
  const total = a.calls.reduce((n, c) => n + num(c.time_ns), 0);
  const columns: FoldingColumn<SystemCall>[] = [
    {
      title: 'Time',
      numeric: true,
      width: '76px',
      value: (c) => c.time_ns ?? -1,
      show: (c) => (c.time_ns === null ? '' : amount(c.time_ns, 'ns')),
      hint: (c) => `${exact(c.timed, '')} of ${exact(c.calls, '')} calls have a duration`,
    },
    {
      title: '%',
      numeric: true,
      width: '64px',
      value: (c) => c.time_ns ?? -1,
      show: (c) => (c.time_ns === null ? '' : percent(c.time_ns, total)),
    },
    {
      title: 'Longest',
      numeric: true,
      wide: true,
      width: '84px',
      value: (c) => c.longest_ns ?? -1,
      show: (c) => (c.longest_ns === null ? '' : amount(c.longest_ns, 'ns')),
    },
    { title: 'Calls', numeric: true, width: '72px', value: (c) => c.calls, show: (c) => count(c.calls) },
    {
      title: 'Bytes',
      numeric: true,
      wide: true,
      width: '84px',
      value: (c) => c.bytes ?? -1,
      show: (c) => (c.bytes === null ? '' : amount(c.bytes, 'bytes')),
    },
    { title: 'Threads', numeric: true, wide: true, width: '76px', value: (c) => c.threads },
    {
      title: 'Errors',
      numeric: true,
      width: '64px',
      value: (c) => c.errors,
      show: (c) => (c.errors === 0 ? '0' : <b class="bad">{count(c.errors)}</b>),
    },
    { title: 'Error names', wide: true, width: '180px', value: (c) => c.error_names ?? '' },
    { title: 'System call', value: (c) => c.name, show: (c) => <b class="mono">{c.name}</b> },
  ];
  return (
    <>
      <p class="sums">
        <span>
          <b>{amount(total, 'ns')}</b> in {count(a.calls.reduce((n, c) => n + num(c.calls), 0))} calls
        </span>
        <Lacking of={a} recorded={a.called} />
      </p>
      <section class="card" aria-label="System calls">
        <div class="bar findrow">
          <Find
            label="Find a system call"
            placeholder="System call"
            value={search}
            set={(v) => navigate({ find: v }, true)}
            note={search === '' ? undefined : `${rows.length} of ${a.calls.length}`}
          />
        </div>
        <FoldingTable
          label="System calls by time"
          rows={rows}
          keyOf={(c) => c.name}
          detail={(c) => <StacksOf kind="system-call" item={c.name} />}
          columns={columns}
        />
      </section>
    </>
  );
}

function Devices({ of: a }: { of: FilesAnswer }) {
  if (a.devices.length === 0) return <Missing kind="devices" of={a} recorded={a.requested} />;
  const total = a.devices.reduce((n, d) => n + num(d.time_ns), 0);
  const columns: FoldingColumn<DeviceUse>[] = [
    {
      title: 'Time',
      numeric: true,
      width: '76px',
      value: (d) => d.time_ns ?? -1,
      show: (d) => (d.time_ns === null ? '' : amount(d.time_ns, 'ns')),
      hint: (d) => `${exact(d.timed, '')} of ${exact(d.requests, '')} requests have a duration`,
    },
    {
      title: '%',
      numeric: true,
      width: '64px',
      value: (d) => d.time_ns ?? -1,
      show: (d) => (d.time_ns === null ? '' : percent(d.time_ns, total)),
    },
    {
      title: 'Longest',
      numeric: true,
      width: '84px',
      value: (d) => d.longest_ns ?? -1,
      show: (d) => (d.longest_ns === null ? '' : amount(d.longest_ns, 'ns')),
    },
    { title: 'Requests', numeric: true, width: '84px', value: (d) => d.requests, show: (d) => count(d.requests) },
    {
      title: 'Bytes',
      numeric: true,
      width: '84px',
      value: (d) => d.bytes,
      show: (d) => amount(d.bytes, 'bytes'),
    },
    {
      title: 'Errors',
      numeric: true,
      width: '64px',
      value: (d) => d.errors,
      show: (d) => (d.errors === 0 ? '0' : <b class="bad">{count(d.errors)}</b>),
    },
    { title: 'Operation', value: (d) => d.operation },
    { title: 'Device', value: (d) => d.device, show: (d) => <b class="mono">{d.device}</b> },
  ];
  return (
    <>
      <p class="sums">
        <span>
          <b>{amount(total, 'ns')}</b> in {count(a.devices.reduce((n, d) => n + d.requests, 0))} requests
        </span>
        <Lacking of={a} recorded={a.requested} />
      </p>
      <section class="card" aria-label="Devices">
        <FoldingTable
          label="Devices by time"
          rows={a.devices}
          keyOf={(d) => `${d.device} ${d.operation}`}
          detail={(d) => <StacksOf kind="device" item={`${d.device} ${d.operation}`} bytes />}
          columns={columns}
        />
      </section>
    </>
  );
}
