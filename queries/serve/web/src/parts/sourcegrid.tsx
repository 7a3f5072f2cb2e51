// The lines of a source file with their values, and the code that is inlined at them.
import { type RefObject } from 'preact';
import { useMemo } from 'preact/hooks';
import {
  baseInstructions,
  heat,
  hex,
  isSameBuild,
  highestOwn,
  lineValues,
  parsed,
  shortFile,
  type Annotated,
  type InlinedPlace,
  type LineValue,
  type Side,
} from '../lib/annotated';
import { partsOf, type Door } from '../lib/door';
import { Highlighter, languageOf } from '../lib/highlight';
import { groupBy, type Matched, type Row } from '../lib/sourcerows';
import { amount, difference, exact, percent } from '../lib/units';
import { Cell, CodeGrid, Head, type GridHandle, type Window } from './codegrid';

export function SourceGrid(p: {
  a: Annotated;
  base: Annotated | undefined;
  matched: Matched | undefined; // lines of the base; undefined if they are not known
  side: Side;
  rows: Row[];
  values: Map<number, LineValue>;
  chosen: number; // line
  pointed: number; // line
  hits: ((text: string) => boolean) | undefined;
  active: number;
  setActive: (row: number) => void;
  choose: (row: Row) => void;
  hover: (row: Row | undefined) => void;
  unfold: (line: number) => void;
  isUnfolded: (line: number) => boolean;
  switchSide: (() => void) | undefined;
  step: (backward: boolean) => void;
  windowed: (w: Window) => void;
  handle: RefObject<GridHandle | null>;
}) {
  const { a, side, rows } = p;
  const file = a.files[a.file]!;
  const of = useMemo(() => new Shown(a, p.base, p.matched, side, p.values), [a, p.base, p.matched, side, p.values]);
  const language = languageOf(file.name);
  const colors = useMemo(
    () => (language === undefined || a.text.length === 0 ? undefined : new Highlighter(language, a.text)),
    [a.text, language],
  );
  const inlinedAt = useMemo(() => groupBy(a.inlined, (place) => place.line), [a.inlined]);
  const inside = (line: number) => line >= file.first && line <= file.last;
  const text = (line: number) => {
    const parts = inside(line) && colors !== undefined ? colors.tokens(line - 1) : undefined;
    if (parts === undefined) return a.text[line - 1] ?? '';
    return parts.map(([kind, t]) => (kind === '' ? t : <span class={`t-${kind}`}>{t}</span>));
  };
  const values = of.compares
    ? (v: RowValues) => (
        <>
          <Cell class="a">{v.base === undefined || v.base === 0 ? '' : amount(v.base, a.unit)}</Cell>
          <Cell class={`a h${v.heat}`} title={v.title}>
            {v.value === 0 ? '' : amount(v.value, a.unit)}
          </Cell>
          <Cell class="d">
            {v.base === undefined || v.value === v.base ? '' : difference(v.value - v.base, a.unit)}
          </Cell>
        </>
      )
    : (v: RowValues) => (
        <>
          <Cell class={`a h${v.heat}`} title={v.title}>
            {v.value === 0 ? '' : amount(v.value, a.unit)}
          </Cell>
          <Cell class="p" title={v.title}>
            {v.share}
          </Cell>
        </>
      );
  const cells = (n: number) => {
    const r = rows[n]!;
    switch (r.kind) {
      case 'line': {
        const folded = inlinedAt.get(r.line);
        return (
          <>
            {values(of.line(r.line, inside(r.line)))}
            <Cell class="n">{r.line}</Cell>
            <Cell class="x">
              <i class="fold">
                {folded !== undefined && (
                  <button
                    type="button"
                    tabIndex={-1}
                    aria-expanded={p.isUnfolded(r.line)}
                    aria-label={`Code inlined at line ${r.line}`}
                    title={`Inlined here: ${[...new Set(folded.map((place) => place.function))].join(', ')}`}
                    onClick={(e) => {
                      e.stopPropagation();
                      p.unfold(r.line);
                    }}
                  >
                    {p.isUnfolded(r.line) ? '▾' : '▸'}
                  </button>
                )}
              </i>
              {text(r.line)}
            </Cell>
          </>
        );
      }
      case 'inlined':
        return (
          <>
            {values(of.inlined(r.place))}
            <Cell class="n">{r.place.at === 0 ? '' : r.place.at}</Cell>
            <Cell class="x">
              <i class="fold" />
              <span style={{ paddingLeft: `${Math.min(r.place.depth, 20) + 2}ch` }}>
                {shortName(r.place.function)} <span class="dim">{placeText(a, r.place)}</span>
              </span>
            </Cell>
          </>
        );
      case 'instruction': {
        const [mnemonic, operands] = parsed(a, r.index);
        const target = a.instructions.target[r.index]!;
        return (
          <>
            {values(of.instruction(r.index))}
            <Cell class="n">{hex(a.instructions.offset[r.index]!)}</Cell>
            <Cell class="x">
              <i class="fold" />
              <span class="t-directive">{mnemonic.padEnd(7)}</span> {operands}
              {target !== null && hex(target)}
              {a.instructions.target_name[r.index] !== '' && (
                <span class="dim"> {a.instructions.target_name[r.index]}</span>
              )}
            </Cell>
          </>
        );
      }
      case 'gone':
        return (
          <>
            {values(of.gone(r.line))}
            <Cell class="n">−</Cell>
            <Cell class="x">
              <i class="fold" />
              {p.base?.text[r.line - 1] ?? ''}
            </Cell>
          </>
        );
    }
  };
  const classOf = (n: number) => {
    const r = rows[n]!;
    const hit = p.hits !== undefined && r.kind === 'line' && p.hits(a.text[r.line - 1] ?? '') ? 'hit' : '';
    const of = r.kind !== 'line' ? r.kind : inside(r.line) ? '' : 'pale';
    return `${of} ${hit} ${r.kind !== 'gone' && r.line === p.pointed ? 'pointed' : ''}`;
  };
  const press = (e: KeyboardEvent, n: number) => {
    const r = rows[n]!;
    const can = r.kind === 'line' && inlinedAt.has(r.line);
    if (e.key === 'i' && p.switchSide !== undefined) p.switchSide();
    else if (e.key === 'ArrowRight' && can && !p.isUnfolded(r.line)) p.unfold(r.line);
    else if (e.key === 'ArrowLeft' && (can || r.kind === 'inlined') && p.isUnfolded(r.line)) p.unfold(r.line);
    else if (e.key.toLowerCase() === 'n' && p.hits !== undefined) p.step(e.shiftKey);
    else return false;
    return true;
  };
  return (
    <CodeGrid
      id="source"
      label={`Annotated source of ${shortFile(file.name)}`}
      header={<SourceHead file={file.name} compares={of.compares} side={side} picked={a.files.length > 1} />}
      rows={{
        count: rows.length,
        cells,
        className: classOf,
        marked: (n) => rows[n]!.kind !== 'gone' && rows[n]!.line === p.chosen,
        title: (n) => titleOf(rows[n]!),
        door: (n) => doorOf(a, rows[n]!, of, file.name),
      }}
      active={p.active}
      setActive={p.setActive}
      choose={(n) => p.choose(rows[n]!)}
      hover={(n) => p.hover(n < 0 ? undefined : rows[n])}
      press={press}
      windowed={p.windowed}
      handle={p.handle}
    />
  );
}

