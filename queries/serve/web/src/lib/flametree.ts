// Flame graphs as trees of frames with positions. Other trees are made from them: inverted ones, and
// sandwiches (the callers and callees of a function).
import { matcher } from './search';
import { hash, num, type Value } from './units';

// FlameAnswer is the server's answer: the nodes of a tree in depth-first order, with a list for each
// property.
export interface FlameAnswer {
  metric: string;
  unit: string;
  mode: string;
  experiments: number;
  nodes: number; // number of nodes of the whole tree; the lists may have fewer
  side?: string; // inverted, callers or callees; undefined if the tree starts at the root
  group?: string;
  of?: string;
  names: NameColumns;
  level: number[];
  name: number[]; // by node: index into names
  value: Value[];
  exclusive: Value[];
}

export interface NameColumns {
  name: string[];
  load_object: string[];
  module: string[];
  kind: string[];
}

// Frames are the nodes of a tree in depth-first order, with an array for each property. The descendants of
// node n are n+1 to last[n].
export interface Frames {
  count: number;
  names: Name[];
  name: Int32Array; // index into names
  depth: Int32Array;
  parent: Int32Array; // index of the caller's frame; -1 for the root
  last: Int32Array;
  path: Uint32Array; // hash of the names on the path from the root: identifies a frame in links
  start: Float64Array; // position of the left edge; a frame is as wide as its value
  value: Float64Array;
  exclusive: Float64Array;
}

export interface Name {
  name: string;
  loadObject: string;
  module: string; // without directories
  kind: string;
}

// Branch is a node of a tree under construction.
interface Branch {
  name: number;
  value: number;
  exclusive: number;
  below: Map<number, Branch>;
}

// layoutAnswer returns the frames of an answer. The seed is part of the path hashes: trees with different
// seeds do not share any.
export function layoutAnswer(a: FlameAnswer, seed = 0): Frames {
  return layoutColumns(a, a.value, a.exclusive, seed);
}

// isCut reports whether the server left nodes out. If so, the page cannot make inverted trees and
// sandwiches itself, but requests them from the server.
export function isCut(a: FlameAnswer): boolean {
  return a.names.name.some((name, i) => isLeftOut({ name, kind: a.names.kind[i]! }));
}

// isLeftOut reports whether a frame is the sum of nodes that were left out.
export function isLeftOut(n: { name: string; kind: string }): boolean {
  return n.kind === 'artificial' && /^<\d+ more>$/.test(n.name);
}

// layoutColumns returns the frames of a tree, with given values.
export function layoutColumns(
  a: { names: NameColumns; level: number[]; name: number[] },
  value: Value[],
  exclusive: Value[],
  seed = 0,
): Frames {
  const names = a.names.name.map((name, i): Name => ({
    name,
    loadObject: a.names.load_object[i]!,
    module: a.names.module[i]!,
    kind: a.names.kind[i]!,
  }));
  const f = empty(a.level.length, names);
  f.name.set(a.name);
  f.depth.set(a.level);
  const latest: number[] = []; // by level: the latest node
  for (let n = 0; n < f.count; n++) {
    f.value[n] = num(value[n]);
    f.exclusive[n] = num(exclusive[n]);
    latest[f.depth[n]!] = n;
    if (n > 0) f.parent[n] = latest[f.depth[n]! - 1]!;
  }
  return setPositions(f, seed);
}

function empty(count: number, names: Name[]): Frames {
  return {
    count,
    names,
    name: new Int32Array(count),
    depth: new Int32Array(count),
    parent: new Int32Array(count).fill(-1),
    last: new Int32Array(count),
    path: new Uint32Array(count),
    start: new Float64Array(count),
    value: new Float64Array(count),
    exclusive: new Float64Array(count),
  };
}

// setPositions sets the path hashes and positions of frames. Frames are side by side; the first one begins
// at its caller's left edge.
function setPositions(f: Frames, seed: number): Frames {
  const hashes = f.names.map((n) => hash(n.name));
  const end = new Float64Array(f.count); // by frame: the right edge of its last child so far
  for (let n = 0; n < f.count; n++) {
    const p = f.parent[n]!;
    f.path[n] = Math.imul((p < 0 ? seed : f.path[p]!) ^ hashes[f.name[n]!]!, 16777619) + 1;
    if (p >= 0) {
      f.start[n] = end[p]!;
      end[p] = end[p]! + f.value[n]!;
    }
    end[n] = f.start[n]!;
  }
  for (let n = f.count - 1; n >= 0; n--) {
    f.last[n] = Math.max(f.last[n]!, n);
    const p = f.parent[n]!;
    if (p >= 0) f.last[p] = Math.max(f.last[p]!, f.last[n]!);
  }
  return f;
}

