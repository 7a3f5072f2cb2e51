// Colors of the frames of a flame graph.
import { isLeftOut, type FlameGroups, type Frames, type Name } from './flametree';
import { waitOf } from './threadstates';
import { hash } from './units';

const palette = 8; // colors for the groups with the highest exclusive values; the last color is for what has no group

// Token returns the color of a token of style/tokens.css (tokenColor of lib/theme.ts).
type Token = (token: string) => string;

// parts returns red, green and blue of a color, as tokenColor returns it.
function parts(color: string): number[] {
  return color
    .match(/[\d.]+/g)!
    .slice(0, 3)
    .map(Number);
}

// mix returns a color between two: a for 0, b for 1.
export function mix(a: string, b: string, at: number): string {
  const [x, y] = [parts(a), parts(b)];
  return `rgb(${x.map((v, i) => Math.round(v + (y[i]! - v) * at)).join(' ')})`;
}

function isGray(name: string): boolean {
  return name === '' || name.startsWith('<') || name === '(unknown)';
}

// GroupColors are the colors of groups.
export interface GroupColors {
  of: string[]; // by group
  named: number[]; // the groups that have a color of their own
  other: string; // of frames without a group
  ground: string;
}

// groupColors returns the colors of groups: one each for the highest, pale ones for the others.
export function groupColors(g: FlameGroups, dark: boolean, token: Token): GroupColors {
  const colors = Array.from({ length: palette + 1 }, (_, i) => token(`--frame${i}`));
  const ground = token('--ground');
  const named: number[] = [];
  let next = 0;
  const of = g.name.map((name, i) => {
    const wait = waitOf(name);
    if (wait !== undefined || (!isGray(name) && next < palette)) {
      named.push(i);
      return wait === undefined ? colors[next++]! : dark ? wait.dark : wait.light;
    }
    return isGray(name) ? colors[palette]! : mix(colors[hash(name) % palette]!, ground, 0.5);
  });
  return { of, named, other: colors[palette]!, ground };
}

// groupFill returns the colors of frames by their group.
export function groupFill(f: Frames, colors: GroupColors): (n: number) => string {
  const by = f.names.map((n) => colors.of[n.group] ?? colors.other);
  return (n) => by[f.name[n]!]!;
}

// nameFill returns the colors of frames by the function's name.
export function nameFill(f: Frames, token: Token): (n: number) => string {
  const colors = Array.from({ length: palette + 1 }, (_, i) => token(`--frame${i}`));
  const gray = (n: Name) => n.kind === 'artificial' || (n.kind === '' && n.name.startsWith('<'));
  const by = f.names.map((n) => colors[gray(n) ? palette : hash(n.name) % palette]!);
  return (n) => by[f.name[n]!]!;
}

export const heats = 5;

// heatOf returns the color number of a value, from 0 for none to 5 for the highest.
export function heatOf(value: number, highest: number): number {
  return value === 0 || highest === 0 ? 0 : Math.max(1, Math.ceil(heats * Math.sqrt(value / highest)));
}

// selfOf returns the exclusive value of a frame; 0 for a sum of frames that are left out.
export function selfOf(f: Frames, n: number): number {
  return isLeftOut(f.names[f.name[n]!]!) ? 0 : f.exclusive[n]!;
}

// selfFill returns the colors of frames by their exclusive value.
export function selfFill(
  f: Frames,
  highest: number,
  token: Token,
): { fill: (n: number) => string; text: (n: number) => string } {
  const colors = Array.from({ length: heats + 1 }, (_, i) => token(i === 0 ? '--frame8' : `--heat${i}`));
  const [text, high] = [token('--frame-text'), token('--on-heat5')];
  return {
    fill: (n) => colors[heatOf(selfOf(f, n), highest)]!,
    text: (n) => (heatOf(selfOf(f, n), highest) === heats ? high : text),
  };
}

// changeFill returns the color of a frame of a difference: of the frame's own relative change.
export function changeFill(token: Token): (base: number, test: number) => string {
  const [none, more, less, created, gone] = ['--raised', '--more', '--less', '--new', '--gone'].map(token) as [
    string,
    string,
    string,
    string,
    string,
  ];
  return (base, test) => {
    if (base === 0 && test === 0) return none;
    if (base === 0) return created;
    if (test === 0) return gone;
    const change = Math.min(1, Math.abs(test - base) / base / 0.6);
    return mix(none, test > base ? more : less, Math.pow(change, 0.7));
  };
}
