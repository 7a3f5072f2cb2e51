// The place SQL: ask anything, keep queries, and show the rows as a table, a chart or a flame graph.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Failure, save, useData, useQuery } from '../lib/api';
import { navigate, useAddress, type Params } from '../lib/address';
import { columnsOf, fold, runsIn, textOf, unitOf, type ResultColumn, type Row } from '../lib/result';
import { deleteQuery, history, remember, savedQueries, saveQuery, type SavedQuery } from '../lib/savedqueries';
import type { Relation, SQLNames } from '../lib/sqlnames';
import { amount, count } from '../lib/units';
import { Editor } from '../parts/editor';
import { Find } from '../parts/find';
import { Heading } from '../parts/heading';
import { lazy } from '../parts/lazy';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';
import { Picker, type Option } from '../parts/picker';
import { Segments } from '../parts/segments';
import { Table, type Column } from '../parts/table';
import { Graph } from './flame';

const Chart = lazy(() => import('../parts/chart').then((m) => m.Chart));

const examples: SavedQuery[] = [
  {
    name: 'Functions that take the most',
    sql: 'SELECT function, load_object, exclusive, unit\nFROM top(20)',
  },
  {
    name: 'All runs, by time (chart)',
    show: 'chart',
    sql: [
      'SELECT e.started, f.inclusive, f.unit, e.experiment',
      'FROM function_metrics f JOIN experiments e USING (experiment_id)',
      "WHERE f.function = '<Total>' AND f.mode = 'user' AND f.metric = 'totalcpu'",
      'ORDER BY e.started',
    ].join('\n'),
  },
  {
    name: 'Stacks (flame graph)',
    show: 'flame',
    sql: [
      'SELECT stack, unit, sum(value) AS value',
      'FROM folded',
      "WHERE mode = 'user' AND metric = 'totalcpu'",
      'GROUP BY ALL',
    ].join('\n'),
  },
];

const saved = ['csv', 'json', 'arrow', 'parquet'];
const longestLink = 30_000; // characters of a URL that common servers and proxies accept
// fresh are the parameters of the address about the rows of one query.
const fresh = { x: null, y: null, stack: null, value: null, zoom: null, side: null };

export function SQLPanel() {
  const address = useAddress();
  const asked = address.get('sql');
  const [start, begin] = useState(asked === '' ? examples[0]!.sql : asked);
  const [text, set] = useState(start);
  if (asked !== '' && asked !== start) {
    // the URL has changed: after back or forward, or because a query was chosen
    begin(asked);
    set(asked);
  }
  const [again, repeat] = useState(0);
  const words = useData<SQLNames>('sql', {});
  const answer = useQuery<Row[]>(asked === '' ? undefined : asked, again);
  useEffect(() => {
    if (asked !== '') remember(asked);
  }, [asked]);
  const run = () => {
    if (text === asked) repeat((n) => n + 1);
    else navigate({ sql: text, ...fresh });
  };
  const wrong = answer.error instanceof Failure && text === asked ? answer.error.line : undefined;
  return (
    <>
      <Heading title="SQL" sentence="Anything else: views, macros and tables of the store, in DuckDB's dialect">
        <Queries text={text} />
      </Heading>
      <div class="beside sqlplace">
        <div>
          <form
            class="card pad"
            onSubmit={(e) => {
              e.preventDefault();
              run();
            }}
          >
            <Editor label="SQL" start={start} words={words.data} wrong={wrong} onInput={set} onRun={run} />
            <div class="bar">
              <button type="submit" class="btn pri">
                Run <kbd>Ctrl Enter</kbd>
              </button>
              {asked !== '' && text !== asked && <span class="dim">changed since it was run</span>}
            </div>
            {encodeURIComponent(text).length > longestLink && (
              <p class="warning">This query is too long for a link: its URL may not work.</p>
            )}
          </form>
          {asked !== '' && (
            <div class="card result">
              <Panel
                title="Result"
                answer={answer}
                empty={(rows) => rows.length === 0}
                none="The query returned no rows."
              >
                {(rows) => <Result sql={asked} rows={rows} names={words.data} />}
              </Panel>
            </div>
          )}
        </div>
        <Schema words={words.data} error={words.error} />
      </div>
    </>
  );
}

