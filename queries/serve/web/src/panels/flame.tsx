// The place Flame graph.
import { type ComponentChildren } from 'preact';
import { useCallback, useMemo } from 'preact/hooks';
import { currentAddress, navigate, scope, useAddress, type Params } from '../lib/address';
import { groupColors, groupFill, heats, nameFill, selfFill, selfOf, type GroupColors } from '../lib/flamecolor';
import { useGraph, useSearch, type Graph as Loaded, type Search } from '../lib/flamedata';
import {
  findFrame,
  frameID,
  invert,
  layoutAnswer,
  sandwich,
  searchFrames,
  type FlameAnswer,
  type FlameGroups,
  type Frames,
  type Group,
} from '../lib/flametree';
import { parseWindow, whole, windowOf, zoomed, type Window } from '../lib/flamewindow';
import { tokenColor, useDark } from '../lib/theme';
import { reference } from '../lib/shortname';
import { amount, count, exact, num, percent } from '../lib/units';
import { Find } from '../parts/find';
import { FlameCard } from '../parts/flamecard';
import type { Paint } from '../parts/flamecanvas';
import { Tell, type Spot } from '../parts/flameview';
import { Beside } from '../parts/inspector';
import { lazy } from '../parts/lazy';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';
import { Picker } from '../parts/picker';
import { Segments } from '../parts/segments';

const Difference = lazy(() => import('./difference').then((m) => m.DifferencePlace));

const around = ['sandwich', 'callers', 'callees'];

export function FlamePanel() {
  const address = useAddress();
  const side = address.get('side');
  return (
    <>
      <h1 class="hidden" tabIndex={-1}>
        Flame graph
      </h1>
      {side !== '' && address.all('base').length > 0 && (
        <p class="note">
          Only the graph from the root shows the difference: this one is of the test, without the base.
        </p>
      )}
      {around.includes(side) ? (
        <Sandwich />
      ) : side === '' && address.all('base').length > 0 ? (
        <Difference />
      ) : (
        <Tree side={side === 'inverted' ? side : ''} />
      )}
    </>
  );
}

// groupings are what frames can be colored by, and what the reader calls it.
const groupings: Record<string, string> = {
  'load-object': 'load object',
  package: 'package',
  namespace: 'namespace',
  file: 'file',
  module: 'module',
  self: 'self time',
};

// treeRequest returns the parameters of requests for the tree of the selection.
function treeRequest(): Params {
  const address = currentAddress();
  return {
    ...scope(address),
    metric: address.get('metric'),
    inline: address.get('inline'),
    fold: address.all('fold'),
  };
}

function drawingRequest(): Params {
  const colour = currentAddress().get('colour');
  return { ...treeRequest(), form: 'columns', by: colour in groupings && colour !== 'self' ? colour : 'auto' };
}

// sameGraph reports whether two answers are parts of one graph.
function sameGraph(a: FlameAnswer, b: FlameAnswer): boolean {
  const of = (x: FlameAnswer) =>
    JSON.stringify([x.metric, x.mode, x.nodes, x.total, x.side, x.group, x.of, x.groups?.by, x.experiments]);
  return of(a) === of(b);
}

const layout = (a: FlameAnswer) => layoutAnswer(a);

function useTree(side: Params, zoom: string): Loaded<FlameAnswer> {
  return useGraph<FlameAnswer>({
    path: 'flamegraph',
    asked: { ...drawingRequest(), ...side },
    zoom,
    chosen: useAddress().get('frame'),
    layout,
    same: sameGraph,
  });
}

// useHits searches a graph, and shows a hit by choosing its frame, in a window in which it can be seen.
export function useHits(path: string, asked: Params, parameter: string, window: Window): Search {
  const address = useAddress();
  return useSearch({
    path,
    asked,
    search: address.get('search'),
    chosen: address.get('frame'),
    show: (hit) => showHit(hit, parameter, window),
  });
}

