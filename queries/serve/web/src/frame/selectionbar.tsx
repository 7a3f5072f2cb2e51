// The selection bar: what is looked at, against what, by which metric, and how much of the whole it is.
import { useEffect, useState } from 'preact/hooks';
import { filters, navigate, useAddress, type Address } from '../lib/address';
import { chipText, filterKinds, written } from '../lib/filters';
import { rangeText } from '../lib/groups';
import { format, parse } from '../lib/selection';
import { hasData, kindOf, titleOf, useSelection, type Counted, type SelectionAnswer } from '../lib/selectionanswer';
import { amount, count, day, exact, num, percent } from '../lib/units';
import { Meter } from '../parts/meter';
import { Picker, type Option } from '../parts/picker';
import { GroupPicker } from '../parts/grouppicker';
import { Popover } from './popover';

const foldable = [...filters, 'fold'] as const;
const chipsAtMost = 3; // more filters fold into one chip

export function SelectionBar({ unscoped }: { unscoped: boolean }) {
  const address = useAddress();
  const answer = useSelection(address);
  const s = answer.data;
  const base = address.all('base');
  const swap = () => navigate({ base: address.all('experiment'), experiment: base, zoom: null });
  return (
    <section class="selection" aria-label="Selection" aria-busy={answer.loading}>
      {base.length > 0 && (
        <>
          <div class="side base">
            <em>Base</em>
            <Runs address={address} parameter="base" known={s?.programs ?? []} />
            <button
              type="button"
              class="chip"
              aria-label="Without the base"
              onClick={() => navigate({ base: null, pin: null })}
            >
              ×
            </button>
          </div>
          <button
            type="button"
            class="square"
            title="Swap base and test (X)"
            aria-label="Swap base and test"
            data-key="x"
            onClick={swap}
          >
            <svg
              width="16"
              height="14"
              viewBox="0 0 16 14"
              fill="none"
              stroke="currentColor"
              stroke-width="1.4"
              aria-hidden="true"
            >
              <path d="M11 1l3 3-3 3M14 4H3M5 7l-3 3 3 3M2 10h11" />
            </svg>
          </button>
        </>
      )}
      <div class="side test">
        <em>{base.length > 0 ? 'Test' : 'Show'}</em>
        <Runs address={address} parameter="experiment" known={s?.programs ?? []} />
        <FilterChips address={address} />
      </div>
      {base.length > 0 ? (
        <button
          type="button"
          class="square"
          data-key="p"
          aria-pressed={address.get('pin') === '1'}
          title="Pin the base: it stays when the test changes (P)"
          aria-label="Pin the base"
          onClick={() => navigate({ pin: address.get('pin') === '1' ? null : '1' })}
        >
          <svg
            width="14"
            height="14"
            viewBox="0 0 14 14"
            fill="none"
            stroke="currentColor"
            stroke-width="1.4"
            aria-hidden="true"
          >
            <path d="M5 1h4l-.6 4.2L11 7.5v1H3v-1l2.6-2.3zM7 8.5V13" />
          </svg>
        </button>
      ) : (
        <AddBase />
      )}
      <AddFilter />
      <span class="sp" />
      {!unscoped && (
        <>
          {s !== undefined && <MetricPicker s={s} />}
          <Picker
            label="Mode"
            text={<span class="value">{address.get('mode', 'user')}</span>}
            value={address.get('mode', 'user')}
            options={[
              { value: 'user', text: 'user', note: 'the program as it was written' },
              { value: 'expert', text: 'expert', note: 'with the frames of run-time systems' },
              { value: 'machine', text: 'machine', note: 'as the machine ran it' },
            ]}
            set={(mode) => navigate({ mode: mode === 'user' ? null : mode, zoom: null })}
            right
          />
          {s !== undefined && <Portion s={s} />}
        </>
      )}
      {answer.error !== undefined && (
        <span class="error" role="alert">
          {answer.error.message}
        </span>
      )}
    </section>
  );
}

function Portion({ s }: { s: SelectionAnswer }) {
  return (
    <div
      class="portion"
      title={`${exact(s.value, s.unit)} of ${exact(s.whole, s.unit)}, in ${count(s.experiments)} experiments`}
    >
      <b>{amount(s.value, s.unit)}</b>{' '}
      <small>
        {percent(s.value, s.whole)} of it{s.lacking > 0 && `, ${count(s.lacking)} runs lack it`}
      </small>
      <Meter part={num(s.value)} total={num(s.whole)} />
    </div>
  );
}

