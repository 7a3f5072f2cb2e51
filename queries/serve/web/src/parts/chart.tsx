// A chart of rows: one column is the horizontal axis, others are lines; if it is text, each row has bars.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { numberOf, secondsOf, textOf, type ResultColumn, type Row } from '../lib/result';
import { apart, numberAxis, timeAxis, type Axis } from '../lib/scale';
import { amount, exact } from '../lib/units';

const height = 360;
const bottom = 44; // of the labels and the title of the horizontal axis
const top = 32; // of the title of the vertical axis
const pointsAtMost = 200; // with more, only the line is drawn
const barsAtOnce = 200;
const colors = 6; // --series0 to --series5

export interface Charted {
  rows: Row[];
  x: ResultColumn;
  ys: ResultColumn[];
  unitOf: (column: ResultColumn) => string;
}

export function Chart(p: Charted) {
  return p.x.kind === 'text' ? <Bars {...p} /> : <Lines {...p} />;
}

// valueText is a value with its unit.
function valueText(v: number, unit: string): string {
  if (unit === '' && Math.abs(v) < 1e4) return v.toLocaleString('en', { maximumSignificantDigits: 4 });
  return amount(v, unit === '' ? 'count' : unit);
}

// axisTitle names what an axis shows: the columns, and the unit of its labels.
function axisTitle(columns: ResultColumn[], unit: string): string {
  return columns.map((c) => c.name).join(', ') + (unit === '' ? '' : ` (${unit})`);
}

interface Point {
  x: number;
  row: Row;
}

function Lines({ rows, x, ys, unitOf }: Charted) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [at, point] = useState<number>(); // index of the point under the pointer
  useLayoutEffect(() => {
    const measure = () => setWidth(host.current!.clientWidth);
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(host.current!);
    return () => resized.disconnect();
  }, []);
  const points = useMemo(
    () =>
      rows
        .map((row): [number | null, Row] => [x.kind === 'time' ? secondsOf(row[x.name]) : numberOf(row[x.name]), row])
        .filter((q): q is [number, Row] => q[0] !== null)
        .sort((a, b) => a[0] - b[0])
        .map(([v, row]): Point => ({ x: v, row })),
    [rows, x],
  );
  const skipped = rows.length - points.length;
  const lines = useMemo(() => ys.map((y) => points.map((q) => numberOf(q.row[y.name]))), [points, ys]);
  const units = [...new Set(ys.map(unitOf))];
  const unit = units.length === 1 ? units[0]! : '';
  const [low, high] = range(lines.flat().filter((v): v is number => v !== null));
  const fitted = low > 0 && low > 0.8 * high;
  const vertical = numberAxis(fitted ? low : Math.min(0, low), Math.max(0, high), 6, unit);
  const left = Math.ceil(Math.max(...vertical.ticks.map((t) => widthOf(t.text)))) + 12;
  const right = width - 16;
  const horizontal = useMemo(() => horizontalAxis(points, x, unitOf(x), right - left), [points, x, right - left]);
  const px = (v: number) => left + ((v - horizontal.low) / (horizontal.high - horizontal.low)) * (right - left);
  const py = (v: number) =>
    height - bottom - ((v - vertical.low) / (vertical.high - vertical.low)) * (height - bottom - top);
  const labels = apart(
    horizontal.ticks.map((t) => px(t.at)),
    horizontal.ticks.map((t) => widthOf(t.text)),
    12,
  ).map((i) => horizontal.ticks[i]!);
  const move = (e: PointerEvent) => {
    const on = e.clientX - host.current!.getBoundingClientRect().left;
    point(points.length === 0 ? undefined : nearest(points, on, px));
  };
  const shown = at === undefined ? undefined : points[at];
  const names = ys.map((y) => y.name).join(', ');
  return (
    <>
      <div
        ref={host}
        class="chart"
        data-points={points.length}
        onPointerMove={move}
        onPointerLeave={() => point(undefined)}
      >
        {width > 0 && points.length > 0 && (
          <svg
            width={width}
            height={height}
            role="img"
            aria-label={`${names} by ${x.name}: ${points.length} points. The table has the same values.`}
          >
            <text x={0} y={14} class="title">
              {axisTitle(ys, vertical.unit)}
            </text>
            {vertical.ticks.map((t) => (
              <g key={t.at}>
                <line class={t.at === 0 ? 'zero' : 'grid'} x1={left} x2={right} y1={py(t.at)} y2={py(t.at)} />
                <text class="y" x={left - 6} y={py(t.at) + 4} text-anchor="end">
                  {t.text}
                </text>
              </g>
            ))}
            {labels.map((t) => (
              <g key={t.at}>
                <line class="tick" x1={px(t.at)} x2={px(t.at)} y1={height - bottom} y2={height - bottom + 4} />
                <text class="x" {...anchored(px(t.at), widthOf(t.text), width)} y={height - bottom + 17}>
                  {t.text}
                </text>
              </g>
            ))}
            <text x={right} y={height - 6} text-anchor="end" class="title">
              {axisTitle([x], horizontal.unit)}
            </text>
            {lines.map((values, i) => (
              <g key={ys[i]!.name} style={{ color: `var(--series${i % colors})` }}>
                <path class="line" d={pathOf(points, values, px, py)} />
                {points.length <= pointsAtMost &&
                  values.map((v, n) => v !== null && <circle key={n} cx={px(points[n]!.x)} cy={py(v)} r="2.5" />)}
                {at !== undefined && values[at] !== null && (
                  <circle class="at" cx={px(points[at]!.x)} cy={py(values[at]!)} r="4.5" />
                )}
              </g>
            ))}
          </svg>
        )}
      </div>
      <ul class="legend">
        {shown !== undefined && (
          <li>
            <b>{textOf(shown.row[x.name])}</b>
          </li>
        )}
        {ys.map((y, i) => (
          <li key={y.name}>
            <i class="swatch" style={{ background: `var(--series${i % colors})` }} />
            {y.name}
            {shown !== undefined && <b>{valueAt(shown.row[y.name], unitOf(y))}</b>}
          </li>
        ))}
      </ul>
      {fitted && <p class="note">The vertical axis does not begin at 0.</p>}
      {units.length > 1 && <p class="note">The columns have different units: {units.join(', ')}.</p>}
      {skipped > 0 && (
        <p class="note">
          {skipped === 1 ? 'One row has' : `${skipped} rows have`} no {x.name}: left out.
        </p>
      )}
    </>
  );
}

