// The timeline of thread states: a row for each thread, with what it did at each time. Selecting a range of time
// filters all panels.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { requestURL, useData } from '../lib/api';
import { navigate, useAddress } from '../lib/address';
import { selectionKeys } from '../lib/timeselection';
import {
  Layout,
  secondsText,
  stateOf,
  stateTitle,
  threadStates,
  ticks,
  whereWaited,
  zoomed,
  type Lane,
  type Period,
  type SampledThread,
  type Span,
  type ThreadState,
  type ThreadStatesAnswer,
  type ThreadTimeline,
} from '../lib/threadstates';
import { drawStates, laneHeight, statePattern } from '../parts/statecanvas';
import { Link } from '../parts/link';
import { useDark } from '../lib/theme';
import { Panel } from '../parts/panel';
import { Table, type Column } from '../parts/table';
import { amount, num, percent } from '../lib/units';

const lanesAtFirst = 40;
const mostLanes = 500;

export function ThreadStatesPanel() {
  const address = useAddress();
  const answer = useData<ThreadStatesAnswer>('thread-states', {
    experiment: address.all('experiment'),
    thread: address.all('thread'),
    pid: address.all('pid'),
    also: address.all('also'),
    time: address.get('time'),
    threads: address.get('threads', String(lanesAtFirst)),
  });
  const without = ['where', 'cpu', 'hide', 'api-only'].filter((f) => address.all(f).length > 0);
  return (
    <Panel
      title="Thread states"
      answer={answer}
      empty={(a) => a.timelines.length === 0}
      none="No context switches were recorded in the chosen experiments."
    >
      {(a) => (
        <>
          {without.length > 0 && (
            <p class="note">States are not samples: the filter {without.join(', ')} does not apply to this panel.</p>
          )}
          {a.timelines.map((t) => (
            <StatesTimeline key={t.experiment_id} timeline={t} states={a.states} />
          ))}
          {a.experiments > a.timelines.length && (
            <p class="note">{a.experiments - a.timelines.length} more experiments are not shown: choose fewer.</p>
          )}
        </>
      )}
    </Panel>
  );
}

function parseRange(text: string): [number, number] | undefined {
  const [, a, b] = /^([\d.]+)s,([\d.]+)s$/.exec(text) ?? [];
  return a === undefined || b === undefined ? undefined : [Number(a) * 1e9, Number(b) * 1e9];
}

function rangeText([from, until]: [number, number]): string {
  const text = (ns: number) => (ns / 1e9).toFixed(9).replace(/0{1,6}$/, '') + 's';
  return `${text(from)},${text(until)}`;
}

function laneName(lane: Lane): string {
  return lane.thread_name === null ? `thread ${lane.thread_id}` : `${lane.thread_name} ${lane.thread_id}`;
}

