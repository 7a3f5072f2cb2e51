// The panel of flame graphs.
import { type ComponentChildren } from 'preact';
import { useCallback, useMemo } from 'preact/hooks';
import { useData } from '../lib/api';
import { colorKey, frameColor, keyColor, schemes, type Scheme } from '../lib/color';
import {
  groupOf,
  groups,
  invert,
  layoutAnswer,
  sandwich,
  isCut,
  isLeftOut,
  searchFrames,
  type FlameAnswer,
  type Frames,
  type Group,
} from '../lib/flametree';
import { AddressedFlameView } from '../parts/flameaddress';
import { Link } from '../parts/link';
import { useDark } from '../lib/theme';
import { Panel } from '../parts/panel';
import { navigate, scope, useAddress } from '../lib/address';
import { waitOf } from '../lib/threadstates';
import { amount, percent } from '../lib/units';

export function FlamePanel() {
  const address = useAddress();
  const asked = {
    ...scope(address),
    metric: address.get('metric'),
    width: address.get('pixels', '4000'),
    inline: address.get('inline'),
    form: 'columns',
  };
  const whole = useData<FlameAnswer>('flamegraph', asked);
  const cut = whole.data !== undefined && isCut(whole.data);
  const side = address.get('side');
  const of = address.get('of');
  const group = address.get('group', 'function').replace(' ', '-');
  const wanted = (one: string) =>
    cut && (one === 'inverted' ? side === one : of !== '' && (side === one || side === 'sandwich'));
  const inverted = useData<FlameAnswer>(wanted('inverted') ? 'flamegraph' : undefined, { ...asked, side: 'inverted' });
  const callers = useData<FlameAnswer>(wanted('callers') ? 'flamegraph' : undefined, {
    ...asked,
    side: 'callers',
    group,
    of,
  });
  const callees = useData<FlameAnswer>(wanted('callees') ? 'flamegraph' : undefined, {
    ...asked,
    side: 'callees',
    group,
    of,
  });
  const sides: Sides = { inverted: inverted.data, callers: callers.data, callees: callees.data };
  const all = [whole, inverted, callers, callees];
  const is = (one: FlameAnswer | undefined) =>
    one !== undefined && (one.side === 'inverted' || (one.of === of && one.group === group));
  const ready = (['inverted', 'callers', 'callees'] as const).every((one) => !wanted(one) || is(sides[one]));
  const error = all.find((a) => a.error !== undefined)?.error;
  const answer = {
    data: ready ? whole.data : undefined,
    error,
    loading: all.some((a) => a.loading) || (!ready && error === undefined),
    warnings: whole.warnings,
  };
  return (
    <Panel
      title="Flame graph"
      answer={answer}
      empty={(a) => a.level.length === 0}
      none="No samples: choose other experiments, another metric, or fewer filters."
    >
      {(a) => <Graph answer={a} sides={sides} />}
    </Panel>
  );
}

// Sides are trees that the server makes, because the page has only a part of the whole tree.
type Sides = Record<'inverted' | 'callers' | 'callees', FlameAnswer | undefined>;

const noSides: Sides = { inverted: undefined, callers: undefined, callees: undefined };

// sides are the trees that can be shown, by their name in the URL; the values are their titles.
const sides: Record<string, string> = {
  '': 'the root',
  inverted: 'the leaves',
  sandwich: 'callers and callees',
  callers: 'callers',
  callees: 'callees',
};

