// Colours of frames: the same name has the same one, everywhere.
import type { Name } from './flametree';
import { hash } from './units';

export const schemes = ['load object', 'function', 'kind'] as const;
export type Scheme = (typeof schemes)[number];

// fill is the colour of a frame. What has no function of its own is grey.
export function fill(n: Name, scheme: Scheme, dark: boolean): string {
  if (n.kind === 'artificial' || n.kind === 'unknown' || n.name.startsWith('<')) return dark ? '#4a4f57' : '#d3d7dd';
  const by = scheme === 'function' ? n.name : scheme === 'kind' ? n.kind : n.loadObject;
  const h = hash(by);
  // Within a load object, functions differ a little in lightness.
  const shade = (scheme === 'load object' ? hash(n.name) % 9 : (h >>> 16) % 7) - 4;
  return `hsl(${h % 360} ${dark ? 38 : 62}% ${(dark ? 36 : 76) + shade}%)`;
}
