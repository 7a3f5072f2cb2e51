// Deadlocks, drawn as cycles of threads and locks, and data races.
import { count } from '../lib/units';
import { FoldingTable } from '../parts/foldingtable';
import { Name } from '../parts/name';
import { StackFrames, StackName } from '../parts/stack';
import type { LockEvent, RaceAccess } from '../lib/memory';

// Edge is a thread that holds a lock and wants another one.
export interface Edge {
  thread: string;
  holds: LockEvent;
  wants: LockEvent;
}

function nameOf(of: { thread: number; thread_name: string | null }): string {
  return of.thread_name === null ? String(of.thread) : `${of.thread_name} ${of.thread}`;
}

// edgesOf returns the edges of a deadlock. The events of a thread are in order of time: a lock that it took before it
// asks for the next one is held.
export function edgesOf(events: LockEvent[]): Edge[] {
  const threads = new Map<string, LockEvent[]>();
  for (const e of events) {
    const key = `${e.process} ${e.thread}`;
    threads.set(key, [...(threads.get(key) ?? []), e]);
  }
  const edges: Edge[] = [];
  for (const of of threads.values()) {
    for (let n = 1; n < of.length; n++) {
      if (of[n - 1]!.address !== of[n]!.address)
        edges.push({ thread: nameOf(of[n]!), holds: of[n - 1]!, wants: of[n]! });
    }
  }
  return edges;
}

// cycleOf orders edges so that each one wants the lock that the next one holds; undefined if they are no cycle.
export function cycleOf(edges: Edge[]): Edge[] | undefined {
  for (const first of edges) {
    const path = [first];
    for (let at = first; path.length <= edges.length;) {
      const next = edges.find((e) => e.holds.address === at.wants.address && (e === first || !path.includes(e)));
      if (next === undefined) break;
      if (next === first) return path;
      path.push(next);
      at = next;
    }
  }
  return undefined;
}

export function Deadlocks({ events }: { events: LockEvent[] }) {
  const groups = new Map<string, LockEvent[]>();
  for (const e of events) {
    const key = `${e.experiment} ${e.deadlock}`;
    groups.set(key, [...(groups.get(key) ?? []), e]);
  }
  return (
    <>
      {[...groups].map(([key, of]) => (
        <Deadlock key={key} events={of} />
      ))}
    </>
  );
}

function Deadlock({ events }: { events: LockEvent[] }) {
  const first = events[0]!;
  const cycle = cycleOf(edgesOf(events));
  return (
    <section class="card pad" aria-label={`Deadlock ${first.deadlock}`}>
      <div class="cardtitle">
        <h2>Deadlock {first.deadlock}</h2>
        <span class="dim">
          {count(new Set(events.map((e) => e.thread)).size)} threads ·{' '}
          {count(new Set(events.map((e) => e.address)).size)} locks · {first.experiment}
        </span>
      </div>
      {cycle === undefined ? (
        <p class="note">The recorded events do not tell which thread holds and which one wants a lock.</p>
      ) : (
        <Cycle of={cycle} />
      )}
      <FoldingTable
        label={`Events of deadlock ${first.deadlock}`}
        rows={events}
        keyOf={(e) => `${e.experiment} ${e.deadlock} ${events.indexOf(e)}`}
        detail={(e) => <StackFrames stack={e.stack} />}
        columns={[
          {
            title: 'Thread',
            width: '160px',
            value: nameOf,
            show: (e) => <Name of={{ kind: 'thread', name: nameOf(e) }} />,
          },
          {
            title: 'Lock',
            width: '160px',
            value: (e) => e.address,
            show: (e) => <span class="mono">{e.address}</span>,
          },
          { title: 'Taken in', value: (e) => e.stack, show: (e) => <StackName stack={e.stack} /> },
        ]}
      />
    </section>
  );
}

const size = 320;

// Cycle draws threads and locks alternately around a circle: an arrow from a lock to the thread that holds it is
// labeled "held by", one from a thread to a lock "wants".
function Cycle({ of }: { of: Edge[] }) {
  const n = 2 * of.length;
  const at = (i: number) => {
    const angle = (2 * Math.PI * i) / n - Math.PI / 2;
    return [size / 2 + 104 * Math.cos(angle), size / 2 + 104 * Math.sin(angle)] as const;
  };
  const text = of.map((e) => `${e.thread} holds ${e.holds.address} and wants ${e.wants.address}`).join('; ');
  return (
    <svg class="cycle" width={size} height={size} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={text}>
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0l8 4-8 4z" fill="var(--secondary)" />
        </marker>
      </defs>
      {Array.from({ length: n }, (_, i) => {
        const [[x0, y0], [x1, y1]] = [at(i), at(i + 1)];
        const length = Math.hypot(x1 - x0, y1 - y0);
        const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
        const gap = Math.min(34, length / 3);
        return (
          <g key={i}>
            <line
              x1={x0 + gap * dx}
              y1={y0 + gap * dy}
              x2={x1 - gap * dx}
              y2={y1 - gap * dy}
              stroke="var(--secondary)"
              marker-end="url(#arrow)"
            />
            <text x={(x0 + x1) / 2} y={(y0 + y1) / 2 - 4} text-anchor="middle">
              {i % 2 === 0 ? 'held by' : 'wants'}
            </text>
          </g>
        );
      })}
      {of.map((e, i) => {
        const [[lx, ly], [tx, ty]] = [at(2 * i), at(2 * i + 1)];
        return (
          <g key={i}>
            <rect x={lx - 50} y={ly - 13} width="100" height="26" rx="6" class="lock" />
            <text x={lx} y={ly + 4} text-anchor="middle" class="mono">
              {e.holds.address}
            </text>
            <rect x={tx - 50} y={ty - 13} width="100" height="26" rx="13" class="thread" />
            <text x={tx} y={ty + 4} text-anchor="middle">
              {e.thread.slice(-16)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

export function Races({ accesses }: { accesses: RaceAccess[] }) {
  if (accesses.length === 0) return null;
  return (
    <section class="card" aria-label="Data races">
      <h2 class="padded">Data races</h2>
      <FoldingTable
        label="Data races"
        rows={accesses}
        keyOf={(r) => `race ${accesses.indexOf(r)}`}
        detail={(r) => <StackFrames stack={r.stack} />}
        columns={[
          { title: 'Race', numeric: true, width: '64px', value: (r) => r.race },
          { title: 'Accesses', numeric: true, width: '90px', value: (r) => r.accesses, show: (r) => count(r.accesses) },
          {
            title: 'Address',
            width: '160px',
            value: (r) => r.address,
            show: (r) => <span class="mono">{r.address}</span>,
          },
          {
            title: 'Thread',
            width: '160px',
            value: nameOf,
            show: (r) => <Name of={{ kind: 'thread', name: nameOf(r) }} />,
          },
          { title: 'Accessed in', value: (r) => r.stack, show: (r) => <StackName stack={r.stack} /> },
          { title: 'Experiment', wide: true, width: '180px', value: (r) => r.experiment },
        ]}
      />
    </section>
  );
}
