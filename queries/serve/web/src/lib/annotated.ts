// The code of one function with values: the server's answer, and what the place for source makes of it. A test on the
// server's side compares these types with what it sends.

// Annotated is the answer of /api/v1/annotate. The fields of annotate.Result, in Go, say what they are.
export interface Annotated {
  metric: string;
  unit: string;
  mode: string;
  hottest: boolean;
  function: FunctionOf | null;
  functions: FunctionOf[];
  builds: Build[];
  build: number;
  runs: number;
  total: number;
  exclusive: number;
  inclusive: number;
  files: FileOf[];
  file: number;
  text: string[]; // empty if it is not in the store
  texts: number;
  no_source: Explanation | null;
  lines: LineColumns;
  neighbors: OtherFunction[];
  inlined: InlinedPlace[];
  parts: Part[];
  instructions: Instructions;
  no_instructions: Explanation | null;
  containers: string[];
  lineless: number;
  unplaced: number;
}

export interface LineColumns {
  line: number[];
  exclusive: number[];
  inclusive: number[];
  function_exclusive: number[];
  function_inclusive: number[];
}

export interface FileOf {
  name: string;
  exclusive: number;
  first: number;
  last: number;
}

export interface OtherFunction {
  name: string;
  first: number;
  last: number;
  exclusive: number;
}

export interface Part {
  name: string;
  address: number;
  size: number;
}

export interface FunctionOf {
  key: string;
  name: string;
  load_object: string;
  module: string;
  kind: string;
  exclusive: number;
  inclusive: number;
}

export interface Build {
  id: string;
  path: string;
  build_id: string;
  runs: number;
  first: string;
  last: string;
  exclusive: number;
  inclusive: number;
}

export interface Explanation {
  reason: string;
  remedy: string;
}

export interface InlinedPlace {
  line: number;
  depth: number;
  path: string;
  function: string;
  file: string;
  at: number;
  exclusive: number;
  inclusive: number | null;
}

export interface Instructions {
  part: number[];
  offset: number[];
  size: number[];
  text: string[];
  target: (number | null)[];
  target_name: string[];
  file: number[];
  line: number[];
  exclusive: number[];
  inclusive: number[];
}

// Side is which of the two values is shown: of samples whose leaf is there, or whose stack passes there.
export type Side = 'self' | 'total';

// LineValue is what a line of the file has: the values of the function and of all functions.
export type LineValue = { own: number; all: number };

// lineValues returns the values by line.
export function lineValues(a: Annotated, side: Side): Map<number, LineValue> {
  const { line, exclusive, inclusive, function_exclusive, function_inclusive } = a.lines;
  const of = new Map<number, LineValue>();
  line.forEach((n, i) =>
    of.set(
      n,
      side === 'self'
        ? { own: function_exclusive[i]!, all: exclusive[i]! }
        : { own: function_inclusive[i]!, all: inclusive[i]! },
    ),
  );
  return of;
}

// heat returns the level of heat of a value, from 0 for none to 5 for the highest. Its square root decides, so that
// small values differ.
export function heat(value: number, highest: number): number {
  return value <= 0 || highest <= 0 ? 0 : Math.min(5, Math.max(1, Math.ceil(Math.sqrt(value / highest) * 5)));
}

// highestOwn returns the function's highest value of a line.
export function highestOwn(values: Map<number, LineValue>): number {
  let highest = 0;
  for (const v of values.values()) highest = Math.max(highest, v.own);
  return highest;
}

// hottestLine returns the line with the function's highest value; 0 without values.
export function hottestLine(values: Map<number, LineValue>): number {
  let [line, most] = [0, 0];
  for (const [n, v] of values) if (v.own > most) [line, most] = [n, v.own];
  return line;
}

// hottestInstruction returns the index of the instruction with the highest value; -1 without values.
export function hottestInstruction(values: number[]): number {
  let at = -1;
  values.forEach((v, i) => {
    if (v > 0 && (at < 0 || v > values[at]!)) at = i;
  });
  return at;
}

export function hex(offset: number): string {
  return '+' + offset.toString(16);
}

// parsed divides the text of an instruction into its mnemonic and operands. The operand of a jump inside the function
// is the offset of its target.
export function parsed(a: Annotated, n: number): [string, string] {
  const text = a.instructions.text[n]!;
  const space = text.indexOf(' ');
  const [mnemonic, operands] = space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)];
  const target = a.instructions.target[n]!;
  if (target === null) return [mnemonic, operands];
  const address = (BigInt(a.parts[a.instructions.part[n]!]!.address) + BigInt(target)).toString(16);
  return [mnemonic, operands.endsWith('0x' + address) ? operands.slice(0, -address.length - 2) : operands + ' '];
}

// shortFile returns the last part of a path.
export function shortFile(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

// isSameBuild reports whether two answers are about one build, so that lines and offsets are the same code.
export function isSameBuild(a: Annotated, b: Annotated): boolean {
  return a.build >= 0 && a.builds[a.build]?.id === b.builds[b.build]?.id;
}

// baseInstructions returns the values of the base, which is the same build, by instruction of the test.
export function baseInstructions(a: Annotated, base: Annotated, side: Side): number[] {
  const { part, offset, exclusive, inclusive } = base.instructions;
  const values = side === 'self' ? exclusive : inclusive;
  const of = new Map(offset.map((o, n) => [`${part[n]} ${o}`, values[n]!]));
  return a.instructions.offset.map((o, n) => of.get(`${a.instructions.part[n]} ${o}`) ?? 0);
}
