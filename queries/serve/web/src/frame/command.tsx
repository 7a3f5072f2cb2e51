// The command box: it finds places, programs, nights, functions and commands.
import { useEffect, useRef, useState } from 'preact/hooks';
import { navigate, scope, useAddress } from '../lib/address';
import { useData } from '../lib/api';
import { format, parse } from '../lib/selection';
import { useSelection } from '../lib/selectionanswer';
import { reference } from '../lib/shortname';
import { count, day } from '../lib/units';
import { places, toPlace } from '../places';

export interface Command {
  text: string;
  kind: string; // the heading in the list
  note?: string;
  run: () => void;
}

const most = 8; // of each kind
const pause = 150; // ms without typing before functions are searched

export function CommandBox({ close, commands }: { close: () => void; commands: Command[] }) {
  const address = useAddress();
  const [text, setText] = useState('');
  const [searched, setSearched] = useState('');
  const [active, setActive] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  useEffect(() => {
    const later = setTimeout(() => setSearched(text.trim()), pause);
    return () => clearTimeout(later);
  }, [text]);
  const selection = useSelection(address).data;
  const functions = useData<{ rows: { function: string; kind: string }[] }>(
    searched.length < 2 ? undefined : 'functions',
    { ...scope(address), metric: selection?.metric ?? '', search: searched, limit: String(most) },
  );
  const { programs } = parse(address.all('experiment'));
  const all: Command[] = [
    ...Object.entries(places).map(([name, p]) => ({
      kind: 'Places',
      text: p.label,
      note: `G ${p.key}`,
      run: () => navigate(toPlace(name)),
    })),
    ...commands,
    ...(selection?.programs ?? [])
      .filter((p) => p.name !== '')
      .map((p) => ({
        kind: 'Programs',
        text: p.name,
        note: `${count(p.experiments)} experiments`,
        run: () => navigate({ experiment: [`target=${p.name}`], zoom: null }),
      })),
    ...(selection?.nights ?? [])
      .filter((n) => n.name !== '')
      .map((n) => ({
        kind: 'Nights',
        text: `Night of ${day(n.name)}`,
        note: n.name,
        run: () => navigate({ experiment: format({ programs, runs: [`started=${n.name}`] }), zoom: null }),
      })),
  ];
  const lower = text.trim().toLowerCase();
  const kinds = [...new Set(all.map((c) => c.kind))];
  const matching = kinds.flatMap((kind) =>
    all
      .filter((c) => c.kind === kind && `${c.text} ${c.note ?? ''}`.toLowerCase().includes(lower))
      .slice(0, lower === '' && kind !== 'Places' && kind !== 'Commands' ? 3 : most * 2),
  );
  const found = new Set<string>();
  for (const f of functions.data?.rows ?? []) if (f.kind !== 'artificial') found.add(f.function);
  if (lower.length >= 2)
    for (const name of [...found].slice(0, most))
      matching.push({
        kind: 'Functions',
        text: name,
        run: () => navigate({ view: 'source', function: reference(name), line: null }),
      });
  const at = Math.min(active, matching.length - 1);
  const take = (c: Command | undefined) => {
    if (c === undefined) return;
    close();
    c.run();
  };
  return (
    <dialog
      ref={dialog}
      class="commandbox"
      aria-label="Command box"
      onClose={close}
      onClick={(e) => e.target === dialog.current && close()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={`command-${at}`}
        aria-label="Find a program, night, function, place or command"
        placeholder="Find a program, night, function, place or command"
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={(e) => {
          const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[e.key];
          if (e.key === 'Enter') take(matching[at]);
          else if (to !== undefined) setActive((to + matching.length) % Math.max(matching.length, 1));
          else return;
          e.preventDefault();
        }}
      />
      <div id="commands" role="listbox" aria-label="Found" class="found">
        {matching.map((c, n) => (
          <CommandRow
            key={c.kind + c.text}
            command={c}
            heading={c.kind !== matching[n - 1]?.kind}
            n={n}
            active={n === at}
            take={take}
          />
        ))}
        {matching.length === 0 && (
          <p class="note" role="option" aria-selected="false">
            {functions.loading || searched !== text.trim() ? 'Searching functions…' : 'Nothing has this name.'}
          </p>
        )}
      </div>
    </dialog>
  );
}

function CommandRow(p: { command: Command; heading: boolean; n: number; active: boolean; take: (c: Command) => void }) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (p.active) row.current!.scrollIntoView({ block: 'nearest' });
  }, [p.active]);
  return (
    <>
      {p.heading && (
        <div class="group" role="presentation">
          {p.command.kind}
        </div>
      )}
      <div
        ref={row}
        id={`command-${p.n}`}
        role="option"
        class={p.active ? 'active' : ''}
        aria-selected={p.active}
        onClick={() => p.take(p.command)}
      >
        <span>{p.command.text}</span>
        {p.command.note !== undefined && <small>{p.command.note}</small>}
      </div>
    </>
  );
}