function MetricPicker({ s }: { s: SelectionAnswer }) {
  const kinds = ['Time', 'Events', 'Heap', 'Files', 'Locks'];
  const sorted = [
    ...kinds.flatMap((k) => s.metrics.filter((m) => hasData(m) && kindOf(m) === k)),
    ...s.metrics.filter((m) => !hasData(m)),
  ];
  const options = sorted.map((m): Option => ({
    value: m.metric,
    text: m.title === '' ? m.metric : m.title,
    note: `${m.metric} · ${hasData(m) ? amount(m.value, m.unit) : 'no data'}`,
    group: hasData(m) ? kindOf(m) : 'No data',
  }));
  return (
    <Picker
      label="Metric"
      text={
        <>
          {titleOf(s)}
          <span class="wide1500">{s.metric}</span>
        </>
      }
      value={s.metric}
      options={options}
      set={(metric) => navigate({ metric, zoom: null })}
      right
    />
  );
}

// Runs are the chips of one side: the programs and the runs.
function Runs({ address, parameter, known }: { address: Address; parameter: 'experiment' | 'base'; known: Counted[] }) {
  const selection = parse(address.all(parameter));
  const [open, setOpen] = useState(false);
  const { programs, runs } = selection;
  const set = (change: Partial<typeof selection>) => {
    setOpen(false);
    const pinned = address.get('pin') === '1';
    navigate({
      [parameter]: format({ ...selection, ...change }),
      ...(parameter === 'experiment' && !pinned && change.programs !== undefined ? { base: null } : {}),
      zoom: null,
      page: null,
    });
  };
  return (
    <>
      <Programs programs={programs} set={(p) => set({ programs: p })} known={known} />
      <Popover
        label={parameter === 'base' ? 'Runs of the base' : 'Runs'}
        className="chip"
        text={
          <>
            <span>{runsText(runs)}</span>
            <i class="caret" aria-hidden="true" />
          </>
        }
        open={open}
        setOpen={setOpen}
      >
        {address.all('base').length > 0 ? (
          <GroupPicker done={() => setOpen(false)} />
        ) : (
          <RunsChoice selection={selection} set={(r) => set({ runs: r })} />
        )}
      </Popover>
    </>
  );
}

// runsText describes conditions on runs.
export function runsText(runs: string[]): string {
  if (runs.length === 0) return 'All runs';
  const range = /^(?:started|night)=(\d{4}-\d{2}-\d{2})?\.\.(\d{4}-\d{2}-\d{2})?$/.exec(runs[0]!);
  if (runs.length === 1 && range !== null) {
    const [from, until] = [range[1], range[2]];
    if (from === undefined) return until === undefined ? 'All runs' : `nights to ${day(until)}`;
    return until === undefined ? `nights from ${day(from)}` : `nights ${day(from)} … ${day(until)}`;
  }
  const nights = runs.map((r) => /^(?:started|night)=(\d{4}-\d{2}-\d{2})$/.exec(r)?.[1]);
  if (nights.every((n) => n !== undefined)) {
    const sorted = [...nights].sort();
    if (sorted.length === 1) return `Night of ${day(sorted[0]!)}`;
    return `${sorted.length} nights, ${day(sorted[0]!)} … ${day(sorted[sorted.length - 1]!)}`;
  }
  return runs.length === 1 ? rangeText(runs[0]!, day) : `${runs.length} chosen`;
}

function Programs(p: { programs: string[]; set: (programs: string[]) => void; known: Counted[] }) {
  const text =
    p.programs.length === 0
      ? 'All programs'
      : p.programs.length === 1
        ? p.programs[0]!
        : `${p.programs.length} programs`;
  return (
    <Picker
      label="Programs"
      className="chip"
      text={<span>{text}</span>}
      value={p.programs.length === 1 ? p.programs[0]! : ''}
      options={[
        { value: '', text: 'All programs', note: count(p.known.reduce((n, k) => n + k.experiments, 0)) },
        ...p.known
          .filter((k) => k.name !== '')
          .map((k): Option => ({ value: k.name, text: k.name, note: count(k.experiments) })),
      ]}
      set={(v) => p.set(v === '' ? [] : [v])}
    />
  );
}

