// Where the reader is after a change of place: at the heading or, after Back, where the reader was before.
import { useEffect, useRef } from 'preact/hooks';

const patience = 10_000; // ms until a place must have its content

export function usePosition(view: string): void {
  const shown = useRef(view);
  useEffect(() => {
    history.scrollRestoration = 'manual';
    const back = () => {
      const at = (history.state as { scroll?: number } | null)?.scroll ?? 0;
      whenSettled(() => scrollTo(0, at));
    };
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, []);
  useEffect(() => {
    if (shown.current === view) return;
    shown.current = view;
    if ((history.state as { scroll?: number } | null)?.scroll !== undefined) return; // Back
    scrollTo(0, 0);
    whenSettled(() => {
      if (document.activeElement?.closest('main, dialog') === null)
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    });
  }, [view]);
}

// whenSettled calls a function once nothing is loading any more.
function whenSettled(run: () => void): void {
  const until = performance.now() + patience;
  const look = () => {
    if (document.querySelector('main [aria-busy=true]') === null || performance.now() > until) run();
    else setTimeout(look, 30);
  };
  setTimeout(look, 0);
}
