// The panel of a function's code: source and disassembly side by side. Selecting a row in one selects it in
// the other.
import { useMemo, useState } from 'preact/hooks';
import { useData } from '../lib/api';
import { CodeTable, spotOf, type CodeRow } from '../parts/codetable';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';
import { navigate, scope, useAddress, type Params } from '../lib/address';
import { amount, num } from '../lib/units';
import type { DisasmRow, FunctionsRow, ObjectsRow, SourceInlinedRow, SourceRow } from '../lib/rows';

export function CodePanel() {
  const address = useAddress();
  const of = address.get('function');
  const asked: Params = { ...scope(address), metric: address.get('metric'), function: of };
  const functions = useData<FunctionsRow[]>(of === '' ? undefined : 'views/functions', asked);
  if (of === '')
    return (
      <section class="panel">
        <p class="note">
          Choose a function in <Link to={{ view: 'functions' }}>Functions</Link>: its source and its instructions are
          shown here.
        </p>
      </section>
    );
  return (
    <Panel
      title="Function"
      answer={functions}
      empty={(rows) => rows.length === 0}
      none={`${of} has no samples: choose other experiments, another metric, or fewer filters.`}
    >
      {(rows) => <Code rows={rows} asked={asked} />}
    </Panel>
  );
}

// Code shows the code of a function with the values of one experiment and metric.
function Code({ rows, asked }: { rows: FunctionsRow[]; asked: Params }) {
  const address = useAddress();
  const choices = useMemo(() => [...new Map(rows.map((r) => [`${r.experiment}, ${r.metric}`, r])).values()], [rows]);
  const chosen =
    choices.find((r) => r.experiment === address.get('run') && r.metric === address.get('metric', r.metric)) ??
    choices[0]!;
  const here = rows.filter((r) => r.experiment === chosen.experiment && r.metric === chosen.metric);
  const parameters: Params = { ...asked, experiment: chosen.experiment, metric: chosen.metric };
  const source = useData<SourceRow[]>('views/source', parameters);
  const disasm = useData<DisasmRow[]>('views/disasm', parameters);
  const inlined = useData<SourceInlinedRow[]>('views/source-inlined', parameters);
  const total = useData<FunctionsRow[]>('views/functions', { ...parameters, function: '<Total>', limit: '1' });
  const whole = num(total.data?.[0]?.inclusive);
  const [hovered, hover] = useState('');
  const spot = address.get('line');
  const select = (to: string) => navigate({ line: to }, true);
  const names = [...new Set(here.map((r) => r.function))];
  const lines = useMemo(() => sourceRows(source.data ?? [], inlined.data ?? []), [source.data, inlined.data]);
  const instructions = useMemo(() => instructionRows(disasm.data ?? []), [disasm.data]);
  const pane = address.get('pane');
  return (
    <>
      <h2>
        {names.slice(0, 3).join(', ')}
        {names.length > 3 && ` and ${names.length - 3} more`}
      </h2>
      <div class="bar">
        {choices.length > 1 && (
          <label>
            Of {choices.length} experiments
            <select value={chosen.experiment} onChange={(e) => navigate({ run: e.currentTarget.value, line: null })}>
              {choices.map((r) => (
                <option key={r.experiment}>{r.experiment}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          Show
          <select value={pane} onChange={(e) => navigate({ pane: e.currentTarget.value })}>
            <option value="">source and disassembly</option>
            <option value="source">source</option>
            <option value="disasm">disassembly</option>
          </select>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={address.get('unfold') === 'true'}
            onChange={(e) => navigate({ unfold: e.currentTarget.checked ? 'true' : null })}
          />{' '}
          Unfold inlined code
        </label>
      </div>
      <p class="told" aria-live="polite">
        {spot === ''
          ? 'Choose a line to mark its instructions, or an instruction to mark its line.'
          : spotText(spot, lines, instructions, here[0]!.unit)}
      </p>
      <div class={pane === '' ? 'sides' : ''}>
        {pane !== 'disasm' && (
          <Panel title="Source" answer={source}>
            {(data) => (
              <>
                <MissingCode rows={data} here={here} what="source" />
                {lines.length > 0 && (
                  <CodeTable
                    label="Annotated source"
                    at="Line"
                    rows={lines}
                    total={whole}
                    spot={spot}
                    hovered={hovered}
                    select={select}
                    hover={hover}
                    unfold={address.get('unfold') === 'true'}
                  />
                )}
              </>
            )}
          </Panel>
        )}
        {pane !== 'source' && (
          <Panel title="Disassembly" answer={disasm}>
            {(data) => (
              <>
                <MissingCode rows={data} here={here} what="disassembly" />
                {instructions.length > 0 && (
                  <CodeTable
                    label="Annotated disassembly"
                    at="Address"
                    rows={instructions}
                    total={whole}
                    spot={spot}
                    hovered={hovered}
                    select={select}
                    hover={hover}
                    unfold={false}
                  />
                )}
              </>
            )}
          </Panel>
        )}
      </div>
    </>
  );
}

// sourceRows returns a row for each line of source. Code that was inlined at a line is below its row.
function sourceRows(lines: SourceRow[], inlined: SourceInlinedRow[]): CodeRow[] {
  const below = new Map<string, CodeRow[]>();
  for (const r of [...inlined].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))) {
    const at = spotOf(r.file, r.line);
    const row: CodeRow = {
      key: `${at}\n${r.path}\n${r.inlined_file}`,
      spot: at,
      group: r.file,
      at: String(r.inlined_line),
      text: r.function,
      unit: r.unit,
      exclusive: num(r.exclusive),
      inclusive: num(r.inclusive),
      depth: r.depth + 1,
      title: r.inlined_file,
      below: [],
    };
    below.set(at, [...(below.get(at) ?? []), row]);
  }
  return lines.map((r) => {
    const spot = spotOf(r.file, r.line);
    return {
      key: spot,
      spot,
      group: r.file,
      at: String(r.line),
      text: r.text ?? '',
      unit: r.unit,
      exclusive: num(r.exclusive),
      inclusive: num(r.inclusive),
      depth: 0,
      title: '',
      below: below.get(spot) ?? [],
    };
  });
}

function instructionRows(rows: DisasmRow[]): CodeRow[] {
  return rows.map((r) => ({
    key: `${r.load_object}\n${r.function}\n${r.address}`,
    spot: spotOf(r.file, r.line),
    group: `${r.function} (${r.load_object})`,
    at: BigInt(r.address).toString(16),
    text: r.text + (r.target_name === null || r.target_name === '' ? '' : '  ' + r.target_name),
    unit: r.unit,
    exclusive: num(r.exclusive),
    inclusive: num(r.inclusive),
    depth: 0,
    title: r.line === null ? '' : `${r.file}:${r.line}`,
    below: [],
  }));
}

function spotText(spot: string, lines: CodeRow[], instructions: CodeRow[], unit: string): string {
  const [file, line] = spot.split('\n');
  const own = instructions.filter((r) => r.spot === spot);
  const sum = own.reduce((n, r) => n + r.exclusive, 0);
  const of = lines.find((r) => r.spot === spot);
  const values =
    of === undefined
      ? 'not among the lines here'
      : `exclusive ${amount(of.exclusive, unit)}, inclusive ${amount(of.inclusive, unit)}`;
  return `Line ${line} of ${file}: ${values}; ${own.length} instructions here with ${amount(sum, unit)}.`;
}

// MissingCode says why source or disassembly is missing.
function MissingCode({
  rows,
  here,
  what,
}: {
  rows: (SourceRow | DisasmRow)[];
  here: FunctionsRow[];
  what: 'source' | 'disassembly';
}) {
  const objects = useData<ObjectsRow[]>(rows.length > 0 ? undefined : 'views/objects', {
    experiment: here[0]!.experiment,
  });
  const textless = what === 'source' ? [...new Set(rows.filter((r) => r.text === null).map((r) => r.file))] : [];
  if (rows.length > 0) {
    return textless.length === 0 ? null : (
      <p class="note">
        The text of {textless.join(', ')} was not found when the recording was read: only the lines that have code are
        listed. To have the text, <code>stackmill forget</code> the experiment and{' '}
        <code>stackmill ingest --forgotten --source-path</code> it again.
      </p>
    );
  }
  if (objects.error !== undefined)
    return (
      <p class="error" role="alert">
        {objects.error.message}
      </p>
    );
  if (objects.data === undefined)
    return (
      <p class="note" aria-busy="true">
        Loading…
      </p>
    );
  const reasons = new Set(
    here.map((f) =>
      missingReason(
        f,
        objects.data!.find((o) => o.load_object === f.load_object),
        what,
      ),
    ),
  );
  return (
    <>
      {[...reasons].map((r) => (
        <p key={r} class="note">
          {r}
        </p>
      ))}
    </>
  );
}

const resymbolize = 'When the file is available, run stackmill resymbolize.';

function missingReason(f: FunctionsRow, o: ObjectsRow | undefined, what: 'source' | 'disassembly'): string {
  if (f.kind === 'artificial' || f.kind === 'unknown' || o === undefined)
    return `${f.function} is not a function with code.`;
  const object = o.path === '' ? o.load_object : o.path;
  if (o.symbols === 'none') return `${object} was not found when the recording was read. ${resymbolize}`;
  const lacking = what === 'source' ? 'lines of this function' : 'machine code';
  if (o.symbols === 'recording') return `Only the recording describes ${object}, and it has no ${lacking}.`;
  if (what === 'source') {
    return o.lines
      ? `The debug information of ${object} has no line of ${f.function}.`
      : `${object} has no line numbers: it was built without debug information, or that was not found. ${resymbolize}`;
  }
  return (
    `The machine code of ${f.function} in ${object} is missing: only symbols were found, ` +
    'or the code is for a processor that stackmill does not decode.'
  );
}
