// Link is a link to another view of the page.
import { type ComponentChildren } from 'preact';
import { navigate, useAddress, type Params } from '../lib/address';

export function Link({
  to,
  children,
  current,
  title,
  className,
}: {
  to: Params;
  children: ComponentChildren;
  current?: boolean;
  title?: string;
  className?: string;
}) {
  const address = useAddress();
  return (
    <a
      href={address.with(to)}
      {...(title === undefined ? {} : { title })}
      {...(className === undefined ? {} : { class: className })}
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
