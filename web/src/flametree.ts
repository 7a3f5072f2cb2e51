// Flame graphs: trees of functions, their layout, and the same seen from other sides.
import { hash, num, type Value } from './units';

export interface FlameNode {
  name: string;
  load_object: string;
  kind: string;
  value: Value;
  exclusive: Value;
  children: FlameNode[];
}

export interface FlameAnswer {
  metric: string;
  unit: string;
  mode: string;
  experiments: number;
  nodes: number;
  tree: FlameNode | null;
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
  deepest: number;
}

export interface Name {
  name: string;
  loadObject: string;
  kind: string;
}

// Branch is a node while a tree is made.
interface Branch {
  name: number;
  value: number;
  exclusive: number;
  below: Map<number, Branch>;
}

class Names {
  readonly list: Name[] = [];
  private readonly numbers = new Map<string, number>();

  number(n: Name): number {
    const key = n.name + '\n' + n.loadObject + '\n' + n.kind;
    let at = this.numbers.get(key);
    if (at === undefined) {
      at = this.list.length;
      this.numbers.set(key, at);
      this.list.push(n);
    }
    return at;
  }
}

// framesOf lays out a tree as the server sends it.
export function framesOf(tree: FlameNode): Frames {
  const names = new Names();
  const branch = (n: FlameNode): Branch => ({
    name: names.number({ name: n.name, loadObject: n.load_object, kind: n.kind }),
    value: num(n.value),
    exclusive: num(n.exclusive),
    below: new Map(),
  });
  const root = branch(tree);
  const open: [FlameNode, Branch][] = [[tree, root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, of] = next;
    for (const child of node.children) {
      const b = branch(child);
      of.below.set(b.name, b);
      open.push([child, b]);
    }
  }
  return layout(root, names.list);
}

function layout(root: Branch, names: Name[]): Frames {
  let count = 0;
  const all: Branch[] = [root];
  for (let i = 0; i < all.length; i++) {
    count++;
    for (const b of all[i]!.below.values()) all.push(b);
  }
  const f: Frames = {
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
    deepest: 0,
  };
  // No recursion: stacks are deeper than that of the browser.
  const open: { branch: Branch; parent: number; depth: number; start: number }[] = [{ branch: root, parent: -1, depth: 0, start: 0 }];
  let n = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { branch, parent, depth, start } = next;
    f.name[n] = branch.name;
    f.depth[n] = depth;
    f.path[n] = Math.imul((parent < 0 ? 0 : f.path[parent]!) ^ hash(names[branch.name]!.name), 16777619) + 1;
    f.parent[n] = parent;
    f.start[n] = start;
    f.value[n] = branch.value;
    f.exclusive[n] = branch.exclusive;
    f.deepest = Math.max(f.deepest, depth);
    const below = [...branch.below.values()].sort((a, b) => b.value - a.value || (names[a.name]!.name < names[b.name]!.name ? -1 : 1));
    let end = start;
    const places = below.map((b) => {
      const at = { branch: b, parent: n, depth: depth + 1, start: end };
      end += b.value;
      return at;
    });
    open.push(...places.reverse());
    n++;
  }
  for (let i = count - 1; i >= 0; i--) {
    f.last[i] = Math.max(f.last[i]!, i);
    const p = f.parent[i]!;
    if (p >= 0) f.last[p] = Math.max(f.last[p]!, f.last[i]!);
  }
  return f;
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

// below is the tree of what the functions of a name call, and callers the tree of those
// that call them. A function that calls itself counts once.
export function around(f: Frames, is: (name: Name) => boolean): { callers: Frames; callees: Frames; value: number } {
  const named = f.names.map(is);
  const label: Name = f.names[named.indexOf(true)] ?? { name: '', loadObject: '', kind: '' };
  const names = [...f.names, label];
  const root = (): Branch => ({ name: names.length - 1, value: 0, exclusive: 0, below: new Map() });
  const callees = root();
  const callers = root();
  const outermost = new Int32Array(f.count).fill(-1); // the first of the name on the path, -1 if there is none
  const at: (Branch | undefined)[] = [];
  for (let n = 0; n < f.count; n++) {
    const p = f.parent[n]!;
    const within = p < 0 ? -1 : outermost[p]!;
    const mine = named[f.name[n]!]!;
    if (within >= 0) {
      outermost[n] = within;
      const above = at[p]!;
      at[n] = add(above, f.name[n]!, f.value[n]!);
      at[n]!.exclusive += f.exclusive[n]!;
    } else if (mine) {
      outermost[n] = n;
      at[n] = callees;
      callees.value += f.value[n]!;
      callees.exclusive += f.exclusive[n]!;
      callers.value += f.value[n]!;
      let up = callers;
      for (let k = p; k > 0; k = f.parent[k]!) up = add(up, f.name[k]!, f.value[n]!);
      up.exclusive += f.value[n]!;
    }
  }
  return { callers: layout(callers, names), callees: layout(callees, names), value: callees.value };
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
  const is = f.names.map((n) => test(n.name) || test(n.loadObject));
  let value = 0;
  for (let n = 0; n < f.count; ) {
    if (is[f.name[n]!]!) {
      value += f.value[n]!;
      n = f.last[n]! + 1;
    } else n++;
  }
  return { is, value };
}

// finder is a test of texts: for a part of them, or, between slashes, a regular expression.
export function finder(search: string): ((text: string) => boolean) | undefined {
  if (search === '') return undefined;
  if (search.length > 2 && search.startsWith('/') && search.endsWith('/')) {
    try {
      const expression = new RegExp(search.slice(1, -1), 'i');
      return (text) => expression.test(text);
    } catch {
      return () => false;
    }
  }
  const lower = search.toLowerCase();
  return (text) => text.toLowerCase().includes(lower);
}