// layoutTree returns the frames of a tree.
function layoutTree(root: Branch, names: Name[], seed = 0): Frames {
  const all: Branch[] = [root];
  for (let i = 0; i < all.length; i++) {
    for (const b of all[i]!.below.values()) all.push(b);
  }
  const f = empty(all.length, names);
  // No recursion: recorded stacks can be deeper than the browser's own stack may be.
  const open: { branch: Branch; parent: number; depth: number }[] = [{ branch: root, parent: -1, depth: 0 }];
  let n = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { branch, parent, depth } = next;
    f.name[n] = branch.name;
    f.depth[n] = depth;
    f.parent[n] = parent;
    f.value[n] = branch.value;
    f.exclusive[n] = branch.exclusive;
    const below = [...branch.below.values()].sort(
      (a, b) => a.value - b.value || (names[a.name]!.name < names[b.name]!.name ? 1 : -1),
    );
    for (const b of below) open.push({ branch: b, parent: n, depth: depth + 1 });
    n++;
  }
  return setPositions(f, seed);
}

// invert returns the tree that starts with the leaves and has their callers below them.
export function invert(f: Frames): Frames {
  const root: Branch = { name: f.name[0]!, value: f.value[0]!, exclusive: 0, below: new Map() };
  for (let n = 0; n < f.count; n++) {
    const value = f.exclusive[n]!;
    if (value === 0) continue;
    if (n === 0) {
      root.exclusive += value;
      continue;
    }
    let at = root;
    for (let k = n; k > 0; k = f.parent[k]!) at = addChild(at, f.name[k]!, value);
    at.exclusive += value;
  }
  return layoutTree(root, f.names);
}

// groups are what a sandwich can be about: a function, or all functions of a module or a load object.
export const groups = ['function', 'module', 'load object'] as const;
export type Group = (typeof groups)[number];

export function groupOf(n: Name, group: Group): string {
  return group === 'module' ? n.module : group === 'load object' ? n.loadObject : n.name;
}

// sandwich returns two trees for a group (the functions named `of`): one of its callers and one of its
// callees. A sample counts once, where its stack first enters the group. Functions of one module or load
// object that call each other are one frame.
export function sandwich(f: Frames, group: Group, of: string): { callers: Frames; callees: Frames; value: number } {
  const named = f.names.map((n) => groupOf(n, group) === of && (group === 'function' || n.kind !== 'artificial'));
  const first = f.names[named.indexOf(true)] ?? { name: of, loadObject: '', module: '', kind: 'artificial' };
  const names = [
    ...f.names,
    group === 'function' ? first : { ...first, name: of, module: group === 'module' ? of : '', kind: group },
  ];
  const root = (): Branch => ({ name: names.length - 1, value: 0, exclusive: 0, below: new Map() });
  const callees = root();
  const callers = root();
  const at: (Branch | undefined)[] = []; // by frame: its branch in callees; undefined outside of the group
  for (let n = 0; n < f.count; n++) {
    const p = f.parent[n]!;
    const above = p < 0 ? undefined : at[p];
    const mine = named[f.name[n]!]!;
    if (above === undefined && !mine) continue;
    if (above === undefined) {
      callees.value += f.value[n]!;
      callers.value += f.value[n]!;
      let up = callers;
      for (let k = p; k > 0; k = f.parent[k]!) up = addChild(up, f.name[k]!, f.value[n]!);
      up.exclusive += f.value[n]!;
      at[n] = callees;
    } else {
      at[n] = above === callees && mine && group !== 'function' ? callees : addChild(above, f.name[n]!, f.value[n]!);
    }
    at[n]!.exclusive += f.exclusive[n]!;
  }
  return { callers: layoutTree(callers, names, 1), callees: layoutTree(callees, names), value: callees.value };
}

function addChild(to: Branch, name: number, value: number): Branch {
  let b = to.below.get(name);
  if (b === undefined) {
    b = { name, value: 0, exclusive: 0, below: new Map() };
    to.below.set(name, b);
  }
  b.value += value;
  return b;
}

// searchFrames returns, by name, whether a search matches it, and the sum of the frames with such names;
// undefined if the search is empty.
export function searchFrames(f: Frames, search: string): { is: boolean[]; value: number } | undefined {
  const test = matcher(search);
  if (test === undefined) return undefined;
  const is = f.names.map((n) => test(n.name) || test(n.loadObject) || test(n.module));
  let value = 0;
  for (let n = 0; n < f.count;) {
    if (is[f.name[n]!]!) {
      value += f.value[n]!;
      n = f.last[n]! + 1;
    } else n++;
  }
  return { is, value };
}
