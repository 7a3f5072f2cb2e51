// Tables that can be sorted by clicking on headings.
import { type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { num } from '../lib/units';
import { navigate, useAddress } from '../lib/address';

export interface Column<R> {
  title: string;
  value: (row: R) => number | string; // what rows are sorted by, and shown unless `show` is given
  show?: (row: R) => ComponentChildren; // what is shown instead of the value
  numeric?: boolean;
}

const atOnce = 200; // rows that are added when the reader comes to the end
const onPage = 200;

// Table shows rows. If it is paged, its page and order are in the URL; otherwise more rows come as one scrolls. For
// the Tab key it is one stop: arrows move between its links and buttons.
export function Table<R>(p: {
  label: string;
  columns: Column<R>[];
  rows: R[];
  keyOf: (row: R) => string;
  sorted?: [number, boolean];
  chosen?: (row: R) => boolean;
  paged?: boolean;
  className?: string; // of the table
}) {
  const address = useAddress();
  const [sorted, setSorted] = useState<[number, boolean] | undefined>(p.sorted); // index of the column; descending
  const [more, setMore] = useState(atOnce);
  const host = useRef<HTMLDivElement>(null);
  // current is the row and column of the Tab stop. Row 0 has the headings.
  const current = useRef<[number, number]>([0, 0]);
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
      const numbers = [x, y].every((v) => typeof v === 'number' || /^-?\d+$/.test(v)); // beyond 2^53, they are texts
      return sign * (numbers ? num(x) - num(y) : String(x).localeCompare(String(y)));
    });
  }, [p.rows, by?.[0], by?.[1]]);
  const stops = () =>
    [...host.current!.querySelectorAll('tr')].map((row) => [
      ...row.querySelectorAll<HTMLElement>('a, button, input, select'),
    ]);
  useLayoutEffect(() => {
    const all = stops();
    const [row, column] = current.current;
    const stop = all[row]?.[column] ?? all[0]?.[0];
    for (const element of all.flat()) element.tabIndex = element === stop ? 0 : -1;
  });
  const onFocus = (e: FocusEvent) => {
    const all = stops();
    const row = all.findIndex((r) => r.includes(e.target as HTMLElement));
    if (row < 0) return;
    current.current = [row, all[row]!.indexOf(e.target as HTMLElement)];
    for (const element of all.flat()) element.tabIndex = element === e.target ? 0 : -1;
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (/^(INPUT|SELECT)$/.test((e.target as HTMLElement).tagName) && !/^Arrow(Up|Down)$/.test(e.key)) return;
    const all = stops();
    const [row, column] = current.current;
    const near = (from: number, step: number): number => {
      let at = from;
      while (all[at]?.length === 0) at += step;
      return all[at] === undefined ? row : at;
    };
    const to = {
      ArrowDown: [near(row + 1, 1), column],
      ArrowUp: [near(row - 1, -1), column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [near(Math.min(row + 20, all.length - 1), -1), column],
      PageUp: [near(Math.max(row - 20, 0), 1), column],
      Home: [near(1, 1), column],
      End: [near(all.length - 1, -1), column],
    }[e.key];
    if (to === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    const of = all[to[0]!] ?? [];
    const stop = of[Math.max(0, Math.min(to[1]!, of.length - 1))];
    if (stop === undefined) return;
    e.preventDefault();
    stop.focus();
  };
  return (
    <div class="scroll" role="region" aria-label={p.label} ref={host} onKeyDown={onKeyDown} onFocusCapture={onFocus}>
      <table class={p.className ?? ''}>
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
      {!paged && rows.length > end && <Rest key={end} of={rows.length - end} show={() => setMore(more + atOnce)} />}
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

// Rest stands for rows that are not shown yet. They come when it does.
function Rest({ of, show }: { of: number; show: () => void }) {
  const host = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const seen = new IntersectionObserver((entries) => entries.some((e) => e.isIntersecting) && show(), {
      rootMargin: '600px',
    });
    seen.observe(host.current!);
    return () => seen.disconnect();
  }, []);
  return (
    <p class="note pad" ref={host}>
      {of} more
    </p>
  );
}
