// Marking a part of the time by keys: a row of intervals, of which one has the cursor.
import { useState } from 'preact/hooks';
import { go } from './place';

export interface Marking {
  cursor: number | undefined;
  anchor: number | undefined; // where a part begins that is being marked, up to the cursor
  set: (cursor: number | undefined, anchor: number | undefined) => void;
  key: (e: KeyboardEvent) => void;
}

// useMarking moves a cursor over so many intervals by the steps of keys, with Shift marking; Enter
// marks for all panels, and Escape shows all of the time again.
export function useMarking(count: number, steps: Record<string, number>, mark: (a: number, b: number) => void, show?: (cursor: number) => void): Marking {
  const [{ cursor, anchor }, setState] = useState<{ cursor: number | undefined; anchor: number | undefined }>({ cursor: undefined, anchor: undefined });
  const set = (c: number | undefined, a: number | undefined) => setState({ cursor: c, anchor: a });
  const key = (e: KeyboardEvent) => {
    const step = steps[e.key];
    if (step !== undefined) {
      const to = cursor === undefined ? 0 : Math.min(Math.max(cursor + step, 0), count - 1);
      set(to, e.shiftKey ? (anchor ?? cursor) : undefined);
      show?.(to);
    } else if (e.key === 'Enter' && cursor !== undefined) {
      set(cursor, undefined);
      mark(anchor ?? cursor, cursor);
    } else if (e.key === 'Escape') {
      set(cursor, undefined);
      go({ between: null });
    } else return;
    e.preventDefault();
  };
  return { cursor, anchor, set, key };
}
