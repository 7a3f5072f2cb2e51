// A chart of values over nights: lines with change points, an axis with its unit, and a cursor for pointer and keys.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Run, Step } from '../lib/groups';
import { ticksOf } from '../lib/ticks';
import type { Change, Line } from '../lib/trend';
import { day, moment, signed } from '../lib/units';
import { openMenu } from './menu';

const left = 68;
const right = 12;
const bottom = 24;
const mostDots = 3000; // with more runs, only the lines are drawn

interface Props {
  runs: Run[];
  steps: Step[];
  lines: Line[];
  value: (v: number) => string;
  zero: boolean; // the axis begins at 0
  small?: boolean;
}

// Placed is a line with its values by step.
interface Placed {
  line: Line;
  stepOf: number[]; // of each value
  medians: [number, number][]; // step and the median of its values
}

function place(line: Line, stepOfRun: number[]): Placed {
  const stepOf = line.points.map((p) => stepOfRun[p]!);
  const by = new Map<number, number[]>();
  stepOf.forEach((s, n) => by.set(s, [...(by.get(s) ?? []), line.values[n]!]));
  const medians = [...by].map(([s, list]): [number, number] => {
    list.sort((a, b) => a - b);
    const half = list.length >> 1;
    return [s, list.length % 2 === 1 ? list[half]! : (list[half - 1]! + list[half]!) / 2];
  });
  return { line, stepOf, medians: medians.sort((a, b) => a[0] - b[0]) };
}

