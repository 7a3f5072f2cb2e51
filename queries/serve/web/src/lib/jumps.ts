// Jumps between instructions, as arrows in lanes beside them.
import type { Instructions } from './annotated';

export interface Jump {
  from: number; // index of the jump
  to: number; // index of its target
  lane: number; // 0 is next to the instructions; -1 if no lane is free
}

// placeJumps finds the jumps whose targets are among the instructions, and gives each the nearest lane in which no
// other jump covers one of its rows. Short jumps come first, so that they are inside of long ones.
export function placeJumps(of: Instructions, lanes: number): Jump[] {
  const index = new Map<string, number>();
  of.offset.forEach((offset, n) => index.set(`${of.part[n]} ${offset}`, n));
  const jumps: Jump[] = [];
  of.target.forEach((target, from) => {
    const to = target === null ? undefined : index.get(`${of.part[from]} ${target}`);
    if (to !== undefined) jumps.push({ from, to, lane: -1 });
  });
  const length = (j: Jump) => Math.abs(j.from - j.to);
  jumps.sort((a, b) => length(a) - length(b) || a.from - b.from);
  const taken: [number, number][][] = Array.from({ length: lanes }, () => []);
  for (const j of jumps) {
    const [first, last] = [Math.min(j.from, j.to), Math.max(j.from, j.to)];
    j.lane = taken.findIndex((lane) => lane.every(([a, b]) => b < first || a > last));
    if (j.lane >= 0) taken[j.lane]!.push([first, last]);
  }
  return jumps;
}
