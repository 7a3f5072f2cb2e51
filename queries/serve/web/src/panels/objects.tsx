// The place of data objects: which types, members and variables are accessed, how they lie in cache lines, and which
// cache lines and pages threads share.
import { useData } from '../lib/api';
import { navigate, scope, useAddress, type Params } from '../lib/address';
import { declarationOf, pathOf } from '../lib/ctypes';
import { matcher } from '../lib/search';
import { amount, count, exact, percent, num } from '../lib/units';
import { CoAccess } from '../parts/coaccess';
import { NotRecorded, type Recipe } from '../parts/command';
import { Find } from '../parts/find';
import { FoldingTable } from '../parts/foldingtable';
import { Heading } from '../parts/heading';
import { Link } from '../parts/link';
import { Bar } from '../parts/meter';
import { Name } from '../parts/name';
import { Panel } from '../parts/panel';
import { Segments } from '../parts/segments';
import { nameOf, paddingOf, StructLayout } from '../parts/structlayout';
import { MemoryPieces } from './memorypieces';
import type { DataLayout, DataObjects, DataType, LayoutAnswer, LayoutMember, MemberCode } from '../lib/memory';

const ways: [string, string][] = [
  ['', 'By type'],
  ['line', 'By cache line'],
  ['page', 'By page'],
  ['variable', 'By variable'],
];

export const recipes: Recipe[] = [
  {
    with: 'perf, memory accesses (on processors that sample them)',
    command: 'perf mem record -o night.data -- PROGRAM',
  },
  { with: 'perf, page faults', command: 'perf record -e page-faults -c 1 -d -g -o night.data -- PROGRAM' },
  { with: 'gprofng, hardware counters', command: 'gprofng collect app -h dcm -o night.er PROGRAM' },
];

// asked returns the parameters of requests about data objects, whose values are the same in all modes.
export function asked(address: ReturnType<typeof useAddress>): Params {
  return { ...scope(address), metric: address.get('metric'), mode: null };
}

export function ObjectsPanel() {
  const address = useAddress();
  const way = address.get('by');
  return (
    <div class="objects">
      <Heading
        title="Data objects"
        sentence="Which variables and members the accesses hit, how they lie in cache lines, and what could not be told"
      >
        <Segments
          label="Group accesses"
          options={ways}
          value={way}
          set={(v) => navigate({ by: v, open: null, limit: null, find: null })}
        />
      </Heading>
      {way === 'line' || way === 'page' ? <MemoryPieces by={way} /> : <Objects way={way} />}
    </div>
  );
}

function Objects({ way }: { way: string }) {
  const address = useAddress();
  const answer = useData<DataObjects>('data-objects', asked(address));
  return (
    <Panel title="Data objects" answer={answer}>
      {(a) =>
        a.metric === '' || a.experiments === 0 ? (
          <NotRecorded
            what="No memory accesses with data objects were recorded in this selection, or not in this metric."
            recipes={recipes}
          />
        ) : way === 'variable' ? (
          <Variables of={a} />
        ) : (
          <Types of={a} />
        )
      }
    </Panel>
  );
}

// Lacking says how many experiments lack the metric.
export function Lacking({ metric, without }: { metric: string; without: number }) {
  if (without === 0) return null;
  return (
    <p class="note">
      {count(without)} of the selected experiments {without === 1 ? 'lacks' : 'lack'} the metric {metric}.
    </p>
  );
}

function typeName(t: { type: string; kind: string }): string {
  const d = declarationOf(t.type);
  if (!d.known) return t.kind === 'scalar' ? 'of unknown type (scalar)' : 'of unknown type';
  return t.kind === 'scalar' ? `${d.type} (scalar)` : d.type;
}

