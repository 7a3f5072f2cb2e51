// Parts that several panels use.
import { type ComponentChildren } from 'preact';
import { type Answer } from '../lib/api';
import { percent } from '../lib/units';
import { Meter } from './meter';

// Panel shows the content made from an answer, or that the answer is loading, failed or is empty.
export function Panel<T>(p: {
  title: string;
  answer: Answer<T>;
  empty?: (data: T) => boolean;
  none?: string;
  children: (data: T) => ComponentChildren;
}) {
  const { data, error, loading, warnings } = p.answer;
  return (
    <section class="panel" aria-busy={loading} aria-label={p.title}>
      <div class={loading ? 'progress on' : 'progress'} />
      {warnings.map((w) => (
        <p key={w} class="warning">
          {w}
        </p>
      ))}
      {error !== undefined && (
        <p class="error" role="alert">
          {error.message}
        </p>
      )}
      {data !== undefined &&
        (p.empty?.(data) === true ? <p class="note">{p.none ?? 'There is nothing to show.'}</p> : p.children(data))}
      {data === undefined && error === undefined && <p class="note">Loading…</p>}
    </section>
  );
}

// Share shows a part of a total as a bar and a percentage.
export function Share({ part, total }: { part: number; total: number }) {
  return (
    <span class="share">
      <Meter part={part} total={total} />
      <span>{percent(part, total)}</span>
    </span>
  );
}
