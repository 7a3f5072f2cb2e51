// A flame graph whose zoom and chosen frame are in the page's address, with the stack of the chosen frame.
import { type ComponentChildren } from 'preact';
import { useCallback, useMemo } from 'preact/hooks';
import { currentAddress, navigate, useAddress } from '../lib/address';
import type { Door } from '../lib/door';
import { findFrame, frameID, isLeftOut, stackOf, type Frames, type Name } from '../lib/flametree';
import { formatWindow, type Layer, type Window } from '../lib/flamewindow';
import { reference } from '../lib/shortname';
import { tokenColor, useDark } from '../lib/theme';
import type { Paint, Palette } from './flamecanvas';
import { FlameView, labelOf, type Spot } from './flameview';
import { openMenu } from './menu';

// usePalette returns the colors that all frames share.
export function usePalette(): Palette {
  const dark = useDark();
  return useMemo(
    () => ({
      text: tokenColor('--frame-text'),
      accent: tokenColor('--accent'),
      onAccent: tokenColor('--on-accent'),
      font: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    }),
    [dark],
  );
}

export interface FlameCard {
  label: string;
  layers: Layer[];
  window: Window;
  stack: Frames | undefined; // frames that have the chosen one, with its callers
  busy: boolean;
  upward: boolean;
  parameter: string; // of the address, that has the zoom
  paint: (f: Frames) => Paint;
  tell: (at: Spot) => ComponentChildren;
  cells: (at: Spot) => [string, string];
  door: (at: Spot) => Partial<Door>; // the values of a frame
  step: (by: number) => void;
}

// isNamed reports whether a frame stands for a function that other places know.
function isNamed(n: Name): boolean {
  return n.kind !== 'artificial' && n.kind !== 'module' && n.kind !== 'load-object';
}

function chooseFrame(at: Spot | undefined, replacing = false): void {
  if (at === undefined) return;
  const name = at.frames.names[at.frames.name[at.n]!]!;
  if (isLeftOut(name)) return;
  navigate(
    { frame: frameID(at.frames, at.n), ...(isNamed(name) ? { function: reference(name.name) } : {}) },
    replacing,
  );
}

export function FlameCard(p: FlameCard) {
  const chosen = useAddress().get('frame');
  const palette = usePalette();
  const setWindow = useCallback(
    (w: Window, frame?: Spot) => {
      const to = frame === undefined ? formatWindow(w) : frame.n === 0 ? '' : frameID(frame.frames, frame.n);
      const was = currentAddress().get(p.parameter);
      // Moving on in a part of the graph is one step for Back.
      navigate({ [p.parameter]: to === '' ? null : to }, frame === undefined && was.includes(',') && to !== '');
    },
    [p.parameter],
  );
  const menu = useCallback(
    (at: Spot, place: { x: number; y: number }) => {
      const { frames: f, n } = at;
      const name = f.names[f.name[n]!]!;
      openMenu(
        {
          kind: name.kind === 'module' ? 'module' : name.kind === 'load-object' ? 'load object' : 'function',
          name: name.name,
          loadObject: name.loadObject,
          module: name.module,
          stack: stackOf(f, n).map((k) => f.names[f.name[k]!]!.name),
          zoom: () => setWindow({ from: 0, until: 1 }, at),
          ...p.door(at),
        },
        place,
      );
    },
    [setWindow, p.door],
  );
  return (
    <div class="card flamecard">
      <FlameView
        label={p.label}
        layers={p.layers}
        paint={p.paint}
        palette={palette}
        upward={p.upward}
        tell={p.tell}
        cells={p.cells}
        window={p.window}
        setWindow={setWindow}
        chosen={chosen}
        choose={chooseFrame}
        menu={menu}
        map={true}
        busy={p.busy}
        step={p.step}
      />
      <Stack frames={p.stack} chosen={chosen} />
    </div>
  );
}

const stackEnd = 12; // frames of a stack that are listed

// Stack shows the stack of the chosen frame as a path.
function Stack({ frames: f, chosen }: { frames: Frames | undefined; chosen: string }) {
  const n = f === undefined ? -1 : findFrame(f, chosen);
  if (f === undefined || n < 0) return null;
  const all = stackOf(f, n);
  const end = all.slice(-stackEnd);
  return (
    <nav class="stack" aria-label="Stack of the chosen frame">
      {all.length > end.length && <span>{all.length - end.length} callers</span>}
      {end.map((k, i) => [
        (i > 0 || all.length > end.length) && (
          <i key={`${k}-`} aria-hidden="true">
            ›
          </i>
        ),
        <button
          key={k}
          type="button"
          title={f.names[f.name[k]!]!.name.slice(0, 2000)}
          {...(i === end.length - 1 ? { 'aria-current': 'true' as const } : {})}
          onClick={() => chooseFrame({ frames: f, n: k })}
        >
          {labelOf(f, k).slice(0, 200)}
        </button>,
      ])}
    </nav>
  );
}
