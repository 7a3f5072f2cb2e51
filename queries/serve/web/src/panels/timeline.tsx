// The panel of the timeline: the activity of each thread or CPU. Selecting a range of time filters all panels.
import { useMemo, useRef, useState } from 'preact/hooks';
import { useData } from '../lib/api';
import { selectionKeys, useTimeSelection } from '../lib/timeselection';
import { lazy } from '../parts/lazy';
import { Panel } from '../parts/panel';
import { navigate, scope, useAddress } from '../lib/address';
import { Table } from '../parts/table';
import { amount, num } from '../lib/units';
import type { CpuTimelineRow, MetricRow, TimelineRow } from '../lib/rows';

// Cell is one interval of a thread or of a CPU, with its value.
type Cell = Omit<TimelineRow, 'thread_id' | 'thread_name'> &
  Partial<Pick<TimelineRow, 'thread_id' | 'thread_name'> & Pick<CpuTimelineRow, 'cpu'>>;

// Lanes says what the rows of a timeline are, threads or CPUs, and by which parameter they can be filtered.
interface Lanes {
  view: string;
  filter: 'thread' | 'cpu';
  one: string;
  several: string;
  of: (c: Cell) => string;
}

const threads: Lanes = {
  view: 'views/timeline',
  filter: 'thread',
  one: 'thread',
  several: 'threads',
  of: (c) => String(c.thread_id),
};
const cpus: Lanes = {
  view: 'views/cpu-timeline',
  filter: 'cpu',
  one: 'CPU',
  several: 'CPUs',
  of: (c) => String(c.cpu),
};
const noCPU = '-1'; // the row of samples without a recorded CPU

const rowHeight = 22;
const mostLanes = 200;
const mostExperiments = 20;
const intervals = 200; // approximate number of intervals shown
const across = 1000; // width of the drawing, in its own units

// StatesPanel is loaded when an experiment with thread states is shown.
const StatesPanel = lazy(() => import('./threadstates').then((m) => m.ThreadStatesPanel));

// TimelinePanel shows a timeline of threads or CPUs or, if context switches were recorded, of the states of threads:
// that is what it shows first for wall-clock time.
export function TimelinePanel() {
  const address = useAddress();
  const metrics = useData<MetricRow[]>('metrics', { experiment: address.all('experiment') });
  const withStates = metrics.data?.some((m) => m.metric === 'wall') ?? false;
  const metric = address.get('metric', metrics.data?.[0]?.metric);
  const asked = address.get('lanes', metric === 'wall' || metric.startsWith('offcpu') ? 'states' : 'threads');
  const shown = asked === 'cpus' || (asked === 'states' && withStates) ? asked : 'threads';
  const choices = { threads: 'Threads', cpus: 'CPUs', ...(withStates ? { states: 'Thread states' } : {}) };
  return (
    <>
      <div class="bar choices" role="group" aria-label="Rows">
        {Object.entries(choices).map(([name, title]) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === shown}
            onClick={() => navigate({ lanes: name === 'threads' && !withStates ? null : name })}
          >
            {title}
          </button>
        ))}
      </div>
      {shown === 'states' ? <StatesPanel /> : <ValuesTimeline lanes={shown === 'cpus' ? cpus : threads} />}
    </>
  );
}

// ValuesTimeline shows the values of a metric by thread or CPU.
function ValuesTimeline({ lanes }: { lanes: Lanes }) {
  const address = useAddress();
  // The timeline always shows the whole time and marks the selected range. A first request for intervals of
  // one second shows how long that is; a second one gets intervals that are a few pixels wide.
  const asked = { ...scope(address), between: null, metric: address.get('metric') };
  const coarse = useData<Cell[]>(lanes.view, asked);
  const end = (coarse.data ?? []).reduce((n, c) => Math.max(n, num(c.t1_ns)), 0);
  const ms = end === 0 ? 0 : Math.max(Math.round(end / intervals / 1e6), 1);
  const refined = ms > 0 && ms < 1000;
  const fine = useData<Cell[]>(refined ? lanes.view : undefined, { ...asked, width: `${ms}ms` });
  const answer =
    fine.data === undefined && fine.error === undefined ? { ...coarse, loading: coarse.loading || refined } : fine;
  return (
    <Panel title="Timeline" answer={answer} empty={(rows) => rows.length === 0}>
      {(rows) => <Timelines rows={rows.filter((r) => (r.cpu === undefined) === (lanes === threads))} lanes={lanes} />}
    </Panel>
  );
}

