// The place Heat map: in which rhythm? Each column is a length of time, from bottom to top, so that work that repeats
// forms a pattern. A chosen time is a filter of all places.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useData } from '../lib/api';
import { HeatGrid, HeatScale, mix, parseColor, scales, type HeatAnswer, type Scale } from '../lib/heat';
import { tokenColor, useDark } from '../lib/theme';
import { parseRange, rangeText, timeText, timeTicks, type Range } from '../lib/timeaxis';
import { selectionKeys, useTimeSelection } from '../lib/timeselection';
import { Panel } from '../parts/panel';
import { Picker } from '../parts/picker';
import { Segments } from '../parts/segments';
import { navigate, scope, useAddress } from '../lib/address';
import { Table } from '../parts/table';
import { useWidth } from '../parts/timelineview';
import { amount, count, num, percent } from '../lib/units';

const lengths: Record<string, string> = {
  '': 'automatic',
  '100ms': '100 ms',
  '1s': '1 s',
  '10s': '10 s',
  '1m': '1 min',
};
const cellsOfColumn = [10, 20, 50, 100];

export function HeatmapPanel() {
  const address = useAddress();
  const host = useRef<HTMLDivElement>(null);
  const wide = useWidth(host);
  const ranges = address.all('between');
  const chosen = ranges.length === 1 ? parseRange(ranges[0]!) : undefined;
  const cells = cellsOfColumn.find((n) => String(n) === address.get('cells')) ?? 50;
  const kind = (Object.keys(scales) as Scale[]).find((s) => s === address.get('scale')) ?? 'linear';
  const answer = useData<HeatAnswer>('heatmap', {
    ...scope(address),
    between: null,
    metric: address.get('metric'),
    column: address.get('column'),
    cells: String(cells),
    limit: wide < 500 ? '100' : wide < 1200 ? '300' : '500', // a column is at least 3 pixels wide
    time: address.get('time'),
    marked: chosen === undefined ? null : ranges[0]!,
  });
  return (
    <div ref={host}>
      <h1 class="hidden" tabIndex={-1}>
        Heat map
      </h1>
      <div class="bar">
        <Picker
          label="Length of a column"
          text={
            <>
              <span>Column</span> {lengths[address.get('column')] ?? address.get('column')}
            </>
          }
          value={address.get('column')}
          options={Object.entries(lengths).map(([value, text]) => ({ value, text }))}
          set={(to) => navigate({ column: to === '' ? null : to })}
        />
        <Picker
          label="Cells of a column"
          text={
            <>
              <span>Cells</span> {cells}
            </>
          }
          value={String(cells)}
          options={cellsOfColumn.map((n) => ({ value: String(n), text: String(n) }))}
          set={(to) => navigate({ cells: to === '50' ? null : to })}
        />
        <Segments
          label="Scale of colors"
          options={Object.entries(scales) as [Scale, string][]}
          value={kind}
          set={(to) => navigate({ scale: to === 'linear' ? null : to })}
        />
      </div>
      <Panel
        title="Heat map"
        answer={answer}
        empty={(a) => a.values.cell.length === 0}
        none="No samples of this metric pass the filters."
      >
        {(a) =>
          a.timed ? (
            <HeatMap answer={a} chosen={chosen} kind={kind} />
          ) : (
            <p class="note">These samples have no times: profiles of pprof only have sums.</p>
          )
        }
      </Panel>
    </div>
  );
}

function HeatMap({ answer: a, chosen, kind }: { answer: HeatAnswer; chosen: Range | undefined; kind: Scale }) {
  const grid = useMemo(() => new HeatGrid(a), [a]);
  const scale = useMemo(() => new HeatScale(kind, grid.values), [grid, kind]);
  const column = timeText(grid.column, grid.column);
  const cell = amount(grid.cell, 'ns');
  return (
    <>
      <Grid answer={a} grid={grid} scale={scale} chosen={chosen} />
      <p class="note">
        A column is {column}, a cell {cell}. The strongest color is {amount(grid.highest, a.unit)} of {a.metric}.
        {a.coarser &&
          ` Columns are longer than asked, because ${count(a.columns)} have room: zoom to see shorter ones.`}
        {a.experiments > 1 && ` Cells are sums of all experiments, each from its start.`}
        {a.lacking > 0 && ` ${count(a.lacking)} of ${count(a.experiments)} experiments lack ${a.metric}.`}
      </p>
      <Cells answer={a} grid={grid} />
    </>
  );
}

function heatColors(): [number, number, number][] {
  return [0, 1, 2, 3, 4, 5].map((n) => parseColor(tokenColor(`--heat${n}`)));
}

