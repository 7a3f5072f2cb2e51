// A button that copies a text. If the browser does not let the page copy, the text is there, selected.
import { useEffect, useRef, useState } from 'preact/hooks';

export function Copy({ text, label, className }: { text: string; label: string; className?: string }) {
  const [told, setTold] = useState<'copied' | 'refused'>();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => setTold(undefined), [text]);
  useEffect(() => field.current?.select(), [told]);
  return (
    <>
      <button
        type="button"
        class={className ?? 'btn'}
        onClick={() => {
          Promise.resolve()
            .then(() => navigator.clipboard.writeText(text))
            .then(
              () => setTold('copied'),
              () => setTold('refused'),
            );
        }}
      >
        {label}
      </button>
      <span role="status" class="dim">
        {told === 'copied' && 'Copied.'}
        {told === 'refused' && 'The browser does not let the page copy. Press Ctrl C:'}
      </span>
      {told === 'refused' && <textarea class="copied mono" readOnly aria-label={label} value={text} ref={field} />}
    </>
  );
}