// mergeCells returns one cell for each interval of a row, in which a thread with several names has several
// cells.
function mergeCells(cells: Cell[], lanes: Lanes): Cell[] {
  const by = new Map<string, Cell>();
  for (const c of cells) {
    const key = `${lanes.of(c)} ${c.t0_ns}`;
    const known = by.get(key);
    by.set(
      key,
      known === undefined
        ? c
        : {
            ...known,
            value: num(known.value) + num(c.value),
            thread_name: joinNames(known.thread_name, c.thread_name),
          },
    );
  }
  return [...by.values()];
}

function joinNames(a?: string | null, b?: string | null): string | null {
  return a && b ? `${a}, ${b}` : a || b || null;
}

const mostNames = 3;

// laneNames returns the names of the thread of each row, the latest name first.
function laneNames(cells: Cell[], lanes: Lanes): Map<string, string> {
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
      return [
        lane,
        list.slice(0, mostNames).join(', ') + (list.length > mostNames ? `, ${list.length - mostNames} more` : ''),
      ];
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
      {groups.slice(0, mostExperiments).map(([experiment, cells]) => (
        <ExperimentTimeline key={experiment} experiment={experiment} cells={cells} lanes={lanes} />
      ))}
      {groups.length > mostExperiments && (
        <p class="note">{groups.length - mostExperiments} more experiments are not shown: choose fewer.</p>
      )}
    </>
  );
}

