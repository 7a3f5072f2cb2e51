// Flame graphs: trees of functions, their layout, and the same seen from other sides.
import { finder } from './finder';
import { hash, num, type Value } from './units';

// FlameAnswer has the nodes of a tree in columns, in the order in which they are drawn.
export interface FlameAnswer {
  metric: string;
  unit: string;
  mode: string;
  experiments: number;
  nodes: number; // all that there are, seen from the root
  side?: string; // that the server made
  group?: string;
  of?: string;
  names: NameColumns;
  level: number[];
  name: number[]; // of names
  value: Value[];
  exclusive: Value[];
}

export interface NameColumns {
  name: string[];
  load_object: string[];
  module: string[];
  kind: string[];
}

// Frames are the nodes of a tree in the order in which they are drawn, in columns: a node
// is followed by those below it, up to its last.
export interface Frames {
  count: number;
  names: Name[];
  name: Int32Array; // of names
  depth: Int32Array;
  parent: Int32Array; // -1 of the root
  last: Int32Array;
  path: Uint32Array; // hash of the names from the root, which links have
  start: Float64Array; // from the left edge
  value: Float64Array;
  exclusive: Float64Array;
}

export interface Name {
  name: string;
  loadObject: string;
  module: string; // without directories
  kind: string;
}

// Branch is a node while a tree is made.
interface Branch {
  name: number;
  value: number;
  exclusive: number;
  below: Map<number, Branch>;
}

// framesOf lays out the nodes that the server sends. Paths in trees with other seeds are others.
export function framesOf(a: FlameAnswer, seed = 0): Frames {
  return framesIn(a, a.value, a.exclusive, seed);
}

// isCut says whether nodes are left out. Of such a tree, other sides would lack what is: the
// server makes them.
export function isCut(a: FlameAnswer): boolean {
  return a.names.name.some((name, i) => isLeftOut({ name, kind: a.names.kind[i]! }));
}

// isLeftOut says whether a frame stands for what is left out.
export function isLeftOut(n: { name: string; kind: string }): boolean {
  return n.kind === 'artificial' && /^<\d+ more>$/.test(n.name);
}

// framesIn lays out nodes by their values.
export function framesIn(a: { names: NameColumns; level: number[]; name: number[] }, value: Value[], exclusive: Value[], seed = 0): Frames {
  const names = a.names.name.map((name, i): Name => ({ name, loadObject: a.names.load_object[i]!, module: a.names.module[i]!, kind: a.names.kind[i]! }));
  const f = empty(a.level.length, names);
  f.name.set(a.name);
  f.depth.set(a.level);
  const at: number[] = []; // the last node of each level
  for (let n = 0; n < f.count; n++) {
    f.value[n] = num(value[n]);
    f.exclusive[n] = num(exclusive[n]);
    at[f.depth[n]!] = n;
    if (n > 0) f.parent[n] = at[f.depth[n]! - 1]!;
  }
  return placed(f, seed);
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

// placed finds where frames lie: side by side, from their caller's left edge.
function placed(f: Frames, seed: number): Frames {
  const hashes = f.names.map((n) => hash(n.name));
  const end = new Float64Array(f.count); // of what was placed of those below a frame
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

// layout lays out a tree.
function layout(root: Branch, names: Name[], seed = 0): Frames {
  const all: Branch[] = [root];
  for (let i = 0; i < all.length; i++) {
    for (const b of all[i]!.below.values()) all.push(b);
  }
  const f = empty(all.length, names);
  // No recursion: stacks are deeper than that of the browser.
  const open: { branch: Branch; parent: number; depth: number }[] = [{ branch: root, parent: -1, depth: 0 }];
  let n = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { branch, parent, depth } = next;
    f.name[n] = branch.name;
    f.depth[n] = depth;
    f.parent[n] = parent;
    f.value[n] = branch.value;
    f.exclusive[n] = branch.exclusive;
    const below = [...branch.below.values()].sort((a, b) => a.value - b.value || (names[a.name]!.name < names[b.name]!.name ? 1 : -1));
    for (const b of below) open.push({ branch: b, parent: n, depth: depth + 1 });
    n++;
  }
  return placed(f, seed);
}

// inverted is the tree from the other end: who has time, and below each who calls it.
export function inverted(f: Frames): Frames {
  const root: Branch = { name: f.name[0]!, value: f.value[0]!, exclusive: 0, below: new Map() };
  for (let n = 0; n < f.count; n++) {
    const value = f.exclusive[n]!;
    if (value === 0) continue;
    if (n === 0) {
      root.exclusive += value;
      continue;
    }
    let at = root;
    for (let k = n; k > 0; k = f.parent[k]!) at = add(at, f.name[k]!, value);
    at.exclusive += value;
  }
  return layout(root, f.names);
}

// Group is what a sandwich is around: a function, or all of a module or a load object.
export const groups = ['function', 'module', 'load object'] as const;
export type Group = (typeof groups)[number];

export function groupOf(n: Name, group: Group): string {
  return group === 'module' ? n.module : group === 'load object' ? n.loadObject : n.name;
}

// around is the tree of what a group calls, and that of those that call it. What a sample
// passes more than once counts once, where it is entered first. Functions of a module or a
// load object that call each other are one frame.
export function around(f: Frames, group: Group, of: string): { callers: Frames; callees: Frames; value: number } {
  const named = f.names.map((n) => groupOf(n, group) === of && (group === 'function' || n.kind !== 'artificial'));
  const first = f.names[named.indexOf(true)] ?? { name: of, loadObject: '', module: '', kind: 'artificial' };
  const names = [...f.names, group === 'function' ? first : { ...first, name: of, module: group === 'module' ? of : '', kind: group }];
  const root = (): Branch => ({ name: names.length - 1, value: 0, exclusive: 0, below: new Map() });
  const callees = root();
  const callers = root();
  const at: (Branch | undefined)[] = []; // of callees; none above the group
  for (let n = 0; n < f.count; n++) {
    const p = f.parent[n]!;
    const above = p < 0 ? undefined : at[p];
    const mine = named[f.name[n]!]!;
    if (above === undefined && !mine) continue;
    if (above === undefined) {
      callees.value += f.value[n]!;
      callers.value += f.value[n]!;
      let up = callers;
      for (let k = p; k > 0; k = f.parent[k]!) up = add(up, f.name[k]!, f.value[n]!);
      up.exclusive += f.value[n]!;
      at[n] = callees;
    } else {
      at[n] = above === callees && mine && group !== 'function' ? callees : add(above, f.name[n]!, f.value[n]!);
    }
    at[n]!.exclusive += f.exclusive[n]!;
  }
  return { callers: layout(callers, names, 1), callees: layout(callees, names), value: callees.value };
}

function add(to: Branch, name: number, value: number): Branch {
  let b = to.below.get(name);
  if (b === undefined) {
    b = { name, value: 0, exclusive: 0, below: new Map() };
    to.below.set(name, b);
  }
  b.value += value;
  return b;
}

// matching returns which names a search finds, and how much of the tree is below them;
// nothing if the search is none.
export function matching(f: Frames, search: string): { is: boolean[]; value: number } | undefined {
  const test = finder(search);
  if (test === undefined) return undefined;
  const is = f.names.map((n) => test(n.name) || test(n.loadObject) || test(n.module));
  let value = 0;
  for (let n = 0; n < f.count; ) {
    if (is[f.name[n]!]!) {
      value += f.value[n]!;
      n = f.last[n]! + 1;
    } else n++;
  }
  return { is, value };
}
