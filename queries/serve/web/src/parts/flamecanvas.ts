// Drawing of flame graphs. Frames that are narrower than half a pixel are not drawn.
import { horizontal, rowHeight, rowTop, visibleRows, type View } from '../lib/flamelayout';
import type { Frames } from '../lib/flametree';
import { clip } from '../lib/clip';

export interface Look extends View {
  found: boolean[] | undefined; // by name: whether the search matches it; undefined: no search
  fill: (frame: number) => string;
  mark: (frame: number) => string; // text before the name
  dark: boolean;
}

// draw draws the visible frames and returns their number.
export function draw(canvas: HTMLCanvasElement, f: Frames, look: Look, selected: number): number {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = '12px system-ui, sans-serif';
  g.textBaseline = 'middle';
  const letter = g.measureText('n').width;
  const { first, count } = visibleRows(f, look.focus);
  const text = look.dark ? '#f2f4f7' : '#14171c';
  let drawn = 0;
  const drawFrame = (n: number): boolean => {
    if (f.depth[n]! - first >= count) return false;
    const [from, to] = horizontal(f, n, look.focus);
    const x = from * width;
    const w = (to - from) * width;
    if (w < 0.5) return false;
    const y = rowTop(f.depth[n]! - first, look.upward, height);
    const name = f.name[n]!;
    g.globalAlpha = look.found === undefined || look.found[name] ? 1 : 0.28;
    g.fillStyle = look.fill(n);
    g.fillRect(x, y, Math.max(w - 0.6, 0.5), rowHeight - 1);
    if (look.found?.[name] === true) {
      g.fillStyle = '#c026d3';
      g.fillRect(x, y + rowHeight - 4, Math.max(w - 0.6, 0.5), 3);
    }
    if (w > 3 * letter + 6) {
      g.globalAlpha = 1;
      g.fillStyle = text;
      g.fillText(clip(look.mark(n) + f.names[name]!.name, Math.floor((w - 6) / letter)), x + 3, y + rowHeight / 2);
    }
    if (n === selected) {
      g.globalAlpha = 1;
      g.strokeStyle = text;
      g.lineWidth = 2;
      g.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), rowHeight - 3);
    }
    drawn++;
    return true;
  };
  for (let n = look.focus; n >= 0 && f.depth[n]! >= first; n = f.parent[n]!) drawFrame(n);
  for (let n = look.focus + 1; n <= f.last[look.focus]!;) {
    n = drawFrame(n) ? n + 1 : f.last[n]! + 1; // a frame that is not drawn has no visible callees: skip them
  }
  g.globalAlpha = 1;
  return drawn;
}
