// The inspector: the chosen function in the sum of the selected experiments, beside the place.
import { type ComponentChildren } from 'preact';
import { scope, useAddress } from '../lib/address';
import { useData } from '../lib/api';
import { actionsOf, type Door } from '../lib/door';
import type { FunctionAnswer, FunctionHistory, Neighbor } from '../lib/function';
import { amount, day, exact, num, percent } from '../lib/units';
import { Meter } from './meter';
import { openMenu } from './menu';
import { Name } from './name';

const neighbors = 6; // callers and callees at most

// Beside shows a place with the inspector at its right, or below it in narrow windows.
export function Beside({ children }: { children: ComponentChildren }) {
  return (
    <div class="beside">
      <div>{children}</div>
      <Inspector />
    </div>
  );
}

export function Inspector() {
  const address = useAddress();
  const name = address.get('function');
  const answer = useData<FunctionAnswer>(name === '' ? undefined : 'function', {
    ...scope(address),
    metric: address.get('metric'),
    inline: address.get('inline'),
    base: address.all('base'),
    function: name,
    limit: String(neighbors),
  });
  const f = answer.data;
  return (
    <aside class="card inspector" aria-label="Chosen function" aria-busy={answer.loading}>
      {name === '' && (
        <section>
          <p class="dim">Choose a name: its values, callers, callees and history stand here.</p>
        </section>
      )}
      {answer.error !== undefined && <p class="error">{answer.error.message}</p>}
      {f !== undefined && name !== '' && (f.found === 0 ? <NotFound name={name} /> : <Chosen f={f} />)}
    </aside>
  );
}

function NotFound({ name }: { name: string }) {
  return (
    <section>
      <h2>{name}</h2>
      <p class="dim">No sample of the selection has it.</p>
    </section>
  );
}

function Chosen({ f }: { f: FunctionAnswer }) {
  const door: Door = {
    kind: 'function',
    name: f.function,
    loadObject: f.load_object,
    module: f.module,
    value: num(f.inclusive),
    total: num(f.total),
    unit: f.unit,
  };
  const where = [f.file === '' ? f.module : `${f.file}${f.line > 0 ? `:${f.line}` : ''}`, f.load_object];
  const more = f.others.length;
  return (
    <>
      <section>
        <h2 title={f.function}>{f.function.length > 300 ? f.function.slice(0, 300) + '…' : f.function}</h2>
        <p class="dim">
          {[...new Set(where.filter((t) => t !== '' && t !== '(unknown)'))].join(' in ')}
          {f.size !== null && `, ${amount(f.size, 'bytes')}`}
        </p>
        {more > 0 && (
          <p class="dim">
            {more} more {more === 1 ? 'function has' : 'functions have'} this name.
          </p>
        )}
        <div class="values">
          <Row label="Total" value={f.inclusive} f={f} />
          <Row label="Self" value={f.exclusive} f={f} />
        </div>
        {f.base !== undefined && (
          <p class="dim">
            Base: {amount(f.base.inclusive, f.unit)} and {amount(f.base.exclusive, f.unit)} itself
          </p>
        )}
      </section>
      <Neighbors title="Called by" list={f.callers} rest={f.rest.callers} f={f} />
      <Neighbors title="Calls" list={f.callees} rest={f.rest.callees} f={f} />
      <History of={f.values} unit={f.unit} />
      <section class="actions">
        {actionsOf(door)
          .filter((a) => ['S', 'T', 'F'].includes(a.key))
          .map((a) => (
            <button key={a.key} type="button" class="btn" onClick={a.run}>
              {{ S: 'Source', T: 'Trend', F: 'Filter to' }[a.key]}
            </button>
          ))}
        <button
          type="button"
          class="btn"
          aria-label="More"
          aria-haspopup="menu"
          onClick={(e) => {
            const box = e.currentTarget.getBoundingClientRect();
            openMenu(door, { x: box.left, y: box.bottom });
          }}
        >
          …
        </button>
      </section>
    </>
  );
}

function Row({ label, value, f }: { label: string; value: number | string; f: FunctionAnswer }) {
  return (
    <>
      <span class="dim">{label}</span>
      <Meter part={num(value)} total={num(f.total)} />
      <span class="number" title={exact(value, f.unit)}>
        {amount(value, f.unit)}
      </span>
      <span class="number dim">{percent(value, f.total)}</span>
    </>
  );
}

function Neighbors(p: {
  title: string;
  list: Neighbor[];
  rest: { count: number; attributed: number | string };
  f: FunctionAnswer;
}) {
  if (p.list.length === 0) return null;
  return (
    <section>
      <h3>{p.title}</h3>
      <div class="list">
        {p.list.map((n) => (
          <NeighborRow key={n.function + n.load_object + n.module} n={n} f={p.f} />
        ))}
        {p.rest.count > 0 && (
          <>
            <span class="dim">{p.rest.count} more</span>
            <span class="number dim">{percent(p.rest.attributed, p.f.inclusive)}</span>
          </>
        )}
      </div>
    </section>
  );
}

function NeighborRow({ n, f }: { n: Neighbor; f: FunctionAnswer }) {
  return (
    <>
      {n.kind === 'artificial' ? (
        <span class="dim">{n.function === '<Total>' ? 'the start of stacks' : n.function}</span>
      ) : (
        <Name of={{ kind: 'function', name: n.function, loadObject: n.load_object, module: n.module }} />
      )}
      <span class="number" title={exact(n.attributed, f.unit)}>
        {percent(n.attributed, f.inclusive)}
      </span>
    </>
  );
}

const width = 276;
const height = 44;

// History draws the inclusive values by experiment or night.
function History({ of, unit }: { of: FunctionHistory; unit: string }) {
  const n = of.points.length;
  if (n < 2) return null;
  const values = of.points.map((p) => p.inclusive);
  const most = Math.max(...values, 1);
  const x = (i: number) => 4 + ((width - 8) * i) / (n - 1);
  const y = (v: number) => height - 4 - ((height - 8) * v) / most;
  const [first, last] = [of.points[0]!, of.points[n - 1]!];
  return (
    <section>
      <h3>
        {n} {of.by === 'night' ? 'nights' : 'runs'}, from 0 to {amount(most, unit)}
      </h3>
      <svg
        width="100%"
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        class="history"
        aria-label={`Total by ${of.by}: ${values.map((v) => amount(v, unit)).join(', ')}`}
      >
        {of.points.map((p, i) => (
          <circle key={i} cx={x(i)} cy={y(p.inclusive)} r={i === n - 1 ? 3.5 : 2}>
            <title>
              {p.label}: {amount(p.inclusive, unit)}
            </title>
          </circle>
        ))}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{day(first.label)}</span>
        <span>{day(last.label)}</span>
      </div>
    </section>
  );
}
