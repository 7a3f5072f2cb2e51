// Drawings of a program's nights: a line of dots, a chart with axes, and the interval of a change.
import { type Changes, type Program, type Verdict } from '../lib/changes';
import { amount, day, signed } from '../lib/units';
import { useWidth } from './width';

interface Part {
  from: number; // index of the first night
  to: number;
  level: number; // median
  band: number; // nine of ten values are at most this far from it
  up: boolean | undefined; // whether the level rose with it
}

// partsOf divides a program's nights where <Total> changed.
function partsOf(p: Program, changes: Changes): Part[] {
  const starts = (p.finding.changes ?? [])
    .filter((c) => c.function === '<Total>' && c.state === 'sure')
    .map((c) => p.nights.findIndex((n) => changes.nights[n] === c.since))
    .filter((at) => at > 0)
    .sort((a, b) => a - b);
  const bounds = [0, ...starts, p.values.length];
  const parts = bounds.slice(0, -1).map((from, i): Part => {
    const to = bounds[i + 1]!;
    const sorted = p.values.slice(from, to).sort((a, b) => a - b);
    const level = sorted[sorted.length >> 1] ?? 0;
    const far = sorted.map((v) => Math.abs(v - level)).sort((a, b) => a - b);
    return { from, to, level, band: far[Math.floor((far.length - 1) * 0.9)] ?? 0, up: undefined };
  });
  parts.forEach((part, i) => {
    if (i > 0) part.up = part.level > parts[i - 1]!.level;
  });
  return parts;
}

// scaleOf returns a function that gives the height of a value in a drawing.
function scaleOf(values: number[], top: number, bottom: number): (v: number) => number {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const middle = (low + high) / 2;
  const range = Math.max(high - low, Math.abs(middle) * 0.02, 1e-9);
  return (v) => bottom - ((v - (middle - range / 2)) / range) * (bottom - top);
}

const sparkHeight = 40;

export function Spark({ program: p, changes, verdict }: { program: Program; changes: Changes; verdict: Verdict }) {
  const [host, width] = useWidth<HTMLDivElement>(156, 60);
  const n = p.values.length;
  const last = Math.max(changes.nights.length - 1, 1);
  const x = (i: number) => 6 + ((width - 12) * (p.nights[i] ?? 0)) / last;
  const y = scaleOf(p.values, 6, sparkHeight - 6);
  const since = p.state === '' ? n - 1 : p.nights.findIndex((at) => changes.nights[at] === p.finding.since);
  return (
    <div ref={host}>
      <svg class={`spark ${verdict}`} width={width} height={sparkHeight} aria-hidden="true">
        {partsOf(p, changes).map((part) => (
          <g key={part.from}>
            <Band part={part} x={x} y={y} />
            <path class="level" d={`M${x(part.from) - 2} ${y(part.level)}H${x(part.to - 1) + 2}`} />
            {part.from > 0 && (
              <path class="change" d={`M${(x(part.from) + x(part.from - 1)) / 2} 2V${sparkHeight - 2}`} />
            )}
          </g>
        ))}
        {p.values.map((v, i) => (
          <circle key={i} cx={x(i)} cy={y(v)} r={i === n - 1 ? 3.6 : 1.7} class={i >= since ? 'since' : ''} />
        ))}
      </svg>
    </div>
  );
}

function Band({ part, x, y }: { part: Part; x: (i: number) => number; y: (v: number) => number }) {
  const [top, bottom] = [y(part.level + part.band), y(part.level - part.band)];
  return (
    <rect
      class="band"
      x={x(part.from) - 4}
      width={x(part.to - 1) - x(part.from) + 8}
      y={top}
      height={Math.max(2, bottom - top)}
      rx={2}
    />
  );
}

const chartHeight = 200;
const left = 64;
const bottomSpace = 24;

export function NightChart({ program: p, changes }: { program: Program; changes: Changes }) {
  const [host, chartWidth] = useWidth<HTMLDivElement>(560, 240);
  return (
    <div ref={host}>
      <Chart program={p} changes={changes} width={chartWidth} />
    </div>
  );
}

