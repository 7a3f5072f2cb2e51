// The layout of a structure in memory: its members in cache lines, colored by value.
import { Share } from './panel';
import { Table } from './table';
import { amount, num } from '../lib/units';
import type { DataLayoutRow } from '../lib/rows';

const mostLines = 64; // cache lines drawn

export function nameOf(m: DataLayoutRow): string {
  if (m.kind === 'hole') return 'padding';
  if (m.kind === 'aggregate') return 'unknown member';
  return m.name !== '' ? m.name : m.member;
}

// Span is the position of a member in its structure, in bits: from <= bit < to.
interface Span {
  of: DataLayoutRow;
  from: number;
  to: number;
}

function spanOf(of: DataLayoutRow): Span {
  const from = 8 * num(of.member_offset) + of.bit_offset;
  return { of, from, to: from + (of.bit_size > 0 ? of.bit_size : 8 * num(of.size)) };
}

// Line is a cache line, or several cache lines that a single member fills.
interface Line {
  first: number;
  last: number;
  lanes: Span[][]; // members side by side; overlapping ones (of a union) are in separate lanes
  value: number; // sum of the members that lie completely in the line
}

function linesOf(members: DataLayoutRow[], bits: number): Line[] {
  const spans = members
    .filter((m) => m.kind !== 'aggregate')
    .map(spanOf)
    .filter((s) => s.to > s.from);
  const end = spans.reduce((n, s) => Math.max(n, s.to), 0);
  const lines: Line[] = [];
  for (let first = 0; first * bits < end && lines.length <= mostLines;) {
    const [from, to] = [first * bits, (first + 1) * bits];
    const inside = spans.filter((s) => s.from < to && s.to > from);
    const only = inside.length === 1 && inside[0]!.from <= from && inside[0]!.to >= to ? inside[0]! : undefined;
    const last = only === undefined ? first : Math.max(Math.floor(only.to / bits) - 1, first);
    const lanes: Span[][] = [];
    for (const s of inside) {
      const lane = lanes.find((l) => l[l.length - 1]!.to <= s.from);
      if (lane === undefined) lanes.push([s]);
      else lane.push(s);
    }
    lines.push({
      first,
      last,
      lanes,
      value: inside.filter((s) => s.from >= from && s.to <= (last + 1) * bits).reduce((n, s) => n + num(s.of.value), 0),
    });
    first = last + 1;
  }
  return lines;
}

