// Tables that can be sorted by clicking on headings.
import { type ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { navigate, useAddress } from '../lib/address';

export interface Column<R> {
  title: string;
  value: (row: R) => number | string; // what rows are sorted by, and shown unless `show` is given
  show?: (row: R) => ComponentChildren; // what is shown instead of the value
  numeric?: boolean;
}

const atOnce = 500;
const onPage = 200;

// Table shows rows. If it is paged, its page and order are in the URL; otherwise it shows more rows on
// request.
export function Table<R>(p: {
  label: string;
  columns: Column<R>[];
  rows: R[];
  keyOf: (row: R) => string;
  sorted?: [number, boolean];
  chosen?: (row: R) => boolean;
  paged?: boolean;
}) {
  const address = useAddress();
  const [sorted, setSorted] = useState<[number, boolean] | undefined>(p.sorted); // index of the column; descending
  const [more, setMore] = useState(atOnce);
  const paged = p.paged === true;
  const by = (paged ? ofAddress(address.get('sort'), p.columns) : undefined) ?? sorted;
  const sort = (column: number, descending: boolean) => {
    if (paged) navigate({ sort: (descending ? '-' : '') + p.columns[column]!.title, page: null }, true);
    else setSorted([column, descending]);
  };
  const pages = Math.ceil(p.rows.length / onPage);
  const page = paged ? Math.min(Math.max(Math.trunc(Number(address.get('page', '1'))) || 1, 1), pages) : 1;
  const first = paged ? (page - 1) * onPage : 0;
  const end = Math.min(paged ? first + onPage : more, p.rows.length);
  const rows = useMemo(() => {
    const column = by === undefined ? undefined : p.columns[by[0]];
    if (by === undefined || column === undefined) return p.rows;
    const sign = by[1] ? -1 : 1;
    return [...p.rows].sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y)));
    });
  }, [p.rows, by?.[0], by?.[1]]);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={p.label}>
      <table>
        <thead>
          <tr>
            {p.columns.map((c, i) => (
              <th
                key={c.title}
                scope="col"
                class={c.numeric === true ? 'number' : ''}
                aria-sort={by?.[0] !== i ? 'none' : by[1] ? 'descending' : 'ascending'}
              >
                <button type="button" onClick={() => sort(i, by?.[0] === i ? !by[1] : c.numeric === true)}>
                  {c.title}
                  <span aria-hidden="true">{by?.[0] !== i ? '' : by[1] ? ' ↓' : ' ↑'}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(first, end).map((row) => (
            <tr key={p.keyOf(row)} class={p.chosen?.(row) === true ? 'chosen' : ''}>
              {p.columns.map((c) => (
                <td key={c.title} class={c.numeric === true ? 'number' : ''}>
                  {c.show === undefined ? c.value(row) : c.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {!paged && rows.length > end && (
        <p class="note">
          {end} of {rows.length} rows.{' '}
          <button type="button" onClick={() => setMore(more + 10 * atOnce)}>
            Show more
          </button>
        </p>
      )}
      {paged && pages > 1 && (
        <nav class="pages" aria-label={`Pages of ${p.label}`}>
          <button
            type="button"
            disabled={page === 1}
            onClick={() => navigate({ page: page === 2 ? null : String(page - 1) })}
          >
            Previous
          </button>
          <span>
            {first + 1} to {end} of {rows.length}
          </span>
          <button type="button" disabled={page === pages} onClick={() => navigate({ page: String(page + 1) })}>
            Next
          </button>
        </nav>
      )}
    </div>
  );
}

// ofAddress parses the order of a table in the URL: the title of a column, with - before it for descending
// order.
function ofAddress<R>(text: string, columns: Column<R>[]): [number, boolean] | undefined {
  const column = columns.findIndex((c) => c.title === text.replace(/^-/, ''));
  return column < 0 ? undefined : [column, text.startsWith('-')];
}
