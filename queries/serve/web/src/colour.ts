// Colours of frames: the same name has the same one, everywhere.
import type { Name } from './flametree';
import { hash } from './units';

export const schemes = ['load object', 'module', 'function', 'kind'] as const;
export type Scheme = (typeof schemes)[number];

// keyOf is what names of one colour have in common; empty for what has no function of its
// own, which is grey.
export function keyOf(n: Name, scheme: Scheme): string {
  if (scheme === 'kind') return n.kind;
  // Names of static functions, and of Rust's, may begin with <.
  if (n.kind === 'artificial' || n.kind === 'unknown' || (n.kind === '' && n.name.startsWith('<'))) return '';
  if (scheme === 'module' && n.module === '(unknown)') return '';
  return scheme === 'function' ? n.name : scheme === 'module' ? n.module : n.loadObject;
}

// colour is that of a key; within it, names differ a little in lightness.
export function colour(key: string, dark: boolean, name = ''): string {
  if (key === '' || key === 'artificial' || key === 'unknown') return dark ? '#4a4f57' : '#d3d7dd';
  const h = hash(key);
  const shade = name === '' ? 0 : (hash(name) % 9) - 4;
  return `hsl(${h % 360} ${dark ? 38 : 62}% ${(dark ? 36 : 76) + shade}%)`;
}

// fill is the colour of a frame.
export function fill(n: Name, scheme: Scheme, dark: boolean): string {
  return colour(keyOf(n, scheme), dark, n.name);
}

// changeColour says how a value changes: red is more, blue is less, and the darker, the more
// of the larger one. What only one side has has colours of its own.
export function changeColour(base: number, test: number, dark: boolean): string {
  if (base === 0 && test > 0) return dark ? '#8a4b00' : '#ffb454';
  if (test === 0 && base > 0) return dark ? '#5b3c8f' : '#c9b3f2';
  const change = (test - base) / Math.max(base, test, Number.MIN_VALUE);
  const much = Math.min(1, Math.abs(change) * 2);
  if (much < 0.01) return dark ? '#3d434c' : '#e4e7eb';
  return `hsl(${change > 0 ? 4 : 212} ${dark ? 20 + 45 * much : 40 + 50 * much}% ${dark ? 26 + 14 * much : 90 - 22 * much}%)`;
}
