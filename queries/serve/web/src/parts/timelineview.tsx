// The drawing of a timeline: a row for each process, thread or CPU, with bars by interval and group of functions. A
// time is chosen by dragging, by moving its edges, or by keys.
import { Fragment, type ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { navigate, useAddress, type Params } from '../lib/address';
import { choose, partsOf, type Door } from '../lib/door';
import { parseRange, rangeText, timeText, timeTicks, zoomed, type Range } from '../lib/timeaxis';
import { idOf, titleOf, Tracks, type Row, type TimelineAnswer } from '../lib/timeline';
import { amount, count, exact, num, percent, plural } from '../lib/units';
import { openMenu } from './menu';
import { Table } from './table';

const kinds = { process: 'processes', thread: 'threads', cpu: 'CPUs' };

interface View {
  tracks: Tracks;
  shown: Range; // the time that is asked for: an older answer is stretched to it
  chosen: Range | undefined;
  total: number;
  unit: string;
}

export function TimelineView(p: {
  answer: TimelineAnswer;
  chosen: Range | undefined;
  lanes: 'threads' | 'cpus';
  limit: number;
}) {
  const { answer: a, chosen } = p;
  const address = useAddress();
  const tracks = useMemo(() => new Tracks(a), [a]);
  const scales = useMemo(() => tracks.scales(), [tracks]);
  const whole: Range = [num(a.t0_ns), num(a.t1_ns)];
  const shown = clip(parseRange(address.get('time')), whole) ?? [tracks.from, tracks.until];
  const view: View = { tracks, shown, chosen, total: num(a.whole), unit: a.unit };
  const several = a.experiments > 1;
  const shownKinds = (['process', 'thread', 'cpu'] as const).filter((k) => a.rows.some((r) => r.kind === k));
  if (!a.timed) return <p class="note">These samples have no times: profiles of pprof only have sums.</p>;
  return (
    <>
      <Groups answer={a} />
      <Chart view={view} scales={scales} answer={a} whole={whole} lanes={p.lanes} several={several} />
      <p class="note">
        {a.rest.rows > 0 && (
          <>
            {count(a.rest.rows)} more {p.lanes === 'cpus' ? 'CPUs' : 'processes'}
            {a.rest.threads > 0 && p.lanes !== 'cpus' && ` with ${count(a.rest.threads)} threads`} have{' '}
            {amount(a.rest.whole, a.unit)}, {percent(a.rest.whole, a.whole)} of {amount(a.whole, a.unit)}.{' '}
            {p.limit < 1960 && (
              <button
                type="button"
                class="link"
                onClick={() => navigate({ more: String(Math.round((p.limit - 60) / 100) + 1) }, true)}
              >
                Show {count(Math.min(a.rest.rows, 100))} more
              </button>
            )}{' '}
          </>
        )}
        {address.get('named') !== '' && a.found === 0 && 'Nothing has this name or number. '}A bar is {a.metric} in{' '}
        {amount(tracks.width, 'ns')}. Rows of one kind have one scale:{' '}
        {shownKinds.map((k) => `${kinds[k]} up to ${amount(scales[k], a.unit)}`).join(', ')}
        {shownKinds.length > 0 && ', '}the sum up to {amount(scales.all, a.unit)}.
        {several && ' Times are since the start of each experiment.'}
        {a.lacking > 0 && ` ${count(a.lacking)} of ${count(a.experiments)} experiments lack ${a.metric}.`}
        {p.lanes === 'cpus' &&
          a.rows.some((r) => r.cpu < 0) &&
          ' perf records the CPU of a sample with --sample-cpu or -a, gprofng always; profiles of pprof have none.'}
      </p>
      <Intervals tracks={tracks} />
    </>
  );
}

function clip(range: Range | undefined, [first, last]: Range): Range | undefined {
  if (range === undefined) return undefined;
  const [from, until] = [Math.max(range[0], first), Math.min(range[1], last)];
  return from < until ? [from, until] : undefined;
}

const rules: Record<string, string> = {
  'load-object': 'load object',
  package: 'package, namespace or source file',
  module: 'source file',
  function: 'function',
  groups: 'your groups',
};

// groupName returns what the legend calls a group.
function groupName(a: TimelineAnswer, n: number): string {
  const g = a.groups[n]!;
  if (g.others > 0) return a.rule === 'groups' ? 'Other' : `Other (${count(g.others)})`;
  return g.name === '' ? '(no name)' : g.name;
}

function colorOf(a: TimelineAnswer, n: number): string {
  return `var(--series${a.groups[n]!.others > 0 ? 5 : Math.min(n, 5)})`;
}

// Groups explains the colors, with the share of each group in the shown time.
function Groups({ answer: a }: { answer: TimelineAnswer }) {
  return (
    <ul
      class="legend timelinelegend"
      aria-label={`Groups by the ${rules[a.rule] ?? a.rule} of the function at the leaf, with their shares`}
    >
      {a.groups.map((g, n) => (
        <li key={n} title={`${groupName(a, n)}: ${exact(g.value, a.unit)}`}>
          <i class="swatch" style={{ background: colorOf(a, n) }} />
          <span class="cut">{groupName(a, n)}</span> <span class="dim">{percent(g.value, a.value)}</span>
        </li>
      ))}
    </ul>
  );
}

// Cursor is the interval and the row that keys have reached. Row -1 is the sum of all.
interface Cursor {
  row: number;
  at: number;
  anchor: number | undefined; // the interval where a choice began
}

function Chart(p: {
  view: View;
  scales: ReturnType<Tracks['scales']>;
  answer: TimelineAnswer;
  whole: Range;
  lanes: 'threads' | 'cpus';
  several: boolean;
}) {
  const { view, answer: a, whole } = p;
  const { tracks, shown, chosen } = view;
  const box = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLDivElement>(null); // where times are drawn
  const [drag, setDrag] = useState<{ range: Range; row: number; edge?: 0 | 1 }>();
  const [row, setRow] = useState(-1); // where the last choice began
  const [cursor, setCursor] = useState<Cursor>();
  const [tip, setTip] = useState<{ x: number; y: number; row: number; at: number }>();
  const range = drag?.range ?? rangeOf(cursor, tracks) ?? chosen;
  const step = tracks.width;
  const snap = (ns: number) => Math.round(ns / step) * step;
  const select = (to: Range) => navigate({ between: rangeText(clip(to, whole) ?? to) });
  const show = (to: Range, replacing = false) =>
    navigate({ time: to[0] <= whole[0] && to[1] >= whole[1] ? null : rangeText(to) }, replacing);
  const timeAt = (e: MouseEvent) => {
    const r = area.current!.getBoundingClientRect();
    return shown[0] + Math.min(Math.max((e.clientX - r.left) / r.width, 0), 1) * (shown[1] - shown[0]);
  };
  const inArea = (e: MouseEvent) => e.clientX >= area.current!.getBoundingClientRect().left;
  const rowAt = (e: Event) => Number((e.target as Element).closest<HTMLElement>('[data-row]')?.dataset['row'] ?? '-1');
  const zoom = (around: number, factor: number) => show(zoomed(shown, whole, around, factor, 1000), true);
  useWheel(box, (e) => {
    if (inArea(e)) zoom(timeAt(e), e.deltaY > 0 ? 1.25 : 0.8);
  });

  const down = (e: PointerEvent) => {
    if (e.button !== 0 || !inArea(e) || (e.target as Element).closest('[role=slider]') !== null) return;
    box.current!.setPointerCapture(e.pointerId);
    const at = timeAt(e);
    setTip(undefined);
    setCursor(undefined);
    setDrag({ range: [at, at], row: rowAt(e) });
  };
  const move = (e: PointerEvent) => {
    if (drag === undefined) {
      if (e.pointerType === 'mouse' && inArea(e)) setTip({ x: e.clientX, y: e.clientY, row: rowAt(e), at: timeAt(e) });
      else setTip(undefined);
      return;
    }
    const at = timeAt(e);
    const [from, until] = drag.range;
    setDrag({ ...drag, range: drag.edge === 0 ? [at, until] : [from, at] });
  };
  const up = () => {
    setDrag(undefined);
    if (drag === undefined) return;
    const [from, until] = [Math.min(...drag.range), Math.max(...drag.range)];
    if (until - from < (shown[1] - shown[0]) / 250) return; // a click
    if (drag.edge === undefined) setRow(drag.row);
    select([snap(from), Math.max(snap(until), snap(from) + step)]);
  };
  const key = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target !== e.currentTarget) return;
    const last = tracks.intervals - 1;
    const middle = range === undefined ? (shown[0] + shown[1]) / 2 : (range[0] + range[1]) / 2;
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[e.key];
    const half = (shown[1] - shown[0]) / 4;
    if (by !== undefined) {
      const at = cursor === undefined ? 0 : Math.min(Math.max(cursor.at + by, 0), last);
      setCursor({ row: cursor?.row ?? -1, at, anchor: e.shiftKey ? (cursor?.anchor ?? cursor?.at ?? at) : undefined });
    } else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      const to = Math.min(Math.max((cursor?.row ?? -1) + (e.key === 'ArrowDown' ? 1 : -1), -1), a.rows.length - 1);
      setCursor({ row: to, at: cursor?.at ?? 0, anchor: cursor?.anchor });
    } else if (e.key === 'Enter' && cursor !== undefined) {
      setRow(cursor.row);
      setCursor({ ...cursor, anchor: undefined });
      select(rangeOf({ ...cursor, anchor: cursor.anchor ?? cursor.at }, tracks)!);
    } else if (e.key === 'm' && cursor !== undefined && cursor.row >= 0) {
      const at = box.current!.querySelector(`[data-row="${cursor.row}"]`)!.getBoundingClientRect();
      openMenu(doorOf(a.rows[cursor.row]!, view), { x: at.left + 40, y: at.bottom });
    } else if (e.key === '+' || e.key === '=' || e.key === 'w') zoom(middle, 0.5);
    else if (e.key === '-' || e.key === '−' || e.key === 's') zoom(middle, 2);
    else if (e.key === '0') show(whole);
    else if (e.key === 'a') show(zoomed([shown[0] - half, shown[1] - half], whole, shown[0], 1), true);
    else if (e.key === 'd') show(zoomed([shown[0] + half, shown[1] + half], whole, shown[1], 1), true);
    else if (e.key === 'Escape') {
      setCursor(undefined);
      navigate({ between: null });
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const text = (ns: number) => timeText(ns, step);
  const counted =
    p.lanes === 'cpus'
      ? plural(a.cpus, 'CPU', 'CPUs')
      : `${plural(a.processes, 'process', 'processes')}, ${plural(a.threads, 'thread', 'threads')}`;
  const edge = (n: 0 | 1) => ({
    down: (e: PointerEvent) => {
      e.stopPropagation();
      box.current!.setPointerCapture(e.pointerId);
      if (range !== undefined) setDrag({ range: [range[0], range[1]], row, edge: n });
    },
    move: (by: number) => {
      if (range === undefined) return;
      const to: Range = [...range];
      to[n] = snap(to[n]) + by * step;
      if (to[1] - to[0] >= step) select(to);
    },
  });
  return (
    <>
      <Chosen
        answer={a}
        tracks={tracks}
        shown={shown}
        range={range}
        exact={drag === undefined && cursor === undefined}
        cursor={cursor}
        row={a.rows[row]}
        zoomIn={(to) => show(to)}
        whole={whole}
      />
      <div
        class="card timeline"
        ref={box}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={() => setDrag(undefined)}
        onPointerLeave={() => setTip(undefined)}
        onDblClick={(e) => {
          if (!inArea(e)) return;
          const at = timeAt(e);
          if (chosen !== undefined && at >= chosen[0] && at < chosen[1]) show(chosen);
          else show(zoomed(shown, whole, at, 0.25));
        }}
      >
        <div class="timelinehead">
          <div class="track all" data-row="-1">
            <div class="rowname">
              <b>{p.lanes === 'cpus' ? 'All CPUs' : 'All threads'}</b>
              <small title={counted}>{counted}</small>
            </div>
            <Bars view={view} answer={a} row={-1} highest={p.scales.all} />
          </div>
          <div class="track timeaxis" aria-hidden="true">
            <div class="rowname" />
            <Ticks shown={shown} area={area} />
          </div>
          <Marks
            range={range}
            shown={shown}
            ticks={false}
            edges={edge}
            text={text}
            cursor={cursor}
            tracks={tracks}
            pill={
              range === undefined
                ? ''
                : amount(Math.abs(range[1] - range[0]), 'ns') +
                  (drag === undefined && cursor === undefined ? ' · ' + amount(a.marked, a.unit) : '')
            }
          />
        </div>
        <div class="timelinerows">
          <Marks range={range} shown={shown} ticks cursor={cursor} tracks={tracks} />
          <Rows view={view} answer={a} scales={p.scales} several={p.several} pointed={cursor?.row ?? -1} />
        </div>
        <div
          class="timelinekeys"
          tabIndex={0}
          role="application"
          aria-label={
            `Timeline of ${counted}, ${text(shown[0])} to ${text(shown[1])}, ` +
            `${tracks.intervals} intervals of ${amount(step, 'ns')}. ` +
            'Left and right: interval; up and down: row; with Shift: choose a time; Enter: show only that time; ' +
            'M: menu of the row; plus and minus: zoom; Escape: the whole time'
          }
          onKeyDown={key}
          onBlur={() => setCursor(undefined)}
        />
        {tip !== undefined && <Tip view={view} answer={a} {...tip} />}
      </div>
    </>
  );
}

