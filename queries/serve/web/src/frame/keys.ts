// The keys of the page. A letter does nothing while one types into a field.
import { useEffect, useRef } from 'preact/hooks';
import { navigate } from '../lib/address';
import { toggleTheme } from '../lib/theme';
import { places, toPlace } from '../places';

export interface Keys {
  command: () => void; // opens the command box
  help: () => void;
  rail: () => void; // folds the rail
  share: () => void;
  base: () => void; // makes the selection the base
  refresh: () => void; // shows the newest state of the store
}

// help is what the list of keys says.
export const help: [string, string][] = [
  ['Ctrl K', 'find anything'],
  ['/', 'add a filter'],
  ['G and a letter', 'go to a place: the letters are in the rail'],
  ['X', 'swap base and test'],
  ['P', 'pin the base'],
  ['B', 'use the selection as base'],
  ['M', 'menu of a name or frame'],
  ['Enter', 'zoom or open'],
  ['Backspace', 'to the caller'],
  ['Esc', 'clear'],
  ['arrows, W A S D', 'move'],
  ['+ − 0', 'zoom in, out, all'],
  ['N, Shift N', 'next and previous hit'],
  ['F, Shift F', 'only samples with it, without it'],
  ['H', 'hide the frame, keep its time'],
  ['R', 'collapse recursion; show what is new in the store'],
  ['S', 'source'],
  ['I', 'between lines and instructions'],
  ['T', 'trend'],
  ['Y', 'copy a link to exactly this'],
  ['D', 'light or dark'],
  ['[', 'fold the rail'],
  ['?', 'these keys'],
];

function isTyping(e: KeyboardEvent): boolean {
  const t = e.composedPath()[0] as HTMLElement; // the target, also within the editor's shadow tree
  return (
    t.isContentEditable ||
    (/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) && !/^(checkbox|radio|range)$/.test((t as HTMLInputElement).type))
  );
}

export function useKeys(of: Keys): void {
  const latest = useRef(of);
  latest.current = of;
  useEffect(() => {
    let going = false; // G was pressed
    const press = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k') {
        e.preventDefault();
        latest.current.command();
        return;
      }
      if (
        e.defaultPrevented ||
        e.ctrlKey ||
        e.metaKey ||
        e.altKey ||
        isTyping(e) ||
        document.querySelector('dialog[open]')
      )
        return;
      const key = e.key.length === 1 ? e.key.toUpperCase() : e.key;
      if (going) {
        going = false;
        const place = Object.entries(places).find(([, p]) => p.key === key);
        if (place === undefined) return;
        e.preventDefault();
        navigate(toPlace(place[0]));
        return;
      }
      const button = document.querySelector<HTMLElement>(`.selection [data-key="${e.key}"]`);
      const run = {
        G: () => (going = true),
        '/': () => dispatchEvent(new Event('stackmill-filter')),
        D: toggleTheme,
        '[': latest.current.rail,
        '?': latest.current.help,
        Y: latest.current.share,
        B: latest.current.base,
        R: latest.current.refresh,
      }[key];
      if (run === undefined && button === null) return;
      e.preventDefault();
      if (run !== undefined) run();
      else button!.click();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
