// The difference flame graph of a comparison: each path with what both sides have of it.
import { useCallback, useMemo } from 'preact/hooks';
import { useData } from './api';
import { changeColour } from './colour';
import { framesIn, matching, type Frames, type NameColumns } from './flametree';
import { FlameView } from './flameview';
import { Frame, useDark } from './parts';
import { go, usePlace, type Changes } from './place';
import { percent } from './units';

interface Answer {
  metric: string;
  unit: string;
  normalise: string;
  nodes: number;
  base: { experiments: string[] | null };
  test: { experiments: string[] | null };
  names: NameColumns;
  level: number[];
  name: number[];
  values: { base: number[]; test: number[]; base_exclusive: number[]; test_exclusive: number[] };
}

// widths are what a frame can be as wide as.
const widths: Record<string, string> = { '': 'both sides', test: 'the test', base: 'the base' };

export function Difference({ parameters, show, judged }: { parameters: Changes; show: (v: number) => string; judged: (name: string, loadObject: string) => string }) {
  const place = usePlace();
  const answer = useData<Answer>('compare/flamegraph', { ...parameters, nodes: place.get('nodes', '20000') });
  return (
    <Frame title="Difference flame graph" answer={answer} empty={(a) => a.level.length === 0} none="Neither side has a value in its call trees.">
      {(a) => <Graph a={a} show={show} judged={judged} />}
    </Frame>
  );
}

// spread is as wide as what both sides have, at least: the larger of a frame's two exclusive
// values, and all that is below it.
function spread(a: Answer): number[] {
  const width = a.level.map((_, n) => Math.max(a.values.base_exclusive[n]!, a.values.test_exclusive[n]!));
  const sums: number[] = []; // of what is below the next frame of a level
  for (let n = a.level.length - 1; n >= 0; n--) {
    const level = a.level[n]!;
    width[n] = width[n]! + (sums[level + 1] ?? 0);
    sums[level + 1] = 0;
    sums[level] = (sums[level] ?? 0) + width[n]!;
  }
  return width;
}

function Graph({ a, show, judged }: { a: Answer; show: (v: number) => string; judged: (name: string, loadObject: string) => string }) {
  const place = usePlace();
  const dark = useDark();
  const by = place.get('width');
  const search = place.get('search');
  const { base, test, base_exclusive, test_exclusive } = a.values;
  const frames = useMemo((): Frames => framesIn(a, by === 'test' ? test : by === 'base' ? base : spread(a), by === 'test' ? test_exclusive : base_exclusive), [a, by]);
  const found = useMemo(() => matching(frames, search)?.is, [frames, search]);
  const fill = useCallback((n: number) => changeColour(base[n]!, test[n]!, dark), [a, dark]);
  const whole = Math.max(base[0]!, test[0]!);
  const signed = (v: number) => (v > 0 ? '+' : '') + show(v);
  const change = (n: number) => (base[n] === 0 ? 'new' : test[n] === 0 ? 'gone' : signed(test[n]! - base[n]!));
  const counts = useMemo(() => {
    const of = { more: 0, less: 0, created: 0, gone: 0 };
    for (let n = 1; n < base.length; n++) of[base[n] === 0 ? 'created' : test[n] === 0 ? 'gone' : test[n]! > base[n]! ? 'more' : 'less']++;
    return of;
  }, [a]);
  return (
    <>
      <div class="bar">
        <label>
          Frames are as wide as
          <select value={by} onChange={(e) => go({ width: e.currentTarget.value, zoom: null }, true)}>
            {Object.entries(widths).map(([name, text]) => <option key={name} value={name}>{text}</option>)}
          </select>
        </label>
        <label class="grow">
          Search
          <input type="search" value={search} placeholder="part of a name, or /expression/" onInput={(e) => go({ search: e.currentTarget.value }, true)} />
        </label>
      </div>
      <ul class="legend" aria-label="Colors">
        {([[1, 2, `${counts.more} paths have more in the test`], [2, 1, `${counts.less} less or as much`], [0, 1, `${counts.created} new (+)`], [1, 0, `${counts.gone} gone (−)`]] as const).map(([b, t, text]) => (
          <li key={text}><span class="patch" style={{ background: changeColour(b, t, dark) }} aria-hidden="true" />{text}</li>
        ))}
      </ul>
      <FlameView
        label="Paths"
        frames={frames}
        found={found}
        fill={fill}
        mark={(n) => (base[n] === 0 ? '+ ' : test[n] === 0 ? '− ' : '')}
        dark={dark}
        upward={place.get('root') === 'bottom'}
        wide={1}
        cells={(n) => [change(n), `${show(base[n]!)} → ${show(test[n]!)}`]}
        tell={(n) => {
          const name = frames.names[frames.name[n]!]!;
          return (
            <>
              <strong>{name.name}</strong>
              <span>{name.loadObject}</span>
              <span>{show(base[n]!)} → {show(test[n]!)}, {change(n)} ({percent(test[n]! - base[n]!, whole)} of the whole); itself {show(base_exclusive[n]!)} → {show(test_exclusive[n]!)}</span>
              <span>{judged(name.name, name.loadObject)}</span>
            </>
          );
        }}
      />
      <p class="note">
        Means of {a.base.experiments?.length ?? 0} and {a.test.experiments?.length ?? 0} runs, {a.nodes} paths{a.nodes > a.level.length ? `, of which the widest are shown in ${a.level.length} frames` : ''}.
        {by === '' ? ' A frame is as wide as the larger of its own two exclusive values and all that is below it.' : ` Paths that ${widths[by]} does not have have no width: the list has them.`}
      </p>
    </>
  );
}
