// The panel of time: what each thread, or each CPU, did when. A part that is marked filters
// all panels.
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
  thread_id?: Value;
  thread_name?: string | null;
  cpu?: Value;
  value: Value;
}

// Lanes are what has a row of its own: threads or CPUs, which are also filters.
interface Lanes {
  view: string;
  filter: 'thread' | 'cpu';
  one: string;
  several: string;
  of: (c: Cell) => string;
}

const threads: Lanes = { view: 'views/timeline', filter: 'thread', one: 'thread', several: 'threads', of: (c) => String(c.thread_id) };
const cpus: Lanes = { view: 'views/cpu-timeline', filter: 'cpu', one: 'CPU', several: 'CPUs', of: (c) => String(c.cpu) };
const noCPU = '-1'; // of samples that do not say where they were taken

const rowHeight = 22;
const mostLanes = 200;
const mostExperiments = 20;
const intervals = 200; // about as many are shown
const across = 1000; // units of the drawing's width

export function TimelinePanel() {
  const place = usePlace();
  // The whole time is shown, with what is marked in it: first by the second, then in
  // intervals that are as wide as some points of the screen.
  const lanes = place.get('lanes') === 'cpus' ? cpus : threads;
  const asked = { ...scope(place), between: null, metric: place.get('metric') };
  const coarse = useData<Cell[]>(lanes.view, asked);
  const end = (coarse.data ?? []).reduce((n, c) => Math.max(n, num(c.t1_ns)), 0);
  const ms = end === 0 ? 0 : Math.max(Math.round(end / intervals / 1e6), 1);
  const refined = ms > 0 && ms < 1000;
  const fine = useData<Cell[]>(refined ? lanes.view : undefined, { ...asked, width: `${ms}ms` });
  const answer = fine.data === undefined && fine.error === undefined ? { ...coarse, loading: coarse.loading || refined } : fine;
  return (
    <>
      <div class="bar choices" role="group" aria-label="Rows">
        {[threads, cpus].map((l) => <button key={l.filter} type="button" aria-pressed={l === lanes} onClick={() => go({ lanes: l === cpus ? 'cpus' : null })}>{l === cpus ? 'CPUs' : 'Threads'}</button>)}
      </div>
      <Frame title="Timeline" answer={answer} empty={(rows) => rows.length === 0}>
        {(rows) => <Timelines rows={rows.filter((r) => (r.cpu === undefined) === (lanes === threads))} lanes={lanes} />}
      </Frame>
    </>
  );
}

// merged has one cell for each interval of a lane, where a thread may have several names. They
// are told with their values, which add up.
function merged(cells: Cell[], lanes: Lanes): Cell[] {
  const by = new Map<string, Cell>();
  for (const c of cells) {
    const key = `${lanes.of(c)} ${c.t0_ns}`;
    const known = by.get(key);
    by.set(key, known === undefined ? c : { ...known, value: num(known.value) + num(c.value), thread_name: together(known.thread_name, c.thread_name) });
  }
  return [...by.values()];
}

function together(a?: string | null, b?: string | null): string | null {
  return a && b ? `${a}, ${b}` : a || b || null;
}

const mostNames = 3;

// named lists by lane what its thread was called, the latest name first.
function named(cells: Cell[], lanes: Lanes): Map<string, string> {
  const by = new Map<string, Map<string, number>>();
  for (const c of cells) {
    if (!c.thread_name) continue;
    const names = by.get(lanes.of(c)) ?? new Map<string, number>();
    names.set(c.thread_name, Math.max(names.get(c.thread_name) ?? -Infinity, num(c.t0_ns)));
    by.set(lanes.of(c), names);
  }
  return new Map(
    [...by].map(([lane, names]) => {
      const list = [...names].sort((a, b) => b[1] - a[1]).map(([name]) => name);
      return [lane, list.slice(0, mostNames).join(', ') + (list.length > mostNames ? `, ${list.length - mostNames} more` : '')];
    }),
  );
}

function Timelines({ rows, lanes }: { rows: Cell[]; lanes: Lanes }) {
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
      {groups.slice(0, mostExperiments).map(([experiment, cells]) => <TimelineOf key={experiment} experiment={experiment} cells={cells} lanes={lanes} />)}
      {groups.length > mostExperiments && <p class="note">{groups.length - mostExperiments} more experiments are not shown: choose some.</p>}
    </>
  );
}

