// The runs of a comparison as dots on an axis of their values, the base above the test.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RunValue } from '../lib/comparison';
import { ticksOf } from '../lib/ticks';
import { moment } from '../lib/units';
import { openMenu } from './menu';
import { Table } from './table';

const left = 64; // px for the names of the sides
const rowHeight = 64;
const bottom = 22;
const dot = 6; // diameter

interface Placed {
  run: RunValue;
  x: number;
  y: number;
}

// placed puts the dots of a side at their values, and those that would collide above and below each other.
function placed(runs: RunValue[], x: (v: number) => number, middle: number): Placed[] {
  const columns = new Map<number, RunValue[]>();
  for (const run of runs) {
    const at = Math.round(x(run.value) / (dot + 1));
    columns.set(at, [...(columns.get(at) ?? []), run]);
  }
  return [...columns].flatMap(([at, list]) => {
    const step = Math.min(dot + 1, (rowHeight - dot - 4) / Math.max(list.length - 1, 1));
    return list.map((run, n) => ({ run, x: at * (dot + 1), y: middle + (n - (list.length - 1) / 2) * step }));
  });
}

function medianOf(runs: RunValue[]): number {
  const sorted = runs.map((r) => r.value).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

export function RunDots({ base, test, value }: { base: RunValue[]; test: RunValue[]; value: (v: number) => string }) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(480);
  useLayoutEffect(() => {
    const on = host.current!;
    const resized = new ResizeObserver(() => setWidth(Math.max(on.clientWidth, 220)));
    resized.observe(on);
    return () => resized.disconnect();
  }, []);
  const values = [...base, ...test].map((r) => r.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = Math.max((high - low) * 0.06, Math.abs(high) * 0.005, 1e-9);
  const x = (v: number) => left + 8 + ((v - low + room) / (high - low + 2 * room)) * (width - left - 20);
  const ticks = ticksOf(low, high, width < 400 ? 3 : 4).filter((t) => x(t) > left && x(t) < width - 16);
  const height = 2 * rowHeight + bottom;
  const sides = [
    { name: 'Base', kind: 'base', runs: base, middle: rowHeight / 2 },
    { name: 'Test', kind: 'test', runs: test, middle: 1.5 * rowHeight },
  ];
  return (
    <div ref={host} class="rundots">
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={sides.map((s) => `${s.name}: ${s.runs.length} runs, median ${value(medianOf(s.runs))}`).join('. ')}
      >
        {ticks.map((t) => (
          <g key={t}>
            <path class="grid" d={`M${x(t)} 0V${height - bottom}`} />
            <text x={x(t)} y={height - 6} text-anchor="middle">
              {value(t)}
            </text>
          </g>
        ))}
        {sides.map((s) => (
          <g key={s.kind} class={s.kind}>
            <text class="side" x={0} y={s.middle + 4}>
              {s.name}
            </text>
            {placed(s.runs, x, s.middle).map((p) => (
              <circle
                key={p.run.experiment}
                cx={p.x}
                cy={p.y}
                r={dot / 2}
                onContextMenu={(e) => {
                  e.preventDefault();
                  open(p.run, e);
                }}
                onClick={(e) => open(p.run, e)}
              >
                <title>{`${p.run.experiment}, build ${p.run.build || 'unknown'}: ${value(p.run.value)}`}</title>
              </circle>
            ))}
            <path class="median" d={`M${x(medianOf(s.runs))} ${s.middle - 26}V${s.middle + 26}`} />
          </g>
        ))}
      </svg>
      <details>
        <summary>All runs as a table</summary>
        <Table
          label="Runs"
          rows={sides.flatMap((s) => s.runs.map((run) => ({ side: s.name, run })))}
          keyOf={(r) => `${r.side} ${r.run.experiment}`}
          columns={[
            { title: 'Value', numeric: true, value: (r) => r.run.value, show: (r) => value(r.run.value) },
            { title: 'Side', value: (r) => r.side },
            { title: 'Run', value: (r) => r.run.experiment },
            { title: 'Started (UTC)', value: (r) => r.run.started, show: (r) => moment(r.run.started) },
            { title: 'Build', value: (r) => r.run.build },
            { title: 'Host', value: (r) => r.run.host },
          ]}
        />
      </details>
    </div>
  );
}

function open(run: RunValue, e: MouseEvent): void {
  openMenu({ kind: 'experiment', name: run.experiment, experiment: run.experiment }, { x: e.clientX, y: e.clientY });
}
