// A table of code with values: source lines or instructions.
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Share } from './panel';
import { amount } from '../lib/units';

export interface CodeRow {
  key: string;
  spot: string; // identifies the source line; "" if unknown
  group: string; // the heading: name of the file or function
  at: string; // line number or address
  text: string;
  title: string;
  unit: string;
  exclusive: number;
  inclusive: number;
  depth: number; // levels of inlining
  below: CodeRow[]; // the code inlined here
}

export function spotOf(file: string, line: number | null): string {
  return line === null || line === 0 ? '' : `${file}\n${line}`;
}

const atOnce = 2000;

export function CodeTable(p: {
  label: string;
  at: string;
  rows: CodeRow[];
  total: number; // the experiment's value
  spot: string; // of the selected row
  hovered: string;
  select: (spot: string) => void;
  hover: (spot: string) => void;
  unfold: boolean;
}) {
  const { total } = p;
  const body = useRef<HTMLTableSectionElement>(null);
  const [toggled, toggle] = useState<ReadonlySet<string>>(new Set()); // keys of lines for which p.unfold is inverted
  const [most, setMost] = useState(atOnce);
  const open = (r: CodeRow) => r.below.length > 0 && toggled.has(r.key) !== p.unfold;
  const all = useMemo(() => p.rows.flatMap((r) => (open(r) ? [r, ...r.below] : [r])), [p.rows, p.unfold, toggled]);
  const rows = all.slice(0, most);
  const selected = rows.findIndex((r) => r.spot !== '' && r.spot === p.spot);
  const [current, setCurrent] = useState(''); // key of the row with keyboard focus
  const at = Math.max(
    rows.findIndex((r) => r.key === current),
    0,
  );
  const several = new Set(p.rows.map((r) => r.group)).size > 1;
  useEffect(() => {
    // If a row was selected in the other table, scroll to its counterpart.
    if (selected >= 0 && !(body.current?.contains(document.activeElement) ?? false)) {
      const box = body.current?.closest('.scroll');
      const row = body.current?.querySelector<HTMLElement>(`[data-row="${selected}"]`);
      if (box && row) box.scrollTop = Math.max(0, row.offsetTop - box.clientHeight / 3);
    }
  }, [p.spot, selected]);
  const move = (to: number) => {
    const r = rows[Math.max(0, Math.min(to, rows.length - 1))]!;
    setCurrent(r.key);
    if (r.spot !== '') p.select(r.spot);
    body.current?.querySelector<HTMLElement>(`[data-row="${rows.indexOf(r)}"]`)?.focus();
  };
  const flip = (r: CodeRow) => {
    const next = new Set(toggled);
    if (!next.delete(r.key)) next.add(r.key);
    toggle(next);
  };
  const key = (e: KeyboardEvent) => {
    const r = rows[at]!;
    switch (e.key) {
      case 'ArrowDown':
        move(at + 1);
        break;
      case 'ArrowUp':
        move(at - 1);
        break;
      case 'Home':
        move(0);
        break;
      case 'End':
        move(rows.length - 1);
        break;
      case 'ArrowRight':
        if (r.below.length > 0 && !open(r)) flip(r);
        break;
      case 'ArrowLeft':
        if (open(r)) flip(r);
        break;
      case 'Enter':
        if (r.spot !== '') p.select(r.spot);
        break;
      case 'Escape':
        p.select('');
        break;
      default:
        return;
    }
    e.preventDefault();
  };
  return (
    <>
      <div class="scroll code">
        <table role="grid" aria-label={p.label} onKeyDown={key} onMouseLeave={() => p.hover('')}>
          <thead>
            <tr>
              <th scope="col" class="number">
                Exclusive
              </th>
              <th scope="col" class="number">
                %
              </th>
              <th scope="col" class="number">
                Inclusive
              </th>
              <th scope="col" class="number">
                {p.at}
              </th>
              <th scope="col">Code</th>
            </tr>
          </thead>
          <tbody ref={body}>
            {rows.map((r, i) => (
              <Fragment key={r.key}>
                {several && r.group !== rows[i - 1]?.group && (
                  <tr>
                    <th colSpan={5} class="group">
                      {r.group}
                    </th>
                  </tr>
                )}
                <tr
                  data-row={i}
                  tabIndex={i === at ? 0 : -1}
                  aria-selected={r.spot !== '' && r.spot === p.spot}
                  title={r.title}
                  class={[
                    heat(r.exclusive, total),
                    r.spot !== '' && r.spot === p.hovered ? 'pointed' : '',
                    r.depth > 0 ? 'inlined' : '',
                  ].join(' ')}
                  onClick={() => move(i)}
                  onMouseEnter={() => p.hover(r.spot)}
                >
                  <td class="number">{r.exclusive === 0 ? '' : amount(r.exclusive, r.unit)}</td>
                  <td class="number">{r.exclusive === 0 ? '' : <Share part={r.exclusive} total={total} />}</td>
                  <td class="number">{r.inclusive === 0 ? '' : amount(r.inclusive, r.unit)}</td>
                  <td class="number">{r.at}</td>
                  <td class="name" style={r.depth > 0 ? { paddingLeft: `${2 * Math.min(r.depth, 20)}em` } : undefined}>
                    {r.text}
                    {r.below.length > 0 && (
                      <button
                        type="button"
                        class="unfold"
                        tabIndex={-1}
                        aria-expanded={open(r)}
                        onClick={(e) => {
                          e.stopPropagation();
                          flip(r);
                        }}
                      >
                        {open(r) ? '▾' : '▸'} {r.below.length} inlined
                      </button>
                    )}
                  </td>
                </tr>
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {all.length > most && (
        <p class="note">
          {most} of {all.length} rows.{' '}
          <button type="button" onClick={() => setMost(most + 5 * atOnce)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

// heat returns the CSS class for a row's share of the total; "" if it is small.
function heat(v: number, total: number): string {
  const part = total === 0 ? 0 : v / total;
  return part >= 0.1 ? 'hot' : part >= 0.02 ? 'warm' : '';
}