// Graph shows a flame graph with its controls. note is a remark about its data.
export function Graph({ answer, sides: made = noSides, note }: { answer: FlameAnswer; sides?: Sides; note?: string }) {
  const address = useAddress();
  const dark = useDark();
  const side = address.get('side');
  const of = address.get('of');
  const by = address.get('group', 'function') as Group;
  const whole = useMemo(() => layoutAnswer(answer), [answer]);
  const graphs = useMemo((): [string, Frames, boolean][] => {
    if (side === 'inverted')
      return [['Frames', made.inverted === undefined ? invert(whole) : layoutAnswer(made.inverted), false]];
    if (of === '' || !['sandwich', 'callers', 'callees'].includes(side)) return [['Frames', whole, false]];
    const both = made.callers === undefined && made.callees === undefined ? sandwich(whole, by, of) : undefined;
    const frames = (answer: FlameAnswer | undefined, seed: number): Frames[] =>
      answer === undefined ? [] : [layoutAnswer(answer, seed)];
    const callers = both === undefined ? frames(made.callers, 1) : [both.callers];
    const callees = both === undefined ? frames(made.callees, 0) : [both.callees];
    return [
      ...(side === 'callees' ? [] : callers.map((f): [string, Frames, boolean] => ['Callers', f, side === 'sandwich'])),
      ...(side === 'callers' ? [] : callees.map((f): [string, Frames, boolean] => ['Callees', f, false])),
    ];
  }, [whole, side, by, of, made.inverted, made.callers, made.callees]);
  const search = address.get('search');
  const total = whole.value[0]!;
  const cut = useMemo(() => isCut(answer), [answer]);
  const found = useMemo(() => searchFrames(whole, search), [whole, search]);
  const scheme = address.get('colour', 'load object') as Scheme;
  const experiments = answer.experiments === 1 ? 'one experiment' : `${answer.experiments} experiments`;
  return (
    <>
      <div class="bar">
        <label>
          Seen from
          <select value={side} onChange={(e) => navigate({ side: e.currentTarget.value, zoom: null })}>
            {Object.entries(sides).map(([name, text]) => (
              <option key={name} value={name} disabled={text.startsWith('call') && of === ''}>
                {text}
                {text.startsWith('call') ? ` of ${of === '' ? 'a frame' : of}` : ''}
              </option>
            ))}
          </select>
        </label>
        <label>
          Color by
          <select value={scheme} onChange={(e) => navigate({ colour: e.currentTarget.value }, true)}>
            {schemes.map((s) => (
              <option key={s}>{s}</option>
            ))}
          </select>
        </label>
        <label>
          Root
          <select value={address.get('root', 'top')} onChange={(e) => navigate({ root: e.currentTarget.value }, true)}>
            <option value="top">at the top</option>
            <option value="bottom">at the bottom</option>
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
        <output>{found === undefined ? '' : `${cut ? 'at least ' : ''}${percent(found.value, total)} found`}</output>
      </div>
      <Legend frames={whole} total={total} scheme={scheme} dark={dark} />
      {graphs.map(([label, frames, above]) => (
        <section key={side + label + by + of}>
          {graphs.length > 1 && (
            <h3>
              {label} of {by === 'function' ? of : `${by} ${of}`}
            </h3>
          )}
          {frames.value[0] === 0 ? (
            <p class="note">
              No {by} that has a value here is named {of}.
            </p>
          ) : (
            <ColoredGraph
              label={label}
              frames={frames}
              total={total}
              unit={answer.unit}
              search={search}
              scheme={scheme}
              dark={dark}
              upward={above !== (address.get('root') === 'bottom')}
            />
          )}
        </section>
      ))}
      <p class="note">
        {note ?? `${amount(total, answer.unit)} of ${answer.metric} in ${experiments}, ${answer.nodes} nodes`}
        {!cut
          ? ''
          : side === ''
            ? `, of which the ${whole.count - 1} highest are shown`
            : ', all of which this view sums; nodes in frames <… more> are left out'}
        .
      </p>
    </>
  );
}

function ColoredGraph(p: {
  label: string;
  frames: Frames;
  total: number;
  unit: string;
  search: string;
  scheme: Scheme;
  dark: boolean;
  upward: boolean;
}) {
  const { frames: f, total, unit, scheme, dark } = p;
  const found = useMemo(() => searchFrames(f, p.search)?.is, [f, p.search]);
  const colors = useMemo(() => f.names.map((n) => frameColor(n, scheme, dark)), [f, scheme, dark]);
  const fillOf = useCallback((n: number) => colors[f.name[n]!]!, [f, colors]);
  const tell = (n: number): ComponentChildren => {
    const name = f.names[f.name[n]!]!;
    return (
      <>
        <strong>{name.name}</strong>
        <span>
          {[name.module === '(unknown)' ? '' : name.module, name.loadObject, name.kind === 'normal' ? '' : name.kind]
            .filter((t) => t !== '' && t !== name.name)
            .join(', ')}
        </span>
        <span>
          {amount(f.value[n]!, unit)} ({percent(f.value[n]!, total)}), itself {amount(f.exclusive[n]!, unit)} (
          {percent(f.exclusive[n]!, total)})
        </span>
        {(![...groups, 'artificial'].includes(name.kind) || waitOf(name.name) !== undefined) && (
          <span>
            Callers and callees of the{' '}
            {groups
              .filter(
                (g) =>
                  !['', '(unknown)'].includes(groupOf(name, g)) && (g === 'function' || name.kind !== 'artificial'),
              )
              .map((g, i) => [
                i > 0 ? ', ' : '',
                <Link
                  key={g}
                  to={{ side: 'sandwich', of: groupOf(name, g), group: g === 'function' ? null : g, zoom: null }}
                >
                  {g}
                </Link>,
              ])}
          </span>
        )}
      </>
    );
  };
  return (
    <AddressedFlameView
      label={p.label}
      frames={f}
      found={found}
      fill={fillOf}
      dark={dark}
      upward={p.upward}
      tell={tell}
      cells={(n) => [percent(f.value[n]!, total), amount(f.value[n]!, unit)]}
    />
  );
}

const leftOut = 'left out';
const mostKeys = 8; // colors in the legend

// Legend lists what the colors mean, with the sum of the exclusive values of their frames; the highest come
// first.
function Legend({ frames: f, total, scheme, dark }: { frames: Frames; total: number; scheme: Scheme; dark: boolean }) {
  const keys = useMemo(() => {
    const sums = new Map<string, number>();
    for (let n = 0; n < f.count; n++) {
      const name = f.names[f.name[n]!]!;
      const key = isLeftOut(name) ? leftOut : colorKey(name, scheme);
      sums.set(key, (sums.get(key) ?? 0) + f.exclusive[n]!);
    }
    return [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]);
  }, [f, scheme]);
  return (
    <ul class="legend" aria-label={`Exclusive values by ${scheme}`}>
      {keys.slice(0, mostKeys).map(([key, sum]) => (
        <li key={key}>
          <span class="patch" style={{ background: keyColor(key === leftOut ? '' : key, dark) }} aria-hidden="true" />
          {key === '' ? 'others' : key} {percent(sum, total)}
        </li>
      ))}
      {keys.length > mostKeys && <li>{keys.length - mostKeys} more</li>}
    </ul>
  );
}
