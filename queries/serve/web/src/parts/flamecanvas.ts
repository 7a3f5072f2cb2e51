// Drawing of flame graphs. Frames that are narrower than half a pixel are not drawn.
import { type Layer, type Window } from '../lib/flamewindow';
import type { Frames } from '../lib/flametree';

// Paint says how the frames of a tree look.
export interface Paint {
  fill: (frame: number) => string;
  text?: (frame: number) => string; // color of the name; by default that of the palette
  mark?: (frame: number) => string; // text before the name
  found: boolean[] | undefined; // by name: whether the search matches it; undefined: no search
}

// Palette has the colors that all frames share.
export interface Palette {
  text: string;
  accent: string; // hits and the chosen frame
  onAccent: string;
  font: string; // family of the names
}

export interface Look {
  layers: Layer[];
  paint: (f: Frames) => Paint;
  palette: Palette;
  label: (f: Frames, n: number) => string;
  window: Window;
  upward: boolean; // the root is at the bottom, not at the top
  row: number; // height of a row
  top: number; // pixels that are scrolled away
  levels: number;
  names: boolean; // draw the names
  chosen: (f: Frames) => number; // the chosen frame, or -1
  pointed: (f: Frames) => number; // the frame under the pointer, or -1
}

const letters = new Map<string, number>(); // width of a letter by font

function letterWidth(g: CanvasRenderingContext2D): number {
  let width = letters.get(g.font);
  if (width === undefined) {
    width = g.measureText('nnnnnnnnnn').width / 10;
    if (document.fonts.status === 'loaded') letters.set(g.font, width);
  }
  return width;
}

// draw draws the visible frames and returns their number.
export function draw(canvas: HTMLCanvasElement, look: Look): number {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = `11.5px ${look.palette.font}`;
  g.textBaseline = 'middle';
  const scale = width / (look.window.until - look.window.from);
  const edge = (x: number) => Math.min(Math.max((x - look.window.from) * scale, 0), width);
  let drawn = 0;
  look.layers.forEach((layer, i) => {
    // A layer is drawn where no finer one is.
    const finer = look.layers[i + 1];
    const parts = finer === undefined ? [layer.window] : outside(layer.window, finer.window);
    for (const part of parts) {
      const [left, right] = [edge(part.from), edge(part.until)];
      if (left >= right) continue;
      const all = left === 0 && right === width;
      if (!all) {
        g.save();
        g.beginPath();
        g.rect(left, 0, right - left, height);
        g.clip();
      }
      drawn += drawLayer(g, layer.frames, look, { left, right, width, height, scale });
      if (!all) g.restore();
    }
  });
  return drawn;
}

function outside(all: Window, hole: Window): Window[] {
  return [
    { from: all.from, until: Math.min(hole.from, all.until) },
    { from: Math.max(hole.until, all.from), until: all.until },
  ];
}

interface Clip {
  left: number; // pixels
  right: number;
  width: number; // of the canvas
  height: number;
  scale: number; // pixels of the whole width
}

function drawLayer(g: CanvasRenderingContext2D, f: Frames, look: Look, clip: Clip): number {
  const total = f.value[0]!;
  if (total === 0) return 0;
  const { palette, row } = look;
  const paint = look.paint(f);
  const chosen = look.chosen(f);
  const pointed = look.pointed(f);
  const gap = look.names ? 1 : 0;
  const letter = look.names ? letterWidth(g) : 0;
  const perValue = clip.scale / total;
  const origin = look.window.from * clip.scale;
  let drawn = 0;
  for (let n = 0; n < f.count;) {
    const from = f.start[n]! * perValue - origin;
    const until = from + f.value[n]! * perValue;
    const level = f.depth[n]!;
    const y = (look.upward ? look.levels - 1 - level : level) * row - look.top;
    const beyond = look.upward ? y + row <= 0 : y >= clip.height;
    const x = Math.max(from, 0);
    const w = Math.min(until, clip.width) - x;
    if (w < 0.5 || until <= clip.left || from >= clip.right || beyond) {
      n = f.last[n]! + 1; // a frame that is not drawn has no visible callees
      continue;
    }
    if (y + row > 0 && y < clip.height) {
      const found = paint.found?.[f.name[n]!] === true;
      g.fillStyle = found ? palette.accent : paint.fill(n);
      g.fillRect(x, y, Math.max(w > 3 ? w - gap : w, 0.5), row - gap);
      if (look.names && w > 34) {
        const text = cut((paint.mark?.(n) ?? '') + look.label(f, n), Math.floor((w - 10) / letter));
        if (text !== '') {
          g.fillStyle = found ? palette.onAccent : (paint.text?.(n) ?? palette.text);
          g.fillText(text, x + 5, y + row / 2 + 0.5);
        }
      }
      if (n === chosen || n === pointed) {
        g.strokeStyle = palette.accent;
        g.lineWidth = n === chosen ? 2 : 1;
        g.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), row - 3);
      }
      drawn++;
    }
    n++;
  }
  return drawn;
}

// cut shortens a text to a number of letters.
function cut(text: string, most: number): string {
  return text.length <= most ? text : most < 3 ? '' : text.slice(0, most - 1) + '…';
}
