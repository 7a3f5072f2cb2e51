// Arrows from jumps to their targets. Jumps backward are loops.
import { hex } from '../lib/annotated';
import type { Jump } from '../lib/jumps';
import { rowHeight } from './codegrid';

export const lanes = 6;
const width = 52; // px, as in source.css
const laneWidth = 7;

export function JumpArrows(p: {
  jumps: Jump[];
  offsets: number[]; // of the instructions
  first: number;
  last: number;
  active: number;
}) {
  const shown = p.jumps.filter(
    (j) => j.lane >= 0 && Math.max(j.from, j.to) >= p.first && Math.min(j.from, j.to) < p.last,
  );
  const top = p.first * rowHeight;
  return (
    <svg
      class="jumps"
      aria-hidden="true"
      style={{ top: `${top}px` }}
      width={width}
      height={(p.last - p.first) * rowHeight}
    >
      {shown.map((j) => (
        <g
          key={j.from}
          data-jump={`${hex(p.offsets[j.from]!)} ${hex(p.offsets[j.to]!)}`}
          class={[j.to <= j.from ? 'loop' : '', j.from === p.active ? 'on' : ''].join(' ')}
        >
          <path d={line(j, top)} />
          <path d={head(j, top)} class="point" />
        </g>
      ))}
    </svg>
  );
}

function line(j: Jump, top: number): string {
  const x = width - 12 - j.lane * laneWidth;
  const [from, to] = [middle(j.from) - top, middle(j.to) - top];
  if (j.from === j.to) return `M${width - 4} ${from}H${x}`;
  const turn = to > from ? 3 : -3;
  const bend = `H${x + 3}Q${x} ${from} ${x} ${from + turn}V${to - turn}Q${x} ${to} ${x + 3} ${to}`;
  return `M${width - 3} ${from}${bend}H${width - 8}`;
}

function head(j: Jump, top: number): string {
  const y = middle(j.to) - top;
  return `M${width - 8} ${y - 3}l5 3-5 3z`;
}

const middle = (row: number) => (row + 0.5) * rowHeight;
