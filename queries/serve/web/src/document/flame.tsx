// The flame graphs of a document. Their data are in the document; nothing is requested.
import { render, type ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { waitOf } from '../lib/threadstates';
import {
  findFrame,
  frameID,
  groupOf,
  invert,
  isCut,
  isLeftOut,
  layoutAnswer,
  sandwich,
  searchFrames,
  type FlameAnswer,
  type Frames,
  type Group,
  type Name,
} from '../lib/flametree';
import { whole, windowOf } from '../lib/flamewindow';
import { hash } from '../lib/units';
import { FlameView, type Spot } from '../parts/flameview';
import { amount, share } from './numbers';
import { useDark } from '../lib/theme';

// chosen is the event by which a table names a function to show with its callers and callees.
const chosen = 'functionchosen';

// linkFunctions makes names of functions in tables buttons that show their callers and callees.
function linkFunctions(): void {
  for (const cell of document.querySelectorAll<HTMLElement>('td[data-function]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'link';
    button.title = 'Callers and callees in the flame graph';
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener('click', () => {
      document.dispatchEvent(new CustomEvent(chosen, { detail: button.textContent }));
      document.querySelector('[data-flame]')?.scrollIntoView({ block: 'start' });
    });
  }
}

const mostColors = 8; // colors for the highest load objects or modules; the last one is for the rest

// ColorGroups describes the meaning of the colors of frames.
interface ColorGroups {
  of: number[]; // by name: the number of its color
  keys: [string, number][]; // by color: the load object or module, and its self value; none if colors are by function
  group: Group;
}

// colorGroups chooses the colors of frames: by load object; by module if one load object has most of the value; by
// function if one module has, or if most modules are unknown.
function colorGroups(f: Frames): ColorGroups {
  const gray = (n: Name) => (n.kind === 'artificial' && waitOf(n.name) === undefined) || n.kind === 'unknown';
  for (const group of ['load object', 'module'] as const) {
    const sums = new Map<string, number>();
    for (let n = 0; n < f.count; n++) {
      const name = f.names[f.name[n]!]!;
      const key = groupOf(name, group);
      if (!gray(name) && key !== '' && key !== '(unknown)') sums.set(key, (sums.get(key) ?? 0) + f.exclusive[n]!);
    }
    const known = [...sums.values()].reduce((a, b) => a + b, 0);
    const keys = [...sums].sort((a, b) => b[1] - a[1]).slice(0, mostColors);
    const total = f.value[0]!;
    if (keys.length === 0 || keys[0]![1] > 0.8 * total || known < 0.5 * total) continue;
    const at = new Map(keys.map(([k], i) => [k, i]));
    return { of: f.names.map((n) => (gray(n) ? mostColors : (at.get(groupOf(n, group)) ?? mostColors))), keys, group };
  }
  return { of: f.names.map((n) => (gray(n) ? mostColors : hash(n.name) % mostColors)), keys: [], group: 'function' };
}

// frameColors returns the colors of the style sheet, which differ between light and dark.
function frameColors(): string[] {
  const style = getComputedStyle(document.documentElement);
  return Array.from({ length: mostColors + 1 }, (_, i) => style.getPropertyValue(`--f${i}`).trim());
}

type Side = 'root' | 'leaves' | 'around';

function Graph({ answer }: { answer: FlameAnswer }) {
  const dark = useDark();
  const whole = useMemo(() => layoutAnswer(answer), [answer]);
  const cut = useMemo(() => isCut(answer), [answer]);
  const [side, setSide] = useState<Side>('root');
  const [of, setOf] = useState('');
  const [search, setSearch] = useState('');
  useEffect(() => {
    const choose = (e: Event) => {
      setOf((e as CustomEvent<string>).detail);
      setSide('around');
    };
    document.addEventListener(chosen, choose);
    return () => document.removeEventListener(chosen, choose);
  }, []);
  const graphs = useMemo((): [string, Frames, boolean][] => {
    if (side === 'leaves') return [['Frames from the leaves', invert(whole), false]];
    if (side === 'root') return [['Frames from the root', whole, false]];
    const both = sandwich(whole, 'function', of);
    return [
      [`Callers of ${of}`, both.callers, true],
      [`Callees of ${of}`, both.callees, false],
    ];
  }, [whole, side, of]);
  const colors = useMemo(() => colorGroups(whole), [whole]);
  const found = useMemo(() => searchFrames(whole, search), [whole, search]);
  const total = whole.value[0]!;
  const around = (name: string) => {
    setOf(name);
    setSide('around');
  };
  return (
    <>
      <div class="controls">
        <label>
          Seen from{' '}
          <select
            value={side}
            onChange={(e) => {
              setSide(e.currentTarget.value as Side);
            }}
          >
            <option value="root">the root</option>
            <option value="leaves">the leaves</option>
            <option value="around" disabled={of === ''}>
              {of === '' ? 'a function: choose one' : `callers and callees of ${of.slice(0, 40)}`}
            </option>
          </select>
        </label>
        <label class="grow">
          Search{' '}
          <input
            type="search"
            value={search}
            placeholder="part of a name, or /expression/"
            onInput={(e) => setSearch(e.currentTarget.value)}
          />
        </label>
        <output>{found && `${cut ? 'at least ' : ''}${share(found.value, total)} found`}</output>
      </div>
      <Legend colors={colors} total={total} dark={dark} />
      {graphs.map(([label, frames, upward]) => (
        <section key={label}>
          {graphs.length > 1 && <h3>{label}</h3>}
          {frames.value[0] === 0 ? (
            <p class="note">None of the frames here is of this function.</p>
          ) : (
            <Frames {...{ label, frames, upward, dark, total, colors, around, search }} unit={answer.unit} />
          )}
        </section>
      ))}
      {cut && side !== 'root' && (
        <p class="note">Nodes that the file leaves out are missing here, so values are at least these.</p>
      )}
    </>
  );
}

function Frames(p: {
  label: string;
  frames: Frames;
  upward: boolean;
  dark: boolean;
  total: number;
  unit: string;
  colors: ColorGroups;
  search: string;
  around: (name: string) => void;
}) {
  const { frames: f, dark, total, unit } = p;
  const [window, setWindow] = useState(whole);
  const [chosen, choose] = useState(() => frameID(f, 0));
  const layers = useMemo(() => [{ frames: f, window: whole }], [f]);
  const palette = useMemo(() => {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(name).trim();
    return { text: of('--t1'), accent: of('--accent'), onAccent: of('--panel'), font: of('--mono') };
  }, [dark]);
  const paint = useMemo(() => {
    const colors = frameColors();
    const shades = f.names.map((n, i) => shade(colors[p.colors.of[i] ?? mostColors]!, n.name, dark));
    const found = searchFrames(f, p.search)?.is;
    return () => ({ fill: (n: number) => shades[f.name[n]!]!, found });
  }, [f, p.colors, dark, p.search]);
  const texts = (n: number) => [
    `${amount(f.value[n]!, unit)} (${share(f.value[n]!, total)})`,
    `${amount(f.exclusive[n]!, unit)} (${share(f.exclusive[n]!, total)})`,
  ];
  const tell = ({ n }: Spot): ComponentChildren => {
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
          total {texts(n)[0]}, self {texts(n)[1]}
        </span>
      </>
    );
  };
  const cells = ({ n }: Spot): [string, string] => [share(f.value[n]!, total), amount(f.value[n]!, unit)];
  const shown = Math.max(0, findFrame(f, chosen));
  const zoomed = window.from > 0 || window.until < 1;
  return (
    <>
      <div class="told" aria-live="polite">
        {tell({ frames: f, n: shown })}
        {shown > 0 && !isLeftOut(f.names[f.name[shown]!]!) && (
          <button type="button" onClick={() => p.around(f.names[f.name[shown]!]!.name)}>
            Callers and callees
          </button>
        )}
        {shown > 0 && (
          <button type="button" onClick={() => setWindow(windowOf(f, shown))}>
            Zoom in
          </button>
        )}
        {zoomed && (
          <button type="button" onClick={() => setWindow(whole)}>
            Show all
          </button>
        )}
      </div>
      <FlameView
        label={p.label}
        layers={layers}
        paint={paint}
        palette={palette}
        upward={p.upward}
        tell={tell}
        cells={cells}
        window={window}
        setWindow={setWindow}
        chosen={chosen}
        choose={(at) => at !== undefined && choose(frameID(f, at.n))}
      />
    </>
  );
}

// shade returns a color (#rrggbb) that is slightly lighter, or darker in dark mode, depending on the name, so that
// neighbors of one color differ.
function shade(color: string, name: string, dark: boolean): string {
  const part = (hash(name) % 5) * 0.07;
  const mixed = [1, 3, 5].map((i) =>
    Math.round(parseInt(color.slice(i, i + 2), 16) * (1 - part) + (dark ? 0 : 255) * part),
  );
  return `rgb(${mixed.join(' ')})`;
}

function Legend({ colors, total, dark }: { colors: ColorGroups; total: number; dark: boolean }) {
  const fills = useMemo(() => frameColors(), [dark]);
  if (colors.keys.length === 0) return null;
  return (
    <ul class="legend" aria-label={`Self values by ${colors.group}`}>
      {colors.keys.map(([key, sum], i) => (
        <li key={key}>
          <span class="patch" style={{ background: fills[i]! }} aria-hidden="true" />
          {key} {share(sum, total)}
        </li>
      ))}
    </ul>
  );
}

for (const root of document.querySelectorAll<HTMLElement>('[data-flame]')) {
  const data = root.querySelector('script[type="application/json"]')?.textContent;
  if (data !== undefined) {
    const at = document.createElement('div');
    root.append(at);
    render(<Graph answer={JSON.parse(data) as FlameAnswer} />, at);
  }
}
linkFunctions();
