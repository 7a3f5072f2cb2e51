// Flame graphs as trees of frames with positions. Other trees are made from them: inverted ones, and
// sandwiches (the callers and callees of a function).
import { matcher } from './search';
import { num, type Value } from './units';

// FlameAnswer is the server's answer: the nodes of a tree in depth-first order, with a list for each
// property.
export interface FlameAnswer {
  metric: string;
  unit: string;
  mode: string;
  experiments: number;
  nodes: number; // number of nodes of the whole tree; the lists may have fewer
  total?: Value; // value of the whole tree, whatever the side
  side?: string; // inverted, callers or callees; undefined if the tree starts at the root
  group?: string;
  of?: string;
  window?: [number, number]; // the part of the whole width that is shown; undefined: all
  groups?: FlameGroups;
  names: NameColumns;
  level: number[];
  name: number[]; // by node: index into names
  start?: Value[]; // by node: position of the left edge; undefined if the tree is complete
  value: Value[];
  exclusive: Value[];
}

export interface NameColumns {
  name: string[];
  load_object: string[];
  module: string[];
  kind: string[];
  group?: number[]; // index into the lists of the groups, or -1
}

// FlameGroups are groups of functions with their values in the whole tree, the highest exclusive value first.
export interface FlameGroups {
  by: string;
  name: string[];
  exclusive: Value[];
  inclusive: Value[];
  more: number; // number of further groups
  more_exclusive: Value;
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
  high: Uint32Array; // the upper half of the frame's id, a hash of its path from the root
  low: Uint32Array; // the lower half
  start: Float64Array; // position of the left edge; a frame is as wide as its value
  value: Float64Array;
  exclusive: Float64Array;
}

export interface Name {
  name: string;
  loadObject: string;
  module: string; // without directories
  kind: string;
  group: number; // index of its group; -1: none
}

// Branch is a node of a tree under construction.
interface Branch {
  name: number;
  value: number;
  exclusive: number;
  below: Map<number, Branch>;
}

// layoutAnswer returns the frames of an answer. The seed is part of the ids: trees with different seeds do not share
// any.
export function layoutAnswer(a: FlameAnswer, seed = a.side === 'callers' ? 1 : 0): Frames {
  return layoutColumns(a, a.value, a.exclusive, seed, a.start);
}

// isCut reports whether nodes of a tree were left out.
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
  start?: Value[], // left edges; without them, frames are side by side
): Frames {
  const names = a.names.name.map((name, i): Name => ({
    name,
    loadObject: a.names.load_object[i]!,
    module: a.names.module[i]!,
    kind: a.names.kind[i]!,
    group: a.names.group?.[i] ?? -1,
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
  return setPositions(f, seed, start);
}

function empty(count: number, names: Name[]): Frames {
  return {
    count,
    names,
    name: new Int32Array(count),
    depth: new Int32Array(count),
    parent: new Int32Array(count).fill(-1),
    last: new Int32Array(count),
    high: new Uint32Array(count),
    low: new Uint32Array(count),
    start: new Float64Array(count),
    value: new Float64Array(count),
    exclusive: new Float64Array(count),
  };
}

// setPositions sets the ids and positions of frames. Without left edges, frames are side by side; the first one begins
// at its caller's left edge.
function setPositions(f: Frames, seed: number, start?: Value[]): Frames {
  const hashes = f.names.map(nameHash);
  const end = new Float64Array(f.count); // by frame: the right edge of its last child so far
  for (let n = 0; n < f.count; n++) {
    const p = f.parent[n]!;
    const [a, b] = hashes[f.name[n]!]!;
    f.high[n] = Math.imul((p < 0 ? seed : f.high[p]!) ^ a, 16777619) + 1;
    f.low[n] = Math.imul((p < 0 ? seed : f.low[p]!) ^ b, 2246822507) + 1;
    if (start !== undefined) f.start[n] = num(start[n]);
    else if (p >= 0) {
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

const encoder = new TextEncoder();

// nameHash returns two hashes of a function, as the server computes them (queries/flametree/layout.go).
function nameHash(n: Name): [number, number] {
  let a = 2166136261;
  let b = 2538058380;
  for (const text of [n.name, n.loadObject, n.module, n.kind]) {
    for (const byte of encoder.encode(text)) {
      a = Math.imul(a ^ byte, 16777619);
      b = Math.imul(b ^ byte, 16777619);
    }
    a = Math.imul(a, 16777619);
    b = Math.imul(b, 16777619);
  }
  return [a, b];
}

const hex = (part: number) => part.toString(16).padStart(8, '0');

// frameID returns the id of a frame, which identifies it in links and requests.
export function frameID(f: Frames, n: number): string {
  return hex(f.high[n]!) + hex(f.low[n]!);
}

// findFrame returns the frame with an id, or -1.
export function findFrame(f: Frames, id: string): number {
  if (!/^[0-9a-f]{16}$/.test(id)) return -1;
  const high = parseInt(id.slice(0, 8), 16);
  const low = parseInt(id.slice(8), 16);
  for (let n = 0; n < f.count; n++) if (f.high[n] === high && f.low[n] === low) return n;
  return -1;
}

// stackOf returns the frames from the root to a frame.
export function stackOf(f: Frames, n: number): number[] {
  const stack: number[] = [];
  for (let at = n; at >= 0; at = f.parent[at]!) stack.unshift(at);
  return stack;
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
  const first = f.names[named.indexOf(true)] ?? { name: of, loadObject: '', module: '', kind: 'artificial', group: -1 };
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

// searchFrames returns, by name, whether a search matches it, the number of frames with such names, and their sum, in
// which nested frames count once; undefined if the search is empty.
export function searchFrames(f: Frames, search: string): { is: boolean[]; frames: number; value: number } | undefined {
  const test = matcher(search);
  if (test === undefined) return undefined;
  const is = f.names.map((n) => test(n.name) || test(n.loadObject) || test(n.module));
  let value = 0;
  let frames = 0;
  let within = -1;
  for (let n = 0; n < f.count; n++) {
    if (!is[f.name[n]!]!) continue;
    frames++;
    if (n > within) {
      value += f.value[n]!;
      within = f.last[n]!;
    }
  }
  return { is, frames, value };
}