export function showHit(hit: { id: string; name: string; window: Window }, parameter: string, window: Window): void {
  const size = hit.window.until - hit.window.from;
  const seen =
    size > 0.01 * (window.until - window.from) && hit.window.from < window.until && hit.window.until > window.from;
  const to = zoomed(hit.window, 4, 0.5);
  navigate({
    frame: hit.id,
    function: reference(hit.name),
    ...(seen ? {} : { [parameter]: `${Number(to.from.toPrecision(12))},${Number(to.until.toPrecision(12))}` }),
  });
}

// Tree shows the graph from the root, or inverted.
function Tree({ side }: { side: string }) {
  const address = useAddress();
  const graph = useTree({ side }, address.get('zoom'));
  const hits = useHits('flamegraph/search', { ...treeRequest(), side }, 'zoom', graph.window);
  const data = graph.answer.data;
  return (
    <>
      <Controls by={data?.groups?.by ?? ''} hits={hits} />
      <Beside>
        <Panel
          title="Flame graph"
          answer={graph.answer}
          empty={(a) => a.level.length === 0 || num(a.total ?? 0) === 0}
          none="No samples: choose other experiments, another metric, or fewer filters."
        >
          {(a) => (
            <>
              <Missing graph={graph} />
              <TreeCard
                label="Frames"
                answer={a}
                graph={graph}
                hits={hits}
                parameter="zoom"
                upward={address.get('root') === 'bottom'}
              />
              <Legend answer={a} nodes={a.nodes} />
            </>
          )}
        </Panel>
      </Beside>
    </>
  );
}

// Missing says that a link's frame is not there.
export function Missing({ graph }: { graph: { missing: boolean } }) {
  if (!graph.missing) return null;
  return (
    <p class="note">
      The frame of this link is not in this selection: the whole graph is shown.{' '}
      <Link className="link" to={{ zoom: null }}>
        Forget it
      </Link>
    </p>
  );
}

// Sandwich shows the callers of a function, module or load object, and its callees.
function Sandwich() {
  const address = useAddress();
  const side = address.get('side');
  const group = address.get('group', 'function').replace(' ', '-');
  const of = address.get('of', group === 'function' ? address.get('function') : '');
  const asked = { group, of };
  const callees = useTree({ side: 'callees', ...asked }, address.get('zoom'));
  const callers = useTree({ side: 'callers', ...asked }, address.get('callers'));
  const hits = useHits('flamegraph/search', { ...treeRequest(), side: 'callees', ...asked }, 'zoom', callees.window);
  const above = useHits(
    'flamegraph/search',
    { ...treeRequest(), side: 'callers', ...asked },
    'callers',
    callers.window,
  );
  const shown = callees.answer.data;
  const root = shown?.names;
  const name = shown?.of ?? of;
  return (
    <>
      <Controls by={shown?.groups?.by ?? ''} hits={side === 'callers' ? above : hits} />
      <div class="bar">
        <Segments
          label="Around"
          options={[
            ['function', 'Function'],
            ['module', 'Module'],
            ['load-object', 'Load object'],
          ]}
          value={group}
          set={(to) => {
            const now = {
              function: address.get('function'),
              module: root?.module[0],
              'load-object': root?.load_object[0],
            };
            navigate({
              group: to === 'function' ? null : to,
              of: now[to as keyof typeof now] ?? null,
              zoom: null,
              callers: null,
              frame: null,
            });
          }}
        />
        <span class="around">
          Callers and callees of <b class="mono">{name.slice(0, 400)}</b>
          {of === '' && `, the ${group.replace('-', ' ')} with the most exclusive time`}
        </span>
      </div>
      <Beside>
        {(['callers', 'callees'] as const).map((one) => {
          if (side !== 'sandwich' && side !== one) return null;
          const graph = one === 'callers' ? callers : callees;
          return (
            <section key={one} class="half">
              <h2>{one === 'callers' ? 'Callers' : 'Callees'}</h2>
              <Panel
                title={one === 'callers' ? 'Callers' : 'Callees'}
                answer={graph.answer}
                empty={(a) => a.level.length === 0 || num(a.value[0] ?? 0) === 0}
                none={`No ${group.replace('-', ' ')} that has a value here is named ${name.slice(0, 400)}.`}
              >
                {(a) => (
                  <TreeCard
                    label={one === 'callers' ? 'Callers' : 'Callees'}
                    answer={a}
                    graph={graph}
                    hits={one === 'callers' ? above : hits}
                    parameter={one === 'callers' ? 'callers' : 'zoom'}
                    upward={one === 'callers' && side === 'sandwich'}
                  />
                )}
              </Panel>
            </section>
          );
        })}
        {shown !== undefined && <Legend answer={shown} nodes={shown.nodes} />}
      </Beside>
    </>
  );
}

