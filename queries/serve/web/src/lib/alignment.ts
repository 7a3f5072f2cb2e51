// Lines of two versions of a file that are the same.

// align returns, for each line of `to`, the index of the same line of `from`, or -1. Lines that both versions have only
// once divide the files into parts; inside these, equal lines at both ends are the same.
export function align(from: string[], to: string[]): Int32Array {
  const at = new Int32Array(to.length).fill(-1);
  const parts: [number, number, number, number][] = [[0, from.length, 0, to.length]];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    let [a, aEnd, b, bEnd] = part;
    while (a < aEnd && b < bEnd && from[a] === to[b]) at[b++] = a++;
    while (a < aEnd && b < bEnd && from[aEnd - 1] === to[bEnd - 1]) at[--bEnd] = --aEnd;
    if (a === aEnd || b === bEnd) continue;
    let [lastA, lastB] = [a, b];
    for (const [x, y] of anchors(from, to, a, aEnd, b, bEnd)) {
      parts.push([lastA, x, lastB, y]);
      at[y] = x;
      [lastA, lastB] = [x + 1, y + 1];
    }
    if (lastA > a || lastB > b) parts.push([lastA, aEnd, lastB, bEnd]);
  }
  return at;
}

// anchors returns pairs of lines that occur once in both parts, in an order that increases in both: the longest such
// list (patience).
function anchors(from: string[], to: string[], a: number, aEnd: number, b: number, bEnd: number): [number, number][] {
  const once = (lines: string[], first: number, end: number) => {
    const of = new Map<string, number>();
    for (let n = first; n < end; n++) of.set(lines[n]!, of.has(lines[n]!) ? -1 : n);
    return of;
  };
  const inFrom = once(from, a, aEnd);
  const pairs: [number, number][] = [];
  for (const [line, y] of once(to, b, bEnd)) {
    const x = inFrom.get(line) ?? -1;
    if (x >= 0 && y >= 0) pairs.push([x, y]);
  }
  pairs.sort((p, q) => p[1] - q[1]);
  const ends: number[] = []; // by length of a list: the pair with the lowest line of `from` that ends one
  const before: number[] = [];
  pairs.forEach(([x], n) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]![0] < x) low = middle + 1;
      else high = middle;
    }
    before[n] = low === 0 ? -1 : ends[low - 1]!;
    ends[low] = n;
  });
  const list: [number, number][] = [];
  for (let n = ends[ends.length - 1] ?? -1; n >= 0; n = before[n]!) list.unshift(pairs[n]!);
  return list;
}
