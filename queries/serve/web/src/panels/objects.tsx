// The panel of data objects: which variables and structure members are accessed, where they are in memory,
// and which code accesses them.
import { useData } from '../lib/api';
import { matcher } from '../lib/search';
import { StructLayout } from '../parts/structlayout';
import { Link } from '../parts/link';
import { Panel, Share } from '../parts/panel';
import { navigate, scope, useAddress } from '../lib/address';
import { Table } from '../parts/table';
import { CoAccess } from '../parts/coaccess';
import { amount, num } from '../lib/units';
import type { DataLayoutRow, DataObjectFunctionsRow, DataObjectsRow } from '../lib/rows';

// kinds has, for each of the manual's kinds of data objects, the word that is shown.
const kinds: Record<string, string> = {
  aggregate: 'structure',
  element: 'member',
  scalar: 'variable',
  scalars: 'sum',
  unknown: 'sum',
  unknown_element: 'not known',
  total: 'sum',
};
const choices = ['', 'aggregate', 'element', 'scalar'];

// helps says how to identify more objects: if a reason contains the first text, the second one helps.
const helps: [string, string][] = [
  [
    'not compiled with -xhwcprof',
    'The code has no debug information: compile with -g, install debug packages, or name their folder by --debug-dir.',
  ],
  ['find a valid branch target', 'The function’s code cannot be read: give the recording’s own files by --symfs.'],
  ['traversed a branch target', 'A jump leads between the access and the recorded PC: record events with exact PCs.'],
  [
    'prevented by a jump or call',
    'A jump or a call lies between the access and the recorded PC: record events with exact PCs.',
  ],
  [
    'No type information',
    'The instruction accesses no memory; a page of code was missing, if the detail says instruction fetch.',
  ],
  ['No identifying descriptor', 'The function has no debug information of its own, as assembly.'],
  [
    'symbolic information',
    'The operand is relative to a value without variable or type: a temporary, an optimized variable, untyped memory.',
  ],
];

const mostLayouts = 5;

export function ObjectsPanel() {
  const address = useAddress();
  const most = Number(address.get('rows', '1000'));
  const asked = { ...scope(address), metric: address.get('metric'), mode: null }; // all modes have the same values
  const answer = useData<DataObjectsRow[]>('views/data-objects', { ...asked, limit: String(most) });
  const chosen = address.get('object');
  return (
    <Panel
      title="Data objects"
      answer={answer}
      empty={(rows) => rows.length === 0}
      none={
        'No memory accesses with data objects were recorded. perf record -e page-faults -c 1 -d, perf mem record ' +
        'and hardware counters of gprofng record them; clock profiling does not.'
      }
    >
      {(rows) => (
        <div class="whole-words">
          {chosen !== '' && <ObjectDetails descriptor={chosen} totals={totalsOf(rows)} />}
          <ObjectList rows={rows} most={most} cut={isCut(rows, most)} />
          <UnknownObjects rows={rows} totals={totalsOf(rows)} cut={isCut(rows, most)} />
        </div>
      )}
    </Panel>
  );
}

// isCut reports whether an experiment has as many rows as were requested, so that there may be more.
function isCut(rows: DataObjectsRow[], most: number): boolean {
  const counts = new Map<string, number>();
  for (const r of rows) counts.set(r.experiment, (counts.get(r.experiment) ?? 0) + 1);
  return [...counts.values()].some((n) => n >= most);
}

type Totals = Map<string, number>;

function totalsOf(rows: DataObjectsRow[]): Totals {
  return new Map(rows.filter((r) => r.kind === 'total').map((r) => [r.experiment, num(r.value)]));
}

