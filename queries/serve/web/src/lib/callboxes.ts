// Boxes of the call graph: callers or callees, of which those of a cycle share a box, and the lines to the middle.
import type { GraphNeighbor } from './callgraph';
import { num, type Value } from './units';

export const most = 9; // boxes of a side

export interface Box {
  key: string; // what `open` in the address names it by, if it can be opened
  kind: 'one' | 'cycle' | 'rest';
  of: GraphNeighbor[];
  cycle: number; // index into the answer's cycles; -1 if they are not of a cycle
  value: number;
  exact: Value; // with all digits
}

// boxesOf returns the boxes of a side, the highest values first. The members of a cycle share a box if there are
// several, or if what is in the middle is in the cycle, until it is opened; so do those beyond `most`.
export function boxesOf(list: GraphNeighbor[], inMiddle: number, open: string[], side: string): Box[] {
  const boxes: Box[] = [];
  const of = new Map<number, Box>();
  for (const n of list) {
    const shared = n.in_cycle >= 0 && list.filter((m) => m.in_cycle === n.in_cycle).length > 1;
    const key = `${side}.${n.in_cycle}`;
    if (!shared || open.includes(key)) {
      const cycle = n.in_cycle >= 0 && n.in_cycle === inMiddle ? n.in_cycle : -1;
      boxes.push(box(`${n.function} ${n.load_object} ${n.module} ${n.kind}`, 'one', [n], cycle));
      continue;
    }
    const there = of.get(n.in_cycle);
    if (there === undefined) {
      const added = box(key, 'cycle', [n], n.in_cycle);
      of.set(n.in_cycle, added);
      boxes.push(added);
    } else add(there, n);
  }
  boxes.sort((a, b) => b.value - a.value);
  if (boxes.length <= most + 1 || open.includes(side)) return boxes;
  const rest = boxes.splice(most).flatMap((b) => b.of);
  const last = box(side, 'rest', [], -1);
  for (const n of rest) add(last, n);
  return [...boxes, last];
}

function box(key: string, kind: Box['kind'], of: GraphNeighbor[], cycle: number): Box {
  const b: Box = { key, kind, of: [], cycle, value: 0, exact: 0 };
  for (const n of of) add(b, n);
  return b;
}

function add(to: Box, n: GraphNeighbor): void {
  to.of.push(n);
  to.value += num(n.attributed);
  const sum = BigInt(to.exact) + BigInt(n.attributed);
  to.exact = sum > BigInt(Number.MAX_SAFE_INTEGER) ? sum.toString() : Number(sum);
}

export interface Edge {
  from: number; // y at the list
  to: number; // y at the middle
  width: number;
  cycle: boolean; // to a member of the cycle that what is in the middle is in
}

const widest = 36; // px of an edge with the whole inclusive value

// edgesOf returns the lines from the boxes of a side to the middle, side by side there. Lists are centered.
export function edgesOf(boxes: Box[], inclusive: number, height: number, item: number, gap: number): Edge[] {
  const widths = boxes.map((b) => Math.max(1, (widest * b.value) / Math.max(inclusive, 1)));
  const top = (height - (boxes.length * (item + gap) - gap)) / 2;
  let at = (height - widths.reduce((a, b) => a + b, 0)) / 2;
  return boxes.map((b, i) => {
    const width = widths[i]!;
    at += width;
    return { from: top + i * (item + gap) + item / 2, to: at - width / 2, width, cycle: b.cycle >= 0 };
  });
}
