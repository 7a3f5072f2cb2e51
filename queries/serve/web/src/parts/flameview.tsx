// A flame graph: a minimap, the frames on a canvas, the stack of the chosen frame, and the frames as a tree of rows for
// keyboards and screen readers.
import { type ComponentChildren } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { partsOf } from '../lib/door';
import { findFrame, frameID, isLeftOut, type Frames, type Name } from '../lib/flametree';
import {
  focusOf,
  formatWindow,
  frameAt,
  isWhole,
  layerAt,
  levelsOf,
  moved,
  rowHeight,
  whole,
  windowOf,
  zoomed,
  type Layer,
  type Window,
} from '../lib/flamewindow';
import { draw, type Look, type Paint, type Palette } from './flamecanvas';
import { FlameList } from './flamelist';
import { FlameMap } from './flamemap';
import { Meter } from './meter';

// Spot is a frame of one of the layers.
export interface Spot {
  frames: Frames;
  n: number;
}

export interface FlameView {
  label: string;
  layers: Layer[]; // the whole graph, and parts of it with narrower frames
  paint: (f: Frames) => Paint;
  palette: Palette;
  upward: boolean; // the root is at the bottom, not at the top
  tell: (at: Spot) => ComponentChildren; // describes a frame at the pointer
  cells: (at: Spot) => [string, string]; // the two values in a frame's row
  window: Window;
  setWindow: (w: Window, frame?: Spot) => void; // of a frame, if one fills the window
  chosen: string; // id of the chosen frame; '' for none
  choose: (at: Spot | undefined, replacing?: boolean) => void; // replacing: Back does not return to the frame before
  menu?: (at: Spot, place: { x: number; y: number }) => void;
  map?: boolean; // show the minimap
  busy?: boolean; // narrower frames are being requested
  step?: (by: number) => void; // to the next or previous hit
}

const labels = new WeakMap<Frames, string[]>(); // by name

// labelOf returns what a frame is called in the drawing: the last part of its name.
export function labelOf(f: Frames, n: number): string {
  let of = labels.get(f);
  if (of === undefined) labels.set(f, (of = f.names.map((name) => partsOf(name.name)[1])));
  return f.depth[n] === 0 && f.names[f.name[n]!]!.name === '<Total>' ? 'Total' : of[f.name[n]!]!;
}

// useLive returns the window that is drawn, and moves it. A gesture moves it at once; the address has it once the
// gesture ends.
function useLive(window: Window, commit: (w: Window) => void): [Window, (to: (w: Window) => Window) => void] {
  const [live, setLive] = useState(window);
  const latest = useRef(window);
  const timer = useRef(0);
  const done = useRef(commit);
  done.current = commit;
  useEffect(() => {
    clearTimeout(timer.current);
    latest.current = window;
    setLive(window);
  }, [window.from, window.until]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = useCallback((to: (w: Window) => Window) => {
    latest.current = to(latest.current);
    setLive(latest.current);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => done.current(latest.current), 150);
  }, []);
  return [live, move];
}