function ObjectList({ rows, most, cut }: { rows: DataObjectsRow[]; most: number; cut: boolean }) {
  const address = useAddress();
  const search = address.get('find');
  const kind = address.get('kind');
  const totals = totalsOf(rows);
  const test = matcher(search);
  const found = rows.filter(
    (r) => (kind === '' || r.kind === kind) && (test === undefined || test(r.descriptor) || test(r.scope)),
  );
  const several = totals.size > 1;
  return (
    <>
      <h2>By value</h2>
      <div class="bar">
        <label class="grow">
          Find{' '}
          <input
            type="search"
            value={search}
            placeholder="a structure, member, variable or scope"
            onInput={(e) => navigate({ find: e.currentTarget.value }, true)}
          />
        </label>
        <label>
          Show
          <select value={kind} onChange={(e) => navigate({ kind: e.currentTarget.value })}>
            {choices.map((k) => (
              <option key={k} value={k}>
                {k === '' ? 'all' : `${kinds[k]}s`}
              </option>
            ))}
          </select>
        </label>
        <output>
          {found.length} of {rows.length}
        </output>
      </div>
      {cut && (
        <p class="note">
          The {most} highest of each experiment. <Link to={{ rows: String(10 * most) }}>Show more</Link>
        </p>
      )}
      <Table
        label="Data objects by value"
        rows={found}
        keyOf={(r) => r.experiment + r.metric + r.data_object_id}
        chosen={(r) => r.descriptor === address.get('object')}
        columns={[
          { title: 'Value', numeric: true, value: (r) => num(r.value), show: (r) => amount(r.value, r.unit) },
          {
            title: '%',
            numeric: true,
            value: (r) => num(r.value) / (totals.get(r.experiment) || 1),
            show: (r) => <Share part={num(r.value)} total={totals.get(r.experiment) ?? 0} />,
          },
          { title: 'Samples', numeric: true, value: (r) => num(r.samples) },
          { title: 'Data object', value: (r) => r.descriptor, show: (r) => <ObjectLink of={r} /> },
          { title: 'Is a', value: (r) => kinds[r.kind] ?? r.kind },
          {
            title: 'Offset',
            numeric: true,
            value: (r) => (r.member_offset === null ? -1 : num(r.member_offset)),
            show: (r) => r.member_offset,
          },
          { title: 'Bytes', numeric: true, value: (r) => (r.size === null ? -1 : num(r.size)), show: (r) => r.size },
          { title: 'In', value: (r) => r.scope },
          ...(several ? [{ title: 'Experiment', value: (r: DataObjectsRow) => r.experiment }] : []),
        ]}
      />
    </>
  );
}

// ObjectLink links to the layout of a structure. For a member, that is the structure that it belongs to.
function ObjectLink({ of }: { of: DataObjectsRow }) {
  const text =
    of.name !== '' && !of.descriptor.endsWith(` ${of.name}}`) ? `${of.descriptor}  ${of.name}` : of.descriptor;
  if (of.kind === 'aggregate') return <Link to={{ object: of.descriptor }}>{text}</Link>;
  if (of.kind === 'element')
    return <Link to={{ object: of.descriptor.slice(0, of.descriptor.lastIndexOf('}.{') + 1) }}>{text}</Link>;
  return <>{text}</>;
}

function UnknownObjects({ rows, totals, cut }: { rows: DataObjectsRow[]; totals: Totals; cut: boolean }) {
  const reasons = rows.filter((r) => r.kind === 'unknown_element');
  if (reasons.length === 0)
    return (
      <p class="note">
        {cut
          ? 'None of the rows above is an unknown object: show more rows.'
          : 'Every recorded access has a data object.'}
      </p>
    );
  return (
    <>
      <h2>Unknown, and why</h2>
      {cut && <p class="note">From the rows above: there may be more reasons, with smaller values.</p>}
      <Table
        label="Not known"
        rows={reasons}
        keyOf={(r) => r.experiment + r.data_object_id}
        columns={[
          { title: 'Value', numeric: true, value: (r) => num(r.value), show: (r) => amount(r.value, r.unit) },
          {
            title: '%',
            numeric: true,
            value: (r) => num(r.value) / (totals.get(r.experiment) || 1),
            show: (r) => <Share part={num(r.value)} total={totals.get(r.experiment) ?? 0} />,
          },
          { title: 'Reason', value: (r) => r.descriptor },
          { title: 'What helps', value: (r) => helps.find(([part]) => r.descriptor.includes(part))?.[1] ?? '' },
          ...(totals.size > 1 ? [{ title: 'Experiment', value: (r: DataObjectsRow) => r.experiment }] : []),
        ]}
      />
    </>
  );
}