// rangeOf returns the time that keys have reached or chosen.
function rangeOf(cursor: Cursor | undefined, tracks: Tracks): Range | undefined {
  if (cursor?.anchor === undefined) return undefined;
  return [tracks.start(Math.min(cursor.anchor, cursor.at)), tracks.start(Math.max(cursor.anchor, cursor.at) + 1)];
}

// useWheel calls `turned` when the wheel is turned with Ctrl over an element. Preact's handlers cannot keep the browser
// from zooming the page.
function useWheel(of: { current: HTMLElement | null }, turned: (e: WheelEvent) => void): void {
  const latest = useRef(turned);
  latest.current = turned;
  useEffect(() => {
    const on = of.current!;
    const listen = (e: WheelEvent) => {
      if (!e.ctrlKey) return;
      e.preventDefault();
      latest.current(e);
    };
    on.addEventListener('wheel', listen, { passive: false });
    return () => on.removeEventListener('wheel', listen);
  }, []);
}

// Chosen says which time is chosen, its value, and where one can go from there.
function Chosen(p: {
  answer: TimelineAnswer;
  tracks: Tracks;
  shown: Range;
  whole: Range;
  range: Range | undefined;
  exact: boolean; // whether the answer has the value of the range
  cursor: Cursor | undefined;
  row: Row | undefined; // in which the choice began
  zoomIn: (to: Range) => void;
}) {
  const { answer: a, tracks, range, cursor } = p;
  const text = (ns: number) => timeText(ns, tracks.width);
  const value = (row: number, [from, until]: Range) => {
    let sum = 0;
    for (let i = 0; i < tracks.intervals; i++) {
      if (tracks.start(i) >= from && tracks.start(i) < until) sum += tracks.row(row).of(i);
    }
    return sum;
  };
  const zoomedIn = p.shown[0] > p.whole[0] || p.shown[1] < p.whole[1];
  const told = () => {
    if (cursor !== undefined) {
      const of = range ?? [tracks.start(cursor.at), tracks.start(cursor.at + 1)];
      const name = cursor.row < 0 ? 'all' : titleOf(a.rows[cursor.row]!);
      return `${text(of[0])} to ${text(of[1])}, ${name}: ${amount(value(cursor.row, of), a.unit)}`;
    }
    if (range === undefined) return '';
    const of: Range = [Math.min(...range), Math.max(...range)];
    const sum = p.exact ? num(a.marked) : value(-1, of);
    const share = `${percent(sum, a.whole)} of ${amount(a.whole, a.unit)}`;
    return `${text(of[0])} to ${text(of[1])}: ${amount(sum, a.unit)}, ${share}`;
  };
  const only = (row: Row): Params => ({ [idOf(row).parameter]: [idOf(row).id] });
  return (
    <div class="chosentime">
      <output>{told()}</output>
      {range === undefined && cursor === undefined && (
        <span class="dim">Drag to choose a time. A double click, or Ctrl and the wheel, zooms.</span>
      )}
      {range !== undefined && p.exact && (
        <>
          <button type="button" class="btn" onClick={() => navigate({ view: 'flame', zoom: null })}>
            Flame graph
          </button>
          {p.row !== undefined && (
            <button
              type="button"
              class="btn"
              onClick={() => navigate({ view: 'flame', zoom: null, ...only(p.row!) })}
              title={titleOf(p.row)}
            >
              Flame graph of {titleOf(p.row)}
            </button>
          )}
          <button type="button" class="btn" onClick={() => p.zoomIn(range)}>
            Zoom to it
          </button>
          <button type="button" class="btn" onClick={() => navigate({ between: null })}>
            Whole time
          </button>
        </>
      )}
      {zoomedIn && (
        <button type="button" class="btn" onClick={() => p.zoomIn(p.whole)}>
          Zoom out
        </button>
      )}
    </div>
  );
}

