// The table that says whether a comparison is fair: what is the same on both sides, and what differs.
import { factsOf, type Comparison } from '../lib/comparison';

export function Fairness({ c }: { c: Comparison }) {
  return (
    <table class="fairness">
      <tbody>
        {factsOf(c).map((f) => (
          <tr key={f.title}>
            <th scope="row">{f.title}</th>
            <td title={f.text}>{f.text}</td>
            <td>
              {f.same ? (
                <span class="dim">the same</span>
              ) : (
                <span
                  class={f.unfair ? 'differs unfair' : 'differs'}
                  title={f.unfair ? 'It may be the cause of the differences below.' : ''}
                >
                  differs
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
