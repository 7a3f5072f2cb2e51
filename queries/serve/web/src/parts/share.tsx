// Share copies a link to exactly this view: all of it is in the address.
import { useEffect, useRef, useState } from 'preact/hooks';

let start: () => void = () => undefined;

// shareLink does what the button does, for its key.
export function shareLink(): void {
  start();
}

const visible = 4000; // ms

export function Share() {
  const [told, setTold] = useState<'copied' | 'refused'>();
  const input = useRef<HTMLInputElement>(null);
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Without a secure connection, or if the reader forbids it, a page may not write to the clipboard.
    start = () => {
      Promise.resolve()
        .then(() => navigator.clipboard.writeText(location.href))
        .then(
          () => setTold('copied'),
          () => setTold('refused'),
        );
    };
    return () => (start = () => undefined);
  }, []);
  useEffect(() => {
    if (told === undefined) return;
    input.current?.select();
    const close = (e: Event) => {
      if (!host.current!.contains(e.target as Node)) setTold(undefined);
    };
    const timer = told === 'copied' ? setTimeout(() => setTold(undefined), visible) : undefined;
    addEventListener('pointerdown', close);
    return () => {
      clearTimeout(timer);
      removeEventListener('pointerdown', close);
    };
  }, [told]);
  return (
    <div
      class="picker share-link wide"
      ref={host}
      onKeyDown={(e) => {
        if (e.key !== 'Escape' || told === undefined) return;
        e.stopPropagation();
        setTold(undefined);
        host.current!.querySelector('button')!.focus();
      }}
    >
      <button type="button" class="icon" title="Copy a link to exactly this (Y)" onClick={() => start()}>
        Share
      </button>
      <div role="status">
        {told === 'copied' && <div class="popover right">Link copied: it shows exactly this.</div>}
      </div>
      {told === 'refused' && (
        <div class="popover right" role="dialog" aria-label="Link to exactly this">
          <label>
            The browser does not let the page copy. Press Ctrl C:
            <input readOnly value={location.href} ref={input} />
          </label>
        </div>
      )}
    </div>
  );
}
