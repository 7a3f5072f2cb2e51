// Colors of frames. The same name has the same color in all graphs.
import type { Name } from './flametree';
import { waitOf } from './threadstates';
import { hash } from './units';

export const schemes = ['load object', 'module', 'function', 'kind'] as const;
export type Scheme = (typeof schemes)[number];

// colorKey returns the text that determines a frame's color: the name of its function, its module or its
// load object, or its kind. It is "" for gray frames, which have no function. Waits have the color of their
// state.
export function colorKey(n: Name, scheme: Scheme): string {
  if (n.kind === 'artificial' && waitOf(n.name) !== undefined) return n.name;
  if (scheme === 'kind') return n.kind;
  // Without a kind, only <...> marks such frames; but names of static functions and of Rust's may begin
  // with < as well.
  if (n.kind === 'artificial' || n.kind === 'unknown' || (n.kind === '' && n.name.startsWith('<'))) return '';
  if (scheme === 'module' && n.module === '(unknown)') return '';
  return scheme === 'function' ? n.name : scheme === 'module' ? n.module : n.loadObject;
}

// keyColor returns the color of a key. Names that share a key get slightly different lightness.
export function keyColor(key: string, dark: boolean, name = ''): string {
  const wait = waitOf(key);
  if (wait !== undefined) return dark ? wait.dark : wait.light;
  if (key === '' || key === 'artificial' || key === 'unknown') return dark ? '#4a4f57' : '#d3d7dd';
  const h = hash(key);
  const shade = name === '' ? 0 : (hash(name) % 9) - 4;
  return `hsl(${h % 360} ${dark ? 38 : 62}% ${(dark ? 36 : 76) + shade}%)`;
}

export function frameColor(n: Name, scheme: Scheme, dark: boolean): string {
  return keyColor(colorKey(n, scheme), dark, n.name);
}

// changeColor returns the color of a change: red if test is higher, blue if base is, the stronger the
// larger the change relative to the higher value. If only one side has a value, it has a color of its own.
export function changeColor(base: number, test: number, dark: boolean): string {
  if (base === 0 && test > 0) return dark ? '#8a4b00' : '#ffb454';
  if (test === 0 && base > 0) return dark ? '#5b3c8f' : '#c9b3f2';
  const change = (test - base) / Math.max(base, test, Number.MIN_VALUE);
  const strength = Math.min(1, Math.abs(change) * 2);
  if (strength < 0.01) return dark ? '#3d434c' : '#e4e7eb';
  const [saturation, lightness] = dark
    ? [20 + 45 * strength, 26 + 14 * strength]
    : [40 + 50 * strength, 90 - 22 * strength];
  return `hsl(${change > 0 ? 4 : 212} ${saturation}% ${lightness}%)`;
}