function Chart({ program: p, changes, width }: { program: Program; changes: Changes; width: number }) {
  const n = p.values.length;
  const x = (i: number) => left + 8 + ((width - left - 16) * i) / Math.max(n - 1, 1);
  const ticks = ticksOf(Math.min(...p.values), Math.max(...p.values));
  const y = scaleOf([...p.values, ...ticks], 12, chartHeight - bottomSpace);
  const parts = partsOf(p, changes);
  const dates = n <= 1 ? [0] : [0, 1, 2, 3].map((k) => Math.round(((n - 1) * k) / 3));
  return (
    <svg
      class="nights"
      width={width}
      height={chartHeight}
      role="img"
      aria-label={`Values of ${n} nights: ${p.values.map((v) => amount(v, p.unit)).join(', ')}`}
    >
      {ticks.map((t) => (
        <g key={t}>
          <path class="grid" d={`M${left} ${y(t)}H${width}`} />
          <text x={left - 8} y={y(t) + 4} text-anchor="end">
            {amount(t, p.unit)}
          </text>
        </g>
      ))}
      {[...new Set(dates)].map((i) => (
        <text key={i} x={x(i)} y={chartHeight - 6} text-anchor={i === 0 ? 'start' : i === n - 1 ? 'end' : 'middle'}>
          {day(changes.nights[p.nights[i]!]!)}
        </text>
      ))}
      {parts.map((part, k) => (
        <g key={part.from} class={part.up === undefined ? '' : part.up ? 'slower' : 'faster'}>
          <Band part={part} x={x} y={y} />
          <path class="level" d={`M${x(part.from) - 4} ${y(part.level)}H${x(part.to - 1) + 4}`} />
          {k > 0 && (
            <>
              <path class="change" d={`M${(x(part.from) + x(part.from - 1)) / 2} 8V${chartHeight - bottomSpace}`} />
              <text class="mark" x={(x(part.from) + x(part.from - 1)) / 2 - 6} y={18} text-anchor="end">
                {parts[k - 1]!.level === 0 ? 'from 0' : signed(part.level / parts[k - 1]!.level - 1)} on{' '}
                {day(changes.nights[p.nights[part.from]!]!)}
              </text>
            </>
          )}
          {p.values.slice(part.from, part.to).map((v, i) => (
            <circle key={i} cx={x(part.from + i)} cy={y(v)} r={part.from + i === n - 1 ? 4.5 : 3}>
              <title>
                {changes.nights[p.nights[part.from + i]!]}: {amount(v, p.unit)}, {p.runs[part.from + i]}{' '}
                {p.runs[part.from + i] === 1 ? 'run' : 'runs'}
              </title>
            </circle>
          ))}
        </g>
      ))}
    </svg>
  );
}

// ticksOf returns three to five round values between two values.
function ticksOf(low: number, high: number): number[] {
  const range = Math.max(high - low, Math.abs(high) * 0.02, 1e-9);
  const rough = range / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * unit).find((s) => s >= rough) ?? rough;
  const ticks: number[] = [];
  for (let t = Math.ceil((low - range * 0.1) / step) * step; t <= high + range * 0.1; t += step) ticks.push(t);
  return ticks;
}

const intervalWidth = 84;
const widest = 0.25; // the change at the ends

export function IntervalMark(p: { low: number; change: number; high: number; verdict: Verdict }) {
  const x = (v: number) => intervalWidth / 2 + (intervalWidth / 2 - 4) * Math.max(-1, Math.min(1, v / widest));
  return (
    <svg class={`interval ${p.verdict}`} width={intervalWidth} height={18} aria-hidden="true">
      <rect class="equal" x={x(-0.01)} y={0} width={x(0.01) - x(-0.01)} height={18} />
      <path class="zero" d={`M${intervalWidth / 2} 0V18`} />
      <path class="range" d={`M${x(p.low)} 9H${x(p.high)}M${x(p.low)} 6V12M${x(p.high)} 6V12`} />
      <rect class="middle" x={x(p.change) - 3} y={6} width={6} height={6} rx={1} />
    </svg>
  );
}