function TimelineOf({ experiment, cells, lanes }: { experiment: string; cells: Cell[]; lanes: Lanes }) {
  const place = usePlace();
  const box = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<[number, number] | undefined>();
  const from = cells.reduce((n, c) => Math.min(n, num(c.t0_ns)), Infinity);
  const until = cells.reduce((n, c) => Math.max(n, num(c.t1_ns)), 0);
  const names = [...new Set(cells.map(lanes.of))].sort((a, b) => Number(a) - Number(b));
  const known = lanes === cpus ? names.filter((n) => n !== noCPU).length : names.length;
  const counted = `${known} ${known === 1 ? lanes.one : lanes.several}`;
  const rowOf = new Map(names.map((t, n) => [t, n]));
  const threadNames = useMemo(() => named(cells, lanes), [cells]);
  const whole = useMemo(() => merged(cells, lanes), [cells]);
  const highest = whole.reduce((n, c) => Math.max(n, num(c.value)), 0);
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
      whole.map((c) => {
        const row = rowOf.get(lanes.of(c))!;
        if (row >= mostLanes) return null;
        const height = Math.max((num(c.value) / (highest || 1)) * (rowHeight - 2), 1);
        return (
          <rect key={row + ' ' + c.t0_ns} x={scale * (num(c.t0_ns) - from)} width={scale * (num(c.t1_ns) - num(c.t0_ns))} y={(row + 1) * rowHeight - height - 1} height={height} class="usage">
            <title>{`${lanes.one} ${lanes.of(c)}${c.thread_name ? ` (${c.thread_name})` : ''}, ${text(num(c.t0_ns))} to ${text(num(c.t1_ns))}: ${amount(c.value, c.unit)}`}</title>
          </rect>
        );
      }),
    [whole],
  );
  const byKeys = cursor === undefined ? undefined : time(anchor ?? cursor, cursor);
  const marked = drag ?? (anchor === undefined ? undefined : byKeys) ?? window(place.get('between'));
  const told = byKeys === undefined ? '' : `${text(byKeys[0])} to ${text(byKeys[1])}: ${amount(cells.reduce((n, c) => (num(c.t0_ns) >= byKeys[0] && num(c.t0_ns) < byKeys[1] ? n + num(c.value) : n), 0), unit)}`;
  return (
    <section>
      <h2>{experiment}</h2>
      <p class="note">
        From {text(from)} to {text(until)}, {counted}, at most {amount(highest, unit)} in {amount(width, 'ns')}. Drag, or use arrow keys with Shift and press Enter, to look at a part of the time only.{' '}
        {place.all('between').length > 0 && <button type="button" onClick={() => go({ between: null })}>All of the time</button>}
      </p>
      {names.length > mostLanes && <p class="note">{names.length - mostLanes} more {lanes.several} are not shown: filter by {lanes === cpus ? 'cpu' : 'thread_id'}.</p>}
      {lanes === cpus && names.includes(noCPU) && (
        <p class="note">
          {known > 0 ? 'Row “none” has samples that do' : 'The samples do'} not say on which CPU they were taken. perf records it with --sample-cpu or -a, gprofng always; profiles of pprof have none.
        </p>
      )}
      <p class="under"><output>{told}</output></p>
      <div class="threads">
        <ul aria-label={`${lanes.several}: choose one to look at it only`}>
          {names.slice(0, mostLanes).map((n) => (
            <li key={n} style={{ height: `${rowHeight}px` }}>
              <button type="button" onClick={() => go({ [lanes.filter]: place.get(lanes.filter) === n ? null : n })} aria-pressed={place.all(lanes.filter).includes(n)}>{lanes === cpus && n === noCPU ? 'none' : n}</button>
              {threadNames.has(n) && <span class="called" title={threadNames.get(n)}>{threadNames.get(n)}</span>}
            </li>
          ))}
        </ul>
        <div
          class="time"
          tabIndex={0}
          role="application"
          aria-label={`Timeline of ${experiment}, ${counted} over ${text(until - from)}, ${count} intervals. Left and right: interval; with Shift: mark; Enter: look at what is marked; Escape: all of the time`}
          onKeyDown={key}
          onBlur={() => set(undefined, undefined)}
        >
          <svg
            ref={box}
            aria-hidden="true"
            viewBox={`0 0 ${across} ${Math.min(names.length, mostLanes) * rowHeight}`}
            style={{ height: `${Math.min(names.length, mostLanes) * rowHeight}px` }}
            preserveAspectRatio="none"
            onPointerDown={(e) => { box.current!.setPointerCapture(e.pointerId); setDrag([at(e), at(e)]); }}
            onPointerMove={(e) => { if (drag !== undefined) setDrag([drag[0], at(e)]); }}
            onPointerUp={end}
          >
            {bars}
            {byKeys !== undefined && <rect class="cursor" x={scale * (time(cursor!, cursor!)[0] - from)} width={scale * width} y="0" height={names.length * rowHeight} />}
            {marked !== undefined && <rect class="marked" x={scale * (Math.min(...marked) - from)} width={scale * Math.abs(marked[1] - marked[0])} y="0" height={names.length * rowHeight} />}
          </svg>
          <p class="axis" aria-hidden="true">
            <span>{text(from)}</span>
            <span>{text((from + until) / 2)}</span>
            <span>{text(until)}</span>
          </p>
        </div>
      </div>
      <details>
        <summary>As a table</summary>
        <Table
          label={`Intervals of ${experiment}`}
          rows={cells}
          keyOf={(c) => `${lanes.of(c)} ${c.t0_ns} ${c.thread_name ?? ''}`}
          columns={[
            { title: lanes === cpus ? 'CPU' : 'Thread', numeric: true, value: (c) => num(lanes.of(c)), show: lanes.of },
            ...(threadNames.size > 0 ? [{ title: 'Name', value: (c: Cell) => c.thread_name ?? '', show: (c: Cell) => c.thread_name ?? '' }] : []),
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
