// Parts that several panels use.
import { type ComponentChildren } from 'preact';
import { type Answer } from '../lib/api';
import { percent } from '../lib/units';
import { Meter } from './meter';
import { Empty, Failed, Waiting } from './states';

// Panel shows the content made from an answer, or that the answer is loading, failed or is empty. While the next answer
// is loading, the old content stays.
export function Panel<T>(p: {
  title: string;
  answer: Answer<T>;
  empty?: (data: T) => boolean;
  none?: string;
  children: (data: T) => ComponentChildren;
}) {
  const { data, error, loading, warnings, again, stop, request } = p.answer;
  const ways = {
    ...(again === undefined ? {} : { again }),
    ...(stop === undefined ? {} : { stop }),
    ...(request === undefined ? {} : { request }),
  };
  return (
    <section class="panel" aria-busy={loading} aria-label={p.title}>
      {loading && <Waiting stop={stop} first={data === undefined} />}
      {warnings.map((w) => (
        <p key={w} class="warning">
          {w}
        </p>
      ))}
      {error !== undefined && <Failed error={error} ways={ways} />}
      {data !== undefined && (
        <div class="shown">
          {p.empty?.(data) === true ? <Empty>{p.none ?? 'There is nothing to show.'}</Empty> : p.children(data)}
        </div>
      )}
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
