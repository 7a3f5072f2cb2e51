// Links to other places of the page.
import { type ComponentChildren } from 'preact';
import { go, usePlace, type Changes } from './place';

export function Link({ to, children, current }: { to: Changes; children: ComponentChildren; current?: boolean }) {
  const place = usePlace();
  return (
    <a
      href={place.with(to)}
      {...(current === true ? { 'aria-current': 'page' as const } : {})}
      onClick={(e) => {
        if (e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return; // another tab or window
        e.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
