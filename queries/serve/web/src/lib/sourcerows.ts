// The rows of a source file as the place for source lists them.
import { isSameBuild, type Annotated, type InlinedPlace } from './annotated';
import { align } from './alignment';

// Row is a line of the file, code that is inlined at a line, an instruction of a line, or a line that only the base
// has.
export type Row =
  | { kind: 'line'; line: number }
  | { kind: 'inlined'; line: number; place: InlinedPlace }
  | { kind: 'instruction'; line: number; index: number }
  | { kind: 'gone'; line: number; before: number }; // line of the base; before: the line of the file that precedes it

// Matched says which lines of the base are which lines of the test. Lines count from 1; 0 is none.
export interface Matched {
  baseOf: (line: number) => number;
  gone: { line: number; before: number }[]; // lines with values that only the base has
}

// matchLines finds the lines of the base in the file of the test. Lines of one build are the same. Those of different
// builds are matched by their text: if the text of one is not known, it returns undefined.
export function matchLines(base: Annotated, test: Annotated): Matched | undefined {
  const sameFile = base.files[base.file]?.name === test.files[test.file]?.name;
  if (isSameBuild(base, test) && sameFile) return { baseOf: (line) => line, gone: [] };
  if (base.text.length === 0 || test.text.length === 0) return undefined;
  const at = align(base.text, test.text);
  const kept = new Map<number, number>(); // line of the test by line of the base
  at.forEach((from, to) => {
    if (from >= 0) kept.set(from + 1, to + 1);
  });
  const gone = base.lines.line
    .filter((line, i) => line > 0 && !kept.has(line) && base.lines.function_inclusive[i]! > 0)
    .map((line) => {
      let above = line - 1;
      while (above > 0 && !kept.has(above)) above--;
      return { line, before: kept.get(above) ?? 0 };
    });
  return { baseOf: (line) => (at[line - 1] ?? -1) + 1, gone };
}

// rowsOf returns the rows: all lines of the file if its text is known, otherwise those with code. unfolded says below
// which lines inlined code is listed; interleaved, below which line each instruction is.
export function rowsOf(
  a: Annotated,
  of: {
    range: [number, number] | undefined; // only these lines
    unfolded: (line: number) => boolean;
    interleaved: boolean;
    gone: Matched['gone'];
  },
): Row[] {
  const inlined = groupBy(a.inlined, (p) => p.line);
  const instructions = groupBy(of.interleaved ? [...a.instructions.line.keys()] : [], (i) =>
    a.instructions.file[i] === a.file ? a.instructions.line[i]! : 0,
  );
  const gone = groupBy(of.gone, (g) => g.before);
  const rows: Row[] = [];
  const missing = (before: number) => {
    for (const g of gone.get(before) ?? []) rows.push({ kind: 'gone', line: g.line, before });
  };
  if (of.range === undefined) missing(0);
  for (const line of linesOf(a)) {
    if (of.range !== undefined && (line < of.range[0] || line > of.range[1])) continue;
    rows.push({ kind: 'line', line });
    if (of.unfolded(line)) for (const place of inlined.get(line) ?? []) rows.push({ kind: 'inlined', line, place });
    for (const index of instructions.get(line) ?? []) rows.push({ kind: 'instruction', line, index });
    missing(line);
  }
  return rows;
}

function linesOf(a: Annotated): number[] {
  if (a.text.length > 0) return Array.from({ length: a.text.length }, (_, n) => n + 1);
  const lines = new Set(a.lines.line);
  a.instructions.line.forEach((line, i) => {
    if (a.instructions.file[i] === a.file) lines.add(line);
  });
  lines.delete(0);
  return [...lines].sort((x, y) => x - y);
}

// groupBy returns the elements of a list by a number, in their order.
export function groupBy<T>(list: T[], key: (of: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const of of list) {
    const group = groups.get(key(of));
    if (group === undefined) groups.set(key(of), [of]);
    else group.push(of);
  }
  return groups;
}