function ExperimentTimeline({ experiment, cells, lanes }: { experiment: string; cells: Cell[]; lanes: Lanes }) {
  const address = useAddress();
  const box = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<[number, number] | undefined>();
  const from = cells.reduce((n, c) => Math.min(n, num(c.t0_ns)), Infinity);
  const until = cells.reduce((n, c) => Math.max(n, num(c.t1_ns)), 0);
  const names = [...new Set(cells.map(lanes.of))].sort((a, b) => Number(a) - Number(b));
  const known = lanes === cpus ? names.filter((n) => n !== noCPU).length : names.length;
  const counted = `${known} ${known === 1 ? lanes.one : lanes.several}`;
  const rowOf = new Map(names.map((t, n) => [t, n]));
  const threadNames = useMemo(() => laneNames(cells, lanes), [cells]);
  const whole = useMemo(() => mergeCells(cells, lanes), [cells]);
  const highest = whole.reduce((n, c) => Math.max(n, num(c.value)), 0);
  const unit = cells[0]!.unit;
  const scale = across / (until - from || 1);
  const at = (e: PointerEvent) => {
    const r = box.current!.getBoundingClientRect();
    return from + Math.min(Math.max((e.clientX - r.left) / r.width, 0), 1) * (until - from);
  };
  const width = cells.reduce((n, c) => Math.min(n, num(c.t1_ns) - num(c.t0_ns)), Infinity);
  const count = Math.max(Math.round((until - from) / width), 1);
  const time = (a: number, b: number): [number, number] => [
    from + Math.min(a, b) * width,
    from + (Math.max(a, b) + 1) * width,
  ];
  const { cursor, anchor, set, key } = useTimeSelection(
    count,
    { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity },
    (a, b) => {
      const [begin, finish] = time(a, b);
      navigate({ between: `${text(begin)},${text(finish)}` });
    },
  );
  const text = (ns: number) => (ns / 1e9).toFixed(3) + 's';
  const end = () => {
    if (drag !== undefined && Math.abs(drag[1] - drag[0]) > (until - from) / 500) {
      const [a, b] = [Math.min(...drag), Math.max(...drag)];
      navigate({ between: `${text(a)},${text(b)}` });
    }
    setDrag(undefined);
  };
  const bars = useMemo(
    () =>
      whole.map((c) => {
        const row = rowOf.get(lanes.of(c))!;
        if (row >= mostLanes) return null;
        const name = c.thread_name ? ` (${c.thread_name})` : '';
        const time = `${text(num(c.t0_ns))} to ${text(num(c.t1_ns))}`;
        const height = Math.max((num(c.value) / (highest || 1)) * (rowHeight - 2), 1);
        return (
          <rect
            key={row + ' ' + c.t0_ns}
            x={scale * (num(c.t0_ns) - from)}
            width={scale * (num(c.t1_ns) - num(c.t0_ns))}
            y={(row + 1) * rowHeight - height - 1}
            height={height}
            class="usage"
          >
            <title>{`${lanes.one} ${lanes.of(c)}${name}, ${time}: ${amount(c.value, c.unit)}`}</title>
          </rect>
        );
      }),
    [whole],
  );
  const byKeys = cursor === undefined ? undefined : time(anchor ?? cursor, cursor);
  const marked = drag ?? (anchor === undefined ? undefined : byKeys) ?? parseInterval(address.get('between'));
  const told =
    byKeys === undefined
      ? ''
      : `${text(byKeys[0])} to ${text(byKeys[1])}: ${amount(
          cells.reduce((n, c) => (num(c.t0_ns) >= byKeys[0] && num(c.t0_ns) < byKeys[1] ? n + num(c.value) : n), 0),
          unit,
        )}`;
  return (
    <section>
      <h2>{experiment}</h2>
      <p class="note">
        From {text(from)} to {text(until)}, {counted}, at most {amount(highest, unit)} in {amount(width, 'ns')}. Select
        a time range by dragging, or with Shift and the arrow keys, then Enter.{' '}
        {address.all('between').length > 0 && (
          <button type="button" onClick={() => navigate({ between: null })}>
            Whole time
          </button>
        )}
      </p>
      {names.length > mostLanes && (
        <p class="note">
          {names.length - mostLanes} more {lanes.several} are not shown: filter by{' '}
          {lanes === cpus ? 'cpu' : 'thread_id'}.
        </p>
      )}
      {lanes === cpus && names.includes(noCPU) && (
        <p class="note">
          {known > 0 ? 'Row “none” has the samples without a recorded CPU.' : 'No sample has a recorded CPU.'} perf
          records it with --sample-cpu or -a, gprofng always; profiles of pprof have none.
        </p>
      )}
      <p class="under">
        <output>{told}</output>
      </p>
      <div class="threads">
        <ul aria-label={`${lanes.several}: choose one to show only that`}>
          {names.slice(0, mostLanes).map((n) => (
            <li key={n} style={{ height: `${rowHeight}px` }}>
              <button
                type="button"
                onClick={() => navigate({ [lanes.filter]: address.get(lanes.filter) === n ? null : n })}
                aria-pressed={address.all(lanes.filter).includes(n)}
              >
                {lanes === cpus && n === noCPU ? 'none' : n}
              </button>
              {threadNames.has(n) && (
                <span class="called" title={threadNames.get(n)}>
                  {threadNames.get(n)}
                </span>
              )}
            </li>
          ))}
        </ul>
        <div
          class="time"
          tabIndex={0}
          role="application"
          aria-label={
            `Timeline of ${experiment}, ${counted} over ${text(until - from)}, ${count} intervals. ` +
            `Left and right: interval; ${selectionKeys}`
          }
          onKeyDown={key}
          onBlur={() => set(undefined, undefined)}
        >
          <svg
            ref={box}
            aria-hidden="true"
            viewBox={`0 0 ${across} ${Math.min(names.length, mostLanes) * rowHeight}`}
            style={{ height: `${Math.min(names.length, mostLanes) * rowHeight}px` }}
            preserveAspectRatio="none"
            onPointerDown={(e) => {
              box.current!.setPointerCapture(e.pointerId);
              setDrag([at(e), at(e)]);
            }}
            onPointerMove={(e) => {
              if (drag !== undefined) setDrag([drag[0], at(e)]);
            }}
            onPointerUp={end}
          >
            {bars}
            {byKeys !== undefined && (
              <rect
                class="cursor"
                x={scale * (time(cursor!, cursor!)[0] - from)}
                width={scale * width}
                y="0"
                height={names.length * rowHeight}
              />
            )}
            {marked !== undefined && (
              <rect
                class="marked"
                x={scale * (Math.min(...marked) - from)}
                width={scale * Math.abs(marked[1] - marked[0])}
                y="0"
                height={names.length * rowHeight}
              />
            )}
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
            ...(threadNames.size > 0
              ? [{ title: 'Name', value: (c: Cell) => c.thread_name ?? '', show: (c: Cell) => c.thread_name ?? '' }]
              : []),
            { title: 'From', numeric: true, value: (c) => num(c.t0_ns), show: (c) => text(num(c.t0_ns)) },
            { title: 'To', numeric: true, value: (c) => num(c.t1_ns), show: (c) => text(num(c.t1_ns)) },
            { title: 'Value', numeric: true, value: (c) => num(c.value), show: (c) => amount(c.value, unit) },
          ]}
        />
      </details>
    </section>
  );
}

// parseInterval parses a time range in the URL, if it has the form that the timeline writes.
function parseInterval(text: string): [number, number] | undefined {
  const [, a, b] = /^([\d.]+)s,([\d.]+)s$/.exec(text) ?? [];
  return a === undefined || b === undefined ? undefined : [Number(a) * 1e9, Number(b) * 1e9];
}
