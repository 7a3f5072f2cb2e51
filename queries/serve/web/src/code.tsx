// The panel of a function's code: its source and its instructions, side by side and linked.
import { useMemo, useState } from 'preact/hooks';
import { useData } from './api';
import { CodeTable, spotOf, type CodeRow } from './codetable';
import { Link } from './link';
import { Frame } from './parts';
import { go, scope, usePlace, type Changes } from './place';
import { amount, num, type Value } from './units';

interface Row {
  experiment: string;
  metric: string;
  unit: string;
  file: string;
  line: number | null;
  exclusive: Value | null;
  inclusive: Value | null;
}

interface LineRow extends Row {
  text: string | null;
}

interface InlinedRow extends Row {
  depth: number;
  path: string;
  function: string;
  inlined_file: string;
  inlined_line: number;
}

interface InstructionRow extends Row {
  function: string;
  load_object: string;
  address: Value;
  text: string;
  target_name: string | null;
}

interface FunctionRow {
  experiment: string;
  metric: string;
  function: string;
  load_object: string;
  kind: string;
  unit: string;
  exclusive: Value;
  inclusive: Value;
}

interface ObjectRow {
  experiment: string;
  load_object: string;
  path: string;
  symbols: string;
  lines: boolean;
}

export function CodePanel() {
  const place = usePlace();
  const of = place.get('function');
  const asked: Changes = { ...scope(place), metric: place.get('metric'), function: of };
  const functions = useData<FunctionRow[]>(of === '' ? undefined : 'views/functions', asked);
  if (of === '') return <section class="panel"><p class="note">Choose a function in <Link to={{ view: 'functions' }}>Functions</Link>: its source and its instructions are shown here.</p></section>;
  return (
    <Frame title="Function" answer={functions} empty={(rows) => rows.length === 0} none={`${of} has no value: choose other experiments, another metric, or fewer filters.`}>
      {(rows) => <Code rows={rows} asked={asked} />}
    </Frame>
  );
}

// Code is about a function in one experiment and metric.
function Code({ rows, asked }: { rows: FunctionRow[]; asked: Changes }) {
  const place = usePlace();
  const choices = useMemo(() => [...new Map(rows.map((r) => [`${r.experiment}, ${r.metric}`, r])).values()], [rows]);
  const chosen = choices.find((r) => r.experiment === place.get('run') && r.metric === place.get('metric', r.metric)) ?? choices[0]!;
  const here = rows.filter((r) => r.experiment === chosen.experiment && r.metric === chosen.metric);
  const parameters: Changes = { ...asked, experiment: chosen.experiment, metric: chosen.metric };
  const source = useData<LineRow[]>('views/source', parameters);
  const disasm = useData<InstructionRow[]>('views/disasm', parameters);
  const inlined = useData<InlinedRow[]>('views/source-inlined', parameters);
  const total = useData<FunctionRow[]>('views/functions', { ...parameters, function: '<Total>', limit: '1' });
  const whole = num(total.data?.[0]?.inclusive);
  const [hovered, hover] = useState('');
  const spot = place.get('line');
  const select = (to: string) => go({ line: to }, true);
  const names = [...new Set(here.map((r) => r.function))];
  const lines = useMemo(() => linesOf(source.data ?? [], inlined.data ?? []), [source.data, inlined.data]);
  const instructions = useMemo(() => instructionsOf(disasm.data ?? []), [disasm.data]);
  const pane = place.get('pane');
  return (
    <>
      <h2>{names.slice(0, 3).join(', ')}{names.length > 3 && ` and ${names.length - 3} more`}</h2>
      <div class="bar">
        {choices.length > 1 && (
          <label>
            Of {choices.length} experiments
            <select value={chosen.experiment} onChange={(e) => go({ run: e.currentTarget.value, line: null })}>{choices.map((r) => <option key={r.experiment}>{r.experiment}</option>)}</select>
          </label>
        )}
        <label>
          Show
          <select value={pane} onChange={(e) => go({ pane: e.currentTarget.value })}>
            <option value="">source and disassembly</option>
            <option value="source">source</option>
            <option value="disasm">disassembly</option>
          </select>
        </label>
        <label class="check"><input type="checkbox" checked={place.get('unfold') === 'true'} onChange={(e) => go({ unfold: e.currentTarget.checked ? 'true' : null })} /> Unfold inlined code</label>
      </div>
      <p class="told" aria-live="polite">{spot === '' ? 'Choose a line or an instruction: what belongs to it is marked on the other side.' : told(spot, lines, instructions, here[0]!.unit)}</p>
      <div class={pane === '' ? 'sides' : ''}>
        {pane !== 'disasm' && (
          <Frame title="Source" answer={source}>
            {(data) => (
              <>
                <Missing rows={data} here={here} what="source" />
                {lines.length > 0 && <CodeTable label="Annotated source" at="Line" rows={lines} total={whole} spot={spot} hovered={hovered} select={select} hover={hover} unfold={place.get('unfold') === 'true'} />}
              </>
            )}
          </Frame>
        )}
        {pane !== 'source' && (
          <Frame title="Disassembly" answer={disasm}>
            {(data) => (
              <>
                <Missing rows={data} here={here} what="disassembly" />
                {instructions.length > 0 && <CodeTable label="Annotated disassembly" at="Address" rows={instructions} total={whole} spot={spot} hovered={hovered} select={select} hover={hover} unfold={false} />}
              </>
            )}
          </Frame>
        )}
      </div>
    </>
  );
}

