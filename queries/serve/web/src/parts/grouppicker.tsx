// The picker of base and test: a strip of all runs with two brushes, presets, labels, single runs and selectors.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { navigate, useAddress, type Address } from '../lib/address';
import { useData } from '../lib/api';
import {
  gripAt,
  labelsOf,
  moveEdge,
  moveSpan,
  otherSide,
  presets,
  runsIn,
  selectorsOf,
  sides,
  spanOf,
  startingSpans,
  stepsOf,
  type Change,
  type Grip,
  type Run,
  type Side,
  type Span,
  type Spans,
  type Step,
} from '../lib/groups';
import { parse } from '../lib/selection';
import { matcher } from '../lib/search';
import { nightKey, runsOf, useTrend } from '../lib/trend';
import { amount, count, day, moment } from '../lib/units';
import { Find } from './find';
import { Picker } from './picker';
import { Segments } from './segments';

// Groups are all runs of the programs of base and test, and which of them each has.
export interface Groups {
  programs: string[]; // empty: of all
  runs: Run[];
  steps: Step[];
  key: string; // of selectors of nights
  metric: string;
  unit: string;
  changes: Change[] | undefined; // of the program's total; undefined if there are several programs
  base: number[];
  test: number[];
  warnings: string[];
}

export const selectionOf: Record<Side, string> = { base: 'base', test: 'experiment' };
const mostPrograms = 8; // of selectors that do not name their programs

interface Chosen {
  experiment_id: string;
  target: string;
}

// useGroups requests the runs of the programs of base and test. Other programs can be given instead.
export function useGroups(
  address: Address,
  others?: string[],
): { groups: Groups | undefined; error: Error | undefined; loading: boolean } {
  const columns = 'experiment_id,target';
  const chosen = (side: Side) => {
    const selectors = address.all(selectionOf[side]);
    return useData<Chosen[]>(selectors.length === 0 ? undefined : 'experiments', { experiment: selectors, columns });
  };
  const [base, test] = [chosen('base'), chosen('test')];
  const named = sides.flatMap((side) => parse(address.all(selectionOf[side])).programs);
  const given = sides.every((side) => {
    const selectors = address.all(selectionOf[side]);
    return selectors.length === 0 || parse(selectors).programs.length > 0;
  });
  const waits = base.loading || test.loading;
  const found = [...new Set([...(base.data ?? []), ...(test.data ?? [])].map((e) => e.target))];
  const programs = others ?? (given ? [...new Set(named)] : found.length <= mostPrograms ? found : []);
  const answer = useTrend(
    waits && !given
      ? undefined
      : {
          experiment: programs.map((p) => `target=${p}`),
          metric: address.get('metric'),
          mode: address.get('mode'),
          order: '',
        },
  );
  const groups = useMemo((): Groups | undefined => {
    const t = answer.data;
    if (t === undefined) return undefined;
    const runs = runsOf(t);
    const of = (rows: Chosen[] | undefined) => {
      const ids = new Set(rows?.map((e) => e.experiment_id));
      return runs.flatMap((r, n) => (ids.has(r.id) ? [n] : []));
    };
    const single = new Set(runs.map((r) => r.program)).size === 1;
    return {
      programs,
      runs,
      steps: stepsOf(runs),
      key: nightKey(t),
      metric: t.metric,
      unit: t.unit,
      changes: single ? (t.series[0]?.changes ?? []) : undefined,
      base: of(base.data),
      test: of(test.data),
      warnings: t.warnings,
    };
  }, [answer.data, base.data, test.data, programs.join('\n')]);
  const latest = useRef(groups);
  if (!waits && groups !== undefined) latest.current = groups;
  return {
    groups: latest.current, // while others are loading, still the previous ones
    error: answer.error ?? base.error ?? test.error,
    loading: answer.loading || waits,
  };
}

// setGroups writes base and test into the address.
export function setGroups(g: Groups, base: number[], test: number[], by?: string, replacing = false): void {
  navigate(
    {
      base: selectorsOf(g.runs, base, g.key, g.programs, by),
      experiment: selectorsOf(g.runs, test, g.key, g.programs, by),
      zoom: null,
      page: null,
    },
    replacing,
  );
}

