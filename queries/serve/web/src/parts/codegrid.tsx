// A grid of code of which only the visible rows exist, so that files of any length scroll smoothly.
import { type ComponentChildren, type RefObject } from 'preact';
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { openMenu } from './menu';
import type { Door } from '../lib/door';

export const rowHeight = 19; // px, as in source.css
const beyond = 12; // rows above and below the visible ones

export interface Rows {
  count: number;
  cells: (row: number) => ComponentChildren;
  className: (row: number) => string;
  marked: (row: number) => boolean;
  title?: (row: number) => string;
  door?: (row: number) => Door | undefined; // what the row's menu is about
}

export interface GridHandle {
  reveal: (row: number) => void; // scrolls to a row if it is not visible
  scrollTo: (fraction: number) => void; // shows this part of all rows in the middle
  focus: () => void;
}

// Window is the visible part of the rows: from and to are fractions of all of them.
export interface Window {
  from: number;
  to: number;
}

export function CodeGrid(p: {
  id: string;
  label: string;
  header: ComponentChildren; // cells with role columnheader
  rows: Rows;
  active: number; // the row that the keys are about
  setActive: (row: number) => void;
  choose: (row: number) => void;
  hover: (row: number) => void; // -1 for none
  press?: (e: KeyboardEvent, row: number) => boolean; // handles other keys; true if it did
  windowed?: (w: Window) => void;
  overlay?: (first: number, last: number) => ComponentChildren;
  handle: RefObject<GridHandle | null>;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const { count } = p.rows;
  const visible = () => Math.max(1, Math.floor((box.current!.clientHeight - headHeight) / rowHeight));
  const reveal = (row: number) => {
    const on = box.current;
    if (on === null || row < 0) return;
    const y = row * rowHeight;
    const height = on.clientHeight - headHeight;
    if (y >= on.scrollTop + rowHeight && y + 2 * rowHeight <= on.scrollTop + height) return;
    on.scrollTop = Math.max(0, y - height / 3);
    look();
  };
  const look = () => {
    const on = box.current;
    if (on === null) return;
    setView((was) =>
      was.top === on.scrollTop && was.height === on.clientHeight ? was : { top: on.scrollTop, height: on.clientHeight },
    );
  };
  useImperativeHandle(p.handle, () => ({
    reveal,
    focus: () => box.current?.focus({ preventScroll: true }),
    scrollTo: (fraction) => {
      const on = box.current!;
      on.scrollTop = fraction * count * rowHeight - (on.clientHeight - headHeight) / 2;
      look();
    },
  }));
  useLayoutEffect(look, [count]);
  useEffect(() => {
    const watch = new ResizeObserver(look);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  const all = Math.max(1, count) * rowHeight;
  useEffect(() => {
    p.windowed?.({ from: view.top / all, to: Math.min(1, (view.top + view.height - headHeight) / all) });
  }, [view, all]);
  const first = Math.max(0, Math.min(count, Math.floor(view.top / rowHeight)) - beyond);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + beyond);
  const move = (to: number) => {
    const row = Math.max(0, Math.min(count - 1, to));
    p.setActive(row);
    const on = box.current!;
    const y = row * rowHeight;
    if (y < on.scrollTop) on.scrollTop = y;
    else if (y + rowHeight > on.scrollTop + on.clientHeight - headHeight)
      on.scrollTop = y + rowHeight - on.clientHeight + headHeight;
    look();
  };
  const menu = (row: number, x: number, y: number) => {
    const door = p.rows.door?.(row);
    if (door !== undefined) openMenu(door, { x, y });
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).tagName === 'BUTTON') return;
    const to = {
      ArrowDown: p.active + 1,
      ArrowUp: p.active - 1,
      PageDown: p.active + visible(),
      PageUp: p.active - visible(),
      Home: 0,
      End: count - 1,
    }[e.key];
    if (to !== undefined) move(to);
    else if (e.key === 'Enter') p.choose(p.active);
    else if (e.key === 'm' || e.key === 'ContextMenu') {
      const at = document.getElementById(`${p.id}-${p.active}`)?.getBoundingClientRect();
      menu(p.active, at?.left ?? 0, at?.bottom ?? 0);
    } else if (p.press?.(e, p.active) !== true) return;
    e.preventDefault();
    e.stopPropagation();
  };
  const shown = [];
  for (let n = first; n < last; n++) {
    shown.push(
      <div
        key={n}
        id={`${p.id}-${n}`}
        role="row"
        aria-rowindex={n + 2}
        aria-selected={p.rows.marked(n)}
        class={['ln', p.rows.className(n), n === p.active ? 'active' : ''].join(' ')}
        style={{ top: `${n * rowHeight}px` }}
        title={p.rows.title?.(n)}
        onClick={() => {
          p.setActive(n);
          p.choose(n);
        }}
        onMouseEnter={() => p.hover(n)}
        onContextMenu={(e) => {
          e.preventDefault();
          p.setActive(n);
          menu(n, e.clientX, e.clientY);
        }}
      >
        {p.rows.cells(n)}
      </div>,
    );
  }
  return (
    <div
      ref={box}
      role="grid"
      tabIndex={0}
      class="codegrid"
      aria-label={p.label}
      aria-rowcount={count + 1}
      aria-multiselectable="true"
      {...(p.active >= first && p.active < last ? { 'aria-activedescendant': `${p.id}-${p.active}` } : {})}
      onScroll={look}
      onKeyDown={onKeyDown}
      onMouseLeave={() => p.hover(-1)}
    >
      <div role="rowgroup" class="codehead">
        <div role="row" aria-rowindex={1} class="ln">
          {p.header}
        </div>
      </div>
      <div role="rowgroup" class="coderows" style={{ height: `${count * rowHeight}px` }}>
        {shown}
        {p.overlay?.(first, last)}
      </div>
    </div>
  );
}

const headHeight = 31; // px, as in source.css

// Cell is a cell of a row.
export function Cell(p: { class: string; title?: string; children?: ComponentChildren }) {
  return (
    <span role="gridcell" class={p.class} title={p.title}>
      {p.children}
    </span>
  );
}

export function Head(p: { class: string; title?: string; children?: ComponentChildren }) {
  return (
    <span role="columnheader" class={p.class} title={p.title}>
      {p.children}
    </span>
  );
}