// ObjectDetails shows a structure: its members in memory, and the code that accesses them.
function ObjectDetails({ descriptor, totals }: { descriptor: string; totals: Totals }) {
  const address = useAddress();
  const asked = { ...scope(address), metric: address.get('metric'), mode: null };
  // No descriptor equals or contains this text, so the server uses it as a regular expression.
  const inside = `^\\Q${descriptor}\\E(\\.|$)`;
  const members = useData<DataLayoutRow[]>('views/data-layout', { ...asked, object: descriptor });
  const objects = useData<DataObjectsRow[]>('views/data-objects', { ...asked, object: inside });
  const accesses = useData<DataObjectFunctionsRow[]>('views/data-object-functions', { ...asked, object: inside });
  return (
    <>
      <h2>
        {descriptor}{' '}
        <button type="button" onClick={() => navigate({ object: null })}>
          Close
        </button>
      </h2>
      <Panel title="Layout" answer={members} empty={(rows) => rows.length === 0} none="No members are known.">
        {(rows) => {
          const layouts = new Map<string, DataLayoutRow[]>();
          for (const r of rows) {
            const of = r.experiment + r.data_object_id;
            layouts.set(of, [...(layouts.get(of) ?? []), r]);
          }
          return (
            <>
              {[...layouts].slice(0, mostLayouts).map(([of, list]) => (
                <section key={of}>
                  {layouts.size > 1 && (
                    <h3>
                      {[list[0]!.aggregate_name, `in ${list[0]!.scope}`, list[0]!.experiment]
                        .filter((t) => t !== '')
                        .join(', ')}
                    </h3>
                  )}
                  <StructLayout members={list} total={totals.get(list[0]!.experiment) ?? 0} />
                  {objects.data !== undefined && accesses.data !== undefined && (
                    <CoAccess
                      members={list}
                      parents={new Map(objects.data.map((o) => [o.experiment + o.data_object_id, o.parent_id]))}
                      accesses={accesses.data.filter((a) => a.experiment === list[0]!.experiment)}
                    />
                  )}
                </section>
              ))}
              {layouts.size > mostLayouts && (
                <p class="note">
                  {layouts.size - mostLayouts} more objects of this name are not shown: choose an experiment.
                </p>
              )}
            </>
          );
        }}
      </Panel>
      <Panel title="Code" answer={accesses} empty={(rows) => rows.length === 0}>
        {(rows) => (
          <details>
            <summary>Code that accesses it</summary>
            <Table
              label="Code that accesses it"
              rows={rows}
              keyOf={(r) =>
                [
                  r.experiment,
                  r.data_object_id,
                  r.function_id,
                  r.code_offset,
                  r.method,
                  r.detail,
                  r.agreement,
                  r.embedding,
                ].join(' ')
              }
              columns={[
                { title: 'Value', numeric: true, value: (r) => num(r.value), show: (r) => amount(r.value, r.unit) },
                {
                  title: 'Member',
                  value: (r) => r.descriptor,
                  show: (r) => r.descriptor.slice(descriptor.length + 1) || r.descriptor,
                },
                {
                  title: 'Function',
                  value: (r) => r.function,
                  show: (r) => <Link to={{ view: 'source', function: r.function }}>{r.function}</Link>,
                },
                { title: 'Line', numeric: true, value: (r) => r.line, show: (r) => r.line || '' },
                { title: 'Inlined', value: (r) => r.inlined },
                {
                  title: 'Found by',
                  value: (r) => r.method,
                  show: (r) => [r.method, r.detail].filter((t) => t !== '').join(', '),
                },
                {
                  title: 'Data address',
                  value: (r) => r.agreement,
                  show: (r) => [r.agreement, r.embedding].filter((t) => t !== '').join(': '),
                },
                { title: 'Load object', value: (r) => r.load_object },
                ...(totals.size > 1
                  ? [{ title: 'Experiment', value: (r: DataObjectFunctionsRow) => r.experiment }]
                  : []),
              ]}
            />
          </details>
        )}
      </Panel>
    </>
  );
}
