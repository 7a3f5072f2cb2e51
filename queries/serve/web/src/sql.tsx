// The panel of SQL.
import { useMemo, useState } from 'preact/hooks';
import { save, useData, useQuery } from './api';
import { Editor } from './editor';
import { Graph } from './flame';
import { later } from './later';
import { Link } from './link';
import { Frame } from './parts';
import { go, usePlace } from './place';
import { columnsOf, fold, textOf, type ResultColumn, type Row } from './result';
import { Table, type Column } from './table';
import { amount } from './units';
import type { Relation, Words } from './words';

const Chart = later(() => import('./chart').then((m) => m.Chart));

const examples: { title: string; sql: string; show: string }[] = [
  { title: 'The functions that take the most', show: '', sql: 'SELECT function, load_object, exclusive / 1e9 AS seconds\nFROM top(20)' },
  { title: 'All runs, by time', show: 'chart', sql: "SELECT e.started, f.inclusive / 1e9 AS seconds\nFROM function_metrics f JOIN experiments e USING (experiment_id)\nWHERE f.function = '<Total>' AND f.mode = 'user' AND f.metric = 'totalcpu'\nORDER BY e.started" },
  { title: 'Stacks, as a flame graph', show: 'flame', sql: "SELECT stack, unit, sum(value) AS value\nFROM folded\nWHERE mode = 'user' AND metric = 'totalcpu'\nGROUP BY ALL" },
];

const shows: Record<string, string> = { '': 'Table', chart: 'Chart', flame: 'Flame graph' };
const saved = ['csv', 'json', 'arrow', 'parquet'];
const longestLink = 30_000; // characters of an address that servers and proxies take

export function SQLPanel() {
  const place = usePlace();
  const asked = place.get('sql');
  const [start, begin] = useState(asked === '' ? examples[0]!.sql : asked);
  const [text, set] = useState(start);
  if (asked !== '' && asked !== start) { // back, forward, or an example
    begin(asked);
    set(asked);
  }
  const [again, repeat] = useState(0);
  const [stopped, stop] = useState(false);
  const words = useData<Words>('sql', {});
  const answer = useQuery<Row[]>(asked === '' || stopped ? undefined : asked, again);
  const run = () => {
    stop(false);
    if (text === asked) repeat((n) => n + 1);
    else go({ sql: text, x: null, y: null, stack: null, value: null, zoom: null, side: null });
  };
  return (
    <>
      <form class="sql" onSubmit={(e) => { e.preventDefault(); run(); }}>
        <Editor label="SQL" start={start} words={words.data} onInput={set} onRun={run} />
        <div class="bar">
          <button type="submit">Run (Ctrl+Enter)</button>
          {answer.loading && <button type="button" onClick={() => stop(true)}>Stop</button>}
          <span class="note">Examples: {examples.map((e, i) => <span key={e.title}>{i > 0 ? ', ' : ''}<Link to={{ sql: e.sql, show: e.show, x: null, y: null, stack: null, value: null, zoom: null, side: null }}>{e.title}</Link></span>)}</span>
        </div>
        {encodeURIComponent(text).length > longestLink && <p class="warning">This is too long for a link: the address may not lead back to it.</p>}
      </form>
      {stopped && <p class="note">Stopped. Run it again, or change it.</p>}
      {asked !== '' && !stopped && (
        <Frame title="Result" answer={answer} empty={(rows) => rows.length === 0} none="The query has no rows.">
          {(rows) => <Result sql={asked} rows={rows} />}
        </Frame>
      )}
      <Names words={words.data} error={words.error} />
    </>
  );
}

function Result({ sql, rows }: { sql: string; rows: Row[] }) {
  const place = usePlace();
  const show = place.get('show');
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const [failed, fail] = useState('');
  return (
    <>
      <div class="bar">
        <span class="choices" role="group" aria-label="Show as">
          {Object.entries(shows).map(([name, title]) => (
            <button key={name} type="button" aria-pressed={show === name} onClick={() => go({ show: name })}>{title}</button>
          ))}
        </span>
        <span class="note">{rows.length === 1 ? 'One row' : `${rows.length} rows`}. Run again, and save as</span>
        {saved.map((format) => (
          <button key={format} type="button" onClick={() => save(sql, format).then(() => fail(''), (e: Error) => fail(e.message))}>{format === 'arrow' || format === 'parquet' ? format[0]!.toUpperCase() + format.slice(1) : format.toUpperCase()}</button>
        ))}
      </div>
      {failed !== '' && <p class="error" role="alert">{failed}</p>}
      {show === 'chart' ? <ChartOf rows={rows} columns={columns} /> : show === 'flame' ? <FlameOf rows={rows} columns={columns} /> : <Rows rows={rows} columns={columns} />}
    </>
  );
}