// linesOf are the lines, with what was inlined at each.
function linesOf(lines: LineRow[], inlined: InlinedRow[]): CodeRow[] {
  const below = new Map<string, CodeRow[]>();
  for (const r of [...inlined].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))) {
    const at = spotOf(r.file, r.line);
    const row: CodeRow = {
      key: `${at}\n${r.path}\n${r.inlined_file}`, spot: at, group: r.file, at: String(r.inlined_line), text: r.function, unit: r.unit,
      exclusive: num(r.exclusive), inclusive: num(r.inclusive), depth: r.depth + 1, title: r.inlined_file, below: [],
    };
    below.set(at, [...(below.get(at) ?? []), row]);
  }
  return lines.map((r) => {
    const spot = spotOf(r.file, r.line);
    return {
      key: spot, spot, group: r.file, at: String(r.line), text: r.text ?? '', unit: r.unit,
      exclusive: num(r.exclusive), inclusive: num(r.inclusive), depth: 0, title: '', below: below.get(spot) ?? [],
    };
  });
}

function instructionsOf(rows: InstructionRow[]): CodeRow[] {
  return rows.map((r) => ({
    key: `${r.load_object}\n${r.function}\n${r.address}`, spot: spotOf(r.file, r.line), group: `${r.function} (${r.load_object})`, at: BigInt(r.address).toString(16),
    text: r.text + (r.target_name === null || r.target_name === '' ? '' : '  ' + r.target_name), unit: r.unit,
    exclusive: num(r.exclusive), inclusive: num(r.inclusive), depth: 0, title: r.line === null ? '' : `${r.file}:${r.line}`, below: [],
  }));
}

function told(spot: string, lines: CodeRow[], instructions: CodeRow[], unit: string): string {
  const [file, line] = spot.split('\n');
  const own = instructions.filter((r) => r.spot === spot);
  const sum = own.reduce((n, r) => n + r.exclusive, 0);
  const of = lines.find((r) => r.spot === spot);
  return `Line ${line} of ${file}: ${of === undefined ? 'not among the lines here' : `itself ${amount(of.exclusive, unit)}, inclusive ${amount(of.inclusive, unit)}`}; ${own.length} instructions here with ${amount(sum, unit)}.`;
}

// Missing says what is not there, and why.
function Missing({ rows, here, what }: { rows: (LineRow | InstructionRow)[]; here: FunctionRow[]; what: 'source' | 'disassembly' }) {
  const objects = useData<ObjectRow[]>(rows.length > 0 ? undefined : 'views/objects', { experiment: here[0]!.experiment });
  const textless = what === 'source' ? [...new Set(rows.filter((r) => r.text === null).map((r) => r.file))] : [];
  if (rows.length > 0) {
    return textless.length === 0 ? null : <p class="note">The text of {textless.join(', ')} was not found when the recording was read: only the lines that have code are listed. To have the text, <code>stackmill forget</code> the experiment and <code>stackmill ingest --forgotten --source-path</code> it again.</p>;
  }
  if (objects.error !== undefined) return <p class="error" role="alert">{objects.error.message}</p>;
  if (objects.data === undefined) return <p class="note" aria-busy="true">Loading…</p>;
  const reasons = new Set(here.map((f) => reason(f, objects.data!.find((o) => o.load_object === f.load_object), what)));
  return <>{[...reasons].map((r) => <p key={r} class="note">{r}</p>)}</>;
}

function reason(f: FunctionRow, o: ObjectRow | undefined, what: 'source' | 'disassembly'): string {
  if (f.kind === 'artificial' || f.kind === 'unknown' || o === undefined) return `${f.function} is no function with code.`;
  const object = o.path === '' ? o.load_object : o.path;
  if (o.symbols === 'none') return `${object} was not found when the recording was read: nothing is known of its code. Once it is there, stackmill resymbolize finds it.`;
  if (o.symbols === 'recording') return `What is known of ${object} is from the recording alone, which has no ${what === 'source' ? 'lines of this function' : 'machine code'}.`;
  if (what === 'source') {
    return o.lines ? `The debug information of ${object} has no line of ${f.function}.` : `${object} has no line numbers: it was built without debug information, or that was not found. Once it is there, stackmill resymbolize finds it.`;
  }
  return `The machine code of ${f.function} in ${object} was not kept: its symbols were found, its code was not, or is of a kind that is not decoded.`;
}
