// The panel of SQL.
import { useMemo, useState } from 'preact/hooks';
import { save, useData, useQuery } from '../lib/api';
import { Editor } from '../parts/editor';
import { Graph } from './flame';
import { lazy } from '../parts/lazy';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';
import { navigate, useAddress } from '../lib/address';
import { columnsOf, fold, textOf, type ResultColumn, type Row } from '../lib/result';
import { Table, type Column } from '../parts/table';
import { amount } from '../lib/units';
import type { Relation, SQLNames } from '../lib/sqlnames';

const Chart = lazy(() => import('../parts/chart').then((m) => m.Chart));

const examples: { title: string; sql: string; show: string }[] = [
  {
    title: 'The functions that take the most',
    show: '',
    sql: 'SELECT function, load_object, exclusive / 1e9 AS seconds\nFROM top(20)',
  },
  {
    title: 'All runs, by time',
    show: 'chart',
    sql: [
      'SELECT e.started, f.inclusive / 1e9 AS seconds',
      'FROM function_metrics f JOIN experiments e USING (experiment_id)',
      "WHERE f.function = '<Total>' AND f.mode = 'user' AND f.metric = 'totalcpu'",
      'ORDER BY e.started',
    ].join('\n'),
  },
  {
    title: 'Stacks, as a flame graph',
    show: 'flame',
    sql: [
      'SELECT stack, unit, sum(value) AS value',
      'FROM folded',
      "WHERE mode = 'user' AND metric = 'totalcpu'",
      'GROUP BY ALL',
    ].join('\n'),
  },
];

const shows: Record<string, string> = { '': 'Table', chart: 'Chart', flame: 'Flame graph' };
const saved = ['csv', 'json', 'arrow', 'parquet'];
const longestLink = 30_000; // characters of a URL that common servers and proxies accept

export function SQLPanel() {
  const address = useAddress();
  const asked = address.get('sql');
  const [start, begin] = useState(asked === '' ? examples[0]!.sql : asked);
  const [text, set] = useState(start);
  if (asked !== '' && asked !== start) {
    // the URL has changed: after back or forward, or because an example was chosen
    begin(asked);
    set(asked);
  }
  const [again, repeat] = useState(0);
  const [stopped, stop] = useState(false);
  const words = useData<SQLNames>('sql', {});
  const answer = useQuery<Row[]>(asked === '' || stopped ? undefined : asked, again);
  const run = () => {
    stop(false);
    if (text === asked) repeat((n) => n + 1);
    else navigate({ sql: text, x: null, y: null, stack: null, value: null, zoom: null, side: null });
  };
  return (
    <>
      <form
        class="sql"
        onSubmit={(e) => {
          e.preventDefault();
          run();
        }}
      >
        <Editor label="SQL" start={start} words={words.data} onInput={set} onRun={run} />
        <div class="bar">
          <button type="submit">Run (Ctrl+Enter)</button>
          {answer.loading && (
            <button type="button" onClick={() => stop(true)}>
              Stop
            </button>
          )}
          <span class="note">
            Examples:{' '}
            {examples.map((e, i) => (
              <span key={e.title}>
                {i > 0 ? ', ' : ''}
                <Link
                  to={{ sql: e.sql, show: e.show, x: null, y: null, stack: null, value: null, zoom: null, side: null }}
                >
                  {e.title}
                </Link>
              </span>
            ))}
          </span>
        </div>
        {encodeURIComponent(text).length > longestLink && (
          <p class="warning">This query is too long for a link: its URL may not work.</p>
        )}
      </form>
      {stopped && <p class="note">Stopped. Run it again, or change it.</p>}
      {asked !== '' && !stopped && (
        <Panel title="Result" answer={answer} empty={(rows) => rows.length === 0} none="The query returned no rows.">
          {(rows) => <Result sql={asked} rows={rows} />}
        </Panel>
      )}
      <Catalog words={words.data} error={words.error} />
    </>
  );
}

