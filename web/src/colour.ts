// Colours of frames: the same name has the same one, everywhere.
import type { Name } from './flametree';
import { hash } from './units';

export const schemes = ['load object', 'module', 'function', 'kind'] as const;
export type Scheme = (typeof schemes)[number];

// keyOf is what names of one colour have in common; empty for what has no function of its
// own, which is grey.
export function keyOf(n: Name, scheme: Scheme): string {
  if (scheme === 'kind') return n.kind;
  if (n.kind === 'artificial' || n.kind === 'unknown' || n.name.startsWith('<')) return '';
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
