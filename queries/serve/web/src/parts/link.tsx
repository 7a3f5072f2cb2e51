// Link is a link to another view of the page.
import { type ComponentChildren } from 'preact';
import { navigate, useAddress, type Params } from '../lib/address';

export function Link({ to, children, current }: { to: Params; children: ComponentChildren; current?: boolean }) {
  const address = useAddress();
  return (
    <a
      href={address.with(to)}
      {...(current === true ? { 'aria-current': 'page' as const } : {})}
      onClick={(e) => {
        if (e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return; // the browser opens another tab or window
        e.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
