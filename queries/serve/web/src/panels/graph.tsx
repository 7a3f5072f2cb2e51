// The place Call graph: a function, module or load object between its callers and callees.
import { navigate, scope, useAddress, type Address } from '../lib/address';
import { useData, type Answer } from '../lib/api';
import type { GraphAnswer, GraphCycle, GraphNeighbor } from '../lib/callgraph';
import { boxesOf, edgesOf, type Box } from '../lib/callboxes';
import type { Door } from '../lib/door';
import type { FunctionName } from '../lib/function';
import type { CallersCalleesRow } from '../lib/rows';
import { reference, shortName } from '../lib/shortname';
import { amount, count, exact, num, percent } from '../lib/units';
import { Heading } from '../parts/heading';
import { Lacking } from '../parts/lacking';
import { Link } from '../parts/link';
import { Meter } from '../parts/meter';
import { Name } from '../parts/name';
import { Panel } from '../parts/panel';
import { Segments } from '../parts/segments';

type Group = 'function' | 'module' | 'load-object' | 'package';
type Side = 'callers' | 'callees';

const things: Record<Group, [string, string]> = {
  function: ['function', 'functions'],
  module: ['module', 'modules'],
  'load-object': ['load object', 'load objects'],
  package: ['package', 'packages'],
};

// px, as in graph.css.
const itemHeight = 48;
const itemGap = 8;
const edgeWidth = 96;

export function GraphPanel() {
  const address = useAddress();
  const group = address.get('group', 'function') as Group;
  const asked = address.get(group === 'function' ? 'function' : 'of');
  const pieces = group === 'function' && address.all('piece').length > 1 ? address.all('piece') : [];
  const answer = useData<GraphAnswer>(pieces.length > 0 ? undefined : 'callgraph', {
    ...scope(address),
    metric: address.get('metric'),
    inline: address.get('inline'),
    group,
    name: asked,
    cycle: address.get('cycle'),
  });
  const chain = useChain(address, pieces);
  const shown = pieces.length > 0 ? chain : answer;
  return (
    <>
      <Heading
        title="Call graph"
        sentence={shown.data === undefined || shown.data.found === 0 ? '' : <Sentence of={shown.data} group={group} />}
      >
        <Segments<Group>
          label="What calls"
          options={[
            ['function', 'Functions'],
            ['module', 'Modules'],
            ['load-object', 'Load objects'],
            ['package', 'Packages'],
          ]}
          value={group}
          set={(v) => navigate({ ...cleared, group: v === 'function' ? null : v, of: ofGroup(answer.data, v) })}
        />
      </Heading>
      {shown.data !== undefined && pieces.length === 0 && <Lacking of={[answer.data!]} />}
      <Panel
        title="Call graph"
        answer={shown}
        empty={(a) => a.found === 0 && pieces.length === 0}
        none={`No sample of the selection has ${asked}: choose another metric, fewer filters, or other runs.`}
      >
        {(a) => <Graph a={a} group={group} pieces={pieces} />}
      </Panel>
    </>
  );
}

// cleared drops what belongs to the thing in the middle.
const cleared = { piece: null, open: null, cycle: null, of: null };

// ofGroup returns the module or load object of what is in the middle.
function ofGroup(a: GraphAnswer | undefined, group: Group): string | null {
  if (a === undefined || group === 'function' || group === 'package') return null;
  return (group === 'module' ? a.module : a.load_object) || null;
}

// useChain requests the callers and callees of functions that call each other, from the view of fragments of stacks.
function useChain(address: Address, pieces: string[]): Answer<GraphAnswer> {
  const rows = useData<CallersCalleesRow[]>(pieces.length === 0 ? undefined : 'views/callers-callees', {
    ...scope(address),
    metric: address.get('metric'),
    inline: address.get('inline'),
    sum: 'true',
    function: pieces.join(','),
  });
  if (rows.data === undefined) return { ...rows, data: undefined };
  const metric = address.get('metric') || (rows.data[0]?.metric ?? '');
  const of = (relation: string): GraphNeighbor[] =>
    rows
      .data!.filter((r) => r.relation === relation && r.metric === metric && num(r.attributed) !== 0)
      .map((r) => ({ ...named(r.other), attributed: r.attributed, in_cycle: -1 }))
      .sort((x, y) => num(y.attributed) - num(x.attributed));
  const self = of('self')[0]?.attributed ?? 0;
  const sum = of('caller').reduce((n, r) => n + num(r.attributed), 0);
  const none = { count: 0, attributed: 0 };
  return {
    ...rows,
    data: {
      ...named(pieces[pieces.length - 1] ?? ''),
      metric,
      unit: rows.data[0]?.unit ?? '',
      mode: address.get('mode', 'user'),
      inline: address.get('inline') === 'true',
      experiments: 0,
      lacking: 0,
      without: [],
      group: 'function',
      total: 0,
      whole: 0,
      found: 1,
      exclusive: self,
      inclusive: sum,
      callers: of('caller'),
      callees: of('callee'),
      rest: { callers: none, callees: none },
      in_cycle: -1,
      closed: false,
      cycles: [],
    },
  };
}

