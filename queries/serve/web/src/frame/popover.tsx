// A button that opens a box with controls.
import { type ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export function Popover(p: {
  label: string; // of the box
  text: ComponentChildren;
  className: string;
  title?: string;
  open: boolean;
  setOpen: (open: boolean) => void;
  children: ComponentChildren;
}) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!p.open) return;
    host.current!.querySelector<HTMLElement>('.popover input, .popover select, .popover button')?.focus();
    const outside = (e: Event) => {
      if (!host.current!.contains(e.target as Node)) p.setOpen(false);
    };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, [p.open]);
  return (
    <div
      class="picker"
      ref={host}
      onKeyDown={(e) => {
        if (e.key !== 'Escape' || !p.open) return;
        e.stopPropagation();
        p.setOpen(false);
        host.current!.querySelector('button')!.focus();
      }}
    >
      <button
        type="button"
        class={p.className}
        {...(p.title === undefined ? {} : { title: p.title })}
        aria-haspopup="dialog"
        aria-expanded={p.open}
        onClick={() => p.setOpen(!p.open)}
      >
        {p.text}
      </button>
      {p.open && (
        <div class="popover" role="dialog" aria-label={p.label}>
          {p.children}
        </div>
      )}
    </div>
  );
}
