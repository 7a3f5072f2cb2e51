// Requests for flame graphs: the whole graph, and a finer part of it while the reader zooms.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useData, type Answer } from './api';
import { type Params } from './address';
import { findFrame, type Frames } from './flametree';
import { formatWindow, isWhole, parseWindow, whole, windowOf, within, type Layer, type Window } from './flamewindow';
import { searchError } from './search';
import { num, type Value } from './units';

// Part is an answer about a part of a graph.
interface Part {
  window?: [number, number];
}

// Graph is a flame graph as far as it is loaded.
export interface Graph<A extends Part> {
  answer: Answer<A>; // the whole graph
  layers: Layer[];
  window: Window; // that the address asks for
  chosen: Frames | undefined; // frames that have the chosen one, with its callers
  busy: boolean; // narrower frames are being requested
  missing: boolean; // the frame that the address zooms to is not in this selection
}

const isID = (text: string) => /^[0-9a-f]{16}$/.test(text);

// useGraph requests a graph with the parameters `asked`. zoom is what the address says: the id of a frame, or a window.
// same reports whether a part belongs to the whole that is shown: answers may be from different selections while new
// ones are loading.
export function useGraph<A extends Part>(p: {
  path: string | undefined;
  asked: Params;
  zoom: string;
  chosen: string;
  layout: (a: A) => Frames;
  same: (a: A, b: A) => boolean;
}): Graph<A> {
  const pixels = usePixels();
  const answer = useData<A>(p.path, { ...p.asked, width: String(pixels) });
  const frames = useMemo(() => (answer.data === undefined ? undefined : p.layout(answer.data)), [answer.data]);
  // The window of a frame is known once an answer has the frame.
  const [known, setKnown] = useState<{ id: string; window: Window }>();
  const here = useMemo(
    () => (frames === undefined || !isID(p.zoom) ? -1 : findFrame(frames, p.zoom)),
    [frames, p.zoom],
  );
  const window = !isID(p.zoom)
    ? (parseWindow(p.zoom) ?? whole)
    : here >= 0
      ? windowOf(frames!, here)
      : known?.id === p.zoom
        ? known.window
        : undefined;
  const path = frames === undefined ? undefined : p.path;
  const margin = window === undefined || isWhole(window) ? undefined : around(window);
  const text = window === undefined ? '' : margin === undefined ? '' : formatWindow(margin);
  const finer = useData<A>(text === '' ? undefined : path, {
    ...p.asked,
    width: String(
      margin === undefined || window === undefined
        ? 0
        : Math.ceil((pixels * (margin.until - margin.from)) / (window.until - window.from)),
    ),
    window: text,
  });
  const search = useData<A>(window === undefined ? path : undefined, {
    ...p.asked,
    width: String(pixels),
    root: p.zoom,
  });
  useEffect(() => {
    const w = search.data?.window;
    if (w !== undefined && !search.loading && isID(p.zoom))
      setKnown({ id: p.zoom, window: { from: w[0], until: w[1] } });
  }, [search.data, search.loading]);
  const part =
    finer.data !== undefined && answer.data !== undefined && p.same(finer.data, answer.data) ? finer.data : undefined;
  const partFrames = useMemo(() => (part === undefined ? undefined : p.layout(part)), [part]);
  const layers = useMemo((): Layer[] => {
    if (frames === undefined) return [];
    const coarse = { frames, window: whole };
    if (partFrames === undefined || part?.window === undefined || text === '') return [coarse];
    return [coarse, { frames: partFrames, window: { from: part.window[0], until: part.window[1] } }];
  }, [frames, partFrames, text === '']);
  // The chosen frame may be narrower than what is drawn.
  const has = [...layers].reverse().find((l) => findFrame(l.frames, p.chosen) >= 0)?.frames;
  const stack = useData<A>(isID(p.chosen) && has === undefined && !finer.loading ? path : undefined, {
    ...p.asked,
    width: '1',
    root: p.chosen,
  });
  const stackFrames = useMemo(() => (stack.data === undefined ? undefined : p.layout(stack.data)), [stack.data]);
  return {
    answer,
    layers,
    window: window ?? whole,
    chosen: has ?? (stackFrames !== undefined && findFrame(stackFrames, p.chosen) >= 0 ? stackFrames : undefined),
    busy: finer.loading || search.loading,
    missing: window === undefined && search.error !== undefined,
  };
}

// around returns a window with a margin at both sides, so that one can move a little without a request.
function around(w: Window): Window {
  const width = w.until - w.from;
  const from = Math.max(0, w.from - width / 2);
  return within(from, Math.min(1, w.until + width / 2) - from);
}

// usePixels returns the width of the place in pixels, in steps: each is a request.
function usePixels(): number {
  const of = () => {
    const width = document.querySelector('main')?.clientWidth ?? innerWidth;
    return Math.max(300, Math.ceil((width - (innerWidth > 1180 ? 340 : 0)) / 100) * 100); // 340: the inspector
  };
  const [pixels, set] = useState(of);
  useEffect(() => {
    const update = () => set(of());
    addEventListener('resize', update);
    return () => removeEventListener('resize', update);
  }, []);
  return pixels;
}

// Hits is what a search finds in the whole graph.
export interface Hits {
  frames: number;
  left_out: number;
  value: Value;
  total: Value;
  base?: number;
  test?: number;
  from: number;
  hits: { id: string[]; name: string[]; level: number[]; start: Value[]; value: Value[] };
}

export interface Search {
  data: Hits | undefined;
  error: string | undefined;
  at: number; // index of the chosen frame among the hits, or -1
  step: (by: number) => void;
}

const listed = 1000; // hits in an answer

// useSearch requests the hits of a search. show shows one of them.
export function useSearch(p: {
  path: string | undefined;
  asked: Params;
  search: string;
  chosen: string;
  show: (hit: { id: string; name: string; window: Window }) => void;
}): Search {
  const text = useLater(p.search, 150);
  const wrong = searchError(text);
  const [page, setPage] = useState({ search: '', from: 0 }); // the hits that are listed
  const [wanted, want] = useState(-1); // number of the hit to show once it is listed
  const from = page.search === text ? page.from : 0;
  const answer = useData<Hits>(text === '' || wrong !== undefined ? undefined : p.path, {
    ...p.asked,
    search: text,
    from: String(from),
  });
  const data = answer.data;
  const show = (n: number) => {
    const { id, name, start, value } = data!.hits;
    const i = n - data!.from;
    const total = num(data!.total);
    p.show({ id: id[i]!, name: name[i]!, window: within(num(start[i]) / total, num(value[i]) / total) });
  };
  useEffect(() => {
    if (wanted < 0 || answer.loading || data === undefined || data.from !== from) return;
    want(-1);
    if (wanted - from < data.hits.id.length) show(wanted);
  }, [wanted, answer.loading, data]);
  const index = data?.hits.id.indexOf(p.chosen) ?? -1;
  const at = index < 0 ? -1 : index + data!.from;
  return {
    data: answer.loading ? undefined : data,
    error: answer.error?.message,
    at,
    step: (by) => {
      if (data === undefined || data.frames === 0 || answer.loading) return;
      const n = at < 0 ? (by > 0 ? data.from : data.frames - 1) : (at + by + data.frames) % data.frames;
      const i = n - data.from;
      if (i >= 0 && i < data.hits.id.length) show(n);
      else {
        setPage({ search: text, from: Math.floor(n / listed) * listed });
        want(n);
      }
    },
  };
}

// useLater returns a value once it has not changed for some time, in ms.
function useLater(value: string, ms: number): string {
  const [later, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return later;
}
