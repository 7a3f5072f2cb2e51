// The panel of time: what each thread did when. A part that is marked filters all panels.
import { useMemo, useRef, useState } from 'preact/hooks';
import { useData } from './api';
import { useMarking } from './marking';
import { Frame } from './parts';
import { go, scope, usePlace } from './place';
import { Table } from './table';
import { amount, num, type Value } from './units';

interface Cell {
  experiment: string;
  metric: string;
  unit: string;
  t0_ns: Value;
  t1_ns: Value;
  thread_id: Value;
  value: Value;
}

const rowHeight = 22;
const mostThreads = 200;
const mostExperiments = 20;
const intervals = 200; // about as many are shown
const across = 1000; // units of the drawing's width

export function TimelinePanel() {
  const place = usePlace();
  // The whole time is shown, with what is marked in it: first by the second, then in
  // intervals that are as wide as some points of the screen.
  const asked = { ...scope(place), between: null, metric: place.get('metric') };
  const coarse = useData<Cell[]>('views/timeline', asked);
  const end = (coarse.data ?? []).reduce((n, c) => Math.max(n, num(c.t1_ns)), 0);
  const ms = end === 0 ? 0 : Math.max(Math.round(end / intervals / 1e6), 1);
  const refined = ms > 0 && ms < 1000;
  const fine = useData<Cell[]>(refined ? 'views/timeline' : undefined, { ...asked, width: `${ms}ms` });
  const answer = fine.data === undefined && fine.error === undefined ? { ...coarse, loading: coarse.loading || refined } : fine;
  return (
    <Frame title="Timeline" answer={answer} empty={(rows) => rows.length === 0}>
      {(rows) => <Timelines rows={rows} />}
    </Frame>
  );
}

function Timelines({ rows }: { rows: Cell[] }) {
  const groups = useMemo(() => {
    const by = new Map<string, Cell[]>();
    for (const r of rows) {
      const cells = by.get(r.experiment);
      if (cells === undefined) by.set(r.experiment, [r]);
      else cells.push(r);
    }
    return [...by];
  }, [rows]);
  return (
    <>
      {groups.slice(0, mostExperiments).map(([experiment, cells]) => <Threads key={experiment} experiment={experiment} cells={cells} />)}
      {groups.length > mostExperiments && <p class="note">{groups.length - mostExperiments} more experiments are not shown: choose some.</p>}
    </>
  );
}

