// The frames of a flame graph as a tree of rows, for keyboards and screen readers. It is not visible: the canvas shows
// the frame that has the focus.
import { useId, useMemo, useState } from 'preact/hooks';
import { findFrame, frameID, stackOf, type Frames } from '../lib/flametree';
import type { Spot } from './flameview';

const atOnce = 200; // rows shown at first

export interface FlameList {
  label: string;
  frames: Frames;
  focus: number; // the frame that fills the window
  chosen: string;
  cells: (at: Spot) => [string, string];
  choose: (n: number) => void;
  zoom: (n: number) => void;
  press: (e: KeyboardEvent) => boolean; // handles the keys of the graph
  menu: (n: number) => void;
}

export function FlameList(p: FlameList) {
  const { frames: f, focus, choose } = p;
  const id = useId();
  // Frames are remembered by their ids: after a request, the same frame may have another number.
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const chosen = useMemo(() => findFrame(f, p.chosen), [f, p.chosen]);
  const callers = useMemo(() => new Set(stackOf(f, chosen).slice(0, -1)), [f, chosen]);
  const opened = (n: number) => n === focus || callers.has(n) || open.has(frameID(f, n));
  const shown = useMemo(() => {
    const rows: number[] = [];
    for (let n = focus; n <= f.last[focus]!;) {
      rows.push(n);
      n = opened(n) ? n + 1 : f.last[n]! + 1;
    }
    return rows;
  }, [f, focus, open, callers]);
  const at = Math.max(shown.indexOf(chosen), 0);
  const move = (to: number) => choose(shown[Math.min(Math.max(to, 0), shown.length - 1)]!);
  const toggle = (n: number, on: boolean) => {
    const next = new Set(open);
    if (on) next.add(frameID(f, n));
    else next.delete(frameID(f, n));
    setOpen(next);
  };
  const key = (e: KeyboardEvent) => {
    const n = shown[at]!;
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      Home: () => move(0),
      End: () => move(shown.length - 1),
      ArrowRight: () => (f.last[n]! > n && !opened(n) ? toggle(n, true) : move(at + 1)),
      ArrowLeft: () => (opened(n) && n !== focus ? toggle(n, false) : move(shown.indexOf(f.parent[n]!))),
      Enter: () => p.zoom(n),
      Escape: () => p.zoom(0),
      Backspace: () => p.zoom(Math.max(f.parent[focus]!, 0)),
      m: () => p.menu(n),
      ContextMenu: () => p.menu(n),
    };
    const run = e.ctrlKey || e.metaKey || e.altKey ? undefined : keys[e.key];
    if (run !== undefined) run();
    else if (!p.press(e)) return;
    e.preventDefault();
    e.stopPropagation();
  };
  const [asked, ask] = useState(atOnce);
  const most = Math.max(asked, at + 50);
  return (
    <div class="flamelist">
      <div role="tree" aria-label={p.label} tabIndex={0} aria-activedescendant={`${id}-${shown[at]!}`} onKeyDown={key}>
        {shown.slice(0, most).map((n, i) => {
          const below = f.last[n]! > n;
          return (
            <div
              key={frameID(f, n)}
              id={`${id}-${n}`}
              role="treeitem"
              aria-level={f.depth[n]! - f.depth[focus]! + 1}
              {...(below ? { 'aria-expanded': opened(n) } : {})}
              aria-selected={n === chosen}
              class={i === at ? 'row active' : 'row'}
              onClick={() => {
                choose(n);
                toggle(n, !open.has(frameID(f, n)));
              }}
            >
              {p.cells({ frames: f, n }).map((text, i) => (
                <span key={i} class="number">
                  {text}
                </span>
              ))}
              <span class="name" style={{ paddingLeft: `${Math.min(f.depth[n]! - f.depth[focus]!, 40)}em` }}>
                {f.names[f.name[n]!]!.name}
              </span>
            </div>
          );
        })}
      </div>
      {shown.length > most && (
        <button type="button" tabIndex={-1} onClick={() => ask(most + 10 * atOnce)}>
          Show more than {most} of {shown.length} open rows
        </button>
      )}
    </div>
  );
}