function Types({ of: a }: { of: DataObjects }) {
  const address = useAddress();
  const search = address.get('find');
  const test = matcher(search);
  const found = a.types.filter((t) => test === undefined || test(typeName(t)) || test(t.type));
  const chosen =
    a.types.find((t) => t.type === address.get('type') && t.kind === 'aggregate') ??
    found.find((t) => t.kind === 'aggregate' && t.members > 0);
  return (
    <div class="types">
      <section class="card" aria-label="Types">
        <div class="findrow">
          <Find
            label="Find a structure"
            placeholder="Structure or type"
            value={search}
            set={(v) => navigate({ find: v }, true)}
            note={search === '' ? undefined : `${found.length} of ${a.types.length}`}
          />
        </div>
        <FoldingTable
          label="Types by value"
          rows={found}
          keyOf={(t) => t.kind + t.type}
          chosen={(t) => t === chosen}
          columns={[
            {
              title: 'Object',
              value: typeName,
              show: (t) => <TypeLink of={t} chosen={t === chosen} />,
            },
            {
              title: 'Value',
              numeric: true,
              width: '62px',
              value: (t) => t.value,
              show: (t) => amount(t.value, a.unit),
              hint: (t) => exact(t.value, a.unit),
            },
            {
              title: '%',
              numeric: true,
              width: '64px',
              value: (t) => t.value,
              show: (t) => percent(t.value, a.total),
            },
          ]}
        />
        <Reasons of={a} />
      </section>
      <div class="layouts">
        <Lacking metric={a.metric} without={a.without} />
        {chosen === undefined ? (
          <section class="card pad" aria-label="Layout">
            <p class="note">No structure whose members are known was accessed.</p>
          </section>
        ) : (
          <Layouts of={chosen} total={num(a.total)} />
        )}
      </div>
    </div>
  );
}

// TypeLink chooses a structure; types without members have no layout.
function TypeLink({ of, chosen }: { of: DataType; chosen: boolean }) {
  const name = typeName(of);
  if (of.kind !== 'aggregate' || of.members === 0)
    return (
      <span class="mono oneline" title={name}>
        {name}
      </span>
    );
  return (
    <Link to={{ type: of.type }} current={chosen}>
      <span class="mono oneline" title={name}>
        {name}
      </span>
    </Link>
  );
}