function Threads({ experiment, cells }: { experiment: string; cells: Cell[] }) {
  const place = usePlace();
  const box = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<[number, number] | undefined>();
  const from = cells.reduce((n, c) => Math.min(n, num(c.t0_ns)), Infinity);
  const until = cells.reduce((n, c) => Math.max(n, num(c.t1_ns)), 0);
  const threads = [...new Set(cells.map((c) => String(c.thread_id)))];
  const rowOf = new Map(threads.map((t, n) => [t, n]));
  const highest = cells.reduce((n, c) => Math.max(n, num(c.value)), 0);
  const unit = cells[0]!.unit;
  const scale = across / (until - from || 1);
  const at = (e: PointerEvent) => {
    const r = box.current!.getBoundingClientRect();
    return from + Math.min(Math.max((e.clientX - r.left) / r.width, 0), 1) * (until - from);
  };
  const width = cells.reduce((n, c) => Math.min(n, num(c.t1_ns) - num(c.t0_ns)), Infinity);
  const count = Math.max(Math.round((until - from) / width), 1);
  const time = (a: number, b: number): [number, number] => [from + Math.min(a, b) * width, from + (Math.max(a, b) + 1) * width];
  const { cursor, anchor, set, key } = useMarking(count, { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }, (a, b) => {
    const [begin, finish] = time(a, b);
    go({ between: `${text(begin)},${text(finish)}` });
  });
  const text = (ns: number) => (ns / 1e9).toFixed(3) + 's';
  const end = () => {
    if (drag !== undefined && Math.abs(drag[1] - drag[0]) > (until - from) / 500) {
      const [a, b] = [Math.min(...drag), Math.max(...drag)];
      go({ between: `${text(a)},${text(b)}` });
    }
    setDrag(undefined);
  };
  const bars = useMemo(
    () =>
      cells.map((c) => {
        const row = rowOf.get(String(c.thread_id))!;
        if (row >= mostThreads) return null;
        const height = Math.max((num(c.value) / (highest || 1)) * (rowHeight - 2), 1);
        return (
          <rect key={row + ' ' + c.t0_ns} x={scale * (num(c.t0_ns) - from)} width={scale * (num(c.t1_ns) - num(c.t0_ns))} y={(row + 1) * rowHeight - height - 1} height={height} class="usage">
            <title>{`thread ${c.thread_id}, ${text(num(c.t0_ns))} to ${text(num(c.t1_ns))}: ${amount(c.value, c.unit)}`}</title>
          </rect>
        );
      }),
    [cells],
  );
  const byKeys = cursor === undefined ? undefined : time(anchor ?? cursor, cursor);
  const marked = drag ?? (anchor === undefined ? undefined : byKeys) ?? window(place.get('between'));
  const told = byKeys === undefined ? '' : `${text(byKeys[0])} to ${text(byKeys[1])}: ${amount(cells.reduce((n, c) => (num(c.t0_ns) >= byKeys[0] && num(c.t0_ns) < byKeys[1] ? n + num(c.value) : n), 0), unit)}`;
  return (
    <section>
      <h2>{experiment}</h2>
      <p class="note">
        From {text(from)} to {text(until)}, {threads.length} threads, at most {amount(highest, unit)} at once. Drag, or use arrow keys with Shift and press Enter, to look at a part of the time only.{' '}
        {place.all('between').length > 0 && <button type="button" onClick={() => go({ between: null })}>All of the time</button>}
      </p>
      {threads.length > mostThreads && <p class="note">{threads.length - mostThreads} more threads are not shown: filter by thread_id.</p>}
      <p class="under"><output>{told}</output></p>
      <div class="threads">
        <ul>{threads.slice(0, mostThreads).map((t) => <li key={t} style={{ height: `${rowHeight}px` }}><button type="button" onClick={() => go({ thread: place.get('thread') === t ? null : t })} aria-pressed={place.all('thread').includes(t)}>{t}</button></li>)}</ul>
        <div
          class="time"
          tabIndex={0}
          role="application"
          aria-label={`Timeline of ${experiment}, ${threads.length} threads over ${text(until - from)}, ${count} intervals. Left and right: interval; with Shift: mark; Enter: look at what is marked; Escape: all of the time`}
          onKeyDown={key}
          onBlur={() => set(undefined, undefined)}
        >
          <svg
            ref={box}
            aria-hidden="true"
            viewBox={`0 0 ${across} ${Math.min(threads.length, mostThreads) * rowHeight}`}
            style={{ height: `${Math.min(threads.length, mostThreads) * rowHeight}px` }}
            preserveAspectRatio="none"
            onPointerDown={(e) => { box.current!.setPointerCapture(e.pointerId); setDrag([at(e), at(e)]); }}
            onPointerMove={(e) => { if (drag !== undefined) setDrag([drag[0], at(e)]); }}
            onPointerUp={end}
          >
            {bars}
            {byKeys !== undefined && <rect class="cursor" x={scale * (time(cursor!, cursor!)[0] - from)} width={scale * width} y="0" height={threads.length * rowHeight} />}
            {marked !== undefined && <rect class="marked" x={scale * (Math.min(...marked) - from)} width={scale * Math.abs(marked[1] - marked[0])} y="0" height={threads.length * rowHeight} />}
          </svg>
        </div>
      </div>
      <details>
        <summary>As a table</summary>
        <Table
          label={`Intervals of ${experiment}`}
          rows={cells}
          keyOf={(c) => `${c.thread_id} ${c.t0_ns}`}
          columns={[
            { title: 'Thread', numeric: true, value: (c) => num(c.thread_id), show: (c) => c.thread_id },
            { title: 'From', numeric: true, value: (c) => num(c.t0_ns), show: (c) => text(num(c.t0_ns)) },
            { title: 'To', numeric: true, value: (c) => num(c.t1_ns), show: (c) => text(num(c.t1_ns)) },
            { title: 'Value', numeric: true, value: (c) => num(c.value), show: (c) => amount(c.value, unit) },
          ]}
        />
      </details>
    </section>
  );
}

// window reads a part of the time as the timeline writes it.
function window(text: string): [number, number] | undefined {
  const [, a, b] = /^([\d.]+)s,([\d.]+)s$/.exec(text) ?? [];
  return a === undefined || b === undefined ? undefined : [Number(a) * 1e9, Number(b) * 1e9];
}