function SourceHead(p: { file: string; compares: boolean; side: Side; picked: boolean }) {
  const what = p.side === 'self' ? 'Self' : 'Total';
  return (
    <>
      {p.compares ? (
        <>
          <Head class="a">Base</Head>
          <Head class="a">Test</Head>
          <Head class="d">Difference</Head>
        </>
      ) : (
        <>
          <Head class="a">{what}</Head>
          <Head class="p" title="Percent of the function">
            % fn
          </Head>
        </>
      )}
      <Head class="n">
        <span class="hidden">Line</span>
      </Head>
      <Head class="x" title={p.file}>
        {shortFile(p.file)}
      </Head>
    </>
  );
}

// neighborsAt returns the names of the other functions with values around a line, the shortest function first.
function neighborsAt(a: Annotated, line: number): string[] {
  return a.neighbors
    .filter((n) => n.first <= line && line <= n.last)
    .sort((x, y) => x.last - x.first - (y.last - y.first) || y.exclusive - x.exclusive)
    .map((n) => n.name);
}

// placeText returns the text of the line of inlined code if it is in the same file, otherwise its file.
function placeText(a: Annotated, of: InlinedPlace): string {
  const text = of.file === a.files[a.file]!.name ? a.text[of.at - 1]?.trim() : undefined;
  return text ?? shortFile(of.file);
}

// shortName returns the name of a function without its parameters.
function shortName(name: string): string {
  const [, last] = partsOf(name);
  const open = last.indexOf('(', 1);
  return open < 1 ? last : last.slice(0, open);
}

function titleOf(r: Row): string {
  return r.kind === 'inlined' ? `${r.place.path.replaceAll(' > ', '\n')}\n${r.place.file}` : '';
}

