// The menu of a name or a frame. The page has one, which `openMenu` opens.
import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { actionsOf, type Door } from '../lib/door';
import { amount, percent } from '../lib/units';

interface Opened {
  of: Door;
  x: number;
  y: number;
  from: HTMLElement | null; // had the focus before
}

let show: (opened: Opened | undefined) => void = () => undefined;

// openMenu opens the menu of a door at a position in the window.
export function openMenu(of: Door, at: { x: number; y: number }): void {
  show({ of, ...at, from: document.activeElement as HTMLElement | null });
}

export function Menu() {
  const [opened, set] = useState<Opened>();
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    show = set;
    const close = (e: Event) => {
      if (!host.current?.contains(e.target as Node)) set(undefined);
    };
    addEventListener('pointerdown', close);
    addEventListener('wheel', close);
    return () => {
      removeEventListener('pointerdown', close);
      removeEventListener('wheel', close);
    };
  }, []);
  useLayoutEffect(() => {
    const on = host.current;
    if (on === null || opened === undefined) return;
    on.style.left = `${Math.max(8, Math.min(opened.x, innerWidth - on.offsetWidth - 8))}px`;
    on.style.top = `${Math.max(8, Math.min(opened.y, innerHeight - on.offsetHeight - 8))}px`;
    on.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  }, [opened]);
  if (opened === undefined) return null;
  const { of, from } = opened;
  const actions = actionsOf(of);
  const close = () => {
    set(undefined);
    from?.focus();
  };
  const run = (n: number) => {
    close();
    actions[n]!.run();
  };
  const move = (e: KeyboardEvent) => {
    const items = [...host.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[e.key];
    e.stopPropagation();
    if (e.key === 'Escape' || e.key === 'Tab') close();
    else if (to !== undefined) items[(to + items.length) % items.length]!.focus();
    else return;
    e.preventDefault();
  };
  return (
    <div class="menu" role="menu" aria-label={`Menu of ${of.name.slice(0, 200)}`} ref={host} onKeyDown={move}>
      <h2 aria-hidden="true">{of.name.slice(0, 200)}</h2>
      {of.value !== undefined && (
        <p>
          {amount(of.value, of.unit ?? '')}
          {of.total !== undefined && ` · ${percent(of.value, of.total)} of the whole`}
        </p>
      )}
      {actions.map((a, n) => (
        <Fragment key={a.text}>
          {n > 0 && actions[n - 1]!.group !== a.group && <hr />}
          <button type="button" role="menuitem" tabIndex={-1} onClick={() => run(n)}>
            {a.text}
            {a.key !== '' && <kbd>{a.key}</kbd>}
          </button>
        </Fragment>
      ))}
    </div>
  );
}
