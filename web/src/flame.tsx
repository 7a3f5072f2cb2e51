// The panel of flame graphs.
import { type ComponentChildren } from 'preact';
import { useCallback, useMemo } from 'preact/hooks';
import { useData } from './api';
import { colour, fill, keyOf, schemes, type Scheme } from './colour';
import { around, framesOf, groupOf, groups, inverted, matching, type FlameAnswer, type Frames, type Group } from './flametree';
import { FlameView } from './flameview';
import { Link } from './link';
import { Frame, useDark } from './parts';
import { go, scope, usePlace } from './place';
import { amount, percent } from './units';

export function FlamePanel() {
  const place = usePlace();
  const answer = useData<FlameAnswer>('flamegraph', { ...scope(place), metric: place.get('metric'), nodes: place.get('nodes', '20000'), inline: place.get('inline'), form: 'columns' });
  return (
    <Frame title="Flame graph" answer={answer} empty={(a) => a.level.length === 0} none="No samples are here: choose other experiments, another metric, or fewer filters.">
      {(a) => <Graph answer={a} />}
    </Frame>
  );
}

// sides are the trees that are made of one: their names, and what each looks like.
const sides: Record<string, string> = { '': 'the root', inverted: 'the leaves', sandwich: 'callers and callees', callers: 'callers', callees: 'callees' };

// Graph is a flame graph with what steers it; a note says what it is of.
export function Graph({ answer, note }: { answer: FlameAnswer; note?: string }) {
  const place = usePlace();
  const dark = useDark();
  const side = place.get('side');
  const of = place.get('of');
  const by = place.get('group', 'function') as Group;
  const whole = useMemo(() => framesOf(answer), [answer]);
  const graphs = useMemo((): [string, Frames, boolean][] => {
    if (side === 'inverted') return [['Frames', inverted(whole), false]];
    if (of === '' || !['sandwich', 'callers', 'callees'].includes(side)) return [['Frames', whole, false]];
    const { callers, callees } = around(whole, by, of);
    const both: [string, Frames, boolean][] = [['Callers', callers, side === 'sandwich'], ['Callees', callees, false]];
    return both.filter(([label]) => side === 'sandwich' || label.toLowerCase() === side);
  }, [whole, side, by, of]);
  const search = place.get('search');
  const total = whole.value[0]!;
  const found = useMemo(() => matching(whole, search), [whole, search]);
  const scheme = place.get('colour', 'load object') as Scheme;
  return (
    <>
      <div class="bar">
        <label>
          Seen from
          <select value={side} onChange={(e) => go({ side: e.currentTarget.value, zoom: null })}>
            {Object.entries(sides).map(([name, text]) => <option key={name} value={name} disabled={text.startsWith('call') && of === ''}>{text}{text.startsWith('call') ? ` of ${of === '' ? 'a frame' : of}` : ''}</option>)}
          </select>
        </label>
        <label>
          Colour by
          <select value={scheme} onChange={(e) => go({ colour: e.currentTarget.value }, true)}>
            {schemes.map((s) => <option key={s}>{s}</option>)}
          </select>
        </label>
        <label>
          Root
          <select value={place.get('root', 'top')} onChange={(e) => go({ root: e.currentTarget.value }, true)}>
            <option value="top">at the top</option>
            <option value="bottom">at the bottom</option>
          </select>
        </label>
        <label class="grow">
          Search
          <input type="search" value={search} placeholder="part of a name, or /expression/" onInput={(e) => go({ search: e.currentTarget.value }, true)} />
        </label>
        <output>{found === undefined ? '' : `${percent(found.value, total)} found`}</output>
      </div>
      <Legend frames={whole} total={total} scheme={scheme} dark={dark} />
      {graphs.map(([label, frames, above]) => (
        <section key={side + label + by + of}>
          {graphs.length > 1 && <h3>{label} of {by === 'function' ? of : `${by} ${of}`}</h3>}
          {frames.value[0] === 0 ? <p class="note">Nothing of {of} is in the frames that are shown.</p> : (
            <Coloured label={label} frames={frames} total={total} unit={answer.unit} search={search} scheme={scheme} dark={dark} upward={above !== (place.get('root') === 'bottom')} />
          )}
        </section>
      ))}
      <p class="note">
        {note ?? `${amount(total, answer.unit)} of ${answer.metric} in ${answer.experiments === 1 ? 'one experiment' : `${answer.experiments} experiments`}, ${answer.nodes} nodes`}
        {answer.nodes > whole.count ? `, of which the ${whole.count - 1} highest are shown` : ''}.
      </p>
    </>
  );
}

function Coloured(p: { label: string; frames: Frames; total: number; unit: string; search: string; scheme: Scheme; dark: boolean; upward: boolean }) {
  const { frames: f, total, unit, scheme, dark } = p;
  const found = useMemo(() => matching(f, p.search)?.is, [f, p.search]);
  const colours = useMemo(() => f.names.map((n) => fill(n, scheme, dark)), [f, scheme, dark]);
  const fillOf = useCallback((n: number) => colours[f.name[n]!]!, [f, colours]);
  const tell = (n: number): ComponentChildren => {
    const name = f.names[f.name[n]!]!;
    return (
      <>
        <strong>{name.name}</strong>
        <span>{[name.module === '(unknown)' ? '' : name.module, name.loadObject, name.kind === 'normal' ? '' : name.kind].filter((t) => t !== '' && t !== name.name).join(', ')}</span>
        <span>
          {amount(f.value[n]!, unit)} ({percent(f.value[n]!, total)}), itself {amount(f.exclusive[n]!, unit)} ({percent(f.exclusive[n]!, total)})
        </span>
        {![...groups, 'artificial'].includes(name.kind) && (
          <span>
            Callers and callees of the{' '}
            {groups.filter((g) => !['', '(unknown)'].includes(groupOf(name, g))).map((g, i) => [i > 0 ? ', ' : '', <Link key={g} to={{ side: 'sandwich', of: groupOf(name, g), group: g === 'function' ? null : g, zoom: null }}>{g}</Link>])}
          </span>
        )}
      </>
    );
  };
  return <FlameView label={p.label} frames={f} found={found} fill={fillOf} dark={dark} upward={p.upward} tell={tell} cells={(n) => [percent(f.value[n]!, total), amount(f.value[n]!, unit)]} />;
}

const mostKeys = 8; // that a legend shows

// Legend says what the colours are, and how much each has itself: what has most, first.
function Legend({ frames: f, total, scheme, dark }: { frames: Frames; total: number; scheme: Scheme; dark: boolean }) {
  const keys = useMemo(() => {
    const sums = new Map<string, number>();
    for (let n = 0; n < f.count; n++) {
      const key = keyOf(f.names[f.name[n]!]!, scheme);
      sums.set(key, (sums.get(key) ?? 0) + f.exclusive[n]!);
    }
    return [...sums].filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]);
  }, [f, scheme]);
  return (
    <ul class="legend" aria-label={`Exclusive values by ${scheme}`}>
      {keys.slice(0, mostKeys).map(([key, sum]) => (
        <li key={key}><span class="patch" style={{ background: colour(key, dark) }} aria-hidden="true" />{key === '' ? 'others' : key} {percent(sum, total)}</li>
      ))}
      {keys.length > mostKeys && <li>{keys.length - mostKeys} more</li>}
    </ul>
  );
}
