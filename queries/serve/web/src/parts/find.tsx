// A box to search in.
import { type ComponentChildren } from 'preact';
import { searchError } from '../lib/search';

export function Find(p: {
  label: string;
  placeholder?: string;
  value: string;
  set: (value: string) => void; // called as one types
  note?: ComponentChildren; // at the right, such as what was found
  enter?: (backward: boolean) => void; // Enter, Shift Enter
  className?: string;
}) {
  const wrong = searchError(p.value);
  return (
    <label class={`find ${p.className ?? ''}`}>
      <Lens />
      <input
        type="search"
        data-find
        aria-label={p.label}
        placeholder={p.placeholder ?? ''}
        value={p.value}
        aria-invalid={wrong !== undefined}
        onInput={(e) => p.set(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key !== 'Enter' || p.enter === undefined) return;
          e.preventDefault();
          p.enter(e.shiftKey);
        }}
      />
      {wrong === undefined ? (
        p.note !== undefined && <small role="status">{p.note}</small>
      ) : (
        <small class="wrong" role="alert" title={wrong}>
          not an expression: {wrong.slice(0, 60)}
        </small>
      )}
    </label>
  );
}

export function Lens() {
  return (
    <svg
      width="14"
      height="14"
      viewBox="0 0 14 14"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      aria-hidden="true"
    >
      <circle cx="6" cy="6" r="4.2" />
      <path d="M9.3 9.3 13 13" />
    </svg>
  );
}
