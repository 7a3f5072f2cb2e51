// The panel of flame graphs: a canvas, and the same frames as a tree of rows, for keyboards
// and for readers that read aloud.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useData } from './api';
import { schemes, type Scheme } from './colour';
import { draw, frameAt, mostRows, rowHeight, rows, type Look } from './flamecanvas';
import { around, framesOf, inverted, matching, type FlameAnswer, type Frames } from './flametree';
import { go, scope, usePlace } from './place';
import { Frame, useDark } from './parts';
import { amount, percent } from './units';

export function FlamePanel() {
  const place = usePlace();
  const answer = useData<FlameAnswer>('flamegraph', { ...scope(place), metric: place.get('metric'), nodes: place.get('nodes', '20000'), inline: place.get('inline') });
  return (
    <Frame title="Flame graph" answer={answer} empty={(a) => a.tree === null} none="No samples are here: choose other experiments, another metric, or fewer filters.">
      {(a) => <Graph answer={a} />}
    </Frame>
  );
}

function Graph({ answer }: { answer: FlameAnswer }) {
  const place = usePlace();
  const side = place.get('side');
  const of = place.get('of');
  const whole = useMemo(() => framesOf(answer.tree!), [answer]);
  const frames = useMemo((): Frames => {
    if (side === 'inverted') return inverted(whole);
    if (side === 'callers') return around(whole, (n) => n.name === of).callers;
    if (side === 'callees') return around(whole, (n) => n.name === of).callees;
    return whole;
  }, [whole, side, of]);
  const search = place.get('search');
  const found = useMemo(() => matching(frames, search), [frames, search]);
  const total = whole.value[0]!;
  return (
    <>
      <div class="bar">
        <label>
          Seen from
          <select value={side} onChange={(e) => go({ side: e.currentTarget.value, zoom: null })}>
            <option value="">the callers</option>
            <option value="inverted">the leaves</option>
            <option value="callers" disabled={of === ''}>callers of {of === '' ? 'a function' : of}</option>
            <option value="callees" disabled={of === ''}>what {of === '' ? 'a function' : of} calls</option>
          </select>
        </label>
        <label>
          Colour by
          <select value={place.get('colour', 'load object')} onChange={(e) => go({ colour: e.currentTarget.value }, true)}>
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
      <Canvas key={side + '\n' + of} frames={frames} total={total} unit={answer.unit} found={found?.is} />
      <p class="note">
        {amount(total, answer.unit)} of {answer.metric} in {answer.experiments === 1 ? 'one experiment' : `${answer.experiments} experiments`}, {answer.nodes} nodes
        {answer.nodes > whole.count ? `, of which the ${whole.count - 1} highest are shown` : ''}.
      </p>
    </>
  );
}

function Canvas({ frames: f, total, unit, found }: { frames: Frames; total: number; unit: string; found: boolean[] | undefined }) {
  const place = usePlace();
  const dark = useDark();
  const canvas = useRef<HTMLCanvasElement>(null);
  const zoom = place.get('zoom');
  const focus = useMemo(() => Math.max(zoom === '' ? 0 : f.path.indexOf(Number(zoom)), 0), [f, zoom]);
  const [hovered, hover] = useState(-1);
  const [selected, select] = useState(-1);
  const look: Look = { focus, found, scheme: place.get('colour', 'load object') as Scheme, dark, upward: place.get('root') === 'bottom' };
  const deep = rows(f, focus);
  const height = Math.min(deep, mostRows) * rowHeight;

  useLayoutEffect(() => {
    const on = canvas.current!;
    const redraw = () => {
      const began = performance.now();
      on.dataset['drawn'] = String(draw(on, f, look, selected));
      on.dataset['took'] = String(performance.now() - began); // for who measures
    };
    redraw();
    const resized = new ResizeObserver(redraw);
    resized.observe(on);
    return () => resized.disconnect();
  }, [f, focus, found, look.scheme, dark, look.upward, selected]);

  const shown = hovered >= 0 ? hovered : selected >= 0 ? selected : focus;
  const zoomTo = (n: number) => {
    select(n);
    go({ zoom: n > 0 ? String(f.path[n]) : null });
  };
  const at = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return frameAt(f, look, e.clientX - box.left, e.clientY - box.top, box.width, box.height);
  };
  return (
    <>
      <div class="told" aria-live="polite">
        <strong>{f.names[f.name[shown]!]!.name}</strong>
        <span>{f.names[f.name[shown]!]!.loadObject}</span>
        <span>
          {amount(f.value[shown]!, unit)} ({percent(f.value[shown]!, total)}), itself {amount(f.exclusive[shown]!, unit)} ({percent(f.exclusive[shown]!, total)})
        </span>
        {focus > 0 && <button type="button" onClick={() => zoomTo(0)}>Show all</button>}
      </div>
      <div class="flame">
        <canvas
          ref={canvas}
          style={{ height: `${height}px` }}
          aria-hidden="true"
          onMouseMove={(e) => hover(at(e))}
          onMouseLeave={() => hover(-1)}
          onClick={(e) => {
            const n = at(e);
            if (n >= 0) zoomTo(n);
          }}
        />
      </div>
      {deep > mostRows && <p class="note">The drawing ends after {mostRows} of {deep} levels; the list has all.</p>}
      <FrameTree frames={f} total={total} unit={unit} focus={focus} selected={selected} select={select} zoom={zoomTo} />
    </>
  );
}

