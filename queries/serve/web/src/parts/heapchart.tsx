// A chart of the memory that a process had allocated over time.
import { useEffect, useRef, useState } from 'preact/hooks';
import { amount, num } from '../lib/units';
import type { HeapMoment, HeapPeak } from '../lib/memory';

const height = 160;
const left = 64; // of the plot, for the labels of the y axis
const bottom = 20;

// roundSteps returns ticks from 0 up to a maximum, at most n, at round distances in the unit's base.
export function roundSteps(most: number, n: number, base: number): number[] {
  if (most <= 0) return [0];
  const raw = most / n;
  const power = base ** Math.floor(Math.log(raw) / Math.log(base));
  const factors = base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
  const step = power * factors.find((f) => f * power >= raw * 0.999)!;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

export function HeapChart({ moments, peak }: { moments: HeapMoment[]; peak: HeapPeak }) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(host.current!.clientWidth));
    watch.observe(host.current!);
    return () => watch.disconnect();
  }, []);
  const end = Math.max(moments[moments.length - 1]?.at ?? 0, num(peak.peak_ns) ?? 0, 1);
  const most = Math.max(num(peak.peak_bytes) ?? 0, 1);
  const x = (ns: number) => left + (Math.max(0, width - left - 8) * ns) / end;
  const y = (bytes: number) => 8 + (height - bottom - 8) * (1 - bytes / most);
  let line = `M${x(0)} ${y(0)}`;
  let last = 0;
  for (const m of moments) {
    line += `H${x(m.at).toFixed(1)}V${y(Math.max(m.highest, m.last)).toFixed(1)}`;
    last = m.last;
  }
  line += `H${x(end)}V${y(last).toFixed(1)}`;
  const area = `${line}V${y(0)}Z`;
  const times = roundSteps(end / 1e9, Math.max(2, Math.floor(width / 110)), 10);
  return (
    <div ref={host} class="heapchart">
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`Memory over ${amount(end, 'ns')}, at most ${amount(most, 'bytes')}`}
      >
        {roundSteps(most, 4, 1024).map((b) => (
          <g key={b}>
            <line x1={left} x2={width - 8} y1={y(b)} y2={y(b)} stroke="var(--line)" />
            <text x={left - 8} y={y(b) + 4} text-anchor="end">
              {amount(b, 'bytes')}
            </text>
          </g>
        ))}
        {times.map((s) => (
          <text key={s} x={x(s * 1e9)} y={height - 4} text-anchor={s === 0 ? 'start' : 'middle'}>
            {s === 0 ? '0 s' : amount(s * 1e9, 'ns')}
          </text>
        ))}
        <path d={area} fill="var(--series0)" opacity="0.25" />
        <path d={line} fill="none" stroke="var(--series0)" stroke-width="1.5" />
        {num(peak.peak_ns) !== null && <circle cx={x(num(peak.peak_ns))} cy={y(most)} r="3.5" fill="var(--series0)" />}
      </svg>
    </div>
  );
}