export function FlameView(p: FlameView) {
  const [live, move] = useLive(p.window, p.setWindow);
  const [pointed, point] = useState<{ id: string; spot: Spot; x: number; y: number }>();
  const [top, setTop] = useState(0);
  const [focused, setFocused] = useState(false);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const levels = useMemo(() => levelsOf(p.layers), [p.layers]);
  const finest = p.layers[p.layers.length - 1]!.frames;
  const height = levels * rowHeight;
  const look: Look = {
    layers: p.layers,
    paint: p.paint,
    palette: p.palette,
    label: labelOf,
    window: live,
    upward: p.upward,
    row: rowHeight,
    top,
    levels,
    names: true,
    chosen: (f) => (p.chosen === '' ? -1 : findFrame(f, p.chosen)),
    pointed: (f) => (pointed === undefined ? -1 : findFrame(f, pointed.id)),
  };
  const latest = useRef(look);
  latest.current = look;
  const redraw = useCallback(() => {
    const on = canvas.current;
    if (on === null) return; // it was left before fonts were loaded
    const began = performance.now();
    on.dataset['drawn'] = String(draw(on, latest.current));
    on.dataset['took'] = String(performance.now() - began); // milliseconds, which cmd/acceptance/page reads
    on.dataset['window'] = formatWindow(latest.current.window);
  }, []);
  useLayoutEffect(redraw, [p.layers, p.paint, p.palette, p.upward, live, top, p.chosen, pointed?.id]);
  useEffect(() => {
    const resized = new ResizeObserver(redraw);
    resized.observe(canvas.current!);
    void document.fonts.ready.then(redraw);
    return () => resized.disconnect();
  }, []);

  // show scrolls until a level is visible.
  const show = (level: number) => {
    const on = scroller.current!;
    const y = (p.upward ? levels - 1 - level : level) * rowHeight;
    if (y < on.scrollTop) on.scrollTop = y;
    else if (y + rowHeight > on.scrollTop + on.clientHeight) on.scrollTop = y - on.clientHeight / 2;
  };
  useLayoutEffect(() => {
    if (p.upward) scroller.current!.scrollTop = height;
  }, [p.upward, height]);
  useLayoutEffect(() => {
    for (const { frames } of [...p.layers].reverse()) {
      const n = p.chosen === '' ? -1 : findFrame(frames, p.chosen);
      if (n >= 0) return show(frames.depth[n]!);
    }
  }, [p.chosen, p.layers]);

  const zoomTo = (at: Spot) => {
    point(undefined);
    const to = windowOf(at.frames, at.n);
    p.setWindow(to, isLeftOut(at.frames.names[at.frames.name[at.n]!]!) ? undefined : at);
  };
  const spotAt = (e: { clientX: number; clientY: number }): Spot | undefined => {
    const box = canvas.current!.getBoundingClientRect();
    const x = live.from + ((e.clientX - box.left) / box.width) * (live.until - live.from);
    const row = Math.floor((e.clientY - box.top + top) / rowHeight);
    const { frames } = layerAt(p.layers, x);
    const n = frameAt(frames, x, p.upward ? levels - 1 - row : row);
    return n < 0 ? undefined : { frames, n };
  };
  const pointAt = (e: MouseEvent) => {
    const spot = spotAt(e);
    point(spot === undefined ? undefined : { id: frameID(spot.frames, spot.n), spot, x: e.clientX, y: e.clientY });
  };
  useWheel(canvas, move);
  const gestures = useGestures(canvas, live, move, {
    hover: pointAt,
    click: (e) => p.choose(spotAt(e)),
    zoom: (e) => {
      const spot = spotAt(e);
      if (spot !== undefined) zoomTo(spot);
    },
    menu: (e) => {
      const spot = spotAt(e);
      if (spot === undefined || p.menu === undefined) return;
      point(undefined);
      p.choose(spot);
      p.menu(spot, { x: e.clientX, y: e.clientY });
    },
  });
  // press handles the keys of the graph; it reports whether it did.
  const press = (e: KeyboardEvent): boolean => {
    if (e.ctrlKey || e.metaKey || e.altKey) return false;
    const run = {
      a: () => move((w) => moved(w, -0.2)),
      d: () => move((w) => moved(w, 0.2)),
      w: () => scroller.current!.scrollBy(0, -3 * rowHeight),
      s: () => scroller.current!.scrollBy(0, 3 * rowHeight),
      '+': () => move((w) => zoomed(w, 0.5, 0.5)),
      '=': () => move((w) => zoomed(w, 0.5, 0.5)),
      '-': () => move((w) => zoomed(w, 2, 0.5)),
      '0': () => p.setWindow(whole),
      n: () => p.step?.(1),
      N: () => p.step?.(-1),
    }[e.key];
    if (run === undefined) return false;
    run();
    return true;
  };
  // The list is the same while the window moves: making its rows takes longer than drawing the frames.
  const focus = useMemo(() => focusOf(finest, p.window), [finest, p.window.from, p.window.until]);
  const list = useMemo(
    () => (
      <FlameList
        label={p.label}
        frames={finest}
        focus={focus}
        chosen={p.chosen}
        cells={p.cells}
        choose={(n) => p.choose({ frames: finest, n }, true)}
        zoom={(n) => zoomTo({ frames: finest, n })}
        press={press}
        menu={(n) => {
          const box = canvas.current!.getBoundingClientRect();
          p.menu?.({ frames: finest, n }, { x: box.left + 40, y: box.top + 40 });
        }}
      />
    ),
    [p.label, finest, focus, p.chosen, p.cells, p.choose, p.menu, p.setWindow, p.step],
  );
  return (
    <div
      class={focused ? 'flame focused' : 'flame'}
      aria-busy={p.busy === true}
      onFocusIn={() => setFocused(true)}
      onFocusOut={() => setFocused(false)}
    >
      {p.map === true && <FlameMap look={look} window={live} move={move} />}
      <div class="flamescroll" ref={scroller} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
        <div style={{ height: `${height}px` }}>
          <canvas
            ref={canvas}
            style={{ height: `min(${height}px, var(--flame-height))` }}
            aria-hidden="true"
            {...gestures}
          />
        </div>
      </div>
      {pointed !== undefined && (
        <Tip x={pointed.x} y={pointed.y}>
          {p.tell(pointed.spot)}
        </Tip>
      )}
      {!isWhole(p.window) && (
        <p class="hidden" role="status">
          zoomed to {(100 * (p.window.until - p.window.from)).toPrecision(3)} percent of the width
        </p>
      )}
      {list}
    </div>
  );
}

