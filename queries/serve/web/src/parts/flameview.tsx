// A flame graph on a canvas, and its frames as a tree of rows for keyboards and screen readers.
import { type ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { frameAt, rowHeight, visibleRows } from '../lib/flamelayout';
import { draw, type Look } from './flamecanvas';
import type { Frames } from '../lib/flametree';

export interface FlameView {
  label: string;
  frames: Frames;
  found: boolean[] | undefined; // by name: whether the search matches it; undefined: no search
  fill: (frame: number) => string;
  mark?: (frame: number) => string; // text before the name
  dark: boolean;
  upward: boolean; // the root is at the bottom, not at the top
  tell: (frame: number) => ComponentChildren; // describes the frame under the pointer
  cells: (frame: number) => [string, string]; // the two values in a frame's row
  wide?: number; // index of a cell that needs the width of two numbers
  zoom: string; // the path hash of the frame that fills the width; '' for the root
  setZoom: (path: string) => void;
  open?: (name: string) => void; // shows a function elsewhere, on the key F
}

export function FlameView(p: FlameView) {
  const { frames: f, found, fill, dark, upward } = p;
  const canvas = useRef<HTMLCanvasElement>(null);
  const focus = useMemo(() => Math.max(p.zoom === '' ? 0 : f.path.indexOf(Number(p.zoom)), 0), [f, p.zoom]);
  const [hovered, hover] = useState(-1);
  const [selected, select] = useState(-1);
  const look: Look = { focus, found, fill, mark: p.mark ?? (() => ''), dark, upward };
  const { first, count, all } = useMemo(() => visibleRows(f, focus), [f, focus]);

  useLayoutEffect(() => {
    const on = canvas.current!;
    const redraw = () => {
      const began = performance.now();
      on.dataset['drawn'] = String(draw(on, f, look, selected));
      on.dataset['took'] = String(performance.now() - began); // milliseconds, which cmd/acceptance/page reads
    };
    redraw();
    const resized = new ResizeObserver(redraw);
    resized.observe(on);
    return () => resized.disconnect();
  }, [f, focus, found, fill, dark, upward, selected]);

  const shown = hovered >= 0 ? hovered : selected >= 0 ? selected : focus;
  const zoomTo = (n: number) => {
    select(n);
    p.setZoom(n > 0 ? String(f.path[n]) : '');
  };
  const at = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return frameAt(f, look, e.clientX - box.left, e.clientY - box.top, box.width, box.height);
  };
  return (
    <>
      <div class="told" aria-live="polite">
        {p.tell(shown)}
        {focus > 0 && (
          <>
            <button type="button" onClick={() => zoomTo(f.parent[focus]!)}>
              To the caller
            </button>
            <button type="button" onClick={() => zoomTo(0)}>
              Show all
            </button>
          </>
        )}
      </div>
      {first > 0 && <p class="note">{first} callers above are not drawn, to make room for the levels below.</p>}
      <div class="flame">
        <canvas
          ref={canvas}
          style={{ height: `${count * rowHeight}px` }}
          aria-hidden="true"
          onMouseMove={(e) => hover(at(e))}
          onMouseLeave={() => hover(-1)}
          onClick={(e) => {
            const n = at(e);
            if (n >= 0) zoomTo(n);
          }}
        />
      </div>
      {all > first + count && (
        <p class="note">
          The drawing ends after {count} levels; {all - first - count} more are below: choose a frame near the end to
          see them, or use the list.
        </p>
      )}
      <FrameTree view={p} focus={focus} selected={selected} select={select} zoom={zoomTo} />
    </>
  );
}

const atOnce = 200; // rows shown at first

// FrameTree shows the frames as a tree of rows that can be opened and closed.
function FrameTree(p: {
  view: FlameView;
  focus: number;
  selected: number;
  select: (n: number) => void;
  zoom: (n: number) => void;
}) {
  const { focus, selected, select } = p;
  const f = p.view.frames;
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set([0]));
  const list = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => {
    const found: number[] = [];
    for (let n = focus; n <= f.last[focus]!;) {
      found.push(n);
      n = open.has(n) || n === focus ? n + 1 : f.last[n]! + 1;
    }
    return found;
  }, [f, focus, open]);
  const at = Math.max(shown.indexOf(selected), 0);
  const move = (to: number) => {
    const n = shown[Math.min(Math.max(to, 0), shown.length - 1)]!;
    select(n);
    list.current?.querySelector<HTMLElement>(`[data-frame="${n}"]`)?.focus();
  };
  const toggle = (n: number, on: boolean) => {
    const next = new Set(open);
    if (on) next.add(n);
    else next.delete(n);
    setOpen(next);
  };
  const key = (e: KeyboardEvent) => {
    const n = shown[at]!;
    const opened = open.has(n) || n === focus;
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
        move(shown.length - 1);
        break;
      case 'ArrowRight':
        if (f.last[n]! > n && !opened) toggle(n, true);
        else move(at + 1);
        break;
      case 'ArrowLeft':
        if (opened && n !== focus) toggle(n, false);
        else move(shown.indexOf(f.parent[n]!));
        break;
      case 'Enter':
        p.zoom(n);
        break;
      case 'Escape':
        p.zoom(0);
        break;
      case 'Backspace':
        p.zoom(Math.max(f.parent[focus]!, 0));
        break;
      case 'f':
        p.view.open?.(f.names[f.name[n]!]!.name);
        break;
      default:
        return;
    }
    e.preventDefault();
  };
  const [asked, ask] = useState(atOnce);
  const most = Math.max(asked, at + 50);
  return (
    <>
      <div class="tree" role="tree" aria-label={p.view.label} ref={list} onKeyDown={key}>
        {shown.slice(0, most).map((n, i) => {
          const name = f.names[f.name[n]!]!;
          const below = f.last[n]! > n;
          return (
            <div
              key={n}
              role="treeitem"
              aria-level={f.depth[n]! - f.depth[focus]! + 1}
              {...(below ? { 'aria-expanded': open.has(n) || n === focus } : {})}
              aria-selected={n === selected}
              tabIndex={i === at ? 0 : -1}
              data-frame={n}
              class="row"
              onClick={() => {
                select(n);
                toggle(n, !open.has(n));
              }}
            >
              {p.view.cells(n).map((text, i) => (
                <span key={i} class={p.view.wide === i ? 'number wide' : 'number'}>
                  {text}
                </span>
              ))}
              <span class="name" style={{ paddingLeft: `${Math.min(f.depth[n]! - f.depth[focus]!, 40)}em` }}>
                {below ? (open.has(n) || n === focus ? '▾ ' : '▸ ') : '  '}
                {name.name}
              </span>
            </div>
          );
        })}
      </div>
      {shown.length > most && (
        <p class="note">
          {most} of {shown.length} open rows.{' '}
          <button type="button" onClick={() => ask(most + 10 * atOnce)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
