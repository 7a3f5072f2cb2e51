// The store as a whole: how many experiments the page shows, how many are new, and whether the store can be read.
import { useEffect, useState } from 'preact/hooks';
import { sessionEnded } from './api';
import { shown } from './shown';

// StoreState is the answer of /api/v1/store.
export interface StoreState {
  state: string;
  experiments: number;
  newest: string | null; // when an experiment was last added
  since: StoreChange | null; // null if the server no longer has the earlier state
}

export interface StoreChange {
  added: number;
  removed: number;
  changed: number; // ingested again, or with other labels
}

export interface Store {
  experiments: number | undefined; // in the state that the page shows; undefined before the first answer
  fresh: number; // experiments that are new in the store; the page does not show them yet
  changes: string; // what else is not shown yet, such as "3 new, 1 removed"; empty if nothing
  problem?: string; // why the store cannot be read, or the server does not answer
  take: () => void; // shows the newest state
}

const interval = 5000; // ms between two looks at the store, while the page is visible

// changesText describes a change of the store.
export function changesText(c: StoreChange): string {
  const parts: [number, string][] = [
    [c.added, 'new'],
    [c.removed, 'removed'],
    [c.changed, 'changed'],
  ];
  return parts
    .filter(([n]) => n > 0)
    .map(([n, what]) => `${n.toLocaleString('en')} ${what}`)
    .join(', ');
}

// changeOf returns what changed between the shown state, which has a number of experiments, and the newest one. If
// the server no longer has the shown state, only the numbers tell.
export function changeOf(newest: StoreState, state: string | undefined, experiments: number | undefined): StoreChange {
  const none = { added: 0, removed: 0, changed: 0 };
  if (state === undefined || newest.state === state) return none;
  if (newest.since !== null) return newest.since;
  const more = newest.experiments - (experiments ?? newest.experiments);
  return { added: Math.max(0, more), removed: Math.max(0, -more), changed: more === 0 ? newest.experiments : 0 };
}

// useStore looks at the store every few seconds, until the session ends. It does not name the shown state as requests
// for data do: it is about the newest one.
export function useStore(): Store {
  const [newest, setNewest] = useState<StoreState>();
  const [problem, setProblem] = useState<string>();
  const [experiments, setExperiments] = useState<number>(); // in the shown state
  const [, setMoves] = useState(0);
  useEffect(() => shown.onMove(() => setMoves(shown.moves)), []);
  useEffect(() => {
    let timer = 0;
    let ended = false;
    const look = async () => {
      clearTimeout(timer);
      if (document.visibilityState === 'visible') {
        try {
          const answer = await ask(shown.current);
          if (ended) return;
          shown.answered(undefined, shown.current === undefined ? answer.state : null);
          if (answer.state === shown.current) setExperiments(answer.experiments);
          setNewest(answer);
          setProblem(undefined);
        } catch (e) {
          if (ended) return;
          setProblem((e as Error).message);
        }
        clearTimeout(timer);
      }
      if (!ended) timer = setTimeout(() => void look(), interval);
    };
    const end = () => {
      ended = true;
      clearTimeout(timer);
    };
    const seen = () => {
      if (!ended && document.visibilityState === 'visible') void look();
    };
    void look();
    const endMoves = shown.onMove(seen);
    document.addEventListener('visibilitychange', seen);
    sessionEnded.addEventListener('ended', end);
    return () => {
      end();
      endMoves();
      sessionEnded.removeEventListener('ended', end);
      document.removeEventListener('visibilitychange', seen);
    };
  }, []);
  const change =
    newest === undefined ? { added: 0, removed: 0, changed: 0 } : changeOf(newest, shown.current, experiments);
  return {
    experiments,
    fresh: change.added,
    changes: changesText(change),
    ...(problem === undefined ? {} : { problem }),
    take: () => {
      if (newest !== undefined) shown.move(newest.state);
    },
  };
}

async function ask(since: string | undefined): Promise<StoreState> {
  let response: Response;
  try {
    response = await fetch('/api/v1/store' + (since === undefined ? '' : `?since=${since}`));
  } catch {
    throw new Error('the server does not answer (is it running?)');
  }
  if (!response.ok) {
    const text = await response.text();
    let why = response.statusText;
    try {
      why = (JSON.parse(text) as { error: string }).error;
    } catch {
      // A proxy answered instead of the server.
    }
    if (response.status === 401) sessionEnded.dispatchEvent(new Event('ended'));
    throw new Error(why);
  }
  return (await response.json()) as StoreState;
}