type Way = 'nights' | 'labels' | 'runs' | 'text';

export function GroupPicker({ done }: { done?: () => void }) {
  const address = useAddress();
  const { groups: g, error } = useGroups(address);
  const [way, setWay] = useState<Way>('nights');
  if (error !== undefined)
    return (
      <div class="grouppicker">
        <p class="error">{error.message}</p>
        <Selectors address={address} />
      </div>
    );
  if (g === undefined) return <div class="grouppicker" aria-busy="true" />;
  const of = g.programs.length === 0 ? 'all programs' : g.programs.join(', ');
  return (
    <div class="grouppicker">
      <div class="pickertop">
        <h2>Base and test of {of}</h2>
        <Segments<Way>
          label="Choose by"
          value={way}
          set={setWay}
          options={[
            ['nights', 'Nights'],
            ['labels', 'Labels'],
            ['runs', 'One by one'],
            ['text', 'Selectors'],
          ]}
        />
      </div>
      {g.warnings.map((w) => (
        <p key={w} class="note">
          {w}
        </p>
      ))}
      {g.runs.length < 2 ? (
        <p class="note">There are no two runs to compare.</p>
      ) : way === 'nights' ? (
        <>
          <Strip g={g} />
          <Presets g={g} address={address} />
        </>
      ) : way === 'labels' ? (
        <Labels g={g} />
      ) : way === 'runs' ? (
        <OneByOne g={g} />
      ) : (
        <Selectors address={address} />
      )}
      {done !== undefined && (
        <div class="pickerbottom">
          <span class="dim">
            {count(g.base.length)} and {count(g.test.length)} runs
          </span>
          <span class="sp" />
          <button
            type="button"
            class="btn pri"
            disabled={g.base.length === 0 || g.test.length === 0}
            onClick={() => {
              done();
              navigate({ view: 'compare' });
            }}
          >
            Compare
          </button>
        </div>
      )}
    </div>
  );
}

const stripHeight = 60;

