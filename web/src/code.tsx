// The panels of annotated source and disassembly of a function.
import { useData } from './api';
import { Link } from './link';
import { Frame, Share } from './parts';
import { scope, usePlace } from './place';
import { amount, num, type Value } from './units';

interface LineRow {
  unit: string;
  file: string;
  line: number;
  text: string | null;
  functions: string;
  exclusive: Value | null;
  inclusive: Value | null;
}

interface InstructionRow {
  unit: string;
  function: string;
  load_object: string;
  address: Value;
  text: string;
  target_name: string | null;
  file: string;
  line: number | null;
  exclusive: Value | null;
  inclusive: Value | null;
}

function None({ what }: { what: string }) {
  return <section class="panel"><p class="note">Choose a function in <Link to={{ view: 'functions' }}>Functions</Link>: its {what} is shown here.</p></section>;
}

export function SourcePanel() {
  const place = usePlace();
  const of = place.get('function');
  const answer = useData<LineRow[]>(of === '' ? undefined : 'views/source', { ...scope(place), metric: place.get('metric'), function: of });
  if (of === '') return <None what="source" />;
  return (
    <Frame title="Source" answer={answer} empty={(rows) => rows.length === 0} none={`No line of ${of} is known: it was built without debug information, or its source was not found.`}>
      {(rows) => {
        const total = rows.reduce((n, r) => n + num(r.exclusive), 0);
        return (
          <>
            <h2>{of}</h2>
            <div class="scroll code" tabIndex={0} role="region" aria-label="Annotated source">
              <table>
                <thead><tr><th scope="col" class="number">Exclusive</th><th scope="col" class="number">%</th><th scope="col" class="number">Inclusive</th><th scope="col" class="number">Line</th><th scope="col">Source</th></tr></thead>
                <tbody>
                  {rows.map((r) => (
                    <tr key={r.file + r.line} class={hot(r.exclusive, total)}>
                      <td class="number">{num(r.exclusive) === 0 ? '' : amount(r.exclusive!, r.unit)}</td>
                      <td class="number">{num(r.exclusive) === 0 ? '' : <Share part={num(r.exclusive)} total={total} />}</td>
                      <td class="number">{num(r.inclusive) === 0 ? '' : amount(r.inclusive!, r.unit)}</td>
                      <td class="number">{r.line}</td>
                      <td class="name">{r.text ?? ''}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        );
      }}
    </Frame>
  );
}

export function DisasmPanel() {
  const place = usePlace();
  const of = place.get('function');
  const answer = useData<InstructionRow[]>(of === '' ? undefined : 'views/disasm', { ...scope(place), metric: place.get('metric'), function: of });
  if (of === '') return <None what="disassembly" />;
  return (
    <Frame title="Disassembly" answer={answer} empty={(rows) => rows.length === 0} none={`The instructions of ${of} are not known: its machine code was not found, or it has no value.`}>
      {(rows) => {
        const total = rows.reduce((n, r) => n + num(r.exclusive), 0);
        return (
          <>
            <h2>{of}</h2>
            <div class="scroll code" tabIndex={0} role="region" aria-label="Annotated disassembly">
              <table>
                <thead><tr><th scope="col" class="number">Exclusive</th><th scope="col" class="number">%</th><th scope="col" class="number">Line</th><th scope="col" class="number">Address</th><th scope="col">Instruction</th></tr></thead>
                <tbody>
                  {rows.map((r) => (
                    <tr key={r.load_object + r.address} class={hot(r.exclusive, total)}>
                      <td class="number">{num(r.exclusive) === 0 ? '' : amount(r.exclusive!, r.unit)}</td>
                      <td class="number">{num(r.exclusive) === 0 ? '' : <Share part={num(r.exclusive)} total={total} />}</td>
                      <td class="number">{r.line ?? ''}</td>
                      <td class="number">{num(r.address).toString(16)}</td>
                      <td class="name">{r.text}{r.target_name === null || r.target_name === '' ? '' : `  ${r.target_name}`}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        );
      }}
    </Frame>
  );
}

// hot marks lines that have much of the time.
function hot(v: Value | null, total: number): string {
  const part = total === 0 ? 0 : num(v) / total;
  return part >= 0.1 ? 'hot' : part >= 0.02 ? 'warm' : '';
}