const atOnce = 200; // rows below one that are listed

// FrameTree is the graph as rows that open and close.
function FrameTree(p: { frames: Frames; total: number; unit: string; focus: number; selected: number; select: (n: number) => void; zoom: (n: number) => void }) {
  const { frames: f, total, unit, focus, selected, select } = p;
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set([0]));
  const list = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => {
    const found: number[] = [];
    for (let n = focus; n <= f.last[focus]!; ) {
      found.push(n);
      n = open.has(n) || n === focus ? n + 1 : f.last[n]! + 1;
    }
    return found;
  }, [f, focus, open]);
  const at = Math.max(shown.indexOf(selected), 0);
  const move = (to: number) => {
    const n = shown[Math.min(Math.max(to, 0), shown.length - 1)]!;
    select(n);
    list.current?.querySelector<HTMLElement>(`[data-frame="${n}"]`)?.focus();
  };
  const toggle = (n: number, on: boolean) => {
    const next = new Set(open);
    if (on) next.add(n);
    else next.delete(n);
    setOpen(next);
  };
  const key = (e: KeyboardEvent) => {
    const n = shown[at]!;
    const opened = open.has(n) || n === focus;
    switch (e.key) {
      case 'ArrowDown': move(at + 1); break;
      case 'ArrowUp': move(at - 1); break;
      case 'Home': move(0); break;
      case 'End': move(shown.length - 1); break;
      case 'ArrowRight': if (f.last[n]! > n && !opened) toggle(n, true); else move(at + 1); break;
      case 'ArrowLeft': if (opened && n !== focus) toggle(n, false); else move(shown.indexOf(f.parent[n]!)); break;
      case 'Enter': p.zoom(n); break;
      case 'Escape': p.zoom(0); break;
      case 'f': go({ view: 'functions', function: f.names[f.name[n]!]!.name }); break;
      default: return;
    }
    e.preventDefault();
  };
  const [asked, ask] = useState(atOnce);
  const most = Math.max(asked, at + 50);
  return (
    <>
    <div class="tree" role="tree" aria-label="Frames" ref={list} onKeyDown={key}>
      {shown.slice(0, most).map((n, i) => {
        const name = f.names[f.name[n]!]!;
        const below = f.last[n]! > n;
        return (
          <div
            key={n}
            role="treeitem"
            aria-level={f.depth[n]! - f.depth[focus]! + 1}
            {...(below ? { 'aria-expanded': open.has(n) || n === focus } : {})}
            aria-selected={n === selected}
            tabIndex={i === at ? 0 : -1}
            data-frame={n}
            class="row"
            onClick={() => { select(n); toggle(n, !open.has(n)); }}
          >
            <span class="number">{percent(f.value[n]!, total)}</span>
            <span class="number">{amount(f.value[n]!, unit)}</span>
            <span class="name" style={{ paddingLeft: `${Math.min(f.depth[n]! - f.depth[focus]!, 40)}em` }}>
              {below ? (open.has(n) || n === focus ? '▾ ' : '▸ ') : '  '}
              {name.name}
            </span>
          </div>
        );
      })}
    </div>
    {shown.length > most && (
      <p class="note">
        {most} of {shown.length} open rows. <button type="button" onClick={() => ask(most + 10 * atOnce)}>Show more</button>
      </p>
    )}
    </>
  );
}