function place(ns: number, [from, until]: Range): number {
  return (100 * (ns - from)) / (until - from || 1);
}

// Ticks are the texts of the axis. `area` becomes the element whose width is the shown time.
function Ticks({ shown, area }: { shown: Range; area: { current: HTMLDivElement | null } }) {
  const wide = useWidth(area);
  return (
    <div class="ticks" ref={area}>
      {timeTicks(shown, Math.max(2, Math.floor(wide / 90))).map((t) => {
        const at = place(t.at, shown);
        return (
          <span key={t.at} style={{ left: `${at}%` }} class={wide * (1 - at / 100) < 56 ? 'end' : ''}>
            {t.text}
          </span>
        );
      })}
    </div>
  );
}

// useWidth returns the width of an element, also after the window has changed.
export function useWidth(of: { current: HTMLElement | null }): number {
  const [wide, set] = useState(800);
  useEffect(() => {
    const on = of.current;
    if (on === null) return;
    const watch = new ResizeObserver(() => set(on.clientWidth));
    watch.observe(on);
    return () => watch.disconnect();
  }, []);
  return wide;
}

interface Edge {
  down: (e: PointerEvent) => void;
  move: (by: number) => void;
}

// Marks are the lines of ticks, the chosen time with its edges, and the interval that keys have reached.
function Marks(p: {
  range: Range | undefined;
  shown: Range;
  ticks: boolean;
  cursor: Cursor | undefined;
  tracks: Tracks;
  edges?: (n: 0 | 1) => Edge;
  pill?: string;
  text?: (ns: number) => string;
}) {
  const { range, shown, cursor, tracks, edges, text } = p;
  const bounded = (ns: number) => Math.min(Math.max(place(ns, shown), 0), 100);
  const ends: Range | undefined = range === undefined ? undefined : [Math.min(...range), Math.max(...range)];
  return (
    <div class="marks">
      {p.ticks &&
        timeTicks(shown, 10).map((t) => <i key={t.at} class="grid" style={{ left: `${place(t.at, shown)}%` }} />)}
      {cursor !== undefined && (
        <i
          class="reached"
          style={{
            left: `${bounded(tracks.start(cursor.at))}%`,
            width: `${bounded(tracks.start(cursor.at + 1)) - bounded(tracks.start(cursor.at))}%`,
          }}
        />
      )}
      {ends !== undefined && (
        <i class="range" style={{ left: `${bounded(ends[0])}%`, width: `${bounded(ends[1]) - bounded(ends[0])}%` }} />
      )}
      {ends !== undefined && p.pill !== undefined && (
        <span class="pill" aria-hidden="true" style={{ left: `${(bounded(ends[0]) + bounded(ends[1])) / 2}%` }}>
          {p.pill}
        </span>
      )}
      {ends !== undefined &&
        edges !== undefined &&
        ([0, 1] as const).map((n) => (
          <i
            key={n}
            class="edge"
            style={{ left: `${bounded(ends[n])}%` }}
            role="slider"
            tabIndex={0}
            aria-label={n === 0 ? 'Start of the chosen time' : 'End of the chosen time'}
            aria-valuemin={shown[0] / 1e9}
            aria-valuemax={shown[1] / 1e9}
            aria-valuenow={ends[n] / 1e9}
            aria-valuetext={text?.(ends[n]) ?? ''}
            onPointerDown={edges(n).down}
            onKeyDown={(e) => {
              const by = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[e.key];
              if (by === undefined) return;
              e.preventDefault();
              e.stopPropagation();
              edges(n).move(by);
            }}
          />
        ))}
    </div>
  );
}

