// The layout of a structure in memory: its members in cache lines, to scale, colored by their share of its value.
import { declarationOf } from '../lib/ctypes';
import { amount, num } from '../lib/units';
import type { DataLayout, LayoutMember } from '../lib/memory';

const mostLines = 64; // cache lines drawn

export function nameOf(m: LayoutMember): string {
  if (m.kind === 'hole') return 'padding';
  if (m.kind === 'aggregate') return 'unknown member';
  return m.name !== '' ? m.name : declarationOf(m.member, m.name).type;
}

// Span is the position of a member in its structure, in bits: from <= bit < to.
interface Span {
  of: LayoutMember;
  from: number;
  to: number;
}

function spanOf(of: LayoutMember): Span {
  const from = 8 * of.offset + of.bit_offset;
  return { of, from, to: from + (of.bit_size > 0 ? of.bit_size : 8 * (of.size ?? 0)) };
}

// Line is a cache line, or several cache lines that a single member fills.
export interface Line {
  first: number;
  last: number;
  lanes: Span[][]; // members side by side; overlapping ones (of a union) are in separate lanes
  value: number; // sum of the members that begin in the line
}

export function linesOf(members: LayoutMember[], bits: number): Line[] {
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
    const begin = inside.filter((s) => s.from >= from || first === 0);
    lines.push({ first, last, lanes, value: begin.reduce((n, s) => n + num(s.of.value), 0) });
    first = last + 1;
  }
  return lines;
}

export function paddingOf(l: DataLayout): number {
  return l.members
    .filter((m) => m.kind === 'hole')
    .reduce((n, m) => n + (m.bit_size > 0 ? m.bit_size / 8 : (m.size ?? 0)), 0);
}

// wholePercent returns a share without digits, as there is little room.
function wholePercent(part: number, total: number): string {
  const share = total === 0 ? 0 : (100 * part) / total;
  return part === 0 ? '–' : `${share < 0.5 ? '< 1' : share.toFixed(0)}\u202f%`;
}

// heatOf returns the step of heat for a share, 0 to 5.
export function heatOf(share: number): number {
  return share <= 0 ? 0 : share < 0.05 ? 1 : share < 0.12 ? 2 : share < 0.25 ? 3 : share < 0.5 ? 4 : 5;
}

const steps = ['< 5', '< 12', '< 25', '< 50', '≥ 50'];

export function StructLayout({ of, name, unit }: { of: DataLayout; name: string; unit: string }) {
  const bits = 8 * of.line_size;
  const lines = linesOf(of.members, bits);
  const marks = Array.from({ length: 9 }, (_, n) => (n * of.line_size) / 8);
  return (
    <>
      <div class="structlayout" role="img" aria-label={`${name} in cache lines; the table below has the same values`}>
        {lines.slice(0, mostLines).map((l) => (
          <CacheLine key={l.first} line={l} bits={bits} whole={num(of.value)} name={name} unit={unit} />
        ))}
        <span />
        <div class="offsets">
          {marks.map((m) => (
            <span key={m}>{m}</span>
          ))}
        </div>
      </div>
      {lines.length > mostLines && (
        <p class="note">The first {mostLines} cache lines are drawn; the table has all members.</p>
      )}
      <ul class="legend">
        <li>share of {name}</li>
        {steps.map((text, n) => (
          <li key={text}>
            <i class={`swatch heat${n + 1}`} />
            {text} %
          </li>
        ))}
        <li>
          <i class="swatch hole" />
          padding
        </li>
      </ul>
    </>
  );
}

function CacheLine(p: { line: Line; bits: number; whole: number; name: string; unit: string }) {
  const { line: l, bits, whole } = p;
  const [from, length] = [l.first * bits, (l.last - l.first + 1) * bits];
  return (
    <>
      <span class="dim nw">{l.first === l.last ? `line ${l.first}` : `lines ${l.first}–${l.last}`}</span>
      <div class="cacheline" style={{ '--lanes': Math.max(1, l.lanes.length) }}>
        {l.lanes.map((lane, n) => (
          <div key={n} class="lane">
            {lane.map((s) => {
              const [a, b] = [Math.max(s.from, from), Math.min(s.to, from + length)];
              const m = s.of;
              const bytes = m.bit_size > 0 ? `${m.bit_size} bit` : `${m.size ?? '?'} B`;
              const wide = (b - a) / length;
              const share = wholePercent(num(m.value), whole);
              return (
                <span
                  key={String(m.position)}
                  class={
                    m.kind === 'hole' ? 'member hole' : `member heat${whole === 0 ? 0 : heatOf(num(m.value) / whole)}`
                  }
                  title={`${nameOf(m)}, offset ${m.offset}, ${bytes}: ${amount(m.value, p.unit)}, ${share}`}
                  style={{ left: `${(100 * (a - from)) / length}%`, width: `${100 * wide}%` }}
                >
                  {m.kind !== 'hole' && wide >= 0.03 && <b>{nameOf(m)}</b>}
                  {m.kind !== 'hole' && wide >= 0.06 && <small>{wide >= 0.12 ? `${share} · ${bytes}` : share}</small>}
                </span>
              );
            })}
          </div>
        ))}
      </div>
      <span class="nw of">
        <b>{wholePercent(l.value, whole)}</b> <span class="dim">of {p.name}</span>
      </span>
    </>
  );
}
