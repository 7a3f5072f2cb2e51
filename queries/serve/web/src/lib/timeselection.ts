// Selecting a range of time with the keyboard. A cursor moves over a sequence of intervals.
import { useState } from 'preact/hooks';
import { navigate } from './address';

// selectionKeys explains the keys to screen readers.
export const selectionKeys = 'with Shift: select; Enter: show only the selection; Escape: the whole time';

export interface TimeSelection {
  cursor: number | undefined;
  anchor: number | undefined; // the interval where the selection began; undefined: nothing is selected
  set: (cursor: number | undefined, anchor: number | undefined) => void;
  key: (e: KeyboardEvent) => void;
}

// useTimeSelection handles keys: those in `steps` move the cursor by that many intervals and, with Shift,
// extend the selected range. Enter passes the range to mark. Escape removes the time filter.
export function useTimeSelection(
  count: number,
  steps: Record<string, number>,
  mark: (a: number, b: number) => void,
  show?: (cursor: number) => void,
): TimeSelection {
  const [{ cursor, anchor }, setState] = useState<{ cursor: number | undefined; anchor: number | undefined }>({
    cursor: undefined,
    anchor: undefined,
  });
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
      navigate({ between: null });
    } else return;
    e.preventDefault();
  };
  return { cursor, anchor, set, key };
}
