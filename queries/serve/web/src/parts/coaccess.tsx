// Which pairs of members of a structure the same functions access.
import { nameOf } from './structlayout';
import { Link } from './link';
import { Table } from './table';
import { amount, num } from '../lib/units';
import type { DataLayoutRow, DataObjectFunctionsRow } from '../lib/rows';

interface Pair {
  a: DataLayoutRow;
  b: DataLayoutRow;
  value: number;
  functions: [string, number][];
}

const mostPairs = 20;
const mostFunctions = 4;

// pairsOf returns pairs of members with a common value. Each function that accesses both adds the smaller
// of its two values.
export function pairsOf(
  members: DataLayoutRow[],
  parents: Map<string, string | null>,
  accesses: DataObjectFunctionsRow[],
): Pair[] {
  const of = new Map(members.filter((m) => m.member_id !== null).map((m) => [m.member_id!, m]));
  const experiment = members[0]!.experiment;
  // The accessed object may be nested in a member.
  const memberOf = (id: string | null | undefined): DataLayoutRow | undefined => {
    for (let depth = 0; id !== null && id !== undefined && depth < 100; depth++) {
      const m = of.get(id);
      if (m !== undefined) return m;
      id = parents.get(experiment + id);
    }
    return undefined;
  };
  const functions = new Map<string, { name: string; values: Map<DataLayoutRow, number> }>();
  for (const a of accesses) {
    const m = memberOf(a.data_object_id);
    if (m === undefined || a.function_id === null) continue;
    const f = functions.get(a.function_id) ?? { name: a.function, values: new Map<DataLayoutRow, number>() };
    functions.set(a.function_id, f);
    f.values.set(m, (f.values.get(m) ?? 0) + num(a.value));
  }
  const pairs = new Map<string, Pair>();
  for (const { name, values } of functions.values()) {
    const some = [...values].sort(([a], [b]) => num(a.position) - num(b.position));
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
    (x, y) => y.value - x.value || num(x.a.position) - num(y.a.position) || num(x.b.position) - num(y.b.position),
  );
}

export function CoAccess({
  members,
  parents,
  accesses,
}: {
  members: DataLayoutRow[];
  parents: Map<string, string | null>;
  accesses: DataObjectFunctionsRow[];
}) {
  const pairs = pairsOf(members, parents, accesses);
  const apart = (p: Pair) => num(p.b.cache_line) - num(p.a.cache_line);
  return (
    <>
      <h3>Members that the same functions access</h3>
      <p class="note">
        CoAccess is, over the functions whose own instructions (with what is inlined there) access both, the smaller of
        their two values. It does not say that they are accessed one after the other, nor in the same object.
        {pairs.length > mostPairs && ` The ${mostPairs} highest of ${pairs.length} pairs.`}
      </p>
      {pairs.length === 0 ? (
        <p class="note">No function accesses two of them.</p>
      ) : (
        <Table
          label="Members that the same functions access"
          rows={pairs.slice(0, mostPairs)}
          keyOf={(p) => `${p.a.position} ${p.b.position}`}
          columns={[
            { title: 'Together', numeric: true, value: (p) => p.value, show: (p) => amount(p.value, p.a.unit) },
            { title: 'Member', value: (p) => nameOf(p.a) },
            { title: 'And', value: (p) => nameOf(p.b) },
            {
              title: 'Lines',
              value: apart,
              show: (p) =>
                apart(p) === 0
                  ? 'begin in one line'
                  : apart(p) === 1
                    ? 'begin in adjacent lines'
                    : `begin ${apart(p)} lines apart`,
            },
            {
              title: 'Functions',
              value: (p) => p.functions.map(([name]) => name).join(' '),
              show: (p) => (
                <>
                  {p.functions.slice(0, mostFunctions).map(([name], n) => (
                    <span key={name + n}>
                      {n > 0 && ', '}
                      <Link to={{ view: 'source', function: name }}>{name}</Link>
                    </span>
                  ))}
                  {p.functions.length > mostFunctions && `, ${p.functions.length - mostFunctions} more`}
                </>
              ),
            },
          ]}
        />
      )}
    </>
  );
}
