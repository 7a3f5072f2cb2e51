// A strip that shows the heat of all rows of a file, with a window for the visible ones that can be dragged.
import { useEffect, useRef, useState } from 'preact/hooks';
import { tokenColor, useDark } from '../lib/theme';
import type { Window } from './codegrid';

export interface Spot {
  at: number; // from 0, the first row, to 1
  heat: number; // from 1 to 5
}

const mark = 4; // px: the height of a spot

export function HeatStrip(p: {
  spots: Spot[];
  range: [number, number]; // the rows of the function
  window: Window;
  scrollTo: (fraction: number) => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [height, setHeight] = useState(0);
  const dark = useDark();
  useEffect(() => {
    const watch = new ResizeObserver(() => setHeight(host.current!.clientHeight));
    watch.observe(host.current!);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const on = canvas.current!;
    const scale = devicePixelRatio;
    on.width = 12 * scale;
    on.height = height * scale;
    const to = on.getContext('2d')!;
    to.scale(scale, scale);
    to.fillStyle = tokenColor('--line');
    to.fillRect(0, p.range[0] * height, 2, Math.max(2, (p.range[1] - p.range[0]) * height));
    for (const level of [1, 2, 3, 4, 5]) {
      to.fillStyle = tokenColor(`--heat${level}`);
      for (const s of p.spots)
        if (s.heat === level) to.fillRect(2, Math.min(height - mark, Math.floor(s.at * height)), 8, mark);
    }
  }, [p.spots, p.range, height, dark]);
  const go = (e: PointerEvent) => {
    const box = host.current!.getBoundingClientRect();
    p.scrollTo(Math.max(0, Math.min(1, (e.clientY - box.top) / box.height)));
  };
  return (
    <div
      ref={host}
      class="heatstrip"
      aria-hidden="true"
      title="Heat of the whole file: click or drag to move there"
      onPointerDown={(e) => {
        e.preventDefault();
        e.currentTarget.setPointerCapture(e.pointerId);
        go(e);
      }}
      onPointerMove={(e) => {
        if (e.buttons === 1) go(e);
      }}
    >
      <canvas ref={canvas} style={{ height: `${height}px` }} />
      <i style={{ top: `${100 * p.window.from}%`, height: `max(6px, ${100 * (p.window.to - p.window.from)}%)` }} />
    </div>
  );
}