export function TrendChart(p: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(p.small === true ? 280 : 900);
  const [cursor, setCursor] = useState<{ line: number; at: number } | undefined>(); // at: index of the line's values
  useLayoutEffect(() => {
    const on = host.current!;
    const resized = new ResizeObserver(() => setWidth(Math.max(on.clientWidth, 200)));
    resized.observe(on);
    return () => resized.disconnect();
  }, []);
  const height = p.small === true ? 110 : width < 500 ? 240 : 320;
  const placed = useMemo(() => {
    const stepOfRun: number[] = [];
    p.steps.forEach((s, n) => s.runs.forEach((r) => (stepOfRun[r] = n)));
    return p.lines.map((l) => place(l, stepOfRun));
  }, [p.lines, p.steps]);
  const all = p.lines.flatMap((l) => l.values);
  const [low, high] = p.zero ? [Math.min(0, ...all), Math.max(...all, 0)] : [Math.min(...all), Math.max(...all)];
  const room = Math.max((high - low) * 0.08, Math.abs(high) * 0.01) || 1; // all values are 0
  const [from, to] = [p.zero && low === 0 ? 0 : low - room, high + room];
  const x = (s: number) => left + ((s + 0.5) * (width - left - right)) / Math.max(p.steps.length, 1);
  const y = (v: number) => 10 + ((to - v) / (to - from)) * (height - bottom - 10);
  const ticks = ticksOf(from, to, p.small === true ? 2 : 4);
  const shown = cursor === undefined ? undefined : placed[cursor.line];
  const run = shown === undefined ? undefined : p.runs[shown.line.points[cursor!.at]!];
  const texts =
    run === undefined ? [] : textsOf(run, shown!.line, p.value(shown!.line.values[cursor!.at]!), p.lines.length);
  const nearest = (e: MouseEvent) => {
    const box = host.current!.getBoundingClientRect();
    const [px, py] = [e.clientX - box.left, e.clientY - box.top];
    let best: { line: number; at: number; far: number } | undefined;
    placed.forEach((l, line) =>
      l.stepOf.forEach((s, at) => {
        const far = Math.abs(x(s) - px) * 4 + Math.abs(y(l.line.values[at]!) - py);
        if (best === undefined || far < best.far) best = { line, at, far };
      }),
    );
    setCursor(best);
  };
  const menu = (e: { x: number; y: number }) => {
    if (run !== undefined) openMenu({ kind: 'experiment', name: run.experiment, experiment: run.experiment }, e);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const now = cursor ?? { line: 0, at: (placed[0]?.line.values.length ?? 1) - 1 };
    const count = placed[now.line]?.line.values.length ?? 0;
    const moves: Record<string, number> = { ArrowLeft: now.at - 1, ArrowRight: now.at + 1, Home: 0, End: count - 1 };
    if (e.key in moves) setCursor({ ...now, at: Math.max(0, Math.min(count - 1, moves[e.key]!)) });
    else if (e.key === 'ArrowUp' || e.key === 'ArrowDown') {
      const line = (now.line + (e.key === 'ArrowUp' ? placed.length - 1 : 1)) % placed.length;
      setCursor({ line, at: Math.min(now.at, placed[line]!.line.values.length - 1) });
    } else if (e.key === 'Enter' || e.key === 'm') {
      const box = host.current!.getBoundingClientRect();
      menu({ x: box.left + (shown === undefined ? 0 : x(shown.stepOf[cursor!.at]!)), y: box.top + 20 });
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const label = p.lines.map((l) => `${l.name}: ${l.values.length} values, ${l.changes.length} changes`).join('; ');
  return (
    <div
      ref={host}
      class={p.small === true ? 'trendchart small' : 'trendchart'}
      {...(p.small === true ? {} : { tabIndex: 0, role: 'group', 'aria-label': `${label}. Arrows read the values.` })}
      onKeyDown={p.small === true ? undefined! : onKeyDown}
      onFocus={() =>
        p.small !== true &&
        cursor === undefined &&
        placed.length > 0 &&
        setCursor({ line: 0, at: placed[0]!.line.values.length - 1 })
      }
      onBlur={() => setCursor(undefined)}
      onPointerMove={nearest}
      onPointerLeave={() => setCursor(undefined)}
      onContextMenu={(e) => {
        e.preventDefault();
        menu({ x: e.clientX, y: e.clientY });
      }}
    >
      <svg width={width} height={height} role="img" aria-label={label}>
        {ticks.map((t) => (
          <g key={t}>
            <path class="grid" d={`M${left} ${y(t)}H${width}`} />
            <text x={left - 8} y={y(t) + 4} text-anchor="end">
              {p.value(t)}
            </text>
          </g>
        ))}
        {daysOf(p.steps, x, width, p.small === true).map((d) => (
          <text key={d.n} x={d.x} y={height - 6} text-anchor={d.anchor}>
            {d.text}
          </text>
        ))}
        {placed.map((l, n) => (
          <Drawn key={l.line.id} l={l} n={n} x={x} y={y} p={p} height={height} single={placed.length === 1} />
        ))}
        {p.small !== true && <NoteMarks steps={p.steps} runs={p.runs} x={x} />}
        {shown !== undefined && cursor !== undefined && (
          <>
            <path class="cursor" d={`M${x(shown.stepOf[cursor.at]!)} 8V${height - bottom}`} />
            <circle
              class={`at line${cursor.line}`}
              cx={x(shown.stepOf[cursor.at]!)}
              cy={y(shown.line.values[cursor.at]!)}
              r={5}
            />
          </>
        )}
      </svg>
      {texts.length > 0 && shown !== undefined && cursor !== undefined && (
        <div
          class="told"
          style={
            x(shown.stepOf[cursor.at]!) > width / 2
              ? { right: `${width - x(shown.stepOf[cursor.at]!) + 12}px` }
              : { left: `${x(shown.stepOf[cursor.at]!) + 12}px` }
          }
        >
          {texts.map((t, n) => (n === 0 ? <b key={t}>{t}</b> : <span key={t}>{t}</span>))}
        </div>
      )}
      <span class="hidden" role="status">
        {texts.join(', ')}
      </span>
    </div>
  );
}

// textsOf returns what the cursor says about a run.
function textsOf(run: Run, line: Line, value: string, lines: number): string[] {
  return [
    value,
    ...(lines > 1 ? [line.name] : []),
    run.experiment,
    moment(run.started) + ' UTC',
    run.build === '' ? 'build unknown' : `build ${run.build}`,
    ...(run.host === '' ? [] : [`host ${run.host}`]),
    ...(run.labels['note'] === undefined ? [] : [`note: ${run.labels['note']}`]),
  ];
}

// daysOf returns the labels of the horizontal axis; those that would collide are left out.
function daysOf(steps: Step[], x: (s: number) => number, width: number, small: boolean) {
  const many = Math.max(2, Math.min(small ? 2 : 6, Math.floor((width - left) / 90)));
  const n = steps.length;
  const at = n === 1 ? [0] : Array.from({ length: many }, (_, k) => Math.round(((n - 1) * k) / (many - 1)));
  return [...new Set(at)].map((k) => {
    const name = steps[k]?.name ?? '';
    const text = /^\d{4}-\d{2}-\d{2}T/.test(name) ? moment(name).slice(5, 16) : day(name);
    return { n: k, text, x: x(k), anchor: k === 0 ? 'start' : k === n - 1 ? 'end' : 'middle' } as const;
  });
}

function NoteMarks({ steps, runs, x }: { steps: Step[]; runs: Run[]; x: (s: number) => number }) {
  return (
    <>
      {steps.map((s, n) => {
        const note = s.runs.map((r) => runs[r]!.labels['note']).find((t) => t !== undefined && t !== '');
        return (
          note !== undefined && (
            <path key={s.name} class="notemark" d={`M${x(n)} 1l5 5-5 5-5-5z`}>
              <title>{`${day(s.name)}: ${note}`}</title>
            </path>
          )
        );
      })}
    </>
  );
}

// Drawn is a line with its runs as dots, its levels and its changes.
function Drawn(d: {
  l: Placed;
  n: number;
  x: (s: number) => number;
  y: (v: number) => number;
  p: Props;
  height: number;
  single: boolean;
}) {
  const { l, x, y } = d;
  const { line } = l;
  const step = (value: number) => l.stepOf[value]!;
  const bounds = [0, ...line.changes.map((c) => c.at), line.values.length];
  const level = (i: number) => (i === 0 ? line.changes[0]?.before : line.changes[i - 1]?.after);
  return (
    <g class={`line${d.n % 8}`}>
      <polyline class="line" points={l.medians.map(([s, v]) => `${x(s).toFixed(1)},${y(v).toFixed(1)}`).join(' ')} />
      {line.values.length <= mostDots && (
        <path
          class={d.p.small === true || line.values.length > 400 ? 'dots fine' : 'dots'}
          d={line.values.map((v, i) => `M${x(step(i)).toFixed(1)} ${y(v).toFixed(1)}h0`).join('')}
        />
      )}
      {d.single &&
        line.changes.length > 0 &&
        bounds
          .slice(0, -1)
          .map((from, i) => (
            <path
              key={from}
              class="level"
              d={`M${x(step(from)) - 4} ${y(level(i) ?? 0)}H${x(step(bounds[i + 1]! - 1)) + 4}`}
            />
          ))}
      {line.changes.map((c) => (
        <ChangeLine key={c.at} c={c} at={(x(step(c.at)) + x(step(c.at - 1))) / 2} d={d} />
      ))}
    </g>
  );
}

function ChangeLine({ c, at, d }: { c: Change; at: number; d: Parameters<typeof Drawn>[0] }) {
  const kind = c.after > c.before ? 'slower' : 'faster';
  const text = c.before === 0 ? 'new' : signed(c.after / c.before - 1);
  return (
    <g class={d.single ? `changed ${kind}` : 'changed'}>
      <path class={c.state === 'maybe' ? 'change maybe' : 'change'} d={`M${at} 14V${d.height - bottom}`} />
      {d.single && d.p.small !== true && (
        <text class="mark" x={at - 6} y={22} text-anchor="end">
          {text}
          {c.state === 'maybe' ? ', maybe' : ''}
        </text>
      )}
    </g>
  );
}