// Bars draws the bars of a row. They are stretched if another time is asked for than the answer has.
function Bars({ view, answer: a, row, highest }: { view: View; answer: TimelineAnswer; row: number; highest: number }) {
  const { tracks, shown } = view;
  const paths = useMemo(
    () => a.groups.map((_, g) => tracks.path(row, g, highest || 1)),
    [tracks, row, highest, a.groups.length],
  );
  const left = (shown[0] - tracks.from) / tracks.width;
  const wide = (shown[1] - shown[0]) / tracks.width;
  return (
    <svg class="timelinebars" aria-hidden="true" viewBox={`${left} 0 ${wide} 100`} preserveAspectRatio="none">
      {paths.map((d, g) => d !== '' && <path key={g} d={d} style={{ fill: colorOf(a, g) }} />)}
    </svg>
  );
}

// doorOf returns the door of a row's name.
function doorOf(row: Row, view: View): Door {
  const { id } = idOf(row);
  return {
    kind: row.kind === 'cpu' ? 'CPU' : row.kind,
    name: titleOf(row),
    id,
    value: num(row.whole),
    total: view.total,
    unit: view.unit,
    ...(row.kind !== 'cpu' && row.name !== '' ? { threadName: row.name } : {}),
    pin: { pinned: row.pinned, run: () => pin(row) },
  };
}

