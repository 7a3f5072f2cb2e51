// The panels of functions: the list, and the callers and callees of one function.
import { useData } from '../lib/api';
import { Link } from '../parts/link';
import { Panel, Share } from '../parts/panel';
import { navigate, scope, useAddress } from '../lib/address';
import { Table } from '../parts/table';
import { amount, num, type Value } from '../lib/units';
import type { CallersCalleesRow, MetricRow } from '../lib/rows';

// FunctionRow has columns `exclusive.METRIC` and `inclusive.METRIC` for each metric shown. They are null if
// the experiment lacks the metric.
interface FunctionRow {
  [column: string]: Value | null;
  experiment: string;
  function_id: string;
  function: string;
  load_object: string;
  kind: string;
}

const isTotal = (r: FunctionRow) => r.function === '<Total>' && r.kind === 'artificial';

export function FunctionsPanel() {
  const address = useAddress();
  const most = Number(address.get('rows', '500'));
  const first = address.get('metric');
  const beside = address.all('beside');
  const asked = [...new Set([...(first === '' ? [] : [first]), ...beside])].join(',');
  const sort = address.get('highest');
  const answer = useData<FunctionRow[]>('functions', {
    ...scope(address),
    metric: asked,
    inline: address.get('inline'),
    search: address.get('search'),
    sort: asked === '' ? '' : sort,
    limit: String(most),
  });
  const metrics = useData<MetricRow[]>('metrics', { experiment: address.all('experiment') });
  return (
    <>
      <div class="bar">
        <label class="grow">
          Search
          <input
            type="search"
            value={address.get('search')}
            placeholder="part of a function, module or load object"
            onChange={(e) => navigate({ search: e.currentTarget.value })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={address.get('inline') === 'true'}
            onChange={(e) => navigate({ inline: e.currentTarget.checked ? 'true' : null })}
          />{' '}
          Include inlined functions
        </label>
      </div>
      {(metrics.data?.length ?? 0) > 1 && (
        <details class="beside" open={beside.length > 0}>
          <summary>Metrics side by side</summary>
          {metrics.data!.map((m) => (
            <label key={m.metric} class="check">
              <input
                type="checkbox"
                checked={beside.includes(m.metric) || m.metric === first}
                disabled={m.metric === first}
                onChange={(e) =>
                  navigate({
                    beside: e.currentTarget.checked ? [...beside, m.metric] : beside.filter((b) => b !== m.metric),
                    highest: null,
                  })
                }
              />
              {m.title === '' ? m.metric : `${m.title} (${m.metric})`}
            </label>
          ))}
        </details>
      )}
      <Panel title="Functions" answer={answer} empty={(rows) => rows.length === 0}>
        {(rows) =>
          metrics.data === undefined ? (
            <p class="note" aria-busy={metrics.loading}>
              {metrics.error?.message ?? 'Loading…'}
            </p>
          ) : (
            <Functions
              rows={rows}
              most={most}
              units={new Map(metrics.data.map((m) => [m.metric, m.unit]))}
              search={address.get('function')}
            />
          )
        }
      </Panel>
    </>
  );
}

function Functions({
  rows,
  most,
  units,
  search,
}: {
  rows: FunctionRow[];
  most: number;
  units: Map<string, string>;
  search: string;
}) {
  const address = useAddress();
  const shown = Object.keys(rows[0]!)
    .filter((c) => c.startsWith('exclusive.'))
    .map((c) => c.slice('exclusive.'.length));
  const totals = new Map(rows.filter(isTotal).map((r) => [r.experiment, r]));
  const several = new Set(rows.map((r) => r.experiment)).size > 1;
  const counts = new Map<string, number>();
  for (const r of rows) counts.set(r.experiment, (counts.get(r.experiment) ?? 0) + (isTotal(r) ? 0 : 1));
  const cut = [...counts.values()].some((n) => n >= most);
  const by = address.get('highest', `exclusive.${shown[0]}`);
  const columns = shown.flatMap((metric) =>
    (['exclusive', 'inclusive'] as const).flatMap((what) => {
      const column = `${what}.${metric}`;
      const total = (r: FunctionRow) => num(totals.get(r.experiment)?.[`inclusive.${metric}`]);
      const [title, short] = what === 'exclusive' ? ['Exclusive', 'Excl. %'] : ['Inclusive', 'Incl. %'];
      const of = shown.length > 1 ? ` ${metric}` : '';
      return [
        {
          title: title + of,
          numeric: true,
          value: (r: FunctionRow) => (r[column] === null ? -1 : num(r[column])),
          show: (r: FunctionRow) =>
            r[column] === null ? (
              <span title="not recorded in this experiment">–</span>
            ) : (
              amount(r[column]!, units.get(metric) ?? '')
            ),
        },
        {
          title: short + of,
          numeric: true,
          value: (r: FunctionRow) => (r[column] === null ? -1 : num(r[column]) / (total(r) || 1)),
          show: (r: FunctionRow) => (r[column] === null ? '' : <Share part={num(r[column])} total={total(r)} />),
        },
      ];
    }),
  );
  const name = {
    title: 'Function',
    value: (r: FunctionRow) => r.function,
    show: (r: FunctionRow) => <Link to={{ view: 'callers', function: r.function, piece: null }}>{r.function}</Link>,
  };
  return (
    <>
      {cut && (
        <>
          <p class="note">
            The {most} highest of each experiment{shown.length > 1 ? `, by ${by.replace('.', ' ')}` : ''}.{' '}
            <Link to={{ rows: String(10 * most) }}>Show more</Link>
          </p>
          {shown.length > 1 && (
            <label>
              Highest by{' '}
              <select value={by} onChange={(e) => navigate({ highest: e.currentTarget.value })}>
                {shown
                  .flatMap((m) => [`exclusive.${m}`, `inclusive.${m}`])
                  .map((c) => (
                    <option key={c} value={c}>
                      {c.replace('.', ' ')}
                    </option>
                  ))}
              </select>
            </label>
          )}
        </>
      )}
      {rows.every(isTotal) && <p class="note">No function matches, nor does its module or load object.</p>}
      <Table
        label="Functions"
        rows={rows}
        keyOf={(r) => r.experiment + r.function_id}
        chosen={(r) => r.function === search}
        columns={[
          ...(shown.length > 1 ? [name, ...columns] : [...columns, name]),
          { title: 'Load object', value: (r) => r.load_object },
          ...(several ? [{ title: 'Experiment', value: (r: FunctionRow) => r.experiment }] : []),
        ]}
      />
    </>
  );
}

// A row about a sequence of calls instead of a single function has no columns of a function.
type NeighborRow = Omit<CallersCalleesRow, 'function' | 'function_id'> &
  Partial<Pick<CallersCalleesRow, 'function' | 'function_id'>>;

const matchedNames = (rows: NeighborRow[]) =>
  new Set(rows.flatMap((r) => (r.function === undefined ? [] : [r.function])));
const experimentsOf = (rows: NeighborRow[]) => new Set(rows.map((r) => r.experiment));

// MatchedNote says which functions are shown if none has exactly the requested name.
function MatchedNote({ rows, asked }: { rows: NeighborRow[]; asked: string }) {
  const names = matchedNames(rows);
  if (names.size === 0 || names.has(asked)) return null;
  return (
    <p class="warning">
      No function that has a value is named {asked}.{' '}
      {names.size === 1 ? 'This is' : `These are ${names.size} functions, and percentages are of all of them:`}{' '}
      {[...names].slice(0, 10).map((n, i) => [
        i > 0 ? ', ' : '',
        <Link key={n} to={{ function: n }}>
          {n}
        </Link>,
      ])}
      {names.size > 10 && ` and ${names.size - 10} more`}, whose {names.size === 1 ? 'name has' : 'names have'} it.
    </p>
  );
}

// CallersPanel shows the callers and callees of a function, or of a sequence of functions that call each
// other. A caller or callee can be added to the sequence.
export function CallersPanel() {
  const address = useAddress();
  const piece =
    address.all('piece').length > 1 ? address.all('piece') : [address.get('function')].filter((f) => f !== '');
  const answer = useData<NeighborRow[]>(piece.length === 0 ? undefined : 'views/callers-callees', {
    ...scope(address),
    metric: address.get('metric'),
    inline: address.get('inline'),
    function: piece.join(','),
  });
  if (piece.length === 0) {
    return (
      <section class="panel">
        <p class="note">
          Choose a function in <Link to={{ view: 'functions' }}>Functions</Link>: its callers and callees are shown
          here.
        </p>
      </section>
    );
  }
  const of = piece[piece.length - 1]!;
  const to = (functions: string[]) => ({
    piece: functions.length > 1 ? functions : null,
    function: functions[functions.length - 1]!,
  });
  return (
    <>
      <ol class="piece" aria-label="Piece of stacks">
        {piece.map((f, i) => (
          <li key={i}>
            {piece.length === 1 ? <h2>{f}</h2> : <Link to={to([f])}>{f}</Link>}
            {i === 0 && piece.length > 1 && (
              <button type="button" onClick={() => navigate(to(piece.slice(1)))}>
                Without {f}
              </button>
            )}
            {i > 0 && i === piece.length - 1 && (
              <button type="button" onClick={() => navigate(to(piece.slice(0, -1)))}>
                Without {f}
              </button>
            )}
          </li>
        ))}
      </ol>
      <Panel
        title="Callers and callees"
        answer={answer}
        empty={(rows) => rows.length === 0}
        none="No stack contains this: choose other experiments, another metric, or fewer filters."
      >
        {(rows) => (
          <>
            <MatchedNote rows={rows} asked={of} />
            <p class="note">
              <Link to={{ view: 'flame', side: 'sandwich', of, group: null, zoom: null }}>
                Callers and callees of {of} as flame graphs
              </Link>{' '}
              · <Link to={{ view: 'source', function: of, line: null }}>source and disassembly</Link>
            </p>
            {(['caller', 'self', 'callee'] as const).map((relation) => {
              const some = rows
                .filter((r) => r.relation === relation)
                .sort((a, b) => num(b.attributed) - num(a.attributed));
              const sum = some.reduce((n, r) => n + num(r.attributed), 0);
              return (
                <section key={relation}>
                  <h3>
                    {
                      { caller: 'Called by', self: piece.length > 1 ? 'Ends here' : 'Itself', callee: 'Calls' }[
                        relation
                      ]
                    }
                  </h3>
                  {some.length === 0 ? (
                    <p class="note">Nothing.</p>
                  ) : (
                    <Table
                      label={relation}
                      rows={some}
                      keyOf={(r) => r.experiment + r.metric + (r.function_id ?? '') + r.other_id}
                      columns={[
                        {
                          title: 'Attributed',
                          numeric: true,
                          value: (r) => num(r.attributed),
                          show: (r) => amount(r.attributed, r.unit),
                        },
                        {
                          title: '%',
                          numeric: true,
                          value: (r) => num(r.attributed) / (sum || 1),
                          show: (r) => <Share part={num(r.attributed)} total={sum} />,
                        },
                        {
                          title: 'Function',
                          value: (r) => r.other,
                          show: (r) => (relation === 'self' ? r.other : <Link to={to([r.other])}>{r.other}</Link>),
                        },
                        ...(matchedNames(rows).size > 1
                          ? [{ title: 'Of', value: (r: NeighborRow) => r.function ?? '' }]
                          : []),
                        ...(experimentsOf(rows).size > 1
                          ? [{ title: 'Experiment', value: (r: NeighborRow) => r.experiment }]
                          : []),
                        ...(relation === 'self'
                          ? []
                          : [
                              {
                                title: 'Piece',
                                value: () => '',
                                show: (r: NeighborRow) => (
                                  <Link to={to(relation === 'caller' ? [r.other, ...piece] : [...piece, r.other])}>
                                    {relation === 'caller' ? 'add before' : 'add after'}
                                  </Link>
                                ),
                              },
                            ]),
                      ]}
                    />
                  )}
                </section>
              );
            })}
          </>
        )}
      </Panel>
    </>
  );
}
