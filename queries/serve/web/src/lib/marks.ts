// Marks beside places in the rail, which the places set once they know: how many programs are slower, how much is
// unknown.
import { useEffect, useState } from 'preact/hooks';

export interface Mark {
  text: string;
  title: string;
  slower?: boolean; // a warning
}

let marks: Record<string, Mark> = {};
const changed = new EventTarget();

// setMark sets the mark of a place; undefined removes it.
export function setMark(place: string, mark: Mark | undefined): void {
  const was = marks[place];
  if (was?.text === mark?.text && was?.title === mark?.title) return;
  const others = Object.entries(marks).filter(([name]) => name !== place);
  marks = Object.fromEntries(mark === undefined ? others : [...others, [place, mark]]);
  changed.dispatchEvent(new Event('changed'));
}

export function useMarks(): Record<string, Mark> {
  const [now, set] = useState(marks);
  useEffect(() => {
    const update = () => set(marks);
    changed.addEventListener('changed', update);
    return () => changed.removeEventListener('changed', update);
  }, []);
  return now;
}