// RunsChoice lets one choose runs: all, a night, the newest nights, or selectors.
function RunsChoice({ selection, set }: { selection: ReturnType<typeof parse>; set: (runs: string[]) => void }) {
  const address = useAddress();
  const { data } = useSelection(address, { experiment: format({ ...selection, runs: [] }), metric: '' });
  const nights = (data?.nights ?? []).filter((n) => n.name !== '');
  const [text, setText] = useState(selection.runs.length === 1 ? selection.runs[0]! : '');
  const newest = (n: number) => [`started=${n > 1 ? `${nights[n - 1]!.name}..` : ''}${nights[0]!.name}`];
  const choices: [string, string[]][] = [['All runs', []]];
  if (nights.length > 0) choices.push([`Last night, ${day(nights[0]!.name)}`, newest(1)]);
  for (const n of [7, 30]) if (nights.length > n) choices.push([`Last ${n} nights`, newest(n)]);
  for (const n of nights.slice(1, 15)) choices.push([`Night of ${day(n.name)}`, [`started=${n.name}`]]);
  return (
    <>
      {choices.map(([name, runs]) => (
        <button
          key={name}
          type="button"
          class="option"
          aria-pressed={runs.join() === selection.runs.join()}
          onClick={() => set(runs)}
        >
          {name}
        </button>
      ))}
      <form
        class="bar"
        onSubmit={(e) => {
          e.preventDefault();
          set(text.trim() === '' ? [] : [text.trim()]);
        }}
      >
        <input
          class="grow"
          aria-label="Selector"
          placeholder="label=value, date or name"
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
        <button type="submit" class="btn">
          Choose
        </button>
      </form>
    </>
  );
}

function AddBase() {
  const [open, setOpen] = useState(false);
  return (
    <Popover
      label="Compare with a base"
      className="chip add"
      title="Compare with another selection (B)"
      text="+ Base"
      open={open}
      setOpen={setOpen}
    >
      <GroupPicker done={() => setOpen(false)} />
    </Popover>
  );
}

function FilterChips({ address }: { address: Address }) {
  const list = foldable.flatMap((f) => address.all(f).map((value) => ({ f, value })));
  const [all, setAll] = useState(false);
  const shown = list.length > chipsAtMost && !all ? [] : list;
  return (
    <>
      {shown.map(({ f, value }) => (
        <FilterChip key={f + value} parameter={f} value={value} address={address} />
      ))}
      {shown.length < list.length && (
        <button type="button" class="chip" onClick={() => setAll(true)}>
          {list.length} filters
        </button>
      )}
    </>
  );
}

function FilterChip({ parameter, value, address }: { parameter: string; value: string; address: Address }) {
  const [open, setOpen] = useState(false);
  const others = address.all(parameter).filter((v) => v !== value);
  return (
    <span class="chip">
      <Popover
        label={`Filter ${chipText(parameter, value)}`}
        className="text"
        text={<span>{chipText(parameter, value)}</span>}
        title={value}
        open={open}
        setOpen={setOpen}
      >
        <FilterForm
          start={written(parameter, value)}
          set={(to, text) => {
            setOpen(false);
            navigate({
              [parameter]: others,
              ...(to === parameter ? { [to]: [...others, text] } : { [to]: [...address.all(to), text] }),
              zoom: null,
            });
          }}
        />
      </Popover>
      <button
        type="button"
        class="without"
        aria-label={`without ${chipText(parameter, value)}`}
        onClick={() => navigate({ [parameter]: others, zoom: null })}
      >
        ×
      </button>
    </span>
  );
}

function AddFilter() {
  const address = useAddress();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const show = () => setOpen(true);
    addEventListener('stackmill-filter', show);
    return () => removeEventListener('stackmill-filter', show);
  }, []);
  return (
    <Popover
      label="Add a filter"
      className="chip add"
      title="Thread, CPU, time, stack or SQL condition (/)"
      text="+ Filter"
      open={open}
      setOpen={setOpen}
    >
      <FilterForm
        start={{ kind: 0, text: '' }}
        set={(parameter, text) => {
          setOpen(false);
          navigate({ [parameter]: [...address.all(parameter), text], zoom: null });
        }}
      />
    </Popover>
  );
}

function FilterForm(p: { start: { kind: number; text: string }; set: (parameter: string, value: string) => void }) {
  const [kind, setKind] = useState(Math.max(0, p.start.kind));
  const [text, setText] = useState(p.start.text);
  const of = filterKinds[kind]!;
  return (
    <form
      class="bar filterform"
      onSubmit={(e) => {
        e.preventDefault();
        const value = text.trim();
        if (value !== '') p.set(of.parameter, of.parse === undefined ? value : of.parse(value));
      }}
    >
      <select aria-label="Kind of filter" value={String(kind)} onChange={(e) => setKind(Number(e.currentTarget.value))}>
        {filterKinds.map((k, n) => (
          <option key={k.name} value={String(n)}>
            {k.name}
          </option>
        ))}
      </select>
      <input
        class="grow"
        aria-label={of.name}
        placeholder={of.hint}
        value={text}
        onInput={(e) => setText(e.currentTarget.value)}
      />
      <button type="submit" class="btn pri">
        Apply
      </button>
    </form>
  );
}