function named(name: string): FunctionName {
  return { function: name, load_object: '', module: '', kind: name === '<Total>' ? 'artificial' : '' };
}

function Sentence({ of, group }: { of: GraphAnswer; group: Group }) {
  const address = useAddress();
  const [one, many] = things[group];
  const real = (list: GraphNeighbor[]) => list.filter((n) => n.function !== '<Total>').length;
  const number = (n: number) => `${count(n)} ${n === 1 ? one : many}`;
  const chosen = address.get(group === 'function' ? 'function' : 'of') !== '';
  const calls = `alled by ${number(real(of.callers))}, calls ${number(real(of.callees))}`;
  return (
    <>
      {chosen ? `C${calls}` : `The ${one} with the highest self value, c${calls}`}. The width of a line is the value
      that came or went that way.
    </>
  );
}

function Graph({ a, group, pieces }: { a: GraphAnswer; group: Group; pieces: string[] }) {
  const address = useAddress();
  const open = address.all('open');
  const left = boxesOf(a.callers, a.in_cycle, open, 'callers');
  const right = boxesOf(a.callees, a.in_cycle, open, 'callees');
  const rows = Math.max(left.length, right.length, 4);
  const height = rows * (itemHeight + itemGap) - itemGap;
  return (
    <div class="callgraph card" style={{ '--graph-height': `${height}px` }}>
      <Neighbors side="callers" boxes={left} a={a} group={group} pieces={pieces} />
      <Edges boxes={left} height={height} inclusive={num(a.inclusive)} />
      <Middle a={a} group={group} pieces={pieces} />
      <Edges boxes={right} height={height} inclusive={num(a.inclusive)} mirrored />
      <Neighbors side="callees" boxes={right} a={a} group={group} pieces={pieces} />
    </div>
  );
}

// Edges draws the lines between a list and the middle. Their width is the attributed value.
function Edges(p: { boxes: Box[]; height: number; inclusive: number; mirrored?: boolean }) {
  const edges = edgesOf(p.boxes, p.inclusive, p.height, itemHeight, itemGap);
  const half = edgeWidth / 2;
  const x = (at: number) => (p.mirrored === true ? edgeWidth - at : at);
  return (
    <svg class="edges" width={edgeWidth} height={p.height} aria-hidden="true">
      {edges.map((e, i) => (
        <path
          key={i}
          class={e.cycle ? 'within' : ''}
          stroke-width={e.width}
          d={`M${x(0)} ${e.from}C${x(half)} ${e.from} ${x(half)} ${e.to} ${x(edgeWidth)} ${e.to}`}
        />
      ))}
    </svg>
  );
}

function doorOf(n: FunctionName, group: Group): Door {
  const door: Door = { kind: things[group][0] as Door['kind'], name: n.function };
  if (n.load_object !== '') door.loadObject = n.load_object;
  if (n.module !== '') door.module = n.module;
  return door;
}

// walk returns the address with a neighbor in the middle.
function walk(n: FunctionName, group: Group) {
  return { ...cleared, ...(group === 'function' ? { function: reference(n.function) } : { of: n.function }) };
}

