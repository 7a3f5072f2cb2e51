// A button with a list of which one value is chosen.
import { Fragment, type ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

export interface Option {
  value: string;
  text: string;
  note?: string; // at the right
  group?: string; // options of one group follow each other
  disabled?: boolean;
}

export function Picker(p: {
  label: string;
  text: ComponentChildren; // of the button
  options: Option[];
  value: string;
  set: (value: string) => void;
  className?: string; // of the button; by default pick
  disabled?: boolean; // the options are not known yet
  right?: boolean; // the list ends at the button's right edge
}) {
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const host = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    const outside = (e: Event) => {
      if (!host.current!.contains(e.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, [open]);
  const show = () => {
    setActive(
      Math.max(
        0,
        p.options.findIndex((o) => o.value === p.value),
      ),
    );
    setOpen(true);
  };
  const take = (o: Option | undefined) => {
    if (o === undefined || o.disabled === true) return;
    setOpen(false);
    p.set(o.value);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (!open) {
      if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
      show();
    } else if (e.key === 'Escape' || e.key === 'Tab') setOpen(false);
    else if (e.key === 'Enter' || e.key === ' ') take(p.options[active]);
    else {
      const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: p.options.length - 1 }[e.key];
      const typed = p.options.findIndex((o) => o.text.toLowerCase().startsWith(e.key.toLowerCase()));
      if (to !== undefined) setActive((to + p.options.length) % p.options.length);
      else if (e.key.length === 1 && typed >= 0) setActive(typed);
      else return;
    }
    if (e.key !== 'Tab') e.preventDefault();
    e.stopPropagation();
  };
  useEffect(() => {
    if (open) document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [open, active]);
  return (
    <div class="picker" ref={host}>
      <button
        type="button"
        class={p.className ?? 'pick'}
        role="combobox"
        aria-label={p.label}
        aria-haspopup="listbox"
        aria-expanded={open}
        disabled={p.disabled === true}
        aria-busy={p.disabled === true}
        aria-controls={`${id}-list`}
        {...(open ? { 'aria-activedescendant': `${id}-${active}` } : {})}
        onClick={() => (open ? setOpen(false) : show())}
        onKeyDown={onKeyDown}
      >
        {p.text}
        <i class="caret" aria-hidden="true" />
      </button>
      <div
        id={`${id}-list`}
        class={p.right === true ? 'popover right' : 'popover'}
        role="listbox"
        aria-label={p.label}
        hidden={!open}
      >
        {p.options.map((o, n) => (
          <Fragment key={o.value}>
            {o.group !== undefined && o.group !== p.options[n - 1]?.group && (
              <div class="group" role="presentation">
                {o.group}
              </div>
            )}
            <div
              id={`${id}-${n}`}
              role="option"
              class={n === active ? 'active' : ''}
              aria-selected={o.value === p.value}
              aria-disabled={o.disabled === true}
              onPointerMove={() => setActive(n)}
              onClick={() => take(o)}
            >
              <span>{o.text}</span>
              {o.note !== undefined && <small>{o.note}</small>}
            </div>
          </Fragment>
        ))}
      </div>
    </div>
  );
}