// Strip draws all runs by night, and the brushes. The pointer moves the brush, its edge or the nearest edge; each edge
// is a slider for the keyboard.
function Strip({ g }: { g: Groups }) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(410);
  const [drag, setDrag] = useState<{ grip: Grip; from: number; spans: Spans; now: Spans } | undefined>();
  const pressed = useRef(false); // whether an earlier key has made a step of the history
  useLayoutEffect(() => {
    const on = host.current!;
    const resized = new ResizeObserver(() => setWidth(Math.max(on.clientWidth, 200)));
    resized.observe(on);
    return () => resized.disconnect();
  }, []);
  const [asked, setAsked] = useState<{ of: Groups; spans: Spans } | undefined>(); // until the answer is there
  const spans = useMemo(() => (asked?.of === g ? asked.spans : spansOf(g)), [g, asked]);
  const shown = drag?.now ?? spans;
  const n = g.steps.length;
  const at = (e: PointerEvent) => {
    const box = host.current!.getBoundingClientRect();
    return ((e.clientX - box.left) / box.width) * n;
  };
  const apply = (to: Spans, replacing: boolean) => {
    setAsked({ of: g, spans: to });
    setGroups(g, runsIn(g.steps, to.base), runsIn(g.steps, to.test), undefined, replacing);
  };
  const moved = (d: NonNullable<typeof drag>, to: number): Spans =>
    d.grip.edge === undefined
      ? moveSpan(d.spans, d.grip.side, Math.round(to - d.from), n)
      : moveEdge(d.spans, d.grip.side, d.grip.edge, Math.round(to), n);
  const key = (e: KeyboardEvent, side: Side, edge: 'from' | 'to') => {
    const now = (shown ?? startingSpans(n))[side][edge];
    const to = {
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      PageDown: now - 10,
      PageUp: now + 10,
      Home: 0,
      End: n,
    }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    const current = shown ?? startingSpans(n);
    const next = e.shiftKey ? moveSpan(current, side, to - now, n) : moveEdge(current, side, edge, to, n);
    apply(next, pressed.current);
    pressed.current = true;
  };
  const labels = shown === undefined ? undefined : spanTexts(g, shown);
  const left = (step: number) => `${(100 * step) / n}%`;
  return (
    <>
      <div
        class="runstrip"
        ref={host}
        style={{ height: `${stripHeight}px` }}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          e.preventDefault();
          host.current!.setPointerCapture(e.pointerId);
          const start = spans ?? startingSpans(n);
          const grip = gripAt(start, at(e), ((e.pointerType === 'touch' ? 16 : 8) / width) * n);
          const d = { grip, from: at(e), spans: start, now: start };
          setDrag({ ...d, now: moved(d, at(e)) });
          pressed.current = false;
        }}
        onPointerMove={(e) => {
          if (drag !== undefined) setDrag({ ...drag, now: moved(drag, at(e)) });
        }}
        onPointerUp={() => {
          if (drag !== undefined) apply(drag.now, false);
          setDrag(undefined);
        }}
        onPointerCancel={() => setDrag(undefined)}
      >
        {shown !== undefined &&
          sides.map((side) => (
            <div
              key={side}
              class={`brush ${side}`}
              style={{ left: left(shown[side].from), width: left(shown[side].to - shown[side].from) }}
            />
          ))}
        <Dots g={g} width={width} spans={shown} />
        {shown !== undefined &&
          sides.flatMap((side) =>
            (['from', 'to'] as const).map((edge) => (
              <div
                key={side + edge}
                class={`edge ${side} ${edge}`}
                style={{ left: left(shown[side][edge]) }}
                role="slider"
                tabIndex={0}
                aria-label={`${side === 'base' ? 'Base' : 'Test'}, ${edge === 'from' ? 'first' : 'last'} night`}
                aria-valuemin={1}
                aria-valuemax={n}
                aria-valuenow={edge === 'from' ? shown[side].from + 1 : shown[side].to}
                aria-valuetext={day(stepName(g.steps, edge === 'from' ? shown[side].from : shown[side].to - 1))}
                onKeyDown={(e) => key(e, side, edge)}
                onBlur={() => (pressed.current = false)}
              />
            )),
          )}
      </div>
      {labels !== undefined ? (
        <p class="ends">
          {labels.map(([side, text]) => (
            <span key={side} class={side}>
              {text}
            </span>
          ))}
        </p>
      ) : (
        <p class="ends">
          <span class="base">Base, {count(g.base.length)} runs</span>
          <span class="test">Test, {count(g.test.length)} runs</span>
        </p>
      )}
      <p class="note">
        {shown === undefined
          ? 'Base and test are not nights in a row. Press into the strip to choose nights.'
          : 'Drag the edges. The two never overlap; nights left out stay grey.'}
      </p>
    </>
  );
}

function stepName(steps: Step[], n: number): string {
  const name = steps[n]?.name ?? '';
  return /^\d{4}-\d{2}-\d{2}T/.test(name) ? moment(name) : name;
}

// spansOf returns the brushes of base and test; undefined if these are not nights in a row, or share some.
function spansOf(g: Groups): Spans | undefined {
  const [base, test] = [spanOf(g.steps, g.base), spanOf(g.steps, g.test)];
  if (base === undefined || test === undefined) return undefined;
  return Math.max(base.from, test.from) < Math.min(base.to, test.to) ? undefined : { base, test };
}

// spanTexts returns what is written below the brushes, from left to right.
function spanTexts(g: Groups, spans: Spans): [Side, string][] {
  const nights = g.steps[0]!.name === g.runs[g.steps[0]!.runs[0]!]!.night;
  const text = (side: Side): [Side, string] => {
    const s: Span = spans[side];
    const [steps, runs] = [s.to - s.from, runsIn(g.steps, s).length];
    const what = nights ? `${count(steps)} ${steps === 1 ? 'night' : 'nights'}` : '';
    const many = nights && runs === steps ? '' : `${count(runs)} ${runs === 1 ? 'run' : 'runs'}`;
    return [side, [side === 'base' ? 'Base' : 'Test', what, many].filter((t) => t !== '').join(', ')];
  };
  return spans.base.from < spans.test.from ? [text('base'), text('test')] : [text('test'), text('base')];
}