// TreeCard shows a tree that the server made.
function TreeCard(p: {
  label: string;
  answer: FlameAnswer;
  graph: Loaded<FlameAnswer>;
  hits: Search;
  parameter: string;
  upward: boolean;
}) {
  const { graph, answer } = p;
  const address = useAddress();
  const dark = useDark();
  const colour = address.get('colour');
  const search = address.get('search');
  const colors = useMemo(
    () => (answer.groups === undefined ? undefined : groupColors(answer.groups, dark, tokenColor)),
    [answer.groups, dark],
  );
  const highest = useMemo(
    () =>
      graph.layers[0]?.frames.exclusive.reduce((a, _, n) => Math.max(a, selfOf(graph.layers[0]!.frames, n)), 0) ?? 0,
    [graph.layers[0]],
  );
  const paint = usePaint(
    (f) =>
      colour === 'self'
        ? selfFill(f, highest, tokenColor)
        : { fill: colors === undefined ? nameFill(f, tokenColor) : groupFill(f, colors) },
    search,
    [colors, colour, highest, dark],
  );
  const of = useValues(num(answer.total ?? answer.value[0] ?? 0), answer.unit);
  return (
    <FlameCard
      label={p.label}
      layers={graph.layers}
      window={graph.window}
      stack={graph.chosen}
      busy={graph.busy}
      upward={p.upward}
      parameter={p.parameter}
      paint={paint}
      {...of}
      step={p.hits.step}
    />
  );
}

// usePaint returns how frames look: their fill, and whether the search matches them.
export function usePaint(
  make: (f: Frames) => Omit<Paint, 'found'>,
  search: string,
  on: unknown[],
): (f: Frames) => Paint {
  return useMemo(() => {
    const made = new WeakMap<Frames, Paint>();
    return (f: Frames) => {
      let paint = made.get(f);
      if (paint === undefined) made.set(f, (paint = { ...make(f), found: searchFrames(f, search)?.is }));
      return paint;
    };
  }, [search, ...on]);
}

// useValues returns how the values of frames are told.
function useValues(total: number, unit: string) {
  const tell = useCallback(
    ({ frames: f, n }: Spot): ComponentChildren => {
      const name = f.names[f.name[n]!]!;
      const caller = f.parent[n]! < 0 ? undefined : f.names[f.name[f.parent[n]!]!]!.name;
      return (
        <Tell
          name={name}
          caller={caller}
          rows={[
            ['Total', f.value[n]!],
            ['Self', f.exclusive[n]!],
          ].map(([text, v]) => [text as string, v as number, amount(v as number, unit), percent(v as number, total)])}
          total={total}
        />
      );
    },
    [total, unit],
  );
  const cells = useCallback(
    ({ frames: f, n }: Spot): [string, string] => [percent(f.value[n]!, total), amount(f.value[n]!, unit)],
    [total, unit],
  );
  const door = useCallback(({ frames: f, n }: Spot) => ({ value: f.value[n]!, total, unit }), [total, unit]);
  return { tell, cells, door };
}

