// A table whose rows unfold. It is one stop for the Tab key: arrows move between rows, and Enter unfolds one.
import { Fragment, type ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { num } from '../lib/units';
import { navigate, useAddress } from '../lib/address';

export interface FoldingColumn<R> {
  title: string;
  value: (row: R) => number | string; // what rows are sorted by, and shown unless `show` is given
  show?: (row: R) => ComponentChildren;
  hint?: (row: R) => string; // tooltip of the cell
  numeric?: boolean;
  wide?: boolean; // left out in narrow windows
  bar?: boolean; // the cells are bars, which the heading need not name
  width?: string; // of the column
}

const atOnce = 200;

// FoldingTable shows rows. If `detail` is given, a row unfolds to it; which one is unfolded stands in the parameter
// `open` of the address.
export function FoldingTable<R>(p: {
  label: string;
  columns: FoldingColumn<R>[];
  rows: R[];
  keyOf: (row: R) => string;
  detail?: (row: R) => ComponentChildren;
  detailOf?: (row: R) => boolean; // whether a row has details; by default all
  chosen?: (row: R) => boolean;
  open?: string; // the parameter of the address that has the unfolded row; by default open
}) {
  const address = useAddress();
  const parameter = p.open ?? 'open';
  const open = address.get(parameter);
  const [sorted, setSorted] = useState<[number, boolean] | undefined>(undefined);
  const [most, setMost] = useState(atOnce);
  const [current, setCurrent] = useState(0);
  const body = useRef<HTMLTableSectionElement>(null);
  const rows = useMemo(() => {
    const column = sorted === undefined ? undefined : p.columns[sorted[0]];
    if (sorted === undefined || column === undefined) return p.rows;
    const sign = sorted[1] ? -1 : 1;
    return [...p.rows].sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      const numbers = [x, y].every((v) => typeof v === 'number' || /^-?\d+$/.test(v)); // beyond 2^53, they are texts
      return sign * (numbers ? num(x) - num(y) : String(x).localeCompare(String(y)));
    });
  }, [p.rows, sorted?.[0], sorted?.[1]]);
  const shown = rows.slice(0, most);
  const folds = (row: R) => p.detail !== undefined && (p.detailOf?.(row) ?? true);
  const toggle = (row: R) => navigate({ [parameter]: open === p.keyOf(row) ? null : p.keyOf(row) });
  const go = (n: number) => {
    const to = Math.max(0, Math.min(shown.length - 1, n));
    setCurrent(to);
    body.current?.querySelector<HTMLElement>(`[data-row="${to}"]`)?.focus();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const from = (e.target as HTMLElement).closest('[data-row]');
    if (from === null || e.target !== from) return;
    const n = Number(from.getAttribute('data-row'));
    const row = shown[n]!;
    const to = { ArrowDown: n + 1, ArrowUp: n - 1, Home: 0, End: shown.length - 1, PageDown: n + 10, PageUp: n - 10 }[
      e.key
    ];
    if (to !== undefined) go(to);
    else if ((e.key === 'Enter' || e.key === ' ') && folds(row)) toggle(row);
    else if (e.key === 'ArrowRight' && folds(row) && open !== p.keyOf(row)) toggle(row);
    else if (e.key === 'ArrowLeft' && open === p.keyOf(row)) toggle(row);
    else return;
    e.preventDefault();
  };
  return (
    <div class="scroll">
      <table class="folding" role={p.detail === undefined ? 'grid' : 'treegrid'} aria-label={p.label}>
        <thead>
          <tr>
            {p.columns.map((c, n) => (
              <th
                key={c.title}
                scope="col"
                class={`${c.numeric === true ? 'number' : ''} ${c.wide === true ? 'spare' : ''}`}
                style={c.width === undefined ? {} : { width: c.width }}
                aria-sort={sorted?.[0] !== n ? 'none' : sorted[1] ? 'descending' : 'ascending'}
              >
                {c.bar === true ? (
                  <span class="hidden">{c.title}</span>
                ) : (
                  <button
                    type="button"
                    onClick={() => setSorted([n, sorted?.[0] === n ? !sorted[1] : c.numeric === true])}
                  >
                    {c.title}
                    <span aria-hidden="true">{sorted?.[0] !== n ? '' : sorted[1] ? ' ↓' : ' ↑'}</span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onKeyDown}>
          {shown.map((row, n) => {
            const key = p.keyOf(row);
            const opened = folds(row) && open === key;
            return (
              <Fragment key={key}>
                <tr
                  data-row={n}
                  tabIndex={n === Math.min(current, shown.length - 1) ? 0 : -1}
                  class={`${folds(row) ? 'folds' : ''} ${opened || p.chosen?.(row) === true ? 'chosen' : ''}`}
                  {...(folds(row) ? { 'aria-expanded': opened } : {})}
                  onFocus={() => setCurrent(n)}
                  onClick={(e) => {
                    if (folds(row) && (e.target as HTMLElement).closest('a, button') === null) toggle(row);
                  }}
                >
                  {p.columns.map((c) => (
                    <td
                      key={c.title}
                      class={`${c.numeric === true ? 'number' : ''} ${c.wide === true ? 'spare' : ''}`}
                      {...(c.hint === undefined ? {} : { title: c.hint(row) })}
                    >
                      {c.show === undefined ? c.value(row) : c.show(row)}
                    </td>
                  ))}
                </tr>
                {opened && (
                  <tr class="unfolded">
                    <td colSpan={p.columns.length}>{p.detail!(row)}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
      {rows.length > most && (
        <p class="note pad">
          {most} of {rows.length} rows.{' '}
          <button type="button" class="btn" onClick={() => setMost(most + 10 * atOnce)}>
            Show more
          </button>
        </p>
      )}
    </div>
  );
}
