// Drawing frames: those that are wider than half a pixel, in the part that is looked at.
import type { Frames } from './flametree';

export const rowHeight = 18;

// mostRows are drawn: browsers draw nothing on canvases of more than 32,767 pixels.
export const mostRows = 800;

export interface Look {
  focus: number; // the frame that fills the width
  found: boolean[] | undefined; // by name: what a search finds
  fill: (frame: number) => string;
  mark: (frame: number) => string; // before its name
  dark: boolean;
  upward: boolean; // the root is at the bottom
}

// span is where a frame lies, in parts of the width; those above the focus fill it.
function span(f: Frames, n: number, focus: number): [number, number] {
  const from = f.start[focus]!;
  const width = f.value[focus]! || 1;
  if (f.last[n]! >= focus && n <= focus) return [0, 1];
  return [(f.start[n]! - from) / width, (f.start[n]! + f.value[n]! - from) / width];
}

// Levels are those that are drawn with a focus: as many of the callers as leave room for all
// that is below it.
export interface Levels {
  first: number;
  count: number;
  all: number; // from the root to the deepest frame
}

export function levels(f: Frames, focus: number): Levels {
  const at = f.depth[focus]!;
  let deepest = at;
  for (let n = focus; n <= f.last[focus]!; n++) deepest = Math.max(deepest, f.depth[n]!);
  const all = deepest + 1;
  const first = Math.max(0, Math.min(at, all - mostRows));
  return { first, count: Math.min(all - first, mostRows), all };
}

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
  const { first, count } = levels(f, look.focus);
  const text = look.dark ? '#f2f4f7' : '#14171c';
  let drawn = 0;
  const one = (n: number): boolean => {
    if (f.depth[n]! - first >= count) return false;
    const [from, to] = span(f, n, look.focus);
    const x = from * width;
    const w = (to - from) * width;
    if (w < 0.5) return false;
    const y = top(f.depth[n]! - first, look, height);
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
  for (let n = look.focus; n >= 0 && f.depth[n]! >= first; n = f.parent[n]!) one(n);
  for (let n = look.focus + 1; n <= f.last[look.focus]!; ) {
    n = one(n) ? n + 1 : f.last[n]! + 1; // what is below a thin one is thinner
  }
  g.globalAlpha = 1;
  return drawn;
}

function top(row: number, look: Look, height: number): number {
  const y = row * rowHeight;
  return look.upward ? height - y - rowHeight : y;
}

// clip shortens a name to about so many letters. The path of a package goes first, since
// what tells functions apart comes after it.
function clip(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const short = name.slice(/^[\w.+~-]+(\/[\w.+~-]+)*\//.exec(name)?.[0].length ?? 0);
  return short.length <= letters ? short : short.slice(0, Math.max(letters - 1, 1)) + '…';
}

// frameAt is the frame at a point of the canvas, -1 if there is none.
export function frameAt(f: Frames, look: Look, x: number, y: number, width: number, height: number): number {
  const depth = Math.floor((look.upward ? height - y : y) / rowHeight) + levels(f, look.focus).first;
  const at = x / width;
  for (let n = look.focus; n >= 0; n = f.parent[n]!) {
    if (f.depth[n] === depth) return n;
  }
  for (let n = look.focus + 1; n <= f.last[look.focus]!; ) {
    const [from, to] = span(f, n, look.focus);
    if (at < from || at >= to) n = f.last[n]! + 1;
    else if (f.depth[n] === depth) return n;
    else n++;
  }
  return -1;
}