function doorOf(a: Annotated, r: Row, of: Shown, file: string): Door | undefined {
  switch (r.kind) {
    case 'line': {
      const inside = r.line >= a.files[a.file]!.first && r.line <= a.files[a.file]!.last;
      const neighbor = inside ? undefined : neighborsAt(a, r.line)[0];
      if (neighbor !== undefined) return { kind: 'function', name: neighbor };
      return {
        kind: 'line',
        name: `${shortFile(file)}:${r.line}`,
        file,
        line: r.line,
        value: of.line(r.line, inside).value * of.runs,
        total: a.total,
        unit: a.unit,
      };
    }
    case 'inlined':
      return { kind: 'function', name: r.place.function };
    case 'instruction': {
      const name = a.instructions.target_name[r.index]!;
      return name === '' ? undefined : { kind: 'function', name };
    }
    case 'gone':
      return undefined;
  }
}

function placeKey(of: InlinedPlace): string {
  return `${of.line} ${of.path} ${of.file}`;
}

// RowValues is what the gutter of a row shows.
interface RowValues {
  value: number;
  base: number | undefined; // undefined: not known
  heat: number;
  share: string; // percent of the function, without the sign
  title: string;
}

// Shown has the values of all rows. With a base, they are means of one run.
class Shown {
  readonly compares: boolean;
  private readonly whole: number; // the function's value
  private readonly highest: number; // of the function's lines
  private readonly baseValues: Map<number, LineValue>;
  readonly runs: number; // by which values are divided
  private readonly baseRuns: number;
  private readonly places = new Map<string, number>(); // values of inlined code in the base, if it is the same build
  private readonly instructions: number[] | undefined; // values in the base, if it is the same build

  constructor(
    private readonly a: Annotated,
    base: Annotated | undefined,
    private readonly matched: Matched | undefined,
    private readonly side: Side,
    private readonly values: Map<number, LineValue>,
  ) {
    this.compares = base !== undefined && matched !== undefined;
    this.whole = side === 'self' ? a.exclusive : a.inclusive;
    this.highest = highestOwn(values);
    this.baseValues = base === undefined || !this.compares ? new Map<number, LineValue>() : lineValues(base, side);
    this.runs = this.compares ? a.runs : 1;
    this.baseRuns = base?.runs ?? 1;
    if (base === undefined || !isSameBuild(base, a)) return;
    for (const of of a.inlined) this.places.set(placeKey(of), 0);
    for (const of of base.inlined) this.places.set(placeKey(of), (side === 'self' ? of.exclusive : of.inclusive) ?? 0);
    this.instructions = baseInstructions(a, base, side);
  }

  // line returns the values of the function on its lines, and on others those of all functions.
  line(line: number, inside: boolean): RowValues {
    const of = (v: LineValue | undefined) => (v === undefined ? 0 : inside && v.own > 0 ? v.own : inside ? 0 : v.all);
    const v = this.values.get(line);
    const value = of(v);
    const base = this.compares ? of(this.baseValues.get(this.matched!.baseOf(line))) : undefined;
    const title = this.title(value, inside, neighborsAt(this.a, line).join('\n') || undefined);
    const more = inside && v !== undefined && v.all !== v.own ? `\n${this.text(v.all)} in all functions` : '';
    return this.row(value, base, inside, title + more);
  }

  inlined(place: InlinedPlace): RowValues {
    const value = this.side === 'self' ? place.exclusive : place.inclusive;
    const row = this.row(value ?? 0, this.places.get(placeKey(place)), true, this.title(value ?? 0, true));
    return value === null ? { ...row, title: 'Not known: the function is recursive' } : row;
  }

  instruction(n: number): RowValues {
    const value = (this.side === 'self' ? this.a.instructions.exclusive : this.a.instructions.inclusive)[n]!;
    return this.row(value, this.instructions?.[n], true, this.title(value, true));
  }

  gone(line: number): RowValues {
    return this.row(0, this.baseValues.get(line)?.own ?? 0, true, '');
  }

  private row(value: number, base: number | undefined, inside: boolean, title: string): RowValues {
    const share = inside && value > 0 ? percent(value, this.whole).replace(/\u202f%$/, '') : '';
    const mean = base === undefined ? undefined : base / this.baseRuns;
    return { value: value / this.runs, base: mean, heat: heat(value, this.highest), share, title };
  }

  private text(value: number): string {
    return exact(value, this.a.unit);
  }

  private title(value: number, own: boolean, of = 'other functions'): string {
    if (value === 0) return '';
    const parts = [this.text(value)];
    if (own) parts.push(`${percent(value, this.whole)} of the function`);
    else parts.push(of);
    parts.push(`${percent(value, this.a.total)} of the whole, ${amount(this.a.total, this.a.unit)}`);
    return parts.join('\n');
  }
}