// pin puts a row on top, or takes it from there.
function pin(row: Row): void {
  const all = new URLSearchParams(location.search).getAll('pinned');
  navigate({ pinned: row.pinned ? all.filter((k) => k !== row.key) : [...all, row.key] });
}

// Rows are the names of processes, threads or CPUs with their bars: a tree of which one row has the focus.
function Rows(p: {
  view: View;
  answer: TimelineAnswer;
  scales: ReturnType<Tracks['scales']>;
  several: boolean;
  pointed: number;
}) {
  const { answer: a, view } = p;
  const address = useAddress();
  const list = useRef<HTMLUListElement>(null);
  const [focus, setFocus] = useState(0);
  const reachable = Math.min(focus, a.rows.length - 1);
  const fold = (row: Row) => {
    const asked = address.all('open').filter((k) => k !== 'none');
    const open = address.all('open').length === 0 ? a.rows.filter((r) => r.open).map((r) => r.key) : asked;
    const to = open.includes(row.key) ? open.filter((k) => k !== row.key) : [...open, row.key];
    navigate({ open: to.length === 0 ? 'none' : to });
  };
  const goTo = (n: number) => {
    const to = Math.min(Math.max(n, 0), a.rows.length - 1);
    setFocus(to);
    list.current!.querySelectorAll<HTMLElement>('[role=treeitem]')[to]?.focus();
  };
  const key = (e: KeyboardEvent, row: Row, n: number) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const door = doorOf(row, view);
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') goTo(n + (e.key === 'ArrowDown' ? 1 : -1));
    else if (e.key === 'Home') goTo(0);
    else if (e.key === 'End') goTo(a.rows.length - 1);
    else if (e.key === 'ArrowRight' && row.kind === 'process' && !row.open) fold(row);
    else if (e.key === 'ArrowLeft' && row.kind === 'process' && row.open) fold(row);
    else if (e.key === 'Enter') choose(door);
    else if (e.key === 'm' || e.key === 'ContextMenu') {
      const at = (e.currentTarget as HTMLElement).getBoundingClientRect();
      openMenu(door, { x: at.left + 40, y: at.bottom });
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <ul class="timelinetree" role="tree" aria-label={a.kind === 'cpus' ? 'CPUs' : 'Processes and threads'} ref={list}>
      {a.rows.map((r, n) => {
        return (
          <Fragment key={r.key}>
            <li
              class={`track ${r.kind} ${n === p.pointed ? 'pointed' : ''} ${r.pinned ? 'pinned' : ''}`}
              role="treeitem"
              data-row={n}
              tabIndex={n === reachable ? 0 : -1}
              aria-level={r.kind === 'thread' && !r.pinned ? 2 : 1}
              {...(r.kind === 'process' ? { 'aria-expanded': r.open } : {})}
              onFocus={() => setFocus(n)}
              onKeyDown={(e) => key(e, r, n)}
              onContextMenu={(e) => {
                e.preventDefault();
                openMenu(doorOf(r, view), { x: e.clientX, y: e.clientY });
              }}
            >
              <RowName row={r} process={processOf(a, r)} view={view} several={p.several} fold={() => fold(r)} />
              <Bars view={view} answer={a} row={n} highest={p.scales[r.kind]} />
            </li>
            {r.rest.rows > 0 && <More row={r} unit={a.unit} />}
          </Fragment>
        );
      })}
    </ul>
  );
}