// Controls are the choices above a graph.
export function Controls({ by, hits, difference }: { by: string; hits: Search; difference?: ComponentChildren }) {
  const address = useAddress();
  const side = address.get('side');
  const search = address.get('search');
  const colour = address.get('colour');
  const upward = address.get('root') === 'bottom';
  return (
    <div class="bar flamebar">
      <Segments
        label="Seen from"
        options={[
          ['', 'From root'],
          ['inverted', 'Inverted'],
          ['sandwich', 'Sandwich'],
        ]}
        value={around.includes(side) ? 'sandwich' : side}
        set={(to) =>
          navigate({
            side: to,
            zoom: null,
            callers: null,
            frame: null,
            ...(to === 'sandwich' ? {} : { of: null, group: null }),
          })
        }
      />
      {difference ?? (
        <Picker
          label="Color"
          text={
            <>
              <span>Color</span> {groupings[colour === 'self' ? colour : by] ?? 'load object'}
            </>
          }
          options={Object.entries(groupings).map(([value, text]) => ({ value, text }))}
          value={colour === 'self' ? colour : by}
          set={(to) => navigate({ colour: to })}
        />
      )}
      {!around.includes(side) && (
        <button
          type="button"
          class="btn turn"
          aria-pressed={upward}
          title={upward ? 'Root at the top' : 'Root at the bottom'}
          aria-label="Root at the bottom"
          onClick={() => navigate({ root: upward ? null : 'bottom' })}
        >
          {upward ? '↑' : '↓'}
        </button>
      )}
      <Find
        label="Search frames"
        placeholder="Part of a name, or /expression/"
        className="grow"
        value={search}
        set={(to) => navigate({ search: to }, true)}
        enter={(backward) => hits.step(backward ? -1 : 1)}
        note={search === '' ? undefined : <Found hits={hits} />}
      />
    </div>
  );
}

// Found says what a search finds, and steps through it.
function Found({ hits }: { hits: Search }) {
  const { data, error, at } = hits;
  if (error !== undefined)
    return (
      <span class="wrong" role="alert">
        {error}
      </span>
    );
  if (data === undefined) return <>…</>;
  const share =
    data.base === undefined
      ? percent(data.value, data.total)
      : percent(Math.max(data.base, data.test ?? 0), data.total);
  return (
    <>
      <span>
        {at >= 0 && `${at + 1} of `}
        {data.left_out > 0 && 'at least '}
        {count(data.frames)} {data.frames === 1 ? 'frame' : 'frames'}
        {data.frames > 0 && ` · ${share}`}
      </span>
      <button
        type="button"
        aria-label="Previous hit"
        title="Shift N"
        disabled={data.frames === 0}
        onClick={() => hits.step(-1)}
      >
        ↑
      </button>
      <button type="button" aria-label="Next hit" title="N" disabled={data.frames === 0} onClick={() => hits.step(1)}>
        ↓
      </button>
    </>
  );
}

// Legend says what the colors mean. The shares are of the whole selection.
function Legend({ answer, nodes }: { answer: FlameAnswer; nodes: number }) {
  const dark = useDark();
  const self = useAddress().get('colour') === 'self';
  const groups = answer.groups;
  const colors = useMemo(
    () => (groups === undefined ? undefined : groupColors(groups, dark, tokenColor)),
    [groups, dark],
  );
  const total = num(
    answer.side === undefined || answer.side === 'inverted' ? (answer.total ?? 0) : (answer.value[0] ?? 0),
  );
  if (groups === undefined || colors === undefined) return null;
  return (
    <ul
      class="legend flamelegend"
      aria-label={self ? 'Colors of self time' : `Exclusive values by ${groupings[groups.by] ?? groups.by}`}
    >
      {self ? <Heat /> : <GroupKeys groups={groups} colors={colors} total={total} unit={answer.unit} />}
      <li class="dim" title={exact(nodes, 'count')}>
        {count(nodes)} nodes, finer ones come as you zoom
      </li>
    </ul>
  );
}

function GroupKeys(p: { groups: FlameGroups; colors: GroupColors; total: number; unit: string }) {
  const { groups, colors, total, unit } = p;
  const values = (i: number) => `self ${exact(groups.exclusive[i]!, unit)}, all ${exact(groups.inclusive[i]!, unit)}`;
  const others = groups.name.length - colors.named.length + groups.more;
  const rest =
    groups.exclusive.reduce((sum: number, v, i) => (colors.named.includes(i) ? sum : sum + num(v)), 0) +
    num(groups.more_exclusive);
  return (
    <>
      {colors.named
        .filter((i) => num(groups.exclusive[i]) > 0)
        .map((i) => (
          <li key={i} title={`${groups.name[i]!.slice(0, 999)}: ${values(i)}`}>
            <i class="swatch" style={{ background: colors.of[i]! }} />
            {groups.name[i]!.split('/').pop()!.slice(0, 80)}{' '}
            <span class="dim">{percent(groups.exclusive[i]!, total)}</span>
          </li>
        ))}
      {others > 0 && rest > 0 && (
        <li title={`${others} more, self ${exact(rest, unit)}`}>
          <i class="swatch" style={{ background: colors.other }} />
          others paler <span class="dim">{percent(rest, total)}</span>
        </li>
      )}
    </>
  );
}