// useWheel zooms at the pointer on Ctrl and the wheel, and moves sideways. Else the wheel scrolls.
function useWheel(canvas: { current: HTMLCanvasElement | null }, move: (to: (w: Window) => Window) => void): void {
  useEffect(() => {
    const on = canvas.current!;
    const wheel = (e: WheelEvent) => {
      const box = on.getBoundingClientRect();
      const sideways = e.shiftKey ? e.deltaY : e.deltaX;
      if (e.ctrlKey || e.metaKey) {
        const at = (e.clientX - box.left) / box.width;
        move((w) => zoomed(w, Math.exp(Math.max(-100, Math.min(100, e.deltaY)) * 0.005), at));
      } else if (Math.abs(sideways) > Math.abs(e.shiftKey ? 0 : e.deltaY)) {
        move((w) => moved(w, sideways / box.width));
      } else return;
      e.preventDefault();
    };
    on.addEventListener('wheel', wheel, { passive: false });
    return () => on.removeEventListener('wheel', wheel);
  }, []);
}

const longTouch = 500; // ms

// useGestures handles the pointer on the canvas: dragging moves, two fingers zoom, a click chooses, a long touch or the
// right button opens the menu.
function useGestures(
  canvas: { current: HTMLCanvasElement | null },
  live: Window,
  move: (to: (w: Window) => Window) => void,
  on: Record<'hover' | 'click' | 'zoom' | 'menu', (e: MouseEvent) => void>,
) {
  const down = useRef(new Map<number, { x: number; y: number }>());
  const dragged = useRef(false);
  const held = useRef(0); // the timer of a long touch
  const end = (e: PointerEvent) => {
    clearTimeout(held.current);
    down.current.delete(e.pointerId);
  };
  return {
    onPointerDown: (e: PointerEvent) => {
      if (e.button !== 0) return;
      dragged.current = false;
      down.current.set(e.pointerId, { x: e.clientX, y: e.clientY });
      clearTimeout(held.current);
      if (e.pointerType === 'touch' && down.current.size === 1)
        held.current = setTimeout(() => {
          dragged.current = true;
          on.menu(e);
        }, longTouch);
    },
    onPointerMove: (e: PointerEvent) => {
      const was = down.current.get(e.pointerId);
      if (was === undefined) {
        if (e.pointerType !== 'touch') on.hover(e);
        return;
      }
      const box = canvas.current!.getBoundingClientRect();
      if (!dragged.current && Math.hypot(e.clientX - was.x, e.clientY - was.y) < 5) return;
      clearTimeout(held.current);
      if (!dragged.current) canvas.current!.setPointerCapture(e.pointerId);
      dragged.current = true;
      const other = [...down.current].find(([id]) => id !== e.pointerId)?.[1];
      if (other === undefined) {
        if (!isWhole(live)) move((w) => moved(w, (was.x - e.clientX) / box.width));
      } else {
        const before = Math.max(20, Math.abs(was.x - other.x));
        const after = Math.max(20, Math.abs(e.clientX - other.x));
        move((w) => zoomed(w, before / after, (other.x - box.left) / box.width));
      }
      down.current.set(e.pointerId, { x: e.clientX, y: e.clientY });
    },
    onPointerUp: end,
    onPointerCancel: end,
    onPointerLeave: () => on.hover(new MouseEvent('mousemove', { clientX: -1e6, clientY: -1e6 })),
    onClick: (e: MouseEvent) => {
      if (!dragged.current) on.click(e);
    },
    onDblClick: on.zoom,
    onContextMenu: (e: MouseEvent) => {
      e.preventDefault();
      on.menu(e);
    },
  };
}

// Tip shows a text near the pointer, above or below the row at the pointer.
function Tip({ x, y, children }: { x: number; y: number; children: ComponentChildren }) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const on = host.current!;
    const below = y + rowHeight + 6;
    const fits = below + on.offsetHeight < innerHeight - 8;
    on.style.left = `${Math.max(8, Math.min(x + 12, innerWidth - on.offsetWidth - 8))}px`;
    on.style.top = `${fits ? below : Math.max(8, y - rowHeight - 6 - on.offsetHeight)}px`;
  });
  return (
    <div class="tip" role="tooltip" ref={host}>
      {children}
    </div>
  );
}

// Tell describes a frame at the pointer: its names and its values.
export function Tell(p: {
  name: Name;
  caller: string | undefined;
  rows: [string, number, string, string][]; // text, value, formatted value, share
  total: number;
}) {
  const { name } = p;
  const of = [name.loadObject, name.module === '(unknown)' ? '' : name.module, name.kind === 'normal' ? '' : name.kind];
  return (
    <>
      <h2>{name.name.slice(0, 600)}</h2>
      <p>
        {[...new Set(of)].filter((t) => t !== '' && t !== name.name).join(' · ')}
        {p.caller !== undefined && p.caller !== '<Total>' && ` · called by ${p.caller.slice(0, 200)}`}
      </p>
      <div class="values">
        {p.rows.map(([text, value, formatted, share]) => [
          <span key={text} class="dim">
            {text}
          </span>,
          <Meter key={text + 'm'} part={value} total={p.total} />,
          <span key={text + 'v'} class="number">
            {formatted}
          </span>,
          <span key={text + 's'} class="number dim">
            {share}
          </span>,
        ])}
      </div>
    </>
  );
}