function Result({ sql, rows }: { sql: string; rows: Row[] }) {
  const address = useAddress();
  const show = address.get('show');
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const [failed, fail] = useState('');
  return (
    <>
      <div class="bar">
        <span class="choices" role="group" aria-label="Show as">
          {Object.entries(shows).map(([name, title]) => (
            <button key={name} type="button" aria-pressed={show === name} onClick={() => navigate({ show: name })}>
              {title}
            </button>
          ))}
        </span>
        <span class="note">{rows.length === 1 ? 'One row' : `${rows.length} rows`}. Run again, and save as</span>
        {saved.map((format) => (
          <button
            key={format}
            type="button"
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
        <ChartView rows={rows} columns={columns} />
      ) : show === 'flame' ? (
        <StackView rows={rows} columns={columns} />
      ) : (
        <RowTable rows={rows} columns={columns} />
      )}
    </>
  );
}

function RowTable({ rows, columns }: { rows: Row[]; columns: ResultColumn[] }) {
  return (
    <Table
      label="Result"
      rows={rows.map((row, n) => ({ n, row }))}
      keyOf={(r) => String(r.n)}
      columns={columns.map((c): Column<{ n: number; row: Row }> => ({
        title: c.name,
        numeric: c.kind === 'number',
        value: ({ row }) => (typeof row[c.name] === 'number' ? (row[c.name] as number) : textOf(row[c.name])),
      }))}
    />
  );
}

function ChartView({ rows, columns }: { rows: Row[]; columns: ResultColumn[] }) {
  const address = useAddress();
  const x = columns.find((c) => c.name === address.get('x')) ?? columns.find((c) => c.kind === 'time') ?? columns[0]!;
  const chosen = address.all('y');
  const numbers = columns.filter((c) => c.kind === 'number' && c !== x);
  const asked = numbers.filter((c) => chosen.includes(c.name));
  const ys = useMemo(() => (asked.length > 0 ? asked : numbers.slice(0, 1)), [columns, x, chosen.join('\n')]);
  if (numbers.length === 0)
    return <p class="note">A chart needs a column of numbers besides the one on the horizontal axis.</p>;
  return (
    <>
      <div class="bar">
        <label>
          Horizontal axis
          <select value={x.name} onChange={(e) => navigate({ x: e.currentTarget.value }, true)}>
            {columns.map((c) => (
              <option key={c.name}>{c.name}</option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>Vertical axis</legend>
          {numbers.map((c) => (
            <label key={c.name}>
              <input
                type="checkbox"
                checked={ys.includes(c)}
                onChange={(e) =>
                  navigate(
                    {
                      y: e.currentTarget.checked
                        ? [...ys.map((y) => y.name), c.name]
                        : ys.filter((y) => y !== c).map((y) => y.name),
                    },
                    true,
                  )
                }
              />
              {c.name}
            </label>
          ))}
        </fieldset>
      </div>
      <Chart rows={rows} x={x} ys={ys} />
    </>
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
      <p class="note">
        A flame graph needs a column of stacks (names from root to leaf, separated by ;) and a column of numbers, as in
        the view folded.
      </p>
    );
  const { answer, skipped } = folded;
  const total = amount(answer.value[0] ?? 0, answer.unit);
  const choose = (label: string, name: string, of: ResultColumn[], now: ResultColumn) => (
    <label>
      {label}
      <select
        value={now.name}
        onChange={(e) => navigate({ [name]: e.currentTarget.value, zoom: null, side: null }, true)}
      >
        {of.map((c) => (
          <option key={c.name}>{c.name}</option>
        ))}
      </select>
    </label>
  );
  return (
    <>
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
    </>
  );
}

// Catalog lists the views, macros, tables and columns that queries can name.
function Catalog({ words, error }: { words: SQLNames | undefined; error: Error | undefined }) {
  const [search, look] = useState('');
  const has = (r: Relation) =>
    [r.name, r.row, ...r.columns.map((c) => c.name)].some((t) => t.toLowerCase().includes(search.toLowerCase()));
  const found = words?.relations.filter(has) ?? [];
  return (
    <details class="names">
      <summary>Tables, views and columns</summary>
      {error !== undefined && <p class="error">{error.message}</p>}
      <label>
        Search <input type="search" value={search} onInput={(e) => look(e.currentTarget.value)} />
      </label>
      {words !== undefined && found.length === 0 && (
        <p class="note">No relation has that in its name, columns or description.</p>
      )}
      {found.map((r) => (
        <details key={r.name}>
          <summary>
            <code>
              {r.name}
              {r.parameters === undefined ? '' : `(${r.parameters.map((p) => p.name).join(', ')})`}
            </code>{' '}
            <span class="note">
              {r.kind}: {r.row}
            </span>
          </summary>
          <ul>
            {[...(r.parameters ?? []), ...r.columns].map((c) => (
              <li key={c.name}>
                <code>{c.name}</code> {c.type}
                {c.unit === '' ? '' : `, ${c.unit}`}: {c.meaning}
              </li>
            ))}
          </ul>
        </details>
      ))}
    </details>
  );
}