function valueAt(v: unknown, unit: string): string {
  const n = numberOf(v);
  return n === null ? '–' : valueText(n, unit);
}

function range(values: number[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  return low > high ? [0, 1] : [low, high];
}

// horizontalAxis begins and ends with the points: there is no room to lose at the sides.
function horizontalAxis(points: Point[], x: ResultColumn, unit: string, wide: number): Axis {
  const [low, high] = range(points.map((p) => p.x));
  const most = Math.max(2, Math.floor(wide / 90));
  if (x.kind === 'time') return timeAxis(low, high, most);
  const axis = numberAxis(low, high, most, unit);
  if (low === high) return axis;
  return { ...axis, low, high, ticks: axis.ticks.filter((t) => t.at >= low && t.at <= high) };
}

// anchored places a label below its tick, but within the picture.
function anchored(at: number, wide: number, width: number): { x: number; 'text-anchor': 'start' | 'middle' | 'end' } {
  if (at + wide / 2 > width) return { x: width, 'text-anchor': 'end' };
  return at - wide / 2 < 0 ? { x: 0, 'text-anchor': 'start' } : { x: at, 'text-anchor': 'middle' };
}

function pathOf(
  points: Point[],
  values: (number | null)[],
  px: (v: number) => number,
  py: (v: number) => number,
): string {
  let path = '';
  let open = false;
  for (let n = 0; n < points.length; n++) {
    const v = values[n];
    if (v === null || v === undefined) open = false;
    else {
      path += `${open ? 'L' : 'M'}${px(points[n]!.x).toFixed(1)} ${py(v).toFixed(1)}`;
      open = true;
    }
  }
  return path;
}

function nearest(points: Point[], on: number, px: (v: number) => number): number {
  let best = 0;
  for (let n = 1; n < points.length; n++)
    if (Math.abs(px(points[n]!.x) - on) < Math.abs(px(points[best]!.x) - on)) best = n;
  return best;
}

let measuring: CanvasRenderingContext2D | null = null;

// widthOf returns the width of a label in pixels.
function widthOf(text: string): number {
  measuring ??= document.createElement('canvas').getContext('2d');
  measuring!.font = '11px Inter, system-ui, sans-serif';
  return measuring!.measureText(text).width;
}

// Bars shows each row with its whole text and a bar for each column, in the order of the rows.
function Bars({ rows, x, ys, unitOf }: Charted) {
  const [most, more] = useState(barsAtOnce);
  const shown = rows.slice(0, most);
  const units = [...new Set(ys.map(unitOf))];
  const [low, high] = useMemo(
    () => range(rows.flatMap((r) => ys.map((y) => numberOf(r[y.name]) ?? 0))),
    [rows, ys.map((y) => y.name).join('\n')],
  );
  const [from, until] = [Math.min(0, low), Math.max(0, high)];
  const share = (v: number) => `${(100 * v) / (until - from || 1)}%`;
  return (
    <>
      <table class="bars chart" data-points={rows.length}>
        <thead>
          <tr>
            <th scope="col">{x.name}</th>
            <th scope="col" colSpan={2}>
              {ys.map((y, i) => (
                <span key={y.name}>
                  <i class="swatch" style={{ background: `var(--series${i % colors})` }} />
                  {axisTitle([y], unitOf(y))}
                </span>
              ))}
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row, n) => (
            <tr key={n}>
              <th scope="row">{textOf(row[x.name])}</th>
              <td class="number">
                {ys.map((y) => {
                  const v = numberOf(row[y.name]);
                  return (
                    <div key={y.name} title={v === null ? '' : exact(row[y.name] as number, unitOf(y))}>
                      {valueAt(row[y.name], unitOf(y))}
                    </div>
                  );
                })}
              </td>
              <td class="barlane" aria-hidden="true">
                {ys.map((y, i) => {
                  const v = numberOf(row[y.name]) ?? 0;
                  return (
                    <div key={y.name}>
                      <i
                        style={{
                          marginLeft: share(Math.min(v, 0) - from),
                          width: share(Math.abs(v)),
                          background: `var(--series${i % colors})`,
                        }}
                      />
                    </div>
                  );
                })}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {units.length > 1 && (
        <p class="note">The columns have different units, and bars of one scale: {units.join(', ')}.</p>
      )}
      {rows.length > most && (
        <p class="note">
          The first {most} of {rows.length} rows.{' '}
          <button type="button" class="btn" onClick={() => more(most + 1000)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
