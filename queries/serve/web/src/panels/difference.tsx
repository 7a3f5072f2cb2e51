// The difference flame graph of a comparison: a tree of call paths, each with its values on both sides.
import { useCallback, useMemo } from 'preact/hooks';
import { useData } from '../lib/api';
import { changeColor } from '../lib/color';
import { layoutColumns, searchFrames, type Frames, type NameColumns } from '../lib/flametree';
import { AddressedFlameView } from '../parts/flameaddress';
import { useDark } from '../lib/theme';
import { Panel } from '../parts/panel';
import { navigate, useAddress, type Params } from '../lib/address';
import { percent } from '../lib/units';

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

// widths are the values, by their name in the URL, that can determine the widths of frames.
const widths: Record<string, string> = { '': 'both sides', test: 'the test', base: 'the base' };

export function Difference({
  parameters,
  show,
  judged,
}: {
  parameters: Params;
  show: (v: number) => string;
  judged: (name: string, loadObject: string) => string;
}) {
  const address = useAddress();
  const answer = useData<Answer>('compare/flamegraph', { ...parameters, width: address.get('pixels', '4000') });
  return (
    <Panel
      title="Difference flame graph"
      answer={answer}
      empty={(a) => a.level.length === 0}
      none="Neither side has samples."
    >
      {(a) => <Graph a={a} show={show} judged={judged} />}
    </Panel>
  );
}

// frameWidths returns widths that leave room for both sides: the larger of a frame's two exclusive values,
// plus the widths of its children.
function frameWidths(a: Answer): number[] {
  const width = a.level.map((_, n) => Math.max(a.values.base_exclusive[n]!, a.values.test_exclusive[n]!));
  const sums: number[] = []; // by level: total width of the children of the next frame above
  for (let n = a.level.length - 1; n >= 0; n--) {
    const level = a.level[n]!;
    width[n] = width[n]! + (sums[level + 1] ?? 0);
    sums[level + 1] = 0;
    sums[level] = (sums[level] ?? 0) + width[n]!;
  }
  return width;
}

function Graph({
  a,
  show,
  judged,
}: {
  a: Answer;
  show: (v: number) => string;
  judged: (name: string, loadObject: string) => string;
}) {
  const address = useAddress();
  const dark = useDark();
  const by = address.get('width');
  const search = address.get('search');
  const { base, test, base_exclusive, test_exclusive } = a.values;
  const frames = useMemo(
    (): Frames =>
      layoutColumns(
        a,
        by === 'test' ? test : by === 'base' ? base : frameWidths(a),
        by === 'test' ? test_exclusive : base_exclusive,
      ),
    [a, by],
  );
  const found = useMemo(() => searchFrames(frames, search)?.is, [frames, search]);
  const fill = useCallback((n: number) => changeColor(base[n]!, test[n]!, dark), [a, dark]);
  const whole = Math.max(base[0]!, test[0]!);
  const signed = (v: number) => (v > 0 ? '+' : '') + show(v);
  const change = (n: number) => (base[n] === 0 ? 'new' : test[n] === 0 ? 'gone' : signed(test[n]! - base[n]!));
  const counts = useMemo(() => {
    const of = { more: 0, less: 0, created: 0, gone: 0 };
    for (let n = 1; n < base.length; n++)
      of[base[n] === 0 ? 'created' : test[n] === 0 ? 'gone' : test[n]! > base[n]! ? 'more' : 'less']++;
    return of;
  }, [a]);
  return (
    <>
      <div class="bar">
        <label>
          Width of frames
          <select value={by} onChange={(e) => navigate({ width: e.currentTarget.value, zoom: null }, true)}>
            {Object.entries(widths).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label class="grow">
          Search
          <input
            type="search"
            value={search}
            placeholder="part of a name, or /expression/"
            onInput={(e) => navigate({ search: e.currentTarget.value }, true)}
          />
        </label>
      </div>
      <ul class="legend" aria-label="Colors">
        {(
          [
            [1, 2, `${counts.more} paths have more in the test`],
            [2, 1, `${counts.less} less or unchanged`],
            [0, 1, `${counts.created} new (+)`],
            [1, 0, `${counts.gone} gone (−)`],
          ] as const
        ).map(([b, t, text]) => (
          <li key={text}>
            <span class="patch" style={{ background: changeColor(b, t, dark) }} aria-hidden="true" />
            {text}
          </li>
        ))}
      </ul>
      <AddressedFlameView
        label="Paths"
        frames={frames}
        found={found}
        fill={fill}
        mark={(n) => (base[n] === 0 ? '+ ' : test[n] === 0 ? '− ' : '')}
        dark={dark}
        upward={address.get('root') === 'bottom'}
        wide={1}
        cells={(n) => [change(n), `${show(base[n]!)} → ${show(test[n]!)}`]}
        tell={(n) => {
          const name = frames.names[frames.name[n]!]!;
          return (
            <>
              <strong>{name.name}</strong>
              <span>{name.loadObject}</span>
              <span>
                {show(base[n]!)} → {show(test[n]!)}, {change(n)} ({percent(test[n]! - base[n]!, whole)} of the whole);
                itself {show(base_exclusive[n]!)} → {show(test_exclusive[n]!)}
              </span>
              <span>{judged(name.name, name.loadObject)}</span>
            </>
          );
        }}
      />
      <p class="note">
        Means of {a.base.experiments?.length ?? 0} and {a.test.experiments?.length ?? 0} runs, {a.nodes} paths
        {a.nodes > a.level.length ? `, of which the widest are shown in ${a.level.length} frames` : ''}.
        {by === ''
          ? ' A frame is as wide as its children and the larger of its two exclusive values.'
          : ` Paths that ${widths[by]} lacks have no width: see the list.`}
      </p>
    </>
  );
}