// Queries chooses a query, and keeps the current one in this browser.
function Queries({ text }: { text: string }) {
  const address = useAddress();
  const ofServer = useData<SavedQuery[]>('queries', {});
  const [mine, setMine] = useState(savedQueries);
  const [name, setName] = useState<string>();
  const asked = address.get('sql');
  const groups: [string, SavedQuery[]][] = [
    ['Examples', examples],
    ['Of this server', ofServer.data ?? []],
    ['In this browser', mine],
    ['Run lately', history().map((sql) => ({ name: sql.replace(/\s+/g, ' ').slice(0, 70), sql }))],
  ];
  const all = groups.flatMap(([group, list]) => list.map((q) => ({ group, q })));
  const current = mine.find((q) => q.sql === text);
  const open = (q: SavedQuery) => {
    const shown = Object.fromEntries(new URLSearchParams(q.show?.includes('=') === true ? q.show : ''));
    const show = q.show?.includes('=') === true ? null : (q.show ?? null);
    navigate({ sql: q.sql, ...fresh, show, ...shown });
  };
  const keep = () => {
    if (name === undefined || name.trim() === '') return;
    const show = new URLSearchParams();
    for (const p of ['show', 'x', 'y', 'stack', 'value']) for (const v of address.all(p)) show.append(p, v);
    saveQuery({ name: name.trim(), sql: text, ...(text === asked ? { show: show.toString() } : {}) });
    setMine(savedQueries());
    setName(undefined);
  };
  return (
    <>
      <Picker
        label="Saved queries"
        disabled={ofServer.data === undefined && ofServer.error === undefined}
        text="Saved queries"
        value={String(all.findIndex(({ q }) => q.sql === asked))}
        options={all.map(({ group, q }, n): Option => ({ value: String(n), text: q.name, group }))}
        set={(n) => open(all[Number(n)]!.q)}
        right
      />
      {name === undefined ? (
        <button type="button" class="btn" onClick={() => setName(current?.name ?? '')}>
          Save …
        </button>
      ) : (
        <form
          class="savequery"
          onSubmit={(e) => {
            e.preventDefault();
            keep();
          }}
        >
          <input
            aria-label="Name of the query"
            placeholder="Name, in this browser"
            value={name}
            ref={(input) => input?.focus()}
            onInput={(e) => setName(e.currentTarget.value)}
            onKeyDown={(e) => {
              if (e.key === 'Escape') setName(undefined);
            }}
          />
          <button type="submit" class="btn pri">
            Save
          </button>
        </form>
      )}
      {current !== undefined && name === undefined && (
        <button
          type="button"
          class="btn"
          onClick={() => {
            deleteQuery(current.name);
            setMine(savedQueries());
          }}
        >
          Delete
        </button>
      )}
    </>
  );
}

const shows: [string, string][] = [
  ['', 'Table'],
  ['chart', 'Chart'],
  ['flame', 'Flame graph'],
];

function Result({ sql, rows, names }: { sql: string; rows: Row[]; names: SQLNames | undefined }) {
  const address = useAddress();
  const show = address.get('show');
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const [failed, fail] = useState('');
  return (
    <>
      <div class="bar pad">
        <Segments label="Show as" options={shows} value={show} set={(v) => navigate({ show: v, zoom: null })} />
        <span class="dim">{rows.length === 1 ? 'One row' : `${count(rows.length)} rows`}</span>
        <span class="sp" />
        <Runs rows={rows} />
        <span class="dim">Save as</span>
        {saved.map((format) => (
          <button
            key={format}
            type="button"
            class="btn"
            title="Runs the query again and saves its rows"
            onClick={() =>
              void save(sql, format).then(
                () => fail(''),
                (e: Error) => fail(e.message),
              )
            }
          >
            {format === 'arrow' || format === 'parquet'
              ? format[0]!.toUpperCase() + format.slice(1)
              : format.toUpperCase()}
          </button>
        ))}
      </div>
      {failed !== '' && (
        <p class="error" role="alert">
          {failed}
        </p>
      )}
      {show === 'chart' ? (
        <ChartView rows={rows} columns={columns} names={names} />
      ) : show === 'flame' ? (
        <StackView rows={rows} columns={columns} />
      ) : (
        <RowTable rows={rows} columns={columns} />
      )}
    </>
  );
}

