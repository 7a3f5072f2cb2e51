// The instructions of a function with their values, and arrows for jumps inside it.
import { type RefObject } from 'preact';
import { useMemo } from 'preact/hooks';
import { baseInstructions, heat, hex, isSameBuild, parsed, type Annotated, type Side } from '../lib/annotated';
import { placeJumps } from '../lib/jumps';
import { amount, difference, exact, percent } from '../lib/units';
import { Cell, CodeGrid, Head, type GridHandle } from './codegrid';
import { JumpArrows, lanes } from './jumparrows';

export function InstructionGrid(p: {
  a: Annotated;
  base: Annotated | undefined;
  side: Side;
  chosen: number; // line
  chosenAt: number; // index of an instruction; -1 for none
  pointed: number; // line
  active: number;
  setActive: (n: number) => void;
  choose: (n: number) => void;
  hover: (n: number) => void;
  switchSide: () => void;
  handle: RefObject<GridHandle | null>;
}) {
  const { a } = p;
  const of = a.instructions;
  const jumps = useMemo(() => placeJumps(of, lanes), [of]);
  const targets = useMemo(() => new Map(jumps.map((j) => [j.from, j.to])), [jumps]); // index by index
  const values = p.side === 'self' ? of.exclusive : of.inclusive;
  const whole = p.side === 'self' ? a.exclusive : a.inclusive;
  const highest = useMemo(() => values.reduce((most, v) => Math.max(most, v), 0), [values]);
  const before = useMemo(
    () => (p.base !== undefined && isSameBuild(p.base, a) ? baseInstructions(a, p.base, p.side) : undefined),
    [a, p.base, p.side],
  );
  const line = (n: number) => (of.file[n] === a.file ? of.line[n]! : 0);
  const value = (n: number) => {
    const v = values[n]!;
    const parts = [`${exact(v, a.unit)}`, `${percent(v, whole)} of the function`];
    const title =
      v === 0 ? '' : [...parts, `${percent(v, a.total)} of the whole, ${amount(a.total, a.unit)}`].join('\n');
    const level = heat(v, highest);
    if (before === undefined)
      return (
        <>
          <Cell class={`a h${level}`} title={title}>
            {v === 0 ? '' : amount(v, a.unit)}
          </Cell>
          <Cell class="p" title={title}>
            {v === 0 ? '' : percent(v, whole).replace(/\u202f%$/, '')}
          </Cell>
        </>
      );
    const [test, base] = [v / a.runs, before[n]! / p.base!.runs];
    return (
      <>
        <Cell class="a">{base === 0 ? '' : amount(base, a.unit)}</Cell>
        <Cell class={`a h${level}`} title={title}>
          {v === 0 ? '' : amount(test, a.unit)}
        </Cell>
        <Cell class="d">{test === base ? '' : difference(test - base, a.unit)}</Cell>
      </>
    );
  };
  const goTo = (n: number) => {
    p.setActive(n);
    p.handle.current?.reveal(n);
  };
  const cells = (n: number) => {
    const [mnemonic, operands] = parsed(a, n);
    const target = of.target[n]!;
    const to = targets.get(n);
    return (
      <>
        {value(n)}
        <Cell class="n">{hex(of.offset[n]!)}</Cell>
        <Cell class="j" />
        <Cell class="x">
          <span class="t-directive">{mnemonic.padEnd(7)}</span> {operands}
          {target !== null &&
            (to === undefined ? (
              hex(target)
            ) : (
              <button
                type="button"
                class="to"
                tabIndex={-1}
                title="Go to the target"
                onClick={(e) => {
                  e.stopPropagation();
                  goTo(to);
                }}
              >
                {hex(target)}
              </button>
            ))}
          {of.target_name[n] !== '' && <span class="dim"> {of.target_name[n]}</span>}
          {of.line[n]! > 0 && <span class="dim at">{of.line[n]}</span>}
        </Cell>
      </>
    );
  };
  const press = (e: KeyboardEvent, n: number) => {
    const to = targets.get(n);
    if (e.key === 'i') p.switchSide();
    else if (e.key === 'ArrowRight' && to !== undefined) goTo(to);
    else return false;
    return true;
  };
  const what = p.side === 'self' ? 'Self' : 'Total';
  return (
    <CodeGrid
      id="code"
      label="Annotated instructions"
      header={
        <>
          {before === undefined ? (
            <>
              <Head class="a">{what}</Head>
              <Head class="p" title="Percent of the function">
                % fn
              </Head>
            </>
          ) : (
            <>
              <Head class="a">Base</Head>
              <Head class="a">Test</Head>
              <Head class="d">Difference</Head>
            </>
          )}
          <Head class="n" title="From the start of the function">
            Offset
          </Head>
          <Head class="j">
            <span class="hidden">Jumps</span>
          </Head>
          <Head class="x">
            Instruction <span class="dim">· line</span>
          </Head>
        </>
      }
      rows={{
        count: of.text.length,
        cells,
        className: (n) =>
          `${p.pointed > 0 && line(n) === p.pointed ? 'pointed' : ''} ${n === p.chosenAt ? 'at' : ''} ${gap(a, n)}`,
        marked: (n) => n === p.chosenAt || (p.chosen > 0 && line(n) === p.chosen),
        title: (n) => titleOf(a, n),
        door: (n) => (of.target_name[n] === '' ? undefined : { kind: 'function', name: of.target_name[n]! }),
      }}
      active={p.active}
      setActive={p.setActive}
      choose={p.choose}
      hover={p.hover}
      press={press}
      overlay={(first, last) => (
        <JumpArrows jumps={jumps} offsets={of.offset} first={first} last={last} active={p.active} />
      )}
      handle={p.handle}
    />
  );
}

// gap returns the class of an instruction before which others are not known, or with which another part begins.
function gap(a: Annotated, n: number): string {
  const { part, offset, size } = a.instructions;
  if (n === 0) return '';
  if (part[n] !== part[n - 1]) return 'part';
  return offset[n - 1]! + size[n - 1]! < offset[n]! ? 'gap' : '';
}

function titleOf(a: Annotated, n: number): string {
  const { part, offset, file, line, target_name } = a.instructions;
  const of = a.parts[part[n]!]!;
  const where = file[n]! < 0 ? [] : [`${a.files[file[n]!]!.name}:${line[n]}`];
  const before =
    gap(a, n) === 'gap'
      ? ['The instructions before this one are not in the store: they are far from all samples.']
      : [];
  const address = (BigInt(of.address) + BigInt(offset[n]!)).toString(16);
  return [`${address} in ${of.name}`, ...where, ...(target_name[n] === '' ? [] : [target_name[n]!]), ...before].join(
    '\n',
  );
}