// Reasons lists why objects are unknown.
function Reasons({ of: a }: { of: DataObjects }) {
  if (a.unknown.length === 0) return <p class="note pad">Every recorded access has a data object.</p>;
  return (
    <>
      <h2 class="padded">Not known, and why</h2>
      <table class="reasons" aria-label="Not known">
        <tbody>
          {a.unknown.map((u) => (
            <tr key={u.reason}>
              <td title={u.help}>{u.reason}</td>
              <td class="number" title={exact(u.value, a.unit)}>
                {amount(u.value, a.unit)}
              </td>
              <td class="number">{percent(u.value, a.total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note pad">
        <Link to={{ view: 'unknown', metric: a.metric }}>What helps</Link>
      </p>
    </>
  );
}

const mostLayouts = 5;

function Layouts({ of, total }: { of: DataType; total: number }) {
  const address = useAddress();
  const answer = useData<LayoutAnswer>('data-objects/layout', { ...asked(address), type: of.type });
  const name = declarationOf(of.type).type;
  return (
    <Panel title="Layout" answer={answer}>
      {(a) => (
        <>
          {a.layouts.length === 0 && (
            <section class="card pad" aria-label="Layout">
              <h2 class="mono">{name}</h2>
              <p class="note">Its members are not known.</p>
            </section>
          )}
          {a.layouts.slice(0, mostLayouts).map((l, n) => (
            <OneLayout
              key={n}
              of={l}
              name={name}
              unit={a.unit}
              total={total}
              which={a.layouts.length > 1 ? `layout ${n + 1} of ${a.layouts.length}` : ''}
            />
          ))}
          {a.layouts.length > mostLayouts && (
            <p class="note">
              {a.layouts.length - mostLayouts} more layouts of this type, with smaller values: choose fewer experiments.
            </p>
          )}
        </>
      )}
    </Panel>
  );
}

function things(n: number, one: string): string {
  return `${count(n)} ${one}${n === 1 ? '' : 's'}`;
}

function OneLayout(p: { of: DataLayout; name: string; unit: string; total: number; which: string }) {
  const l = p.of;
  const short = p.name.replace(/^(struct|class|union) /, '');
  const facts = [
    p.which,
    l.size === null ? 'of unknown size' : `${l.size} bytes`,
    l.size === null ? '' : things(Math.ceil(l.size / l.line_size), 'cache line'),
    `${paddingOf(l)} bytes of padding`,
    `${amount(l.value, p.unit)} accesses, ${percent(l.value, p.total)}`,
    l.experiments > 1 ? things(l.experiments, 'experiment') : '',
  ].filter((t) => t !== '');
  return (
    <>
      <section class="card pad" aria-label={`Layout of ${p.name}`}>
        <div class="cardtitle">
          <h2 class="mono">{p.name}</h2>
          <span class="dim">{facts.join(' · ')}</span>
        </div>
        <StructLayout of={l} name={short} unit={p.unit} />
        <p class="note">
          Cache lines of {l.line_size} bytes{l.assumed ? ' (assumed: the recording does not say)' : ''}, if an object
          begins at the start of one. The share of a line is that of the members that begin in it.
        </p>
      </section>
      <section class="card" aria-label={`Members of ${p.name}`}>
        <Members of={l} unit={p.unit} name={p.name} />
      </section>
      <CoAccess of={l} unit={p.unit} />
    </>
  );
}

// Accessed is a member with the code that accesses it, the highest value first.
interface Accessed extends LayoutMember {
  code: MemberCode[];
}

function lineOf(c: MemberCode): string {
  return c.line === 0 ? '' : `line ${c.line}`;
}

function Members({ of: l, unit, name }: { of: DataLayout; unit: string; name: string }) {
  const rows: Accessed[] = l.members
    .filter((m) => m.kind !== 'hole')
    .map((m) => ({ ...m, code: l.code.filter((c) => c.position === m.position) }));
  const highest = rows.reduce((n, m) => Math.max(n, num(m.value)), 0);
  return (
    <FoldingTable
      label={`Members of ${name}`}
      rows={rows}
      keyOf={(m) => `${m.shape.slice(0, 8)}-${m.position}`}
      detailOf={(m) => m.code.length > 0}
      detail={(m) => <CodeOf of={m} unit={unit} />}
      columns={[
        {
          title: 'Value',
          numeric: true,
          width: '72px',
          value: (m) => m.value,
          show: (m) => amount(m.value, unit),
          hint: (m) => exact(m.value, unit),
        },
        {
          title: 'Bar',
          bar: true,
          width: '80px',
          wide: true,
          value: (m) => m.value,
          show: (m) => (num(m.value) === 0 ? '' : <Bar part={num(m.value)} total={highest} />),
        },
        {
          title: '% of it',
          numeric: true,
          width: '72px',
          value: (m) => m.value,
          show: (m) => percent(m.value, l.value),
        },
        {
          title: 'Offset',
          numeric: true,
          width: '64px',
          value: (m) => (m.kind === 'aggregate' ? -1 : 8 * m.offset + m.bit_offset),
          show: (m) => (m.kind === 'aggregate' ? '' : m.bit_size > 0 ? `${m.offset}:${m.bit_offset}` : m.offset),
        },
        {
          title: 'Bytes',
          numeric: true,
          width: '60px',
          wide: true,
          value: (m) => (m.bit_size > 0 ? m.bit_size / 8 : (m.size ?? 0)),
          show: (m) => (m.kind === 'aggregate' ? '' : m.bit_size > 0 ? `${m.bit_size} bit` : (m.size ?? '')),
        },
        {
          title: 'Line',
          numeric: true,
          width: '52px',
          wide: true,
          value: (m) => m.cache_line,
          show: (m) => (m.kind === 'aggregate' ? '' : m.cache_line),
        },
        {
          title: 'Member',
          value: nameOf,
          show: (m) => (
            <span class="member-name">
              {m.kind === 'aggregate' ? <em>not known which</em> : <b>{nameOf(m)}</b>}
              {m.kind !== 'aggregate' && m.name !== '' && (
                <span class="dim">{declarationOf(m.member, m.name).type}</span>
              )}
            </span>
          ),
        },
        {
          title: 'Accessed by',
          width: '200px',
          wide: true,
          value: (m) => m.code[0]?.function ?? '',
          show: (m) =>
            m.code.length === 0 ? (
              <span class="dim">–</span>
            ) : (
              <span class="accessed">
                <Name of={{ kind: 'function', name: m.code[0]!.function }} />
                <span class="dim nw">
                  {lineOf(m.code[0]!)}
                  {m.code.length > 1 ? ` and ${m.code.length - 1} more` : ''}
                </span>
              </span>
            ),
        },
      ]}
    />
  );
}

// CodeOf lists the lines of code that access a member.
function CodeOf({ of: m, unit }: { of: Accessed; unit: string }) {
  return (
    <table class="nested" aria-label={`Code that accesses ${nameOf(m)}`}>
      <tbody>
        {m.code.map((c, n) => (
          <tr key={n}>
            <td class="number">{amount(c.value, unit)}</td>
            <td class="number">{percent(c.value, m.value)}</td>
            <td>
              <Name of={{ kind: 'function', name: c.function, loadObject: c.load_object, value: num(c.value), unit }} />
            </td>
            <td>
              {c.line > 0 && (
                <Link to={{ view: 'source', function: c.function, file: c.file, line: String(c.line) }}>
                  {c.file.slice(c.file.lastIndexOf('/') + 1)}:{c.line}
                </Link>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Variables({ of: a }: { of: DataObjects }) {
  const address = useAddress();
  const search = address.get('find');
  const test = matcher(search);
  const found = a.variables.filter((v) => test === undefined || test(v.name) || test(v.scope));
  const named = a.variables.reduce((n, v) => n + num(v.value), 0);
  const unknown = a.unknown.reduce((n, u) => n + num(u.value), 0);
  return (
    <>
      <div class="bar">
        <Find
          label="Find a variable"
          placeholder="Variable or scope"
          value={search}
          set={(v) => navigate({ find: v }, true)}
          note={search === '' ? undefined : `${found.length} of ${a.variables.length}`}
        />
      </div>
      <p class="note">
        {amount(named, a.unit)} ({percent(named, a.total)}) hit variables with a name.{' '}
        {amount(num(a.total) - named - unknown, a.unit)} ({percent(num(a.total) - named - unknown, a.total)}) hit
        objects that are known by their type only, whichever variable or block they are: see By type. Of{' '}
        {amount(unknown, a.unit)} ({percent(unknown, a.total)}) the object is unknown.
      </p>
      <Lacking metric={a.metric} without={a.without} />
      <section class="card" aria-label="Variables">
        <FoldingTable
          label="Variables by value"
          rows={found}
          keyOf={(v) => [v.scope, v.name, v.type].join(' ')}
          columns={[
            {
              title: 'Value',
              numeric: true,
              width: '80px',
              value: (v) => v.value,
              show: (v) => amount(v.value, a.unit),
              hint: (v) => exact(v.value, a.unit),
            },
            {
              title: '%',
              numeric: true,
              width: '72px',
              value: (v) => v.value,
              show: (v) => percent(v.value, a.total),
            },
            {
              title: 'Bytes',
              numeric: true,
              width: '90px',
              value: (v) => v.size ?? -1,
              show: (v) => (v.size === null ? '' : count(v.size)),
            },
            {
              title: 'Experiments',
              numeric: true,
              width: '104px',
              wide: true,
              value: (v) => v.experiments,
            },
            {
              title: 'Variable',
              value: (v) => v.name,
              show: (v) => (
                <span class="member-name">
                  <b>{v.name}</b>
                  <span class="dim">{declarationOf(v.type).known ? declarationOf(v.type).type : 'type not known'}</span>
                </span>
              ),
            },
            {
              title: 'In',
              wide: true,
              value: (v) => v.scope,
              show: (v) => (v.scope_kind === 'function' ? <Name of={{ kind: 'function', name: v.scope }} /> : v.scope),
            },
          ]}
        />
      </section>
    </>
  );
}

// ObjectName shows a descriptor of an object as a path of members.
export function ObjectName({ of }: { of: string }) {
  const path = pathOf(of);
  return (
    <span class="member-name">
      {path.members !== '' && <b>{path.members}</b>}
      <span class={path.members === '' ? 'mono' : 'dim'}>{path.of}</span>
    </span>
  );
}
