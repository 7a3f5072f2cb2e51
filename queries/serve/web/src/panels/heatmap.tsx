// The panel of the heat map. Each column is one second, from bottom to top, so that periodic activity shows
// as a pattern. Selecting a range of time filters all panels.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useData } from '../lib/api';
import { Link } from '../parts/link';
import { selectionKeys, useTimeSelection } from '../lib/timeselection';
import { useDark } from '../lib/theme';
import { Panel } from '../parts/panel';
import { navigate, scope, useAddress } from '../lib/address';
import { Table } from '../parts/table';
import { amount, num } from '../lib/units';
import type { SecondsRow } from '../lib/rows';

const slotsOfSecond = [10, 20, 50, 100];
const mostExperiments = 5;
const mostSeconds = 7200; // columns of a heat map
const height = 300;

export function HeatmapPanel() {
  const address = useAddress();
  const slots = slotsOfSecond.find((n) => String(n) === address.get('slots')) ?? 50;
  const answer = useData<SecondsRow[]>('views/seconds', {
    ...scope(address),
    between: null,
    metric: address.get('metric'),
    width: `${1000 / slots}ms`,
    columns: 'experiment,metric,unit,t0_ns,value',
  });
  return (
    <>
      <div class="bar">
        <label>
          A second has
          <select value={String(slots)} onChange={(e) => navigate({ slots: e.currentTarget.value })}>
            {slotsOfSecond.map((n) => (
              <option key={n} value={String(n)}>
                {n} intervals of {1000 / n} ms
              </option>
            ))}
          </select>
        </label>
      </div>
      <Panel title="Heat map" answer={answer} empty={(rows) => rows.length === 0}>
        {(rows) => <HeatMaps rows={rows} slots={slots} />}
      </Panel>
    </>
  );
}

function HeatMaps({ rows, slots }: { rows: SecondsRow[]; slots: number }) {
  const maps = useMemo(() => {
    const by = new Map<string, SecondsRow[]>();
    for (const r of rows) {
      const some = by.get(r.experiment);
      if (some === undefined) by.set(r.experiment, [r]);
      else some.push(r);
    }
    return [...by].slice(0, mostExperiments).map(([experiment, some]) => new HeatGrid(experiment, some, slots));
  }, [rows, slots]);
  const left = new Set(rows.map((r) => r.experiment)).size - maps.length;
  return (
    <>
      {maps.map((of) => (
        <HeatMap key={of.experiment} of={of} />
      ))}
      {left > 0 && <p class="note">{left} more experiments are not shown: choose fewer.</p>}
    </>
  );
}

// HeatGrid has the value of each interval of an experiment: a second is divided into `slots` intervals.
class HeatGrid {
  readonly unit: string;
  readonly metric: string;
  readonly first: number; // the second in which the first interval lies
  readonly seconds: number;
  readonly values: Float64Array;
  readonly highest: number;

  constructor(
    readonly experiment: string,
    readonly rows: SecondsRow[],
    readonly slots: number,
  ) {
    const at = rows.map((r) => Math.round((num(r.t0_ns) / 1e9) * slots));
    this.unit = rows[0]!.unit;
    this.metric = rows[0]!.metric;
    this.first = Math.floor(at.reduce((n, a) => Math.min(n, a), Infinity) / slots);
    this.seconds = Math.floor(at.reduce((n, a) => Math.max(n, a), 0) / slots) - this.first + 1;
    this.values = new Float64Array(Math.min(this.seconds, mostSeconds) * slots);
    rows.forEach((r, i) => {
      this.values[at[i]! - this.first * slots] = num(r.value);
    });
    this.highest = this.values.reduce((n, v) => Math.max(n, v), 0);
  }

  // from returns when an interval starts, in seconds.
  from(interval: number): number {
    return this.first + interval / this.slots;
  }

  between(a: number, b: number): string {
    return `${this.from(Math.min(a, b)).toFixed(3)}s,${this.from(Math.max(a, b) + 1).toFixed(3)}s`;
  }

  // marked returns the first and last interval of a time range in the URL.
  marked(between: string): [number, number] | undefined {
    const [, a, b] = /^(-?[\d.]+)s,(-?[\d.]+)s$/.exec(between) ?? [];
    if (a === undefined || b === undefined) return undefined;
    const [from, to] = [
      Math.floor((Number(a) - this.first) * this.slots + 1e-6),
      Math.ceil((Number(b) - this.first) * this.slots - 1e-6) - 1,
    ];
    return to < 0 || from >= this.values.length || to < from
      ? undefined
      : [Math.max(from, 0), Math.min(to, this.values.length - 1)];
  }
}

