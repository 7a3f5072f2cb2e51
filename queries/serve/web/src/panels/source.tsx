// The place for source: the file of a function and its instructions, with values. Choosing a line marks its
// instructions, and the other way round.
import { type ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { navigate, scope, useAddress, type Params } from '../lib/address';
import {
  heat,
  highestOwn,
  hottestInstruction,
  hottestLine,
  isSameBuild,
  lineValues,
  shortFile,
  type Annotated,
  type Explanation,
  type Side,
} from '../lib/annotated';
import { useData } from '../lib/api';
import { partsOf } from '../lib/door';
import { matcher } from '../lib/search';
import { matchLines, rowsOf, type Row } from '../lib/sourcerows';
import { amount, count, day, percent } from '../lib/units';
import type { GridHandle, Window } from '../parts/codegrid';
import { Find } from '../parts/find';
import { Heading } from '../parts/heading';
import { HeatStrip } from '../parts/heatstrip';
import { InstructionGrid } from '../parts/instructiongrid';
import { Name } from '../parts/name';
import { Panel } from '../parts/panel';
import { Picker } from '../parts/picker';
import { Segments } from '../parts/segments';
import { SourceGrid } from '../parts/sourcegrid';

export function SourcePanel() {
  const address = useAddress();
  const name = address.get('function');
  const of: Params = {
    metric: address.get('metric'),
    function: name,
    key: address.get('key'),
    build: address.get('build'),
    file: address.get('file'),
  };
  const test = useData<Annotated>('annotate', { ...scope(address), ...of });
  const found = test.data?.function ?? null;
  const base = useData<Annotated>(address.all('base').length > 0 && found !== null ? 'annotate' : undefined, {
    ...scope(address),
    ...of,
    build: '',
    experiment: address.all('base'),
    function: found?.name ?? '',
    key: found?.key ?? '',
    metric: test.data?.metric ?? '',
  });
  return (
    <Panel title="Source" answer={{ ...test, loading: test.loading || base.loading }}>
      {(a) =>
        a.function === null ? (
          <NoFunction name={name} of={a} />
        ) : (
          <>
            {base.error !== undefined && (
              <p class="error" role="alert">
                Base: {base.error.message}
              </p>
            )}
            <Code key={a.function.key} a={a} base={base.data} />
          </>
        )
      }
    </Panel>
  );
}

function NoFunction({ name, of }: { name: string; of: Annotated }) {
  return (
    <Heading
      title="Source"
      sentence={
        name === ''
          ? `No function of the selection has a value${of.metric === '' ? '' : ` of ${of.metric}`}.`
          : `${name} has no samples in this selection: choose other experiments, another metric, or fewer filters.`
      }
    />
  );
}

function Code({ a, base }: { a: Annotated; base: Annotated | undefined }) {
  const address = useAddress();
  const side = address.get('value', 'self') as Side;
  const interleaved = address.get('layout') === 'interleaved';
  const values = useMemo(() => lineValues(a, side), [a, side]);
  const hottest = hottestLine(values);
  const file = a.files[a.file];
  return (
    <>
      <Heading title={<Title a={a} />} sentence={<Sentence a={a} base={base} hottest={hottest} side={side} />}>
        <div class="codechoices">
          {file !== undefined && (
            <Segments
              label="Lines"
              options={[
                ['file', 'Whole file'],
                ['function', 'Function'],
              ]}
              value={address.get('range', 'file')}
              set={(to) => navigate({ range: to === 'file' ? null : to })}
            />
          )}
          {file !== undefined && a.instructions.text.length > 0 && (
            <span class="wide">
              <Segments
                label="Layout"
                options={[
                  ['beside', 'Beside'],
                  ['interleaved', 'Interleaved'],
                ]}
                value={interleaved ? 'interleaved' : 'beside'}
                set={(to) => navigate({ layout: to === 'beside' ? null : to })}
              />
            </span>
          )}
        </div>
      </Heading>
      <Remarks a={a} base={base} />
      <Sides key={file?.name} a={a} base={base} side={side} interleaved={interleaved} hottest={hottest} />
    </>
  );
}

// Title is the function's name; the parameters of its signature are pale.
function Title({ a }: { a: Annotated }) {
  const [path, last] = partsOf(a.function!.name);
  const open = last.indexOf('(', 1);
  const [name, rest] = open < 1 ? [last, ''] : [last.slice(0, open), last.slice(open)];
  return (
    <span class="functionname" title={a.function!.name}>
      {path !== '' && <span class="dim">{path}</span>}
      {name}
      {rest !== '' && <span class="dim">{rest}</span>}
    </span>
  );
}

function Sentence(p: { a: Annotated; base: Annotated | undefined; hottest: number; side: Side }) {
  const { a } = p;
  const file = a.files[a.file];
  const mean = p.base !== undefined && a.runs > 1;
  const value = (p.side === 'self' ? a.exclusive : a.inclusive) / (mean ? a.runs : 1);
  const lines = file === undefined ? '' : file.first === file.last ? 'line ' : 'lines ';
  const where =
    file === undefined
      ? a.function!.load_object
      : `${shortFile(file.name)}, ${lines}${file.first === file.last ? file.first : `${file.first}–${file.last}`}`;
  const own = a.containers.length > 0 ? 'where it is inlined' : 'in its own code and what is inlined there';
  const what = p.side === 'self' ? own : 'with what it calls';
  const of = mean ? `the mean of ${a.runs} runs` : a.runs > 1 ? `${a.runs} runs` : 'the run';
  const whole = `${percent(value, a.total / (mean ? a.runs : 1)) || '0'} of ${of}`;
  return (
    <>
      {a.hottest && 'No function is chosen: this is the hottest one. '}
      {where} · {amount(value, a.unit)}
      {hasCode(a) && ` ${what}`}, {whole}
      {p.hottest > 0 && (
        <>
          {' · hottest line '}
          <button type="button" class="link" onClick={() => chooseLine(a, p.hottest)}>
            {p.hottest}
          </button>
        </>
      )}
    </>
  );
}

// hasCode reports whether lines or instructions are known.
function hasCode(a: Annotated): boolean {
  return a.files.length > 0 || a.instructions.text.length > 0;
}

// Which chooses among functions of one name, and among builds.
function Which({ a }: { a: Annotated }) {
  const build = a.builds[a.build]!;
  return (
    <>
      {a.functions.length > 1 && (
        <Picker
          label="Function"
          text={`1 of ${a.functions.length} functions`}
          options={a.functions.map((f) => ({
            value: f.key,
            text: `${f.name} in ${f.load_object}${f.module === '(unknown)' ? '' : `, ${shortFile(f.module)}`}`,
            note: amount(f.exclusive, a.unit),
          }))}
          value={a.function!.key}
          set={(key) => navigate({ key, build: null, file: null, line: null, at: null, unfold: null })}
        />
      )}
      {a.builds.length > 1 && (
        <Picker
          label="Build"
          text={
            <>
              {buildName(a, a.build)} <span>{runs(build.runs)}</span>
            </>
          }
          options={a.builds.map((b, n) => ({
            value: b.id,
            text: buildName(a, n),
            note: `${runs(b.runs)}, ${amount(b.exclusive, a.unit)}`,
          }))}
          value={build.id}
          set={(to) => navigate({ build: to, line: null, at: null, unfold: null })}
        />
      )}
    </>
  );
}

const runs = (n: number) => (n === 1 ? '1 run' : `${count(n)} runs`);

// buildName returns the start of a build's id, and the days on which it ran.
function buildName(a: Annotated, n: number): string {
  const b = a.builds[n]!;
  const id = b.build_id === '' ? b.path : b.build_id.slice(0, 8);
  const [first, last] = [day(b.first.slice(0, 10)), day(b.last.slice(0, 10))];
  const when = first === '' ? '' : first === last ? `, ${first}` : `, ${first} to ${last}`;
  return `build ${id}${when}`;
}

// Remarks says what the values leave out.
function Remarks({ a, base }: { a: Annotated; base: Annotated | undefined }) {
  const list: string[] = [];
  if (a.builds.length > 1) {
    const others = a.builds.reduce((n, b) => n + b.runs, 0) - a.runs;
    const object = shortFile(a.builds[a.build]!.path);
    list.push(
      `The selection has ${a.builds.length} builds of ${object}, whose code differs: values are sums over the ` +
        `${runs(a.runs)} of this one, without ${runs(others)} of the others.`,
    );
  }
  if (a.texts > 1)
    list.push(`The runs have ${a.texts} different texts of this file: this is the one of the newest run.`);
  if (a.lineless > 0) list.push(`${amount(a.lineless, a.unit)} of the function have no line number.`);
  if (a.unplaced > 0 && a.instructions.text.length > 0)
    list.push(`${amount(a.unplaced, a.unit)} of the function belong to no known instruction.`);
  if (base !== undefined) list.push(comparison(a, base));
  return (
    <>
      {list.map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
    </>
  );
}

function comparison(a: Annotated, base: Annotated): string {
  if (base.function === null) return 'The base has no samples of this function.';
  const means = a.runs > 1 || base.runs > 1 ? ', as means of one run' : '';
  const text = `Base and test are shown side by side${means}: ${runs(base.runs)} and ${runs(a.runs)}.`;
  if (isSameBuild(base, a)) return text;
  return matchLines(base, a) === undefined
    ? 'The base is another build. Its lines cannot be found without the text of both files: only the test is shown.'
    : `${text} They are different builds: lines are matched by their text, and instructions are those of the test.`;
}

// Sides shows source and instructions. It remembers which row the keys are about on each side.
function Sides(p: { a: Annotated; base: Annotated | undefined; side: Side; interleaved: boolean; hottest: number }) {
  const { a } = p;
  const address = useAddress();
  const file = a.files[a.file];
  const chosenLine = file === undefined ? 0 : Number(address.get('line')) || 0;
  const at = address.get('at');
  const unfold = address.get('unfold');
  const base = p.base?.function === null ? undefined : p.base;
  const matched = useMemo(() => (base === undefined ? undefined : matchLines(base, a)), [a, base]);
  const range = address.get('range') === 'function' && file !== undefined ? file : undefined;
  const rows = useMemo(() => {
    const lines = new Set(unfold.split(',').map(Number));
    return rowsOf(a, {
      range: range === undefined ? undefined : [range.first, range.last],
      unfolded: (line) => unfold === 'all' || lines.has(line),
      interleaved: p.interleaved,
      gone: matched?.gone ?? [],
    });
  }, [a, unfold, p.interleaved, range, matched]);
  const chosenAt = useMemo(() => instructionAt(a, at), [a, at]);
  const [pointed, point] = useState(0); // the line under the pointer
  const [active, setActive] = useState(() => rowOfLine(rows, chosenLine || p.hottest || file?.first || 1));
  const [activeAt, setActiveAt] = useState(() =>
    Math.max(0, chosenAt >= 0 ? chosenAt : firstOf(a, chosenLine, p.side)),
  );
  const [seen, setSeen] = useState<Window>({ from: 0, to: 1 });
  const source = useRef<GridHandle>(null);
  const code = useRef<GridHandle>(null);
  const values = useMemo(() => lineValues(a, p.side), [a, p.side]);
  useEffect(() => {
    source.current?.reveal(active);
    code.current?.reveal(activeAt);
  }, []);
  const chosen = useRef(`${chosenLine} ${chosenAt}`);
  useEffect(() => {
    // Another line was chosen, here or by Back: both sides show it.
    const now = `${chosenLine} ${chosenAt}`;
    if (chosen.current === now || chosenLine === 0) return;
    chosen.current = now;
    const row = rowOfLine(rows, chosenLine);
    if (rows[active]?.line !== chosenLine) setActive(row);
    source.current?.reveal(rows[active]?.line === chosenLine ? active : row);
    const to = chosenAt >= 0 ? chosenAt : firstOf(a, chosenLine, p.side);
    if (to >= 0) setActiveAt(to);
    code.current?.reveal(to);
  }, [chosenLine, chosenAt]);
  const before = useRef(rows);
  useEffect(() => {
    // The active row stays at its line if rows are unfolded.
    const was = before.current[active];
    if (before.current === rows) return;
    before.current = rows;
    if (was !== undefined)
      setActive(
        Math.max(
          0,
          rows.findIndex((r) => sameRow(r, was)),
        ),
      );
  }, [rows]);
  const toCode = () => {
    const to = firstOf(a, rows[active]?.line ?? 0, p.side);
    if (to >= 0) setActiveAt(to);
    code.current?.reveal(to);
    code.current?.focus();
  };
  const toSource = () => {
    const line = lineOf(a, activeAt);
    if (line > 0) {
      const row = rowOfLine(rows, line);
      setActive(row);
      source.current?.reveal(row);
    }
    source.current?.focus();
  };
  const search = address.get('search');
  const finds = useMemo(() => matcher(search), [search]);
  const hits = useMemo(() => (finds === undefined ? [] : findRows(a, rows, finds)), [a, rows, finds]);
  const step = (backward: boolean) => {
    const line = /^:(\d+)$/.exec(search)?.[1];
    if (line !== undefined) {
      chooseLine(a, Number(line));
      return;
    }
    const to = backward
      ? (hits.filter((n) => n < active).pop() ?? hits[hits.length - 1])
      : (hits.find((n) => n > active) ?? hits[0]);
    if (to === undefined) return;
    setActive(to);
    source.current?.reveal(to);
  };
  const strip = useMemo(() => spots(rows, values), [rows, values]);
  const both = !p.interleaved && (hasCode(a) || a.no_source?.reason !== a.no_instructions?.reason);
  const pane = address.get('pane', a.no_source !== null && rows.length === 0 ? 'instructions' : 'source');
  return (
    <>
      <div class="bar">
        <Find
          className="grow"
          label="Find in source"
          placeholder="Find in source, or :line"
          value={search}
          set={(to) => navigate({ search: to }, true)}
          note={
            finds === undefined || search.startsWith(':')
              ? undefined
              : hits.length === 1
                ? '1 line'
                : `${count(hits.length)} lines`
          }
          enter={step}
        />
        <Which a={a} />
        <Segments
          label="Values"
          options={[
            ['self', 'Self'],
            ['total', 'Total'],
          ]}
          value={p.side}
          set={(to) => navigate({ value: to === 'self' ? null : to })}
        />
        {a.inlined.length > 0 && (
          <button
            type="button"
            class="btn wide"
            aria-pressed={unfold === 'all'}
            onClick={() => navigate({ unfold: unfold === 'all' ? null : 'all' })}
          >
            {unfold === 'all' ? 'Fold inlined code' : 'Unfold inlined code'}
          </button>
        )}
        {both && (
          <div class="panes">
            <Segments
              label="Side"
              options={[
                ['source', 'Source'],
                ['instructions', 'Instructions'],
              ]}
              value={pane}
              set={(to) => navigate({ pane: to })}
            />
          </div>
        )}
      </div>
      <p class="hidden" aria-live="polite">
        {chosenLine > 0 && chosenText(a, chosenLine, values)}
      </p>
      <div
        class={`card codesides ${both ? '' : 'one'} ${rows.length > 0 ? '' : 'bare'} ${hasCode(a) ? '' : 'empty'}`}
        data-pane={pane}
      >
        <section class="codeside of-source" aria-label="Source code">
          {file !== undefined && a.files.length > 1 && <Files a={a} />}
          {a.no_source !== null && <Why of={a.no_source} />}
          {rows.length > 0 && (
            <SourceGrid
              a={a}
              base={base}
              matched={matched}
              side={p.side}
              rows={rows}
              values={values}
              chosen={chosenLine}
              pointed={pointed}
              hits={finds}
              active={active}
              setActive={setActive}
              choose={(row) => chooseRow(a, row)}
              hover={(row) => point(row?.line ?? 0)}
              unfold={(line) => navigate({ unfold: toggled(unfold, line, a) })}
              isUnfolded={(line) => unfold === 'all' || unfold.split(',').includes(String(line))}
              switchSide={both ? toCode : undefined}
              step={step}
              windowed={setSeen}
              handle={source}
            />
          )}
        </section>
        {rows.length > 0 && (
          <HeatStrip
            spots={strip}
            range={file === undefined ? [0, 0] : rangeOf(rows, file)}
            window={seen}
            scrollTo={(to) => source.current?.scrollTo(to)}
          />
        )}
        {both && (
          <section class="codeside of-code" aria-label="Instructions">
            {a.no_instructions !== null && (
              <Why of={a.no_instructions}>
                {a.containers.length > 0 && (
                  <ul class="containers">
                    {a.containers.map((name) => (
                      <li key={name}>
                        <Name of={{ kind: 'function', name }} />
                      </li>
                    ))}
                  </ul>
                )}
              </Why>
            )}
            {a.instructions.text.length > 0 && (
              <InstructionGrid
                a={a}
                base={base}
                side={p.side}
                chosen={chosenLine}
                chosenAt={chosenAt}
                pointed={pointed}
                active={activeAt}
                setActive={setActiveAt}
                choose={(n) => chooseInstruction(a, n)}
                hover={(n) => point(n < 0 ? 0 : lineOf(a, n))}
                switchSide={toSource}
                handle={code}
              />
            )}
          </section>
        )}
      </div>
    </>
  );
}

// chooseRow chooses the line of a row, or its instruction.
function chooseRow(a: Annotated, row: Row): void {
  if (row.kind === 'instruction') chooseInstruction(a, row.index);
  else if (row.kind !== 'gone') chooseLine(a, row.line);
}

function chooseLine(a: Annotated, line: number): void {
  navigate({ file: a.files[a.file]!.name, line: String(line), at: null });
}

// chooseInstruction chooses an instruction and its line, also in another file.
function chooseInstruction(a: Annotated, n: number): void {
  const { part, offset, file, line } = a.instructions;
  const of = file[n]! < 0 ? undefined : a.files[file[n]!];
  navigate({
    at: `${part[n]}:${offset[n]!.toString(16)}`,
    ...(of === undefined || line[n] === 0 ? { line: null } : { file: of.name, line: String(line[n]) }),
  });
}

// instructionAt returns the index of the instruction that `at` in the address names; -1 if there is none.
function instructionAt(a: Annotated, at: string): number {
  const [, part, offset] = /^(\d+):([0-9a-f]+)$/.exec(at) ?? [];
  if (offset === undefined) return -1;
  const { instructions } = a;
  return instructions.offset.findIndex((o, n) => o === parseInt(offset, 16) && instructions.part[n] === Number(part));
}

// lineOf returns the line of an instruction in the file that is shown; 0 if it is not there.
function lineOf(a: Annotated, n: number): number {
  return a.instructions.file[n] === a.file ? a.instructions.line[n]! : 0;
}

// firstOf returns the hottest instruction of a line or, if none has a value, the first; without a line, the function's.
// It is -1 if there is none.
function firstOf(a: Annotated, line: number, side: Side): number {
  const values = side === 'self' ? a.instructions.exclusive : a.instructions.inclusive;
  if (line === 0) return hottestInstruction(values);
  const hottest = hottestInstruction(values.map((v, n) => (lineOf(a, n) === line ? v : 0)));
  return hottest >= 0 ? hottest : a.instructions.line.findIndex((_, n) => lineOf(a, n) === line);
}

// rowOfLine returns the row of a line or, if it is not listed, of the next one.
function rowOfLine(rows: Row[], line: number): number {
  const row = rows.findIndex((r) => r.kind === 'line' && r.line >= line);
  return row < 0 ? Math.max(0, rows.length - 1) : row;
}

function sameRow(a: Row, b: Row): boolean {
  if (a.kind !== b.kind || a.line !== b.line) return false;
  if (a.kind === 'inlined' && b.kind === 'inlined') return a.place === b.place;
  return a.kind !== 'instruction' || b.kind !== 'instruction' || a.index === b.index;
}

function findRows(a: Annotated, rows: Row[], finds: (text: string) => boolean): number[] {
  const found: number[] = [];
  rows.forEach((r, n) => {
    if (r.kind === 'line' && finds(a.text[r.line - 1] ?? '')) found.push(n);
    else if (r.kind === 'inlined' && finds(r.place.function)) found.push(n);
    else if (r.kind === 'instruction' && finds(a.instructions.text[r.index]!)) found.push(n);
  });
  return found;
}

// toggled returns the lines whose inlined code is unfolded after a change of one.
function toggled(unfold: string, line: number, a: Annotated): string | null {
  const all =
    unfold === 'all'
      ? a.inlined.map((p) => p.line)
      : unfold
          .split(',')
          .filter((t) => t !== '')
          .map(Number);
  const lines = new Set(all);
  if (!lines.delete(line)) lines.add(line);
  return lines.size === 0 ? null : [...lines].join(',');
}

function spots(rows: Row[], values: ReturnType<typeof lineValues>) {
  const highest = highestOwn(values);
  const list: { at: number; heat: number }[] = [];
  rows.forEach((r, n) => {
    const v = r.kind === 'line' ? values.get(r.line) : undefined;
    if (v !== undefined && v.all > 0)
      list.push({ at: n / rows.length, heat: heat(v.own > 0 ? v.own : v.all, highest) });
  });
  return list;
}

function rangeOf(rows: Row[], file: { first: number; last: number }): [number, number] {
  return [rowOfLine(rows, file.first) / rows.length, (rowOfLine(rows, file.last) + 1) / rows.length];
}

function chosenText(a: Annotated, line: number, values: ReturnType<typeof lineValues>): string {
  const own = values.get(line)?.own ?? 0;
  const n = a.instructions.line.filter((_, i) => lineOf(a, i) === line).length;
  const share = percent(own, a.exclusive) || '0';
  const instructions = n === 1 ? '1 instruction' : `${n} instructions`;
  return `Line ${line}: ${amount(own, a.unit)}, ${share} of the function, ${instructions}`;
}

function Files({ a }: { a: Annotated }) {
  return (
    <div class="codefiles">
      <Picker
        label="File"
        text={
          <>
            {shortFile(a.files[a.file]!.name)} <span>1 of {a.files.length} files</span>
          </>
        }
        options={a.files.map((f) => ({ value: f.name, text: f.name, note: amount(f.exclusive, a.unit) }))}
        value={a.files[a.file]!.name}
        set={(file) => navigate({ file, line: null, at: null, unfold: null })}
      />
    </div>
  );
}

// Why says why something is missing, and what helps.
function Why({ of, children }: { of: Explanation; children?: ComponentChildren }) {
  return (
    <div class="codewhy">
      <p>{of.reason}</p>
      {of.remedy !== '' && (
        <p class="remedy">
          <code>{of.remedy}</code>
          <button type="button" class="btn" onClick={() => void navigator.clipboard.writeText(of.remedy)}>
            Copy
          </button>
        </p>
      )}
      {children}
    </div>
  );
}