function StatesTimeline({ timeline: t, states }: { timeline: ThreadTimeline; states: string[] }) {
  const address = useAddress();
  const dark = useDark();
  const layout = useMemo(() => new Layout(t), [t]);
  const [from, until] = [layout.from, layout.until];
  const whole: [number, number] = [num(t.t0_ns), num(t.t1_ns)];
  const span = until - from;
  const text = (ns: number) => secondsText(ns, span);
  const between = parseRange(address.get('between'));
  const show = (to: [number, number]) =>
    navigate({ time: to[0] <= whole[0] && to[1] >= whole[1] ? null : rangeText(to) });
  const zoomedIn = from > whole[0] || until < whole[1];
  const middle = between === undefined ? (from + until) / 2 : (between[0] + between[1]) / 2;
  const more = t.threads - t.lanes.length;
  return (
    <section>
      <h2>{t.experiment}</h2>
      <p class="note">
        From {text(from)} to {text(until)}, {t.threads} {t.threads === 1 ? 'thread' : 'threads'}, those with the most
        time on CPUs first.{' '}
        {t.exact
          ? 'Each period is drawn.'
          : `Each interval of ${amount(t.width_ns, 'ns')} is divided by the time in each state.`}{' '}
        Select a time range by dragging, or with Shift and the arrow keys, then Enter. Zoom by a double click, or with +
        and −.
      </p>
      <div class="bar" role="group" aria-label={`Time shown of ${t.experiment}`}>
        <button type="button" class="btn" onClick={() => show(zoomed([from, until], whole, middle, 0.5))}>
          Zoom in
        </button>
        {between !== undefined && (
          <button type="button" class="btn" onClick={() => show(between)}>
            Zoom to the selection
          </button>
        )}
        <button
          type="button"
          class="btn"
          disabled={!zoomedIn}
          onClick={() => show(zoomed([from, until], whole, (from + until) / 2, 2))}
        >
          Zoom out
        </button>
        <button
          type="button"
          class="btn"
          disabled={from <= whole[0]}
          onClick={() => show(zoomed([from - span / 2, until - span / 2], whole, from - span / 2, 1))}
        >
          Earlier
        </button>
        <button
          type="button"
          class="btn"
          disabled={until >= whole[1]}
          onClick={() => show(zoomed([from + span / 2, until + span / 2], whole, from + span / 2, 1))}
        >
          Later
        </button>
        <button type="button" class="btn" disabled={!zoomedIn} onClick={() => navigate({ time: null })}>
          Zoom to all
        </button>
        {between !== undefined && (
          <button type="button" class="btn" onClick={() => navigate({ between: null })}>
            Whole time
          </button>
        )}
      </div>
      {between !== undefined && (
        <p class="note">
          The other panels show the time from {text(between[0])} to {text(between[1])}; a wait counts there as a whole
          if it ends in that time.{' '}
          <Link to={{ view: 'flame', metric: 'wall', zoom: null }}>Flame graph of wall time</Link>
        </p>
      )}
      <StatesLegend timeline={t} dark={dark} states={states} />
      {t.lanes.length === 0 ? (
        <p class="note">No thread has a state in this time.</p>
      ) : (
        <Lanes layout={layout} states={states} dark={dark} show={show} whole={whole} />
      )}
      {more > 0 && (
        <p class="note">
          {more} more {more === 1 ? 'thread is' : 'threads are'} not shown.{' '}
          {t.lanes.length < mostLanes && (
            <button
              type="button"
              onClick={() => navigate({ threads: String(Math.min(t.lanes.length + 100, mostLanes)) }, true)}
            >
              Show {Math.min(more, 100, mostLanes - t.lanes.length)} more
            </button>
          )}
        </p>
      )}
      <details>
        <summary>As a table</summary>
        <Table
          label={`Threads of ${t.experiment}`}
          rows={t.lanes}
          keyOf={(l) => `${l.process} ${l.thread_id}`}
          columns={laneColumns(states)}
        />
        {t.exact && (
          <Table
            label={`Periods of ${t.experiment}`}
            rows={t.lanes.flatMap((_, lane) => layout.ofLane(lane))}
            keyOf={(s) => String(s.first)}
            columns={periodColumns(t, states)}
          />
        )}
      </details>
    </section>
  );
}

function laneColumns(states: string[]): Column<Lane>[] {
  return [
    { title: 'Thread', numeric: true, value: (l) => num(l.thread_id), show: (l) => String(l.thread_id) },
    { title: 'Name', value: (l) => l.thread_name ?? '' },
    { title: 'PID', numeric: true, value: (l) => num(l.pid), show: (l) => String(l.pid ?? '') },
    ...Object.entries(threadStates).map(([label, state]): Column<Lane> => {
      const at = states.indexOf(label);
      return {
        title: state.title,
        numeric: true,
        value: (l) => num(l.ns[at]),
        show: (l) => amount(num(l.ns[at]), 'ns'),
      };
    }),
  ];
}

function periodColumns(t: ThreadTimeline, states: string[]): Column<Span>[] {
  const p = t.pieces;
  const text = (ns: number) => secondsText(ns, (num(t.until_ns) - num(t.from_ns)) / 100);
  return [
    { title: 'Thread', value: (s) => laneName(t.lanes[s.lane]!) },
    { title: 'From', numeric: true, value: (s) => s.from, show: (s) => text(s.from) },
    { title: 'Duration', numeric: true, value: (s) => p.ns[s.first]!, show: (s) => amount(p.ns[s.first]!, 'ns') },
    { title: 'State', value: (s) => stateTitle(states[p.state[s.first]!]!) },
    {
      title: 'Woken by',
      numeric: true,
      value: (s) => p.waker[s.first]!,
      show: (s) => (p.waker[s.first]! < 0 ? '' : String(p.waker[s.first]!)),
    },
  ];
}