function HeatMap({ of }: { of: HeatGrid }) {
  const address = useAddress();
  const dark = useDark();
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [dragging, setDragging] = useState(false);
  const columns = of.values.length / of.slots;
  const steps = {
    ArrowUp: 1,
    ArrowDown: -1,
    ArrowRight: of.slots,
    ArrowLeft: -of.slots,
    PageUp: 10 * of.slots,
    PageDown: -10 * of.slots,
    Home: -Infinity,
    End: Infinity,
  };
  const show = (i: number) => {
    const box = scroller.current!;
    const x = Math.floor(i / of.slots) * wide;
    if (x < box.scrollLeft || x + wide > box.scrollLeft + box.clientWidth) box.scrollLeft = x - box.clientWidth / 2;
  };
  const mark = (a: number, b: number) => navigate({ between: of.between(a, b) });
  const { cursor, anchor, set, key } = useTimeSelection(of.values.length, steps, mark, show);
  const wide = Math.max(3, Math.min(24, Math.floor(1200 / columns)));
  const high = height / of.slots;
  const marked: [number, number] | undefined =
    anchor !== undefined && cursor !== undefined
      ? [Math.min(anchor, cursor), Math.max(anchor, cursor)]
      : of.marked(address.get('between'));

  useEffect(() => {
    const c = canvas.current!;
    const scale = devicePixelRatio || 1;
    c.width = columns * wide * scale;
    c.height = height * scale;
    const g = c.getContext('2d')!;
    g.scale(scale, scale);
    const [ground, hot]: [number[], number[]] = dark
      ? [
          [31, 36, 43],
          [255, 150, 90],
        ]
      : [
          [244, 245, 247],
          [176, 32, 8],
        ];
    g.fillStyle = `rgb(${ground.join(' ')})`;
    g.fillRect(0, 0, columns * wide, height);
    const corner = (i: number): [number, number] => [
      Math.floor(i / of.slots) * wide,
      height - ((i % of.slots) + 1) * high,
    ];
    const gap = wide > 6 ? 1 : 0;
    for (let i = 0; i < of.values.length; i++) {
      const part = of.values[i]! / (of.highest || 1);
      if (part <= 0) continue;
      const seen = 0.12 + 0.88 * part; // so that even the smallest value is visible
      g.fillStyle = `rgb(${ground.map((v, n) => Math.round(v + (hot[n]! - v) * seen)).join(' ')})`;
      g.fillRect(...corner(i), wide - gap, high - (high > 4 ? 1 : 0));
    }
    if (marked !== undefined) {
      g.fillStyle = dark ? 'rgb(138 180 248 / 0.35)' : 'rgb(11 87 208 / 0.3)';
      for (let i = marked[0]; i <= marked[1]; i++) g.fillRect(...corner(i), wide, high);
    }
    if (cursor !== undefined) {
      g.strokeStyle = dark ? '#fff' : '#000';
      g.lineWidth = 2;
      const [x, y] = corner(cursor);
      g.strokeRect(x, y, wide, high);
    }
  }, [of, dark, cursor, marked?.[0], marked?.[1]]);

  const at = (e: PointerEvent) => {
    const r = canvas.current!.getBoundingClientRect();
    const [second, slot] = [Math.floor((e.clientX - r.left) / wide), Math.floor((r.bottom - e.clientY) / high)];
    return Math.min(Math.max(second, 0), columns - 1) * of.slots + Math.min(Math.max(slot, 0), of.slots - 1);
  };
  const seconds = (n: number) => n.toFixed(3) + ' s';
  const part = (a: number, b: number) =>
    `${seconds(of.from(a))} to ${seconds(of.from(b + 1))}: ${amount(
      of.values.slice(a, b + 1).reduce((n, v) => n + v, 0),
      of.unit,
    )}`;
  const told =
    marked === undefined || (anchor === undefined && cursor !== undefined && (cursor < marked[0] || cursor > marked[1]))
      ? cursor === undefined
        ? ''
        : part(cursor, cursor)
      : (anchor === undefined ? 'Marked: ' : '') + part(marked[0], marked[1]);
  return (
    <section>
      <h2>{of.experiment}</h2>
      <p class="note">
        {of.metric} of all threads. Each column is a second, {of.first} to {of.first + columns}, from the bottom to the
        top; the strongest color is {amount(of.highest, of.unit)} in {1000 / of.slots} ms. Select a time range by
        dragging, or with Shift and the arrow keys, then Enter.{' '}
        {address.all('between').length > 0 && (
          <>
            <button type="button" onClick={() => navigate({ between: null })}>
              Whole time
            </button>{' '}
            <Link to={{ view: 'flame', zoom: null }}>Flame graph of the selection</Link>
          </>
        )}
      </p>
      {columns < of.seconds && (
        <p class="note">
          The first {columns} of {of.seconds} seconds are drawn: the table has all.
        </p>
      )}
      <p class="under">
        <output>{told}</output>
      </p>
      <div
        ref={scroller}
        class="heatmap"
        tabIndex={0}
        role="application"
        aria-label={
          `Heat map of ${of.experiment}, ${columns} seconds of ${of.slots} intervals. Up and down: interval; ` +
          `left and right: second; ${selectionKeys}`
        }
        onKeyDown={key}
      >
        <canvas
          ref={canvas}
          style={{ width: `${columns * wide}px`, height: `${height}px` }}
          onPointerDown={(e) => {
            canvas.current!.setPointerCapture(e.pointerId);
            setDragging(true);
            set(at(e), at(e));
          }}
          onPointerMove={(e) => {
            if (dragging || e.pointerType === 'mouse') set(at(e), anchor);
          }}
          onPointerUp={(e) => {
            if (dragging && anchor !== undefined) mark(anchor, at(e));
            set(at(e), undefined);
            setDragging(false);
          }}
          onPointerCancel={() => {
            setDragging(false);
            set(cursor, undefined);
          }}
        />
      </div>
      <details>
        <summary>As a table</summary>
        <Table
          label={`Intervals of ${of.experiment}`}
          rows={of.rows}
          keyOf={(r) => String(r.t0_ns)}
          columns={[
            { title: 'From', numeric: true, value: (r) => num(r.t0_ns), show: (r) => seconds(num(r.t0_ns) / 1e9) },
            {
              title: 'To',
              numeric: true,
              value: (r) => num(r.t0_ns),
              show: (r) => seconds(num(r.t0_ns) / 1e9 + 1 / of.slots),
            },
            { title: 'Value', numeric: true, value: (r) => num(r.value), show: (r) => amount(r.value, of.unit) },
          ]}
        />
      </details>
    </section>
  );
}
