// What a sum over runs does not have: runs that lack its metric.
import { count } from '../lib/units';

const named = 2; // runs; the tooltip has more

export interface Coverage {
  metric: string;
  experiments: number; // how many have the metric
  lacking: number; // how many do not
  without: string[]; // names of the first of these
}

export function Lacking({ of }: { of: Coverage[] }) {
  const lacking = of.filter((m) => m.lacking > 0);
  if (lacking.length === 0) return null;
  const all = (m: Coverage) => m.without.join('\n') + (m.lacking > m.without.length ? '\n…' : '');
  const first = lacking[0]!;
  const runs = `${count(first.lacking)} of ${count(first.experiments + first.lacking)} runs lack ${first.metric}`;
  if (lacking.length === 1) {
    return (
      <p class="note lacking" title={all(first)}>
        {runs} and are not in its sums: {first.without.slice(0, named).join(', ')}
        {first.lacking > named && ' …'}
      </p>
    );
  }
  return (
    <p class="note lacking">
      <span title={all(first)}>{runs}</span>
      {lacking.slice(1).map((m) => (
        <span key={m.metric} title={all(m)}>
          , {count(m.lacking)} {m.metric}
        </span>
      ))}
      : they are not in its sums.
    </p>
  );
}
