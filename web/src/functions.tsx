// The panels of functions: the list, and callers and callees of one.
import { useData } from './api';
import { Link } from './link';
import { Frame, Share } from './parts';
import { scope, usePlace } from './place';
import { Table } from './table';
import { amount, num, type Value } from './units';

interface FunctionRow {
  experiment: string;
  metric: string;
  unit: string;
  function_id: string;
  function: string;
  load_object: string;
  kind: string;
  exclusive: Value;
  inclusive: Value;
}

const isTotal = (r: { function: string; kind: string }) => r.function === '<Total>' && r.kind === 'artificial';

export function FunctionsPanel() {
  const place = usePlace();
  const most = Number(place.get('rows', '500'));
  const answer = useData<FunctionRow[]>('views/functions', { ...scope(place), metric: place.get('metric'), inline: place.get('inline'), limit: String(most) });
  const search = place.get('function');
  return (
    <>
      <Frame title="Functions" answer={answer} empty={(rows) => rows.length === 0}>
        {(rows) => {
          const totals = new Map(rows.filter(isTotal).map((r) => [r.experiment + r.metric, num(r.inclusive)]));
          const total = (r: FunctionRow) => totals.get(r.experiment + r.metric) ?? 0;
          const several = new Set(rows.map((r) => r.experiment)).size > 1;
          const counts = new Map<string, number>();
          for (const r of rows) counts.set(r.experiment + r.metric, (counts.get(r.experiment + r.metric) ?? 0) + 1);
          return (
            <>
            {[...counts.values()].some((n) => n >= most) && (
              <p class="note">
                The {most} highest of each experiment. <Link to={{ rows: String(10 * most) }}>Show more</Link>
              </p>
            )}
            <Table
              label="Functions"
              rows={rows}
              keyOf={(r) => r.experiment + r.metric + r.function_id}
              chosen={(r) => r.function === search}
              columns={[
                { title: 'Exclusive', numeric: true, value: (r) => num(r.exclusive), show: (r) => amount(r.exclusive, r.unit) },
                { title: 'Excl. %', numeric: true, value: (r) => num(r.exclusive) / (total(r) || 1), show: (r) => <Share part={num(r.exclusive)} total={total(r)} /> },
                { title: 'Inclusive', numeric: true, value: (r) => num(r.inclusive), show: (r) => amount(r.inclusive, r.unit) },
                { title: 'Incl. %', numeric: true, value: (r) => num(r.inclusive) / (total(r) || 1), show: (r) => <Share part={num(r.inclusive)} total={total(r)} /> },
                { title: 'Function', value: (r) => r.function, show: (r) => <Link to={{ view: 'callers', function: r.function }}>{r.function}</Link> },
                { title: 'Load object', value: (r) => r.load_object },
                ...(several ? [{ title: 'Experiment', value: (r: FunctionRow) => r.experiment }] : []),
              ]}
            />
            </>
          );
        }}
      </Frame>
    </>
  );
}

interface NeighbourRow {
  experiment: string;
  metric: string;
  unit: string;
  function: string;
  relation: 'caller' | 'self' | 'callee';
  other_id: string;
  other: string;
  attributed: Value;
}

export function CallersPanel() {
  const place = usePlace();
  const of = place.get('function');
  const answer = useData<NeighbourRow[]>(of === '' ? undefined : 'views/callers-callees', { ...scope(place), metric: place.get('metric'), inline: place.get('inline'), function: of });
  if (of === '') {
    return <section class="panel"><p class="note">Choose a function in <Link to={{ view: 'functions' }}>Functions</Link>: its callers and callees are shown here.</p></section>;
  }
  return (
    <Frame title="Callers and callees" answer={answer} empty={(rows) => rows.length === 0}>
      {(rows) => (
        <>
          <h2>{of}</h2>
          <p class="note">
            <Link to={{ view: 'flame', side: 'sandwich', of, group: null, zoom: null }}>Callers and callees as flame graphs</Link> ·{' '}
            <Link to={{ view: 'source', line: null }}>source and disassembly</Link>
          </p>
          {(['caller', 'self', 'callee'] as const).map((relation) => {
            const some = rows.filter((r) => r.relation === relation).sort((a, b) => num(b.attributed) - num(a.attributed));
            const sum = some.reduce((n, r) => n + num(r.attributed), 0);
            return (
              <section key={relation}>
                <h3>{{ caller: 'Called by', self: 'Itself', callee: 'Calls' }[relation]}</h3>
                {some.length === 0 ? <p class="note">Nothing.</p> : (
                  <Table
                    label={relation}
                    rows={some}
                    keyOf={(r) => r.experiment + r.metric + r.function + r.other_id}
                    columns={[
                      { title: 'Attributed', numeric: true, value: (r) => num(r.attributed), show: (r) => amount(r.attributed, r.unit) },
                      { title: '%', numeric: true, value: (r) => num(r.attributed) / (sum || 1), show: (r) => <Share part={num(r.attributed)} total={sum} /> },
                      { title: 'Function', value: (r) => r.other, show: (r) => (relation === 'self' ? r.other : <Link to={{ function: r.other }}>{r.other}</Link>) },
                    ]}
                  />
                )}
              </section>
            );
          })}
        </>
      )}
    </Frame>
  );
}