// Dots draws the value of each run, in the color of its group.
function Dots({ g, width, spans }: { g: Groups; width: number; spans: Spans | undefined }) {
  const paths = useMemo(() => {
    const values = g.runs.map((r) => r.value);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const y = (v: number) => stripHeight - 10 - (high === low ? 0.5 : (v - low) / (high - low)) * (stripHeight - 20);
    const inGroup = (side: Side) => new Set(spans === undefined ? g[side] : runsIn(g.steps, spans[side]));
    const [base, test] = [inGroup('base'), inGroup('test')];
    const of = { base: '', test: '', out: '' };
    g.steps.forEach((s, i) => {
      const x = (((i + 0.5) * width) / g.steps.length).toFixed(1);
      for (const r of s.runs)
        of[base.has(r) ? 'base' : test.has(r) ? 'test' : 'out'] += `M${x} ${y(g.runs[r]!.value).toFixed(1)}h0`;
    });
    return of;
  }, [g, width, spans]);
  const thin = g.steps.length > width / 6 ? ' thin' : '';
  return (
    <svg width={width} height={stripHeight} aria-hidden="true">
      {(['out', 'base', 'test'] as const).map((kind) => (
        <path key={kind} class={`dots ${kind}${thin}`} d={paths[kind]} />
      ))}
    </svg>
  );
}

function same(a: number[], b: number[]): boolean {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}