// Runs makes the experiments of the rows the selection, or the base.
function Runs({ rows }: { rows: Row[] }) {
  const address = useAddress();
  const runs = useMemo(() => runsIn(rows), [rows]);
  if (runs.length === 0) return null;
  const what = runs.length === 1 ? 'this run' : `these ${count(runs.length)} runs`;
  const to = (change: Params) => ({ ...fresh, sql: null, show: null, ...change });
  if (address.with({ experiment: runs }).length > longestLink)
    return <span class="dim">{count(runs.length)} runs are too many for a link: choose them by a label</span>;
  return (
    <>
      <Link className="btn" to={to({ view: 'flame', experiment: runs })}>
        Show {what}
      </Link>
      <Link className="btn" to={to({ view: 'compare', base: runs })}>
        … as base
      </Link>
    </>
  );
}

function RowTable({ rows, columns }: { rows: Row[]; columns: ResultColumn[] }) {
  const all = useMemo(() => rows.map((row, n) => ({ n, row })), [rows]);
  return (
    <Table
      label="Result"
      rows={all}
      keyOf={(r) => String(r.n)}
      columns={columns.map((c): Column<{ n: number; row: Row }> => ({
        title: c.name,
        numeric: c.kind === 'number',
        value: ({ row }) => (typeof row[c.name] === 'number' ? (row[c.name] as number) : textOf(row[c.name])),
      }))}
    />
  );
}

function ChartView(p: { rows: Row[]; columns: ResultColumn[]; names: SQLNames | undefined }) {
  const { rows, columns, names } = p;
  const address = useAddress();
  const x = columns.find((c) => c.name === address.get('x')) ?? columns.find((c) => c.kind === 'time') ?? columns[0]!;
  const chosen = address.all('y');
  const numbers = columns.filter((c) => c.kind === 'number' && c !== x);
  const asked = numbers.filter((c) => chosen.includes(c.name));
  const ys = useMemo(() => (asked.length > 0 ? asked : numbers.slice(0, 1)), [columns, x, chosen.join('\n')]);
  if (numbers.length === 0)
    return <p class="note pad">A chart needs a column of numbers besides the one on the horizontal axis.</p>;
  return (
    <div class="pad">
      <div class="bar">
        <Picker
          label="Horizontal axis"
          text={
            <>
              <span>Along</span> {x.name}
            </>
          }
          value={x.name}
          options={columns.map((c) => ({ value: c.name, text: c.name }))}
          set={(v) => navigate({ x: v })}
        />
        <fieldset class="checks">
          <legend class="hidden">Vertical axis</legend>
          {numbers.map((c) => (
            <label key={c.name} class="check">
              <input
                type="checkbox"
                checked={ys.includes(c)}
                onChange={(e) =>
                  navigate({
                    y: e.currentTarget.checked
                      ? [...ys.map((y) => y.name), c.name]
                      : ys.filter((y) => y !== c).map((y) => y.name),
                  })
                }
              />
              {c.name}
            </label>
          ))}
        </fieldset>
      </div>
      <Chart rows={rows} x={x} ys={ys} unitOf={(c) => unitOf(c.name, rows, names?.relations ?? [])} />
    </div>
  );
}