function Neighbors(p: { side: Side; boxes: Box[]; a: GraphAnswer; group: Group; pieces: string[] }) {
  const title = p.side === 'callers' ? 'Called by' : 'Calls';
  return (
    <section class={p.side}>
      <h2>{title}</h2>
      {p.boxes.length === 0 && (
        <p class="dim">{p.side === 'callers' ? 'Nothing calls it.' : 'It calls nothing that was sampled.'}</p>
      )}
      <ul aria-label={title}>
        {p.boxes.map((b) => (
          <li key={b.key} class={b.kind === 'one' ? '' : 'several'}>
            <NeighborBox b={b} {...p} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function NeighborBox({
  b,
  side,
  a,
  group,
  pieces,
}: {
  b: Box;
  side: Side;
  a: GraphAnswer;
  group: Group;
  pieces: string[];
}) {
  const address = useAddress();
  const values = (
    <>
      <Meter part={b.value} total={num(a.inclusive)} />
      <span class="number" title={exact(b.exact, a.unit)}>
        {amount(b.exact, a.unit)}
      </span>
      <span class="number dim">{percent(b.value, a.inclusive)}</span>
    </>
  );
  if (b.kind === 'one') {
    const n = b.of[0]!;
    const start = n.function === '<Total>' && n.kind === 'artificial';
    const chain =
      side === 'callers'
        ? [reference(n.function), ...middle(pieces, a)]
        : [...middle(pieces, a), reference(n.function)];
    return (
      <>
        {start ? (
          <span class="dim">{side === 'callers' ? 'the start of stacks' : n.function}</span>
        ) : (
          <span class="to">
            <Name of={doorOf(n, group)} text={shortName(n.function)} to={walk(n, group)} />
            {group === 'function' && !a.closed && (
              <Link
                to={{ ...cleared, piece: chain, function: chain[chain.length - 1]! }}
                className="add"
                title={`Only stacks in which ${chain.map(shortName).join(' calls ')}`}
              >
                <span class="hidden">Add {n.function.slice(0, 200)} to the chain</span>
                <span aria-hidden="true">+</span>
              </Link>
            )}
          </span>
        )}
        {values}
      </>
    );
  }
  const opened = address.all('open');
  const cycle = b.kind === 'cycle' ? a.cycles[b.cycle] : undefined;
  return (
    <>
      <button type="button" class="opens" aria-expanded={false} onClick={() => navigate({ open: [...opened, b.key] })}>
        {cycle === undefined ? `${count(b.of.length)} more` : cycleText(cycle, b.of.length, group)}
      </button>
      {values}
    </>
  );
}

function cycleText(c: GraphCycle, here: number, group: Group): string {
  const name = `cycle of ${count(c.size)} ${things[group][1]}`;
  return here === c.size ? name : `${count(here)} of a ${name}`;
}

const middle = (pieces: string[], a: GraphAnswer) => (pieces.length > 0 ? pieces : [reference(a.function)]);

function Middle({ a, group, pieces }: { a: GraphAnswer; group: Group; pieces: string[] }) {
  const cycle = a.cycles[a.in_cycle];
  const where = [...new Set([a.module, a.load_object])].filter(
    (t) => t !== '' && t !== '(unknown)' && t !== a.function,
  );
  const whole = num(a.total) === 0 ? a.inclusive : a.total;
  return (
    <div class="middle">
      {pieces.length > 0 ? (
        <Chain pieces={pieces} />
      ) : (
        <h2>
          {a.closed ? (
            `Cycle of ${count(cycle?.size ?? 0)} ${things[group][1]}`
          ) : (
            <Name of={doorOf(a, group)} text={shortName(a.function)} />
          )}
        </h2>
      )}
      {where.length > 0 && !a.closed && <p class="dim cut">{where.join(' in ')}</p>}
      <div class="values">
        <span class="dim">Total</span>
        <Meter part={num(a.inclusive)} total={num(whole)} />
        <span class="number" title={exact(a.inclusive, a.unit)}>
          {amount(a.inclusive, a.unit)}
        </span>
        <span class="number dim">{num(a.total) === 0 ? '' : percent(a.inclusive, a.total)}</span>
        <span class="dim">{pieces.length > 0 ? 'Ends here' : 'Self'}</span>
        <Meter part={num(a.exclusive)} total={num(whole)} />
        <span class="number" title={exact(a.exclusive, a.unit)}>
          {amount(a.exclusive, a.unit)}
        </span>
        <span class="number dim">{percent(a.exclusive, whole)}</span>
      </div>
      {cycle !== undefined && (
        <p class="dim">
          {a.closed ? (
            <>
              {cycle.members.slice(0, 12).map((m, i) => [
                i > 0 ? ', ' : '',
                <Link key={m.function + m.load_object + m.module} to={walk(m, group)}>
                  {shortName(m.function)}
                </Link>,
              ])}
              {cycle.size > 12 && ` and ${count(cycle.size - 12)} more`}.{' '}
              <Link to={{ cycle: null }}>Open the cycle</Link>
            </>
          ) : (
            <>
              In a cycle of {count(cycle.size)} {things[group][1]} (orange lines):{' '}
              <Link to={{ cycle: 'true' }}>show it as one</Link>
            </>
          )}
        </p>
      )}
      {a.found > 1 && (
        <p class="dim">
          {count(a.found - 1)} more {a.found === 2 ? `${things[group][0]} has` : `${things[group][1]} have`} this name.
        </p>
      )}
    </div>
  );
}

// Chain shows functions that call each other; its ends can be taken off.
function Chain({ pieces }: { pieces: string[] }) {
  const to = (list: string[]) => ({
    ...cleared,
    piece: list.length > 1 ? list : null,
    function: list[list.length - 1]!,
  });
  return (
    <ol class="chain" aria-label="Chain of calls">
      {pieces.map((f, i) => (
        <li key={i}>
          <Name of={{ kind: 'function', name: f }} text={shortName(f)} to={to([f])} />
          {(i === 0 || i === pieces.length - 1) && (
            <button
              type="button"
              class="add"
              onClick={() => navigate(to(i === 0 ? pieces.slice(1) : pieces.slice(0, -1)))}
            >
              <span class="hidden">Without {f.slice(0, 200)}</span>
              <span aria-hidden="true">×</span>
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}
