// Which pairs of members of a structure the same functions access.
import { nameOf } from './structlayout';
import { Name } from './name';
import { amount, num } from '../lib/units';
import type { DataLayout, LayoutMember } from '../lib/memory';

interface Pair {
  a: LayoutMember;
  b: LayoutMember;
  value: number;
  functions: [string, number][];
}

const mostPairs = 12;
const mostFunctions = 3;

// pairsOf returns pairs of members with a common value. Each function that accesses both adds the smaller of its two
// values.
export function pairsOf(l: DataLayout): Pair[] {
  const members = new Map(
    l.members.filter((m) => m.kind === 'member' || m.kind === 'bit field').map((m) => [m.position, m]),
  );
  const functions = new Map<string, { name: string; values: Map<LayoutMember, number> }>();
  for (const c of l.code) {
    const m = members.get(c.position);
    if (m === undefined || c.function === '') continue;
    const key = `${c.load_object}\n${c.function}`;
    const f = functions.get(key) ?? { name: c.function, values: new Map<LayoutMember, number>() };
    functions.set(key, f);
    f.values.set(m, (f.values.get(m) ?? 0) + num(c.value));
  }
  const pairs = new Map<string, Pair>();
  for (const { name, values } of functions.values()) {
    const some = [...values].sort(([a], [b]) => a.position - b.position);
    some.forEach(([a, va], i) => {
      for (const [b, vb] of some.slice(i + 1)) {
        const both = `${a.position} ${b.position}`;
        const p = pairs.get(both) ?? { a, b, value: 0, functions: [] };
        pairs.set(both, p);
        p.value += Math.min(va, vb);
        p.functions.push([name, Math.min(va, vb)]);
      }
    });
  }
  for (const p of pairs.values()) p.functions.sort((x, y) => y[1] - x[1]);
  return [...pairs.values()].sort(
    (x, y) => y.value - x.value || x.a.position - y.a.position || x.b.position - y.b.position,
  );
}

function apart(p: Pair): string {
  const lines = p.b.cache_line - p.a.cache_line;
  return lines === 0 ? 'same line' : lines === 1 ? 'next line' : `${lines} lines apart`;
}

export function CoAccess({ of, unit }: { of: DataLayout; unit: string }) {
  const pairs = pairsOf(of);
  return (
    <section class="card" aria-label="Members used together">
      <div class="pad">
        <h2>Members used together</h2>
        <p class="dim">
          For each pair, over the functions that access both: the smaller of a function’s two values. It does not say
          that they are accessed one after the other, nor in the same object.
          {pairs.length > mostPairs && ` The ${mostPairs} highest of ${pairs.length} pairs.`}
        </p>
      </div>
      {pairs.length === 0 ? (
        <p class="note pad">No function accesses two of them.</p>
      ) : (
        <div class="scroll">
          <table aria-label="Members that the same functions access">
            <thead>
              <tr>
                <th class="number">Together</th>
                <th>Members</th>
                <th class="wide">Begin in</th>
                <th>Functions</th>
              </tr>
            </thead>
            <tbody>
              {pairs.slice(0, mostPairs).map((p) => (
                <tr key={`${p.a.position} ${p.b.position}`}>
                  <td class="number">{amount(p.value, unit)}</td>
                  <td class="mono">
                    {nameOf(p.a)} <span class="dim">and</span> {nameOf(p.b)}
                  </td>
                  <td class="wide nw">{apart(p)}</td>
                  <td>
                    {p.functions.slice(0, mostFunctions).map(([name], n) => (
                      <Name key={name + n} of={{ kind: 'function', name }} />
                    ))}
                    {p.functions.length > mostFunctions && (
                      <span class="dim">{p.functions.length - mostFunctions} more</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
