// The minimap of a flame graph: the whole graph, small, with the window that is drawn.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { whole, within, type Window } from '../lib/flamewindow';
import { draw, type Look } from './flamecanvas';

const edge = 8; // pixels at the sides of the window by which it is resized

export function FlameMap({
  look,
  window,
  move,
}: {
  look: Look;
  window: Window;
  move: (to: (w: Window) => Window) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const grabbed = useRef<{ part: 'from' | 'until' | 'all'; at: number; was: Window } | undefined>(undefined);
  const coarse = look.layers[0]!;
  const redraw = () => {
    if (canvas.current === null) return;
    const height = canvas.current.clientHeight;
    const row = Math.min(3, Math.max(1, height / Math.min(look.levels, 28)));
    draw(canvas.current, {
      ...look,
      layers: [coarse],
      window: whole,
      row,
      top: look.upward ? Math.max(0, look.levels * row - height) : 0,
      names: false,
      chosen: () => -1,
      pointed: () => -1,
    });
  };
  const latest = useRef(redraw);
  latest.current = redraw;
  useLayoutEffect(redraw, [coarse, look.paint, look.palette, look.upward]);
  useEffect(() => {
    const resized = new ResizeObserver(() => latest.current());
    resized.observe(canvas.current!);
    return () => resized.disconnect();
  }, []);
  const at = (e: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: (e.clientX - box.left) / box.width, slack: edge / box.width };
  };
  return (
    <div
      class="flamemap"
      aria-hidden="true"
      onPointerDown={(e) => {
        const { x, slack } = at(e);
        e.currentTarget.setPointerCapture(e.pointerId);
        const part =
          Math.abs(x - window.from) < slack ? 'from' : Math.abs(x - window.until) < slack ? 'until' : ('all' as const);
        let was = window;
        if (part === 'all' && (x < window.from || x > window.until)) {
          const width = window.until - window.from;
          was = within(x - width / 2, width);
          move(() => was);
        }
        grabbed.current = { part, at: x, was };
      }}
      onPointerMove={(e) => {
        const hold = grabbed.current;
        const { x, slack } = at(e);
        if (hold === undefined) {
          const near = Math.min(Math.abs(x - window.from), Math.abs(x - window.until)) < slack;
          e.currentTarget.style.cursor = near ? 'ew-resize' : x > window.from && x < window.until ? 'grab' : 'pointer';
          return;
        }
        const { part, was } = hold;
        const by = x - hold.at;
        const least = slack / 4;
        if (part === 'all') move(() => within(was.from + by, was.until - was.from));
        else if (part === 'from')
          move(() => ({ ...was, from: Math.min(Math.max(was.from + by, 0), was.until - least) }));
        else move(() => ({ ...was, until: Math.max(Math.min(was.until + by, 1), was.from + least) }));
      }}
      onPointerUp={() => void (grabbed.current = undefined)}
      onPointerCancel={() => void (grabbed.current = undefined)}
    >
      <canvas ref={canvas} />
      <div
        class="flamewindow"
        style={{ left: `${100 * window.from}%`, width: `max(6px, ${100 * (window.until - window.from)}%)` }}
      />
    </div>
  );
}
