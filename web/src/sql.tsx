// The panel of SQL.
import { useState } from 'preact/hooks';
import { useQuery } from './api';
import { Frame } from './parts';
import { go, usePlace } from './place';
import { Table, type Column } from './table';

type Row = Record<string, unknown>;

const example = `SELECT function, load_object, exclusive / 1e9 AS seconds
FROM top(20)`;

export function SQLPanel() {
  const place = usePlace();
  const asked = place.get('sql');
  const [text, set] = useState(asked === '' ? example : asked);
  const answer = useQuery<Row[]>(asked === '' ? undefined : asked);
  const run = () => go({ sql: text });
  return (
    <>
      <form class="sql" onSubmit={(e) => { e.preventDefault(); run(); }}>
        <label>
          SQL
          <textarea
            rows={6}
            spellcheck={false}
            value={text}
            onInput={(e) => set(e.currentTarget.value)}
            onKeyDown={(e) => {
              if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
                e.preventDefault();
                run();
              }
            }}
          />
        </label>
        <button type="submit">Run (Ctrl+Enter)</button>
      </form>
      {asked !== '' && (
        <Frame title="Result" answer={answer} empty={(rows) => rows.length === 0} none="The query has no rows.">
          {(rows) => {
            const columns = Object.keys(rows[0]!);
            return (
              <>
                <p class="note">{rows.length} rows. <a download="result.csv" href={csv(columns, rows)}>Save as CSV</a></p>
                <Table
                  label="Result"
                  rows={rows.map((row, n) => ({ n, row }))}
                  keyOf={(r) => String(r.n)}
                  columns={columns.map((c): Column<{ n: number; row: Row }> => ({
                    title: c,
                    numeric: typeof rows[0]![c] === 'number',
                    value: ({ row }) => (typeof row[c] === 'number' ? (row[c] as number) : textOf(row[c])),
                  }))}
                />
              </>
            );
          }}
        </Frame>
      )}
    </>
  );
}

function textOf(v: unknown): string {
  return v === null || v === undefined ? '' : typeof v === 'object' ? JSON.stringify(v) : String(v);
}

// csv is the rows as a file to save (RFC 4180).
function csv(columns: string[], rows: Row[]): string {
  const field = (v: unknown) => {
    const text = textOf(v);
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const lines = [columns.map(field).join(','), ...rows.map((r) => columns.map((c) => field(r[c])).join(','))];
  return 'data:text/csv;charset=utf-8,' + encodeURIComponent(lines.join('\r\n') + '\r\n');
}