function Grid(p: { answer: HeatAnswer; grid: HeatGrid; scale: HeatScale; chosen: Range | undefined }) {
  const { answer: a, grid, scale, chosen } = p;
  const dark = useDark();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const wide = useWidth(box);
  const [dragging, setDragging] = useState(false);
  const steps = {
    ArrowUp: 1,
    ArrowDown: -1,
    ArrowRight: grid.cells,
    ArrowLeft: -grid.cells,
    PageUp: 10 * grid.cells,
    PageDown: -10 * grid.cells,
    Home: -Infinity,
    End: Infinity,
  };
  const mark = (x: number, y: number) => navigate({ between: rangeText(grid.range(x, y)) });
  const { cursor, anchor, set, key } = useTimeSelection(grid.values.length, steps, mark);
  const marked =
    anchor !== undefined && cursor !== undefined
      ? ([Math.min(anchor, cursor), Math.max(anchor, cursor)] as [number, number])
      : chosen === undefined
        ? undefined
        : grid.covered(chosen);
  const high = wide > 1200 ? 440 : 320; // pixels
  const [w, h] = [wide / grid.columns, high / grid.cells];

  useLayoutEffect(() => {
    const c = canvas.current!;
    const ratio = devicePixelRatio || 1;
    c.width = Math.round(wide * ratio);
    c.height = Math.round(high * ratio);
    const g = c.getContext('2d')!;
    g.scale(ratio, ratio);
    const colors = heatColors();
    g.fillStyle = mix(colors, 0);
    g.fillRect(0, 0, wide, high);
    const gap = w > 6 ? 1 : 0;
    const gapBelow = h > 5 ? 1 : 0;
    grid.values.forEach((v, i) => {
      if (v <= 0) return;
      g.fillStyle = mix(colors, scale.share(v));
      const x = Math.floor(i / grid.cells) * w;
      g.fillRect(x, high - ((i % grid.cells) + 1) * h, w - gap, h - gapBelow);
    });
  }, [grid, scale, dark, wide, high]);

  const at = (e: PointerEvent) => {
    const r = canvas.current!.getBoundingClientRect();
    const x = Math.min(Math.max(Math.floor((e.clientX - r.left) / w), 0), grid.columns - 1);
    const y = Math.min(Math.max(Math.floor((r.bottom - e.clientY) / h), 0), grid.cells - 1);
    return x * grid.cells + y;
  };
  const text = (ns: number) => timeText(ns, grid.cell);
  const length = timeText(grid.column, grid.column);
  const part = ([from, until]: Range, value: number) => {
    const share = `${percent(value, a.whole)} of ${amount(a.whole, a.unit)}`;
    return `${text(from)} to ${text(until)}: ${amount(value, a.unit)}, ${share}`;
  };
  const choosing = anchor !== undefined && cursor !== undefined;
  const told = choosing
    ? part(grid.range(anchor, cursor), grid.sum(anchor, cursor))
    : cursor !== undefined
      ? `${text(grid.start(cursor))} to ${text(grid.start(cursor + 1))}: ${amount(grid.values[cursor]!, a.unit)}`
      : chosen !== undefined
        ? part(chosen, num(a.marked))
        : '';
  return (
    <>
      <div class="chosentime">
        <output>{told}</output>
        {told === '' && <span class="dim">Drag over cells to choose a time, or use the arrow keys with Shift.</span>}
        {chosen !== undefined && !choosing && (
          <>
            <button type="button" class="btn" onClick={() => navigate({ view: 'flame', zoom: null })}>
              Flame graph
            </button>
            <button type="button" class="btn" onClick={() => navigate({ time: rangeText(chosen) })}>
              Zoom to it
            </button>
            <button type="button" class="btn" onClick={() => navigate({ between: null })}>
              Whole time
            </button>
          </>
        )}
        {(num(a.from_ns) > num(a.t0_ns) || num(a.until_ns) < num(a.t1_ns)) && (
          <button type="button" class="btn" onClick={() => navigate({ time: null })}>
            Zoom out
          </button>
        )}
        <span class="sp" />
        <Legend answer={a} grid={grid} scale={scale} />
      </div>
      <div class="card heatmap">
        <div class="heaty" aria-hidden="true">
          <b>Within {length}</b>
          {timeTicks([0, grid.column], 5).map((t) => (
            <span key={t.at} style={{ bottom: `${(100 * t.at) / grid.column}%` }}>
              {t.text}
            </span>
          ))}
        </div>
        <div
          class="heatcells"
          ref={box}
          style={{ height: `${high}px` }}
          tabIndex={0}
          role="application"
          aria-label={
            `Heat map, ${count(grid.columns)} columns of ${length} with ${grid.cells} cells. ` +
            `Up and down: cell; left and right: column; ${selectionKeys}`
          }
          onKeyDown={(e) => {
            key(e);
            if (e.defaultPrevented) e.stopPropagation();
          }}
          onBlur={() => set(undefined, undefined)}
        >
          <canvas
            ref={canvas}
            onPointerDown={(e) => {
              canvas.current!.setPointerCapture(e.pointerId);
              setDragging(true);
              set(at(e), at(e));
            }}
            onPointerMove={(e) => {
              if (dragging || e.pointerType === 'mouse') set(at(e), anchor);
            }}
            onPointerUp={(e) => {
              if (dragging && anchor !== undefined && anchor !== at(e)) mark(anchor, at(e));
              set(undefined, undefined);
              setDragging(false);
            }}
            onPointerLeave={() => {
              if (!dragging) set(undefined, undefined);
            }}
            onPointerCancel={() => {
              setDragging(false);
              set(undefined, undefined);
            }}
          />
          <Outline grid={grid} marked={marked} cursor={cursor} />
        </div>
        <div class="heatx" aria-hidden="true">
          {timeTicks(
            [grid.from, grid.from + grid.columns * grid.column],
            Math.max(1, Math.min(Math.floor(wide / 90), grid.columns)),
          ).map((t) => (
            <span
              key={t.at}
              style={{ left: `${(100 * (t.at - grid.from)) / (grid.columns * grid.column)}%` }}
              class={wide * (1 - (t.at - grid.from) / (grid.columns * grid.column)) < 56 ? 'end' : ''}
            >
              {t.text}
            </span>
          ))}
          <b>Time since the start</b>
        </div>
      </div>
    </>
  );
}

