// The confidence interval of a change, drawn on a scale that all rows of a table share.
import type { Row } from '../lib/comparison';
import { signed } from '../lib/units';

const width = 166;
const steps = [0.05, 0.1, 0.2, 0.4, 0.6, 1]; // changes at the ends of the scale

// scaleOf returns the change at the ends of the scale: most intervals fit.
export function scaleOf(rows: Row[]): number {
  const ends = rows
    .flatMap((r) => (r.low === null || r.high === null ? [] : [Math.max(Math.abs(r.low - 1), Math.abs(r.high - 1))]))
    .sort((a, b) => a - b);
  const most = ends[Math.floor(0.8 * (ends.length - 1))] ?? 0.2;
  return steps.find((s) => s >= most) ?? 1;
}

const colors: Record<string, string> = {
  slower: 'slower',
  faster: 'faster',
  appeared: 'appeared',
  vanished: 'vanished',
};

export function Interval({ row: r, scale }: { row: Row; scale: number }) {
  if (r.low === null || (r.ratio === null && r.high === null)) return <></>;
  const x = (v: number) => width / 2 + (width / 2 - 4) * Math.max(-1, Math.min(1, v / scale));
  const [low, high] = [r.low - 1, r.high === null ? Infinity : r.high - 1];
  const text = r.high === null ? `${signed(low)} or more` : `${signed(low)} … ${signed(high)}`;
  const ends = [low >= -scale ? `M${x(low)} 6V12` : '', high <= scale ? `M${x(high)} 6V12` : ''].join('');
  return (
    <>
      <svg class={`confidence ${colors[r.verdict] ?? ''}`} width={width} height={18} aria-hidden="true">
        <title>{text}</title>
        <path class="none" d={`M${width / 2} 3V15`} />
        <path class="range" d={`M${x(low)} 9H${x(high)}${ends}`} />
        {r.ratio !== null && Math.abs(r.ratio - 1) <= scale && (
          <rect class="middle" x={x(r.ratio - 1) - 3.5} y={5.5} width={7} height={7} rx={1.5} />
        )}
      </svg>
      <span class="hidden">{text}</span>
    </>
  );
}