// shortName returns the last part of a function's name.
function shortName(name: string): string {
  return partsOf(name)[1].replace(/^[\w-]+\.(?=[\w(])/, '');
}

// processOf returns the name of the process of a thread.
function processOf(a: TimelineAnswer, row: Row): string {
  return a.rows.find((r) => r.kind === 'process' && r.experiment === row.experiment && r.pid === row.pid)?.name ?? '';
}

// More says what the threads have that are not listed.
function More({ row, unit }: { row: Row; unit: string }): ComponentChildren {
  return (
    <li class="track thread" role="none">
      <div class="rowname dim">
        {count(row.rest.threads)} more threads: {amount(row.rest.value, unit)}
      </div>
    </li>
  );
}

// RowName is the name of a row with its value. A thread with the name of its process is shown by its number.
function RowName(p: { row: Row; process: string; view: View; several: boolean; fold: () => void }) {
  const { row: r, process, view, several, fold } = p;
  const door = doorOf(r, view);
  const title =
    [door.name, r.names.length > 1 ? `before: ${r.names.slice(1).join(', ')}` : '', r.command, r.experiment]
      .filter((t) => t !== '')
      .join('\n') + `\n${exact(r.value, view.unit)}`;
  const top = r.top === null || r.kind !== 'thread' ? '' : r.top.name;
  const text = r.kind === 'thread' && !r.pinned && r.name === process ? String(r.thread_id) : door.name;
  return (
    <div class="rowname" title={title}>
      {r.kind === 'process' && (
        <button
          type="button"
          tabIndex={-1}
          aria-hidden="true"
          class={r.open ? 'timelinefold open' : 'timelinefold'}
          onClick={fold}
        />
      )}
      <button type="button" tabIndex={-1} class="named" title={title} onClick={() => choose(door)}>
        <b>{text}</b>
      </button>
      {top !== '' && <small title={`most of its time is in ${top}`}>{shortName(top)}</small>}
      {several && r.kind === 'process' && <small>{r.experiment}</small>}
      <span class="num">{amount(r.value, view.unit)}</span>
    </div>
  );
}

// Tip tells the values at the pointer.
function Tip(p: { view: View; answer: TimelineAnswer; x: number; y: number; row: number; at: number }) {
  const { view, answer: a } = p;
  const { tracks } = view;
  const box = useRef<HTMLDivElement>(null);
  if (p.at < tracks.from || p.at >= tracks.until) return null;
  const i = tracks.at(p.at);
  const track = tracks.row(p.row);
  const row = a.rows[p.row];
  const sum = track.of(i);
  const text = (ns: number) => timeText(ns, tracks.width);
  const parts = a.groups
    .map((_, g) => ({ g, value: track.values[i * track.groups + g]! }))
    .filter((part) => part.value > 0);
  const [high, wide] = [90 + parts.length * 18, 280];
  return (
    <div
      class="tip timelinetip"
      ref={box}
      style={{
        left: `${p.x + wide + 24 > innerWidth ? Math.max(p.x - wide - 12, 8) : p.x + 14}px`,
        top: `${p.y + high + 16 > innerHeight ? p.y - high : p.y + 16}px`,
      }}
    >
      <h2>{row === undefined ? 'all' : titleOf(row)}</h2>
      <p>
        {text(tracks.start(i))} to {text(tracks.start(i + 1))}: {amount(sum, view.unit)}
        {view.unit === 'ns' && row?.kind === 'thread' && sum > 0 && `, ${percent(sum, tracks.width)} of the time`}
      </p>
      {parts.map(({ g, value }) => (
        <div key={g}>
          <i class="swatch" style={{ background: colorOf(a, g) }} />
          <span class="cut">{groupName(a, g)}</span>
          <span class="num">{amount(value, view.unit)}</span>
        </div>
      ))}
    </div>
  );
}

// Intervals is the same as a table.
function Intervals({ tracks }: { tracks: Tracks }) {
  const a = tracks.answer;
  const [open, setOpen] = useState(false);
  const text = (ns: number) => timeText(ns, tracks.width);
  const rows = useMemo(() => {
    if (!open) return [];
    const list: { row: number; interval: number; value: number }[] = [];
    for (let row = 0; row < a.rows.length; row++) {
      for (let interval = 0; interval < tracks.intervals; interval++) {
        const value = tracks.row(row).of(interval);
        if (value > 0) list.push({ row, interval, value });
      }
    }
    return list;
  }, [tracks, open]);
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>As a table</summary>
      {open && (
        <Table
          label="Intervals"
          rows={rows}
          keyOf={(r) => `${r.row} ${r.interval}`}
          columns={[
            { title: 'Row', value: (r) => titleOf(a.rows[r.row]!) },
            { title: 'From', numeric: true, value: (r) => r.interval, show: (r) => text(tracks.start(r.interval)) },
            { title: 'To', numeric: true, value: (r) => r.interval, show: (r) => text(tracks.start(r.interval + 1)) },
            { title: 'Value', numeric: true, value: (r) => r.value, show: (r) => amount(r.value, a.unit) },
          ]}
        />
      )}
    </details>
  );
}
