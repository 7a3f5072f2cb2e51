// The window of a flame graph: the part of its width that is drawn, and the rows of its levels.
import type { Frames } from './flametree';

export const rowHeight = 20;

// Window is a part of a graph's width, from 0 to 1.
export interface Window {
  from: number;
  until: number;
}

export const whole: Window = { from: 0, until: 1 };

const narrowest = 1e-9;

export function isWhole(w: Window): boolean {
  return w.from <= 0 && w.until >= 1;
}

// within moves a window into the graph.
export function within(from: number, width: number): Window {
  const size = Math.min(1, Math.max(width, narrowest));
  const at = Math.min(Math.max(from, 0), 1 - size);
  return { from: at, until: at + size };
}

// zoomed returns a window that is wider by a factor; the point at a part of its width stays where it is.
export function zoomed(w: Window, factor: number, at: number): Window {
  const width = Math.min(1, Math.max((w.until - w.from) * factor, narrowest));
  return within(w.from + at * (w.until - w.from - width), width);
}

// moved returns a window that is moved by a part of its width.
export function moved(w: Window, by: number): Window {
  return within(w.from + by * (w.until - w.from), w.until - w.from);
}

// windowOf returns the window of a frame.
export function windowOf(f: Frames, n: number): Window {
  const total = f.value[0]!;
  if (n === 0 || total === 0 || f.value[n] === 0) return whole;
  return within(f.start[n]! / total, f.value[n]! / total);
}

// formatWindow returns a window as the address and the server have it; '' for the whole graph.
export function formatWindow(w: Window): string {
  return isWhole(w) ? '' : `${Number(w.from.toPrecision(12))},${Number(w.until.toPrecision(12))}`;
}

// parseWindow reads such a text; undefined if it is none.
export function parseWindow(text: string): Window | undefined {
  const [from, until] = text.split(',').map(Number);
  return from !== undefined && until !== undefined && from >= 0 && from < until && until <= 1
    ? { from, until }
    : undefined;
}

// Layer is a tree with the part of its width in which all frames are there that are wide enough.
export interface Layer {
  frames: Frames;
  window: Window;
}

// layerAt returns the finest layer that has a position. The first layer has the whole width, later ones are finer.
export function layerAt(layers: Layer[], x: number): Layer {
  return [...layers].reverse().find((l) => x >= l.window.from && x <= l.window.until) ?? layers[0]!;
}

// frameAt returns the frame of a level at a position, as a part of the whole width; -1 if there is none.
export function frameAt(f: Frames, x: number, level: number): number {
  const at = x * f.value[0]!;
  for (let n = 0; n < f.count;) {
    if (n > 0 && (at < f.start[n]! || at >= f.start[n]! + f.value[n]!)) n = f.last[n]! + 1;
    else if (f.depth[n] === level) return n;
    else if (f.depth[n]! > level) return -1;
    else n++;
  }
  return -1;
}

// levelsOf returns the number of levels of trees.
export function levelsOf(layers: Layer[]): number {
  let deepest = 0;
  for (const { frames } of layers) for (const depth of frames.depth) deepest = Math.max(deepest, depth);
  return deepest + 1;
}

// focusOf returns the frame that fills a window; of several, the one next to the root.
export function focusOf(f: Frames, w: Window): number {
  const total = f.value[0]!;
  const slack = 1e-6 * (w.until - w.from); // positions are rounded
  let focus = 0;
  for (let n = 1; n <= f.last[focus]!;) {
    if (f.start[n]! / total <= w.from + slack && (f.start[n]! + f.value[n]!) / total >= w.until - slack) {
      if (f.value[n]! < f.value[focus]!) focus = n;
      n++;
    } else n = f.last[n]! + 1;
  }
  return focus;
}