function Presets({ g, address }: { g: Groups; address: Address }) {
  const pinned = address.get('pin') === '1' ? g.base : [];
  return (
    <ul class="presets">
      {presets(g.runs, g.steps, g.changes, pinned).map((p) => {
        const on = p.why === undefined && same(p.base, g.base) && same(p.test, g.test);
        return (
          <li key={p.name}>
            <button
              type="button"
              class="option"
              aria-pressed={on}
              disabled={p.why !== undefined}
              onClick={() => setGroups(g, p.base, p.test, p.by)}
            >
              <span>{p.name}</span>
              <small>{p.why ?? `${count(p.base.length)} and ${count(p.test.length)}`}</small>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

// toggled returns both groups after some runs were put into a side, or taken out of it. A run is on one side only.
function toggled(g: Groups, side: Side, runs: number[], on: boolean): { base: number[]; test: number[] } {
  const has = new Set(runs);
  const rest = { base: g.base.filter((n) => !has.has(n)), test: g.test.filter((n) => !has.has(n)) };
  if (on) rest[side] = [...rest[side], ...runs].sort((a, b) => a - b);
  else rest[otherSide(side)] = g[otherSide(side)];
  return rest;
}

function Toggle(p: { g: Groups; side: Side; runs: number[]; of: string; by?: string }) {
  const group = p.g[p.side];
  const inside = p.runs.filter((n) => group.includes(n)).length;
  const on = inside === p.runs.length;
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => void (box.current!.indeterminate = inside > 0 && !on));
  return (
    <label class={`check ${p.side}`}>
      <input
        ref={box}
        type="checkbox"
        checked={on}
        aria-label={`${p.of} in the ${p.side}`}
        onChange={(e) => {
          const to = toggled(p.g, p.side, p.runs, e.currentTarget.checked);
          setGroups(p.g, to.base, to.test, p.by);
        }}
      />
      {p.side}
    </label>
  );
}

function Labels({ g }: { g: Groups }) {
  const labels = useMemo(() => labelsOf(g.runs), [g.runs]);
  const [key, setKey] = useState(labels[0]?.key ?? '');
  const label = labels.find((l) => l.key === key);
  if (label === undefined) return <p class="note">No label, host or build divides these runs.</p>;
  return (
    <>
      <Picker
        label="Label"
        text={
          <>
            <span>by</span> {key}
          </>
        }
        value={key}
        options={labels.map((l) => ({ value: l.key, text: l.key, note: `${count(l.values.length)} values` }))}
        set={setKey}
      />
      <ul class="choices">
        {label.values.slice(0, mostChoices).map(([value, runs]) => (
          <li key={value}>
            <span class="what" title={value}>
              {value}
            </span>
            <small>{count(runs.length)}</small>
            {sides.map((side) => (
              <Toggle key={side} g={g} side={side} runs={runs} of={`${key} ${value}`} by={key} />
            ))}
          </li>
        ))}
      </ul>
      {label.values.length > mostChoices && (
        <p class="note">{label.values.length - mostChoices} more values: choose them by their selectors.</p>
      )}
    </>
  );
}

const mostChoices = 200; // rows of a list

function OneByOne({ g }: { g: Groups }) {
  const [search, setSearch] = useState('');
  const test = matcher(search);
  const found = g.runs
    .map((r, n) => ({ r, n }))
    .filter(({ r }) => test === undefined || [r.experiment, r.night, r.build, ...Object.values(r.labels)].some(test))
    .reverse();
  return (
    <>
      <Find
        label="Find runs"
        placeholder="name, date, build or label"
        value={search}
        set={setSearch}
        note={found.length}
      />
      <ul class="choices">
        {found.slice(0, mostChoices).map(({ r, n }) => (
          <li key={r.id}>
            <span class="what" title={`${r.experiment}, ${moment(r.started)}`}>
              {r.experiment}
            </span>
            <small>{amount(r.value, g.unit)}</small>
            {sides.map((side) => (
              <Toggle key={side} g={g} side={side} runs={[n]} of={r.experiment} />
            ))}
          </li>
        ))}
      </ul>
      {found.length > mostChoices && (
        <p class="note">{found.length - mostChoices} older runs: find them by a part of their name.</p>
      )}
    </>
  );
}

// Selectors lets one write base and test, and shows how many runs each text has.
function Selectors({ address }: { address: Address }) {
  const written = (side: Side) => address.all(selectionOf[side]).join('\n');
  const [texts, setTexts] = useState({ base: written('base'), test: written('test') });
  const now = { base: written('base'), test: written('test') };
  useEffect(() => setTexts(now), [now.base, now.test]); // Back shows the earlier ones
  const list = (text: string) => text.split('\n').map((t) => t.trim());
  return (
    <form
      class="selectors"
      onSubmit={(e) => {
        e.preventDefault();
        navigate({ base: list(texts.base), experiment: list(texts.test), zoom: null, page: null });
      }}
    >
      {sides.map((side) => (
        <label key={side}>
          <span>{side === 'base' ? 'Base' : 'Test'}</span>
          <textarea
            rows={2}
            value={texts[side]}
            placeholder="label=value, night=FROM..UNTIL or a name"
            onInput={(e) => setTexts({ ...texts, [side]: e.currentTarget.value })}
          />
          <Found selectors={list(texts[side])} />
        </label>
      ))}
      <p class="note">
        A selector is a name, a pattern, <code>label=value</code> or a range <code>night=2026-11-19..</code>; commas
        join conditions that must all hold. On several lines, one of the selectors must.
      </p>
      <button type="submit" class="btn">
        Apply
      </button>
    </form>
  );
}

const typing = 250; // ms without a key before the runs are counted

function Found({ selectors }: { selectors: string[] }) {
  const some = selectors.filter((s) => s !== '');
  const [asked, setAsked] = useState(some);
  useEffect(() => {
    const later = setTimeout(() => setAsked(some), typing);
    return () => clearTimeout(later);
  }, [some.join('\n')]);
  const answer = useData<Chosen[]>(asked.length === 0 ? undefined : 'experiments', {
    experiment: asked,
    columns: 'experiment_id',
  });
  return (
    <small role="status" class={answer.error === undefined ? '' : 'wrong'}>
      {asked.length === 0
        ? 'all runs'
        : answer.error !== undefined
          ? answer.error.message
          : answer.data === undefined
            ? ''
            : `${count(answer.data.length)} ${answer.data.length === 1 ? 'run' : 'runs'}`}
    </small>
  );
}