// StatesLegend explains colors, patterns and letters, with the time of all threads in each state.
function StatesLegend({ timeline: t, dark, states }: { timeline: ThreadTimeline; dark: boolean; states: string[] }) {
  const known = t.total.reduce<number>((n, v, i) => (states[i] === 'unknown' ? n : n + num(v)), 0);
  return (
    <ul class="legend" aria-label="States, with the time of all threads">
      {Object.entries(threadStates).map(([label, state]) => {
        const ns = num(t.total[states.indexOf(label)]);
        return (
          <li key={label}>
            <Patch state={state} dark={dark} />
            <b>{state.letter}</b> {state.title} {amount(ns, 'ns')}
            {label !== 'unknown' && ns > 0 && ` (${percent(ns, known)})`}
          </li>
        );
      })}
    </ul>
  );
}

function Patch({ state, dark }: { state: ThreadState; dark: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const g = canvas.current!.getContext('2d')!;
    g.fillStyle = statePattern(g, state, dark);
    g.fillRect(0, 0, 32, 16);
  }, [state, dark]);
  return <canvas ref={canvas} class="patch state" width="32" height="16" aria-hidden="true" />;
}

// Point is where the pointer or the keyboard is. It stays there when the panel shows another time or more threads.
interface Point {
  thread: string;
  ns: number;
  pinned: boolean; // by a click or a key, so that moving the pointer does not change it
}