export function StructLayout({ members, total }: { members: DataLayoutRow[]; total: number }) {
  const first = members[0]!;
  const size = num(first.line_size);
  const lines = linesOf(members, 8 * size);
  const end = members.reduce((n, m) => Math.max(n, spanOf(m).to), 0);
  const drawn = Math.min(8 * size, end); // width of a line, in bits: less than a cache line if the structure is smaller
  const highest = members.reduce((n, m) => Math.max(n, num(m.value)), 0);
  const whole = num(first.aggregate_value);
  const padding = members
    .filter((m) => m.kind === 'hole')
    .reduce((n, m) => n + (m.bit_size > 0 ? m.bit_size / 8 : num(m.size)), 0);
  const crossing = members
    .filter((m) => m.kind !== 'hole' && m.kind !== 'aggregate' && num(m.value) > 0)
    .map(spanOf)
    .filter((s) => s.to > s.from && Math.floor(s.from / 8 / size) !== Math.floor((s.to - 1) / 8 / size));
  return (
    <>
      <p class="note">
        {amount(whole, first.unit)} of {first.metric},{' '}
        {first.aggregate_size === null ? 'of unknown size' : `${first.aggregate_size} bytes`}, {padding} of them
        padding. Lines of {size} bytes,{' '}
        {first.line_size_source === 'recorded' ? 'as recorded' : 'assumed: the recording does not say'}, if the object
        begins at the start of one. The value of a line is that of the members completely in it
        {crossing.length > 0
          ? `; ${crossing.map((s) => nameOf(s.of)).join(', ')} ${crossing.length > 1 ? 'lie' : 'lies'} in several`
          : ''}
        .
      </p>
      <div class="lines" aria-hidden="true">
        {lines.slice(0, mostLines).map((l) => (
          <CacheLine
            key={l.first}
            line={l}
            bits={8 * size}
            drawn={drawn}
            highest={highest}
            whole={whole}
            unit={first.unit}
          />
        ))}
      </div>
      {lines.length > mostLines && (
        <p class="note">The first {mostLines} lines are drawn: the table has all members.</p>
      )}
      <Table
        label={`Members of ${first.descriptor}`}
        rows={members}
        keyOf={(m) => String(m.position)}
        columns={[
          {
            title: 'Offset',
            numeric: true,
            value: (m) => (m.kind === 'aggregate' ? -1 : 8 * num(m.member_offset) + m.bit_offset),
            show: (m) =>
              m.kind === 'aggregate' ? '' : m.bit_size > 0 ? `${m.member_offset}:${m.bit_offset}` : m.member_offset,
          },
          {
            title: 'Size',
            numeric: true,
            value: (m) => (m.bit_size > 0 ? m.bit_size / 8 : num(m.size)),
            show: (m) => (m.kind === 'aggregate' ? '' : m.bit_size > 0 ? `${m.bit_size} bit` : m.size),
          },
          {
            title: 'Line',
            numeric: true,
            value: (m) => num(m.cache_line),
            show: (m) => (m.kind === 'aggregate' ? '' : m.cache_line),
          },
          { title: 'Value', numeric: true, value: (m) => num(m.value), show: (m) => amount(m.value, m.unit) },
          {
            title: '% of it',
            numeric: true,
            value: (m) => num(m.value) / (whole || 1),
            show: (m) => <Share part={num(m.value)} total={whole} />,
          },
          {
            title: '% of all',
            numeric: true,
            value: (m) => num(m.value) / (total || 1),
            show: (m) => <Share part={num(m.value)} total={total} />,
          },
          {
            title: 'Member',
            value: (m) => m.member || nameOf(m),
            show: (m) =>
              m.kind === 'hole' || m.kind === 'aggregate' ? (
                <em>{nameOf(m)}</em>
              ) : m.name !== '' && !m.member.endsWith(` ${m.name}}`) ? (
                `${m.member}  ${m.name}`
              ) : (
                m.member
              ),
          },
        ]}
      />
    </>
  );
}

function CacheLine({
  line: l,
  bits,
  drawn,
  highest,
  whole,
  unit,
}: {
  line: Line;
  bits: number;
  drawn: number;
  highest: number;
  whole: number;
  unit: string;
}) {
  const [from, length] = [l.first * bits, (l.last - l.first + 1) * drawn];
  const share = whole === 0 ? '' : `${((100 * l.value) / whole).toFixed(1)} %`;
  return (
    <div class="cacheline">
      <span class="number">{l.first === l.last ? `line ${l.first}` : `lines ${l.first}–${l.last}`}</span>
      <div class="bytes">
        {l.lanes.map((lane, n) => (
          <div key={n} class="lane">
            {lane.map((s) => {
              const [a, b] = [Math.max(s.from, from), Math.min(s.to, from + length)];
              const size = s.of.bit_size > 0 ? `${s.of.bit_size} bit` : `${s.of.size} bytes`;
              const heat = highest === 0 ? 0 : num(s.of.value) / highest;
              return (
                <span
                  key={String(s.of.position)}
                  class={`member ${s.of.kind === 'hole' ? 'hole' : ''}`}
                  title={`${nameOf(s.of)}, offset ${s.of.member_offset}, ${size}: ${amount(s.of.value, unit)}`}
                  style={{
                    left: `${(100 * (a - from)) / length}%`,
                    width: `${(100 * (b - a)) / length}%`,
                    '--heat': `${Math.round(100 * heat)}%`,
                  }}
                >
                  {nameOf(s.of)}
                </span>
              );
            })}
          </div>
        ))}
      </div>
      <span class="number">{share}</span>
    </div>
  );
}