function StackView({ rows, columns }: { rows: Row[]; columns: ResultColumn[] }) {
  const address = useAddress();
  const texts = columns.filter((c) => c.kind === 'text');
  const numbers = columns.filter((c) => c.kind === 'number');
  const stack =
    texts.find((c) => c.name === address.get('stack')) ??
    texts.find((c) => c.name === 'stack' || c.name === 'folded') ??
    texts[0];
  const value =
    numbers.find((c) => c.name === address.get('value')) ?? numbers.find((c) => c.name === 'value') ?? numbers[0];
  const folded = useMemo(
    () => (stack === undefined || value === undefined ? undefined : fold(rows, stack.name, value.name)),
    [rows, stack, value],
  );
  if (folded === undefined)
    return (
      <p class="note pad">
        A flame graph needs a column of stacks (names from root to leaf, separated by ;) and a column of numbers, as in
        the view folded.
      </p>
    );
  const { answer, skipped } = folded;
  const total = amount(answer.value[0] ?? 0, answer.unit);
  const choose = (label: string, name: string, of: ResultColumn[], now: ResultColumn) => (
    <Picker
      label={label}
      text={
        <>
          <span>{label}</span> {now.name}
        </>
      }
      value={now.name}
      options={of.map((c) => ({ value: c.name, text: c.name }))}
      set={(v) => navigate({ [name]: v, zoom: null, side: null })}
    />
  );
  return (
    <div class="pad">
      <div class="bar">
        {choose('Stacks', 'stack', texts, stack!)}
        {choose('Values', 'value', numbers, value!)}
      </div>
      {skipped > 0 && (
        <p class="warning">
          {skipped === 1 ? 'One row is' : `${skipped} rows are`} left out: no stack, or no value above 0.
        </p>
      )}
      {answer.nodes === 0 ? (
        <p class="note">No row has a stack and a value above 0.</p>
      ) : (
        <Graph
          answer={answer}
          note={`${total} of ${answer.metric} in ${rows.length - skipped} rows, ${answer.nodes} nodes`}
        />
      )}
    </div>
  );
}

const relationsAtOnce = 60;

// Schema lists the views, macros, tables and columns that queries can name, with their comments.
function Schema({ words, error }: { words: SQLNames | undefined; error: Error | undefined }) {
  const [search, look] = useState('');
  const [all, showAll] = useState(false);
  const wanted = search.toLowerCase();
  const has = (r: Relation) =>
    [r.name, r.row, ...r.columns.map((c) => c.name)].some((t) => t.toLowerCase().includes(wanted));
  // What has the name comes before what has it in a column or its comment.
  const rank = (r: Relation) => (r.name.startsWith(wanted) ? 0 : r.name.includes(wanted) ? 1 : 2);
  const found = (words?.relations.filter(has) ?? []).sort((a, b) => rank(a) - rank(b));
  const shown = all ? found : found.slice(0, relationsAtOnce);
  return (
    <aside class="card schema" aria-label="Tables, views and columns">
      <Find
        label="Find a table, view or column"
        placeholder="Table, view or column"
        value={search}
        set={look}
        note={words === undefined ? '' : String(found.length)}
      />
      {error !== undefined && <p class="error">{error.message}</p>}
      {words !== undefined && found.length === 0 && (
        <p class="note">No relation has that in its name, columns or description.</p>
      )}
      {shown.map((r) => (
        <details key={r.name}>
          <summary>
            <code>
              {r.name}
              {r.parameters === undefined ? '' : `(${r.parameters.map((p) => p.name).join(', ')})`}
            </code>
            <small>{r.kind}</small>
          </summary>
          <p>A row is {r.row}.</p>
          <dl>
            {[...(r.parameters ?? []), ...r.columns].map((c) => (
              <div key={c.name}>
                <dt>
                  <code>{c.name}</code>
                  <small>
                    {c.type}
                    {c.unit === '' ? '' : `, ${c.unit}`}
                  </small>
                </dt>
                <dd>{c.meaning}</dd>
              </div>
            ))}
          </dl>
        </details>
      ))}
      {shown.length < found.length && (
        <button type="button" class="btn" onClick={() => showAll(true)}>
          {found.length - shown.length} more
        </button>
      )}
    </aside>
  );
}