// Outline draws the chosen cells and the one of the cursor above the canvas.
function Outline(p: { grid: HeatGrid; marked: [number, number] | undefined; cursor: number | undefined }) {
  const { grid, marked, cursor } = p;
  const cells = grid.cells;
  const rect = (i: number, n: number) => ({
    x: Math.floor(i / cells),
    y: cells - (i % cells) - n,
    width: 1,
    height: n,
  });
  let path = '';
  if (marked !== undefined) {
    const [a, b] = marked;
    for (let c = Math.floor(a / cells); c <= Math.floor(b / cells); c++) {
      const first = Math.max(a, c * cells);
      const n = Math.min(b, (c + 1) * cells - 1) - first + 1;
      const r = rect(first, n);
      path += `M${r.x} ${r.y}h1v${r.height}h-1z`;
    }
  }
  return (
    <svg viewBox={`0 0 ${grid.columns} ${cells}`} preserveAspectRatio="none" aria-hidden="true">
      {path !== '' && <path class="heatchosen" d={path} />}
      {cursor !== undefined && <rect class="heatcursor" {...rect(cursor, 1)} />}
    </svg>
  );
}

// Legend shows which value has which color.
function Legend({ answer: a, grid, scale }: { answer: HeatAnswer; grid: HeatGrid; scale: HeatScale }) {
  const stops = [0, 0.25, 0.5, 0.75, 1];
  const dark = useDark();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const g = canvas.current!.getContext('2d')!;
    const colors = heatColors();
    for (let x = 0; x < 120; x++) {
      g.fillStyle = mix(colors, x / 119);
      g.fillRect(x, 0, 1, 10);
    }
  }, [dark]);
  return (
    <span class="heatlegend" title={`${a.metric} in ${amount(grid.cell, 'ns')}`}>
      <span>{amount(scale.value(stops[0]!), a.unit)}</span>
      <canvas ref={canvas} width="120" height="10" role="img" aria-label={`Colors of ${scales[scale.kind]} scale`} />
      <span>
        {amount(scale.value(1), a.unit)} in {amount(grid.cell, 'ns')}
      </span>
      <span class="dim">half: {amount(scale.value(0.5), a.unit)}</span>
    </span>
  );
}

// Cells is the same as a table.
function Cells({ answer: a, grid }: { answer: HeatAnswer; grid: HeatGrid }) {
  const [open, setOpen] = useState(false);
  const text = (ns: number) => timeText(ns, grid.cell);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>As a table</summary>
      {open && (
        <Table
          label="Cells"
          rows={a.values.cell.map((cell, i) => ({ cell, value: a.values.value[i]! }))}
          keyOf={(r) => String(r.cell)}
          columns={[
            { title: 'From', numeric: true, value: (r) => r.cell, show: (r) => text(grid.start(r.cell)) },
            { title: 'To', numeric: true, value: (r) => r.cell, show: (r) => text(grid.start(r.cell + 1)) },
            { title: 'Value', numeric: true, value: (r) => num(r.value), show: (r) => amount(r.value, a.unit) },
          ]}
        />
      )}
    </details>
  );
}
