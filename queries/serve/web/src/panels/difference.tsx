// The difference flame graph of a comparison: a tree of call paths, each with its values on both sides.
import { useCallback, useMemo } from 'preact/hooks';
import { scope, useAddress, type Params } from '../lib/address';
import { changeFill } from '../lib/flamecolor';
import { useGraph } from '../lib/flamedata';
import { layoutColumns, type Frames, type NameColumns } from '../lib/flametree';
import { tokenColor, useDark } from '../lib/theme';
import { amount, count, difference, percent, signed } from '../lib/units';
import { FlameCard } from '../parts/flamecard';
import { Tell, type Spot } from '../parts/flameview';
import { Beside } from '../parts/inspector';
import { Panel } from '../parts/panel';
import { Controls, Missing, useHits, usePaint } from './flame';

interface Answer {
  metric: string;
  unit: string;
  normalise: string;
  nodes: number;
  total: number;
  window: [number, number];
  base: { experiments: string[] | null };
  test: { experiments: string[] | null };
  names: NameColumns;
  level: number[];
  name: number[];
  values: Record<'start' | 'width' | 'base' | 'test' | 'base_exclusive' | 'test_exclusive', number[]>;
}

// answers are those that trees of frames were made from, which have the values of both sides.
const answers = new WeakMap<Frames, Answer>();

function layout(a: Answer): Frames {
  const frames = layoutColumns(a, a.values.width, a.values.base_exclusive, 0, a.values.start);
  answers.set(frames, a);
  return frames;
}

function same(a: Answer, b: Answer): boolean {
  const of = (x: Answer) => JSON.stringify([x.metric, x.normalise, x.nodes, x.total, x.base, x.test]);
  return of(a) === of(b);
}

// DifferencePlace is the place Flame graph with a base.
export function DifferencePlace() {
  const address = useAddress();
  return (
    <Difference
      parameters={{
        ...scope(address),
        experiment: null,
        base: address.all('base'),
        test: address.all('experiment').length > 0 ? address.all('experiment') : ['*'],
        metric: address.get('metric'),
        normalise: address.get('normalise'),
      }}
      controls={true}
    />
  );
}

export function Difference({
  parameters,
  show,
  judged,
  controls,
}: {
  parameters: Params;
  show?: (v: number) => string; // formats a value; by default in the metric's unit
  judged?: (name: string, loadObject: string) => string; // what the comparison says of a function
  controls?: boolean; // the choices of the place Flame graph
}) {
  const address = useAddress();
  const graph = useGraph<Answer>({
    path: 'compare/flamegraph',
    asked: parameters,
    zoom: address.get('zoom'),
    chosen: address.get('frame'),
    layout,
    same,
  });
  const hits = useHits('compare/flamegraph/search', parameters, 'zoom', graph.window);
  const panel = (
    <Panel
      title="Difference flame graph"
      answer={graph.answer}
      empty={(a) => a.level.length === 0 || a.total === 0}
      none="Neither side has samples."
    >
      {(a) => (
        <>
          <Missing graph={graph} />
          <Card a={a} graph={graph} show={show} judged={judged} step={hits.step} />
          <Legend a={a} />
        </>
      )}
    </Panel>
  );
  if (controls !== true) return panel;
  return (
    <>
      <Controls by="" hits={hits} difference={<></>} />
      <Beside>{panel}</Beside>
    </>
  );
}

function Card(p: {
  a: Answer;
  graph: ReturnType<typeof useGraph<Answer>>;
  show: ((v: number) => string) | undefined;
  judged: ((name: string, loadObject: string) => string) | undefined;
  step: (by: number) => void;
}) {
  const { a, graph, judged } = p;
  const address = useAddress();
  const dark = useDark();
  const show = p.show ?? ((v: number) => amount(v, a.unit));
  const sides = ({ frames, n }: Spot) => {
    const v = answers.get(frames)!.values;
    return { base: v.base[n]!, test: v.test[n]!, baseSelf: v.base_exclusive[n]!, testSelf: v.test_exclusive[n]! };
  };
  const change = ({ base, test }: { base: number; test: number }) =>
    base === 0
      ? 'new'
      : test === 0
        ? 'gone'
        : p.show === undefined
          ? difference(test - base, a.unit)
          : (test > base ? '+' : '') + show(test - base);
  const paint = usePaint(
    (frames) => {
      const fill = changeFill(tokenColor);
      const v = answers.get(frames)!.values;
      return {
        fill: (n) => fill(v.base[n]!, v.test[n]!),
        mark: (n) => (v.base[n] === 0 ? '+ ' : v.test[n] === 0 ? '− ' : ''),
      };
    },
    address.get('search'),
    [dark],
  );
  const tell = useCallback(
    (at: Spot) => {
      const { frames: f, n } = at;
      const s = sides(at);
      const whole = sides({ frames: f, n: 0 });
      const name = f.names[f.name[n]!]!;
      const caller = f.parent[n]! < 0 ? undefined : f.names[f.name[f.parent[n]!]!]!.name;
      const ratio = s.base === 0 || s.test === 0 ? '' : ` (${signed(s.test / s.base - 1)})`;
      return (
        <>
          <Tell
            name={name}
            caller={caller}
            total={Math.max(whole.base, whole.test)}
            rows={[
              ['Base', s.base, show(s.base), percent(s.base, whole.base)],
              ['Test', s.test, show(s.test), percent(s.test, whole.test)],
              ['Base, self', s.baseSelf, show(s.baseSelf), percent(s.baseSelf, whole.base)],
              ['Test, self', s.testSelf, show(s.testSelf), percent(s.testSelf, whole.test)],
            ]}
          />
          <p>
            {change(s)}
            {ratio}
          </p>
          {judged !== undefined && <p>{judged(name.name, name.loadObject)}</p>}
        </>
      );
    },
    [a.unit, judged],
  );
  const cells = useCallback(
    (at: Spot): [string, string] => {
      const s = sides(at);
      return [change(s), `${show(s.base)} → ${show(s.test)}`];
    },
    [a.unit],
  );
  const door = useCallback(
    (at: Spot) => ({ value: sides(at).test, total: sides({ ...at, n: 0 }).test, unit: a.unit }),
    [a.unit],
  );
  return (
    <FlameCard
      label="Paths"
      layers={graph.layers}
      window={graph.window}
      stack={graph.chosen}
      busy={graph.busy}
      upward={address.get('root') === 'bottom'}
      parameter="zoom"
      paint={paint}
      tell={tell}
      cells={cells}
      door={door}
      step={p.step}
    />
  );
}

// Legend says what the colors mean.
function Legend({ a }: { a: Answer }) {
  const dark = useDark();
  const colors = useMemo(() => ['--more', '--less', '--new', '--gone', '--raised'].map(tokenColor), [dark]);
  const runs = (n: number) => (n === 1 ? 'one run' : `the mean of ${n} runs`);
  return (
    <ul class="legend flamelegend" aria-label="Colors of the difference">
      {['more', 'less', '+ new', '− gone', 'the same'].map((text, i) => (
        <li key={text}>
          <i class="swatch" style={{ background: colors[i]! }} />
          {text}
        </li>
      ))}
      <li class="dim">
        A frame is as wide as the larger side; base is {runs(a.base.experiments?.length ?? 0)}, test{' '}
        {runs(a.test.experiments?.length ?? 0)}. {count(a.nodes)} paths, finer ones come as you zoom
      </li>
    </ul>
  );
}
