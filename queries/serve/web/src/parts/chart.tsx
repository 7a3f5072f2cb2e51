// A chart of rows: one column is the horizontal axis, others are lines or bars.
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { hash } from '../lib/units';
import { useDark } from '../lib/theme';
import { numberOf, secondsOf, textOf, type ResultColumn, type Row } from '../lib/result';

const height = 340;

export function Chart({ rows, x, ys }: { rows: Row[]; x: ResultColumn; ys: ResultColumn[] }) {
  const host = useRef<HTMLDivElement>(null);
  const dark = useDark();
  const { data, labels, skipped } = useMemo(() => chartData(rows, x, ys), [rows, x, ys]);
  useLayoutEffect(() => {
    const on = host.current!;
    const style = getComputedStyle(on);
    const axis = {
      stroke: style.getPropertyValue('--quiet'),
      grid: { stroke: style.getPropertyValue('--line') },
      ticks: { stroke: style.getPropertyValue('--line') },
    };
    const bars =
      labels !== undefined && uPlot.paths.bars !== undefined
        ? { paths: uPlot.paths.bars({ size: [0.8 / ys.length, 60] }) }
        : {};
    const plot = new uPlot(
      {
        width: on.clientWidth,
        height,
        scales: {
          x: {
            time: x.kind === 'time',
            ...(labels === undefined ? {} : { range: (_, from, to) => [from - 0.5, to + 0.5] as [number, number] }),
          },
        },
        tzDate: (s) => uPlot.tzDate(new Date(s * 1000), 'UTC'), // in UTC, like all times of the server
        axes: [
          {
            ...axis,
            ...(labels === undefined
              ? {}
              : { values: (_, at) => at.map((n) => (Number.isInteger(n) ? short(labels[n] ?? '') : '')) }),
          },
          { ...axis, size: 80 },
        ],
        series: [
          {
            label: x.name,
            ...(labels === undefined ? {} : { value: (_, v) => (v === null ? '' : (labels[v] ?? '')) }),
          },
          ...ys.map((y): uPlot.Series => {
            const color = `hsl(${hash(y.name) % 360} 70% ${dark ? 65 : 40}%)`;
            return {
              label: y.name,
              stroke: color,
              fill: labels === undefined ? undefined! : color,
              width: 2,
              points: { show: rows.length < 200 },
              ...bars,
            };
          }),
        ],
      },
      data,
      on,
    );
    on.dataset['points'] = String(data[0].length);
    const resized = new ResizeObserver(() => plot.setSize({ width: on.clientWidth, height }));
    resized.observe(on);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [data, labels, dark]);
  const names = ys.map((y) => y.name).join(', ');
  return (
    <>
      <div
        ref={host}
        class="chart"
        role="img"
        aria-label={`${names} by ${x.name}: ${data[0].length} points. The table has the same values.`}
      />
      {skipped > 0 && (
        <p class="note">
          {skipped === 1 ? 'One row has' : `${skipped} rows have`} no {x.name}: left out.
        </p>
      )}
    </>
  );
}

function short(text: string): string {
  return text.length > 14 ? text.slice(0, 13) + '…' : text;
}

// chartData returns the columns in uPlot's format, sorted by x. If x is text, its values become labels, in
// the order of the rows.
function chartData(
  rows: Row[],
  x: ResultColumn,
  ys: ResultColumn[],
): { data: uPlot.AlignedData; labels: string[] | undefined; skipped: number } {
  const labels = x.kind === 'text' ? rows.map((r) => textOf(r[x.name])) : undefined;
  const at = (row: Row, n: number) =>
    labels !== undefined ? n : x.kind === 'time' ? secondsOf(row[x.name]) : numberOf(row[x.name]);
  const points = rows
    .map((row, n): [number | null, Row] => [at(row, n), row])
    .filter((p): p is [number, Row] => p[0] !== null)
    .sort((a, b) => a[0] - b[0]);
  return {
    data: [points.map((p) => p[0]), ...ys.map((y) => points.map((p) => numberOf(p[1][y.name])))] as uPlot.AlignedData,
    labels,
    skipped: rows.length - points.length,
  };
}