function Rows({ rows, columns }: { rows: Row[]; columns: ResultColumn[] }) {
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

function ChartOf({ rows, columns }: { rows: Row[]; columns: ResultColumn[] }) {
  const place = usePlace();
  const x = columns.find((c) => c.name === place.get('x')) ?? columns.find((c) => c.kind === 'time') ?? columns[0]!;
  const chosen = place.all('y');
  const numbers = columns.filter((c) => c.kind === 'number' && c !== x);
  const asked = numbers.filter((c) => chosen.includes(c.name));
  const ys = useMemo(() => (asked.length > 0 ? asked : numbers.slice(0, 1)), [columns, x, chosen.join('\n')]);
  if (numbers.length === 0) return <p class="note">A chart needs a column of numbers beside the one along the bottom.</p>;
  return (
    <>
      <div class="bar">
        <label>
          Along the bottom
          <select value={x.name} onChange={(e) => go({ x: e.currentTarget.value }, true)}>{columns.map((c) => <option key={c.name}>{c.name}</option>)}</select>
        </label>
        <fieldset>
          <legend>Shown</legend>
          {numbers.map((c) => (
            <label key={c.name}>
              <input type="checkbox" checked={ys.includes(c)} onChange={(e) => go({ y: e.currentTarget.checked ? [...ys.map((y) => y.name), c.name] : ys.filter((y) => y !== c).map((y) => y.name) }, true)} />
              {c.name}
            </label>
          ))}
        </fieldset>
      </div>
      <Chart rows={rows} x={x} ys={ys} />
    </>
  );
}

function FlameOf({ rows, columns }: { rows: Row[]; columns: ResultColumn[] }) {
  const place = usePlace();
  const texts = columns.filter((c) => c.kind === 'text');
  const numbers = columns.filter((c) => c.kind === 'number');
  const stack = texts.find((c) => c.name === place.get('stack')) ?? texts.find((c) => c.name === 'stack' || c.name === 'folded') ?? texts[0];
  const value = numbers.find((c) => c.name === place.get('value')) ?? numbers.find((c) => c.name === 'value') ?? numbers[0];
  const folded = useMemo(() => (stack === undefined || value === undefined ? undefined : fold(rows, stack.name, value.name)), [rows, stack, value]);
  if (folded === undefined) return <p class="note">A flame graph needs a column of stacks (names from the root to the leaf, with ; between them) and one of numbers, such as those of the view folded.</p>;
  const { answer, without } = folded;
  const choose = (label: string, name: string, of: ResultColumn[], now: ResultColumn) => (
    <label>
      {label}
      <select value={now.name} onChange={(e) => go({ [name]: e.currentTarget.value, zoom: null, side: null }, true)}>{of.map((c) => <option key={c.name}>{c.name}</option>)}</select>
    </label>
  );
  return (
    <>
      <div class="bar">
        {choose('Stacks', 'stack', texts, stack!)}
        {choose('Values', 'value', numbers, value!)}
      </div>
      {without > 0 && <p class="warning">{without === 1 ? 'One row is' : `${without} rows are`} left out: no stack, or no value above 0.</p>}
      {answer.nodes === 0 ? <p class="note">No row has a stack and a value above 0.</p> : <Graph answer={answer} note={`${amount(answer.value[0]!, answer.unit)} of ${answer.metric} in ${rows.length - without} rows, ${answer.nodes} nodes`} />}
    </>
  );
}

// Names is what there is to ask, for readers.
function Names({ words, error }: { words: Words | undefined; error: Error | undefined }) {
  const [search, look] = useState('');
  const has = (r: Relation) => [r.name, r.row, ...r.columns.map((c) => c.name)].some((t) => t.toLowerCase().includes(search.toLowerCase()));
  const found = words?.relations.filter(has) ?? [];
  return (
    <details class="names">
      <summary>What there is to ask</summary>
      {error !== undefined && <p class="error">{error.message}</p>}
      <label>Search <input type="search" value={search} onInput={(e) => look(e.currentTarget.value)} /></label>
      {words !== undefined && found.length === 0 && <p class="note">Nothing has that in its name, its columns or its rows.</p>}
      {found.map((r) => (
        <details key={r.name}>
          <summary><code>{r.name}{r.parameters === undefined ? '' : `(${r.parameters.map((p) => p.name).join(', ')})`}</code> <span class="note">{r.kind}: {r.row}</span></summary>
          <ul>
            {[...(r.parameters ?? []), ...r.columns].map((c) => <li key={c.name}><code>{c.name}</code> {c.type}{c.unit === '' ? '' : `, ${c.unit}`}: {c.meaning}</li>)}
          </ul>
        </details>
      ))}
    </details>
  );
}