function Heat() {
  return (
    <li>
      no self time
      {['--frame8', ...Array.from({ length: heats }, (_, i) => `--heat${i + 1}`)].map((token) => (
        <i key={token} class="swatch" style={{ background: tokenColor(token) }} />
      ))}
      the most
    </li>
  );
}

// Graph shows a tree that is complete in the browser, such as one made from rows of SQL.
export function Graph({ answer, note }: { answer: FlameAnswer; note?: string }) {
  const address = useAddress();
  const dark = useDark();
  const side = address.get('side');
  const of = address.get('of');
  const search = address.get('search');
  const chosen = address.get('frame');
  const group = address.get('group', 'function').replace('-', ' ') as Group;
  const root = useMemo(() => layoutAnswer(answer), [answer]);
  const graphs = useMemo((): [string, Frames, string][] => {
    if (side === 'inverted') return [['Frames', invert(root), 'zoom']];
    if (!around.includes(side) || of === '') return [['Frames', root, 'zoom']];
    const both = sandwich(root, group, of);
    return [
      ['Callers', both.callers, 'callers'],
      ['Callees', both.callees, 'zoom'],
    ];
  }, [root, side, of, group]);
  const paint = usePaint((f) => ({ fill: nameFill(f, tokenColor) }), search, [dark]);
  const values = useValues(root.value[0]!, answer.unit);
  return (
    <>
      <Controls by="" hits={localHits(graphs[0]![1], search, chosen, graphs[0]![2])} difference={<></>} />
      {graphs.map(([label, frames, parameter]) => (
        <LocalCard
          key={label + side + of}
          label={label}
          frames={frames}
          parameter={parameter}
          paint={paint}
          values={values}
          step={localHits(frames, search, chosen, parameter).step}
        />
      ))}
      {note !== undefined && <p class="note">{note}.</p>}
    </>
  );
}

function LocalCard(p: {
  label: string;
  frames: Frames;
  parameter: string;
  paint: (f: Frames) => Paint;
  values: ReturnType<typeof useValues>;
  step: (by: number) => void;
}) {
  const zoom = useAddress().get(p.parameter);
  const layers = useMemo(() => [{ frames: p.frames, window: whole }], [p.frames]);
  const window = useMemo(() => {
    const n = findFrame(p.frames, zoom);
    return n < 0 ? (parseWindow(zoom) ?? whole) : windowOf(p.frames, n);
  }, [p.frames, zoom]);
  if (p.frames.value[0] === 0) return <p class="note">No frame here has this name.</p>;
  return (
    <FlameCard
      label={p.label}
      layers={layers}
      window={window}
      stack={p.frames}
      busy={false}
      upward={p.label === 'Callers'}
      parameter={p.parameter}
      paint={p.paint}
      {...p.values}
      step={p.step}
    />
  );
}

// localHits searches a complete tree.
function localHits(f: Frames, search: string, chosen: string, parameter: string): Search {
  const found = searchFrames(f, search);
  const hits: number[] = [];
  for (let n = 0; found !== undefined && n < f.count; n++) if (found.is[f.name[n]!]!) hits.push(n);
  const at = hits.indexOf(findFrame(f, chosen));
  return {
    data:
      found === undefined
        ? undefined
        : {
            frames: found.frames,
            left_out: 0,
            value: found.value,
            total: f.value[0]!,
            from: 0,
            hits: { id: [], name: [], level: [], start: [], value: [] },
          },
    error: undefined,
    at,
    step: (by) => {
      const n = hits[at < 0 ? (by > 0 ? 0 : hits.length - 1) : (at + by + hits.length) % hits.length];
      if (n === undefined) return;
      showHit({ id: frameID(f, n), name: f.names[f.name[n]!]!.name, window: windowOf(f, n) }, parameter, whole);
    },
  };
}