function Lanes(p: {
  layout: Layout;
  states: string[];
  dark: boolean;
  show: (to: [number, number]) => void;
  whole: [number, number];
}) {
  const { layout, states } = p;
  const { timeline: t, from, until } = layout;
  const address = useAddress();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [point, setPoint] = useState<Point>();
  const at = useMemo(() => (point === undefined ? undefined : layout.find(point.thread, point.ns)), [layout, point]);
  const [anchor, setAnchor] = useState<Span>(); // where a selection by keys began
  const [drag, setDrag] = useState<[number, number]>();
  const span = until - from;
  const text = (ns: number) => secondsText(ns, span / 100); // periods are much shorter than the shown time
  const height = t.lanes.length * laneHeight;

  const goTo = (to: Span, ns: number, pinned = true) =>
    setPoint({
      thread: String(t.lanes[to.lane]!.thread_id),
      ns: Math.min(Math.max(Math.floor(ns), to.from), to.until - 1),
      pinned,
    });
  useLayoutEffect(() => {
    const on = canvas.current!;
    const redraw = () => {
      const began = performance.now();
      on.dataset['drawn'] = String(drawStates(on, layout, states, p.dark));
      on.dataset['took'] = String(performance.now() - began); // milliseconds, which cmd/acceptance/page reads
    };
    redraw();
    const resized = new ResizeObserver(redraw);
    resized.observe(on);
    return () => resized.disconnect();
  }, [layout, states, p.dark]);

  const period = usePeriod(t, at, point?.ns ?? 0, address.get('mode'));
  const waker = period?.waker ?? undefined;
  const wokenAt = period === undefined ? 0 : num(waker?.time_ns ?? period.t1_ns);
  const wakerLane = waker === undefined ? -1 : t.lanes.findIndex((l) => num(l.thread_id) === num(waker.thread_id));
  const goToWaker = () => {
    if (waker === undefined || num(waker.thread_id) === 0) return;
    setPoint({ thread: String(waker.thread_id), ns: wokenAt, pinned: true });
    if (wakerLane < 0) navigate({ also: [...new Set([...address.all('also'), String(waker.thread_id)])] });
  };
  const select = (a: number, b: number) => navigate({ between: rangeText([a, b]) });
  const selected: [number, number] | undefined =
    drag ??
    (anchor !== undefined && at !== undefined
      ? [Math.min(anchor.from, at.from), Math.max(anchor.until, at.until)]
      : parseRange(address.get('between')));

  const key = (e: KeyboardEvent) => {
    const here = at ?? layout.at(0, from);
    if (here === undefined) return;
    const ns = at === undefined || point === undefined ? from : point.ns;
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[e.key];
    if (step !== undefined) {
      const to = at === undefined ? here : layout.beside(here, step);
      setAnchor(e.shiftKey ? (anchor ?? here) : undefined);
      goTo(to, (to.from + to.until) / 2);
    } else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      const lane = Math.min(Math.max(here.lane + (e.key === 'ArrowDown' ? 1 : -1), 0), t.lanes.length - 1);
      goTo(at === undefined ? here : (layout.at(lane, ns) ?? here), ns);
    } else if (e.key === 'Enter' && at !== undefined) {
      const begin = anchor ?? at;
      select(Math.min(begin.from, at.from), Math.max(begin.until, at.until));
      setAnchor(undefined);
    } else if (e.key === '+' || e.key === '=') p.show(zoomed([from, until], p.whole, ns, 0.25));
    else if (e.key === '-' || e.key === '−') p.show(zoomed([from, until], p.whole, ns, 4));
    else if (e.key === 'w') goToWaker();
    else if (e.key === 'Escape') {
      setAnchor(undefined);
      setPoint(undefined);
      navigate({ between: null });
    } else return;
    e.preventDefault();
  };
  const place = (e: MouseEvent): { ns: number; lane: number } => {
    const r = canvas.current!.getBoundingClientRect();
    return {
      ns: from + Math.min(Math.max((e.clientX - r.left) / r.width, 0), 1) * span,
      lane: Math.min(Math.max(Math.floor((e.clientY - r.top) / laneHeight), 0), t.lanes.length - 1),
    };
  };
  const pointTo = (e: MouseEvent, pinned: boolean) => {
    if (point?.pinned === true && !pinned) return;
    const { ns, lane } = place(e);
    const to = layout.at(lane, ns);
    if (to !== undefined && to.from <= ns && ns < to.until) goTo(to, ns, pinned);
    else setPoint(undefined);
  };
  const x = (ns: number) => 1000 * Math.min(Math.max(layout.x(ns), 0), 1);
  return (
    <>
      <p class="under states">
        <output>
          {at === undefined ? '' : describe(layout, states, at, text)}
          {at !== undefined && period !== undefined && ` ${describePeriod(period, t, text)}`}
        </output>
        {waker !== undefined && num(waker.thread_id) !== 0 && (
          <button type="button" onClick={goToWaker}>
            Go to the waker
          </button>
        )}
      </p>
      <div class="threads">
        <ul aria-label="threads: choose one to show only that">
          {t.lanes.map((l, i) => (
            <li key={`${l.process} ${l.thread_id}`} style={{ height: `${laneHeight}px` }}>
              <button
                type="button"
                class={at?.lane === i ? 'pointed' : ''}
                aria-label={laneName(l)}
                aria-pressed={address.all('thread').includes(String(l.thread_id))}
                onClick={() =>
                  navigate({
                    thread: address.get('thread') === String(l.thread_id) ? null : String(l.thread_id),
                    also: null,
                  })
                }
              >
                {l.thread_id}
              </button>
              {l.thread_name !== null && (
                <span class="called" title={l.thread_name}>
                  {l.thread_name}
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
            `States of ${t.lanes.length} threads of ${t.experiment} over ${secondsText(span, span)}. ` +
            `Up and down: thread; ` +
            `left and right: ${t.exact ? 'period' : 'interval'}; W: the thread that woke it up; ` +
            `plus and minus: zoom; ${selectionKeys}`
          }
          onKeyDown={key}
        >
          <div class="lanes" style={{ height: `${height}px` }}>
            <canvas
              ref={canvas}
              aria-hidden="true"
              onPointerDown={(e) => {
                canvas.current!.setPointerCapture(e.pointerId);
                const { ns } = place(e);
                setDrag([ns, ns]);
                pointTo(e, true);
              }}
              onPointerMove={(e) => {
                if (drag !== undefined) setDrag([drag[0], place(e).ns]);
                else if (e.pointerType === 'mouse') pointTo(e, false);
              }}
              onPointerUp={() => {
                if (drag !== undefined && Math.abs(drag[1] - drag[0]) > span / 500)
                  select(Math.min(...drag), Math.max(...drag));
                setDrag(undefined);
              }}
              onPointerCancel={() => setDrag(undefined)}
              onDblClick={(e) => p.show(zoomed([from, until], p.whole, place(e).ns, 0.25))}
            />
            <svg viewBox={`0 0 1000 ${height}`} preserveAspectRatio="none" aria-hidden="true">
              {selected !== undefined && selected[1] > from && selected[0] < until && (
                <rect
                  class="marked"
                  x={x(Math.min(...selected))}
                  width={Math.abs(x(selected[1]) - x(selected[0]))}
                  y="0"
                  height={height}
                />
              )}
              {at !== undefined && (
                <rect
                  class="cursor"
                  x={x(at.from)}
                  width={Math.max(x(at.until) - x(at.from), 1)}
                  y={at.lane * laneHeight}
                  height={laneHeight}
                />
              )}
              {at !== undefined && wakerLane >= 0 && wokenAt >= from && wokenAt <= until && (
                <line
                  class="waking"
                  x1={x(wokenAt)}
                  x2={x(wokenAt)}
                  y1={(wakerLane + 0.5) * laneHeight}
                  y2={(at.lane + 0.5) * laneHeight}
                />
              )}
            </svg>
          </div>
          <TimeAxis layout={layout} />
        </div>
      </div>
    </>
  );
}

// TimeAxis has ticks at round times.
function TimeAxis({ layout }: { layout: Layout }) {
  const { from, until } = layout;
  return (
    <p class="axis ticks" aria-hidden="true">
      {ticks(from, until, 5)
        .filter((ns) => layout.x(ns) < 0.93)
        .map((ns) => (
          <span key={ns} style={{ left: `${100 * layout.x(ns)}%` }}>
            {secondsText(ns, until - from)}
          </span>
        ))}
    </p>
  );
}

// describe says in words what a thread did in a span.
function describe(layout: Layout, states: string[], s: Span, text: (ns: number) => string): string {
  const parts = layout.parts(s, states);
  const of = parts.length > 1 || parts.some((part) => part.share < 0.999);
  const told = parts.map(
    (part) =>
      `${stateTitle(part.state)} ${amount(part.ns, 'ns')}${of ? ` (${percent(part.ns, s.until - s.from)})` : ''}`,
  );
  return `${laneName(layout.timeline.lanes[s.lane]!)}, ${text(s.from)} to ${text(s.until)}: ${told.join(', ')}.`;
}

// describePeriod says in words why a thread waited, and who ended that.
function describePeriod(p: Period, t: ThreadTimeline, text: (ns: number) => string): string {
  const words = [];
  if (!t.exact) words.push(`At the marked time: ${stateOf(p.state).title} from ${text(num(p.t0_ns))}`);
  if (!t.exact) words.push(`for ${amount(num(p.t1_ns) - num(p.t0_ns), 'ns')}`);
  const capital = (s: string) => (words.length === 0 ? s.charAt(0).toUpperCase() + s.slice(1) : s);
  if (p.state === 'on' && p.cpu !== null) words.push(capital(`on CPU ${p.cpu}`));
  if (p.wait !== null) {
    const where = whereWaited(p.wait.stack);
    words.push(capital(where === undefined ? 'no stack was recorded at the switch' : `in ${where}`));
  }
  let said = words.join(' ');
  if (p.waker !== null) {
    const by = whereWaited(p.waker.stack);
    const end = `woken by ${wakerName(p.waker)}${by === undefined ? '' : ` in ${by}`}`;
    said = said === '' ? end.charAt(0).toUpperCase() + end.slice(1) : `${said}, ${end}`;
  }
  if (p.by_interrupt) said = said === '' ? 'Woken by an interrupt' : `${said}, woken by an interrupt`;
  return said === '' ? '' : said + '.';
}

function wakerName({ thread_id, thread_name }: SampledThread): string {
  if (num(thread_id) === 0) return 'thread 0 (an idle CPU, or a thread outside of the namespace of perf)';
  return `${thread_name ?? 'thread'} ${thread_id}`;
}

// usePeriod requests the period at a point, once the point has stayed for a moment.
function usePeriod(t: ThreadTimeline, at: Span | undefined, ns: number, mode: string): Period | undefined {
  const wanted =
    at === undefined
      ? undefined
      : {
          experiment: t.experiment_id,
          mode,
          thread: String(t.lanes[at.lane]!.thread_id),
          process: String(t.lanes[at.lane]!.process ?? 0),
          at: String(t.exact ? at.from : ns),
        };
  const url = wanted === undefined ? '' : requestURL('thread-states/period', wanted);
  const [settled, settle] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => settle(url), 120);
    return () => clearTimeout(timer);
  }, [url]);
  const still = url !== '' && settled === url;
  const answer = useData<Period | null>(still ? 'thread-states/period' : undefined, wanted ?? {});
  return still && !answer.loading ? (answer.data ?? undefined) : undefined;
}
