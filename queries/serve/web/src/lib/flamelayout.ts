// Zoom and scroll of a flame graph on a canvas: which rows and frames are visible. Positions of frames in
// the whole graph are computed in flametree.ts.
import type { Frames } from './flametree';

export const rowHeight = 18;

// maxRows keeps a canvas below the height of 32,767 pixels, above which browsers draw nothing.
export const maxRows = 800;

export interface View {
  focus: number; // index of the frame that fills the width
  upward: boolean; // the root is at the bottom, not at the top
}

// Rows says which levels of a tree are drawn: all below the focus and, as far as maxRows allows, the levels
// of its callers.
export interface Rows {
  first: number;
  count: number;
  all: number; // number of levels from the root to the deepest frame below the focus
}

export function visibleRows(f: Frames, focus: number): Rows {
  const depth = f.depth[focus]!;
  let deepest = depth;
  for (let n = focus; n <= f.last[focus]!; n++) deepest = Math.max(deepest, f.depth[n]!);
  const all = deepest + 1;
  const first = Math.max(0, Math.min(depth, all - maxRows));
  return { first, count: Math.min(all - first, maxRows), all };
}

// horizontal returns the left and right edge of a frame as fractions of the canvas's width. The focus and
// its callers fill the width.
export function horizontal(f: Frames, n: number, focus: number): [number, number] {
  if (f.last[n]! >= focus && n <= focus) return [0, 1];
  const from = f.start[focus]!;
  const width = f.value[focus]! || 1;
  return [(f.start[n]! - from) / width, (f.start[n]! + f.value[n]! - from) / width];
}

// rowTop returns the y coordinate of a row's upper edge, in pixels.
export function rowTop(row: number, upward: boolean, height: number): number {
  const y = row * rowHeight;
  return upward ? height - y - rowHeight : y;
}

// frameAt returns the index of the frame at a point of the canvas, or -1.
export function frameAt(
  f: Frames,
  { focus, upward }: View,
  x: number,
  y: number,
  width: number,
  height: number,
): number {
  const depth = Math.floor((upward ? height - y : y) / rowHeight) + visibleRows(f, focus).first;
  const at = x / width;
  for (let n = focus; n >= 0; n = f.parent[n]!) {
    if (f.depth[n] === depth) return n;
  }
  for (let n = focus + 1; n <= f.last[focus]!;) {
    const [from, to] = horizontal(f, n, focus);
    if (at < from || at >= to) n = f.last[n]! + 1;
    else if (f.depth[n] === depth) return n;
    else n++;
  }
  return -1;
}
