// Tables that can be sorted by their headings.
import { type ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';

export interface Column<R> {
  title: string;
  value: (row: R) => number | string; // what the table is sorted by
  show?: (row: R) => ComponentChildren; // if it is not shown as it is
  numeric?: boolean;
}

const atOnce = 500;

export function Table<R>(p: { label: string; columns: Column<R>[]; rows: R[]; keyOf: (row: R) => string; sorted?: [number, boolean]; chosen?: (row: R) => boolean }) {
  const [by, sort] = useState<[number, boolean] | undefined>(p.sorted); // column, descending
  const [most, setMost] = useState(atOnce);
  const rows = useMemo(() => {
    const column = by === undefined ? undefined : p.columns[by[0]];
    if (by === undefined || column === undefined) return p.rows;
    const sign = by[1] ? -1 : 1;
    return [...p.rows].sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y)));
    });
  }, [p.rows, by]);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={p.label}>
      <table>
        <thead>
          <tr>
            {p.columns.map((c, i) => (
              <th key={c.title} scope="col" class={c.numeric === true ? 'number' : ''} aria-sort={by?.[0] !== i ? 'none' : by[1] ? 'descending' : 'ascending'}>
                <button type="button" onClick={() => sort([i, by?.[0] === i ? !by[1] : c.numeric === true])}>
                  {c.title}
                  <span aria-hidden="true">{by?.[0] !== i ? '' : by[1] ? ' ↓' : ' ↑'}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr key={p.keyOf(row)} class={p.chosen?.(row) === true ? 'chosen' : ''}>
              {p.columns.map((c) => (
                <td key={c.title} class={c.numeric === true ? 'number' : ''}>{c.show === undefined ? c.value(row) : c.show(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <p class="note">
          {most} of {rows.length} rows. <button type="button" onClick={() => setMost(most + 10 * atOnce)}>Show more</button>
        </p>
      )}
    </div>
  );
}
