// The place Experiments: find recordings by name and labels, and tick some to look at, to compare, or to label.
import { useMemo, useState } from 'preact/hooks';
import { navigate, useAddress, type Params } from '../lib/address';
import { useData } from '../lib/api';
import { keyError, labelCommand } from '../lib/labelcommand';
import type { ExperimentRow } from '../lib/rows';
import { matcher } from '../lib/search';
import { count, num, seconds, start, type Value } from '../lib/units';
import { Copy } from '../parts/copy';
import { EmptyStore } from '../parts/emptystore';
import { Find } from '../parts/find';
import { Heading } from '../parts/heading';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';
import { Table, type Column } from '../parts/table';

const columns = [
  ...['experiment_id', 'experiment', 'format', 'host', 'target', 'started', 'started_from', 'duration_ns', 'samples'],
  ...['status', 'errors', 'warnings', 'labels'],
];
const mostLabels = 6; // labels that have their own column
const mostValues = 8; // values of a facet shown at first
const longestLink = 30_000; // characters of a URL that common servers and proxies accept
const problems = 'Problems'; // the facet that is neither a label nor a column
const facetColumns: Record<string, string> = { host: 'Host', target: 'Program', status: 'Status', format: 'Format' };
// other are parameters of the address about another selection.
const other = { zoom: null, side: null, of: null, function: null };

// statuses explains the values of an experiment's status.
const statuses: Record<string, string> = {
  complete: 'complete',
  unclosed: 'complete until it was cut off: the recorder did not finish it',
  partial: 'incomplete: data was lost',
  failed: 'failed: no samples could be read',
  summary: 'sums by function only: the rest was deleted',
};

// valueOf returns an experiment's value of a label or, if it has no such label, of a column. Selectors on
// the server do the same.
function valueOf(e: ExperimentRow, key: string): string | undefined {
  if (key === problems) return num(e.errors) > 0 ? 'errors' : num(e.warnings) > 0 ? 'warnings' : 'none';
  return e.labels?.[key] ?? (key in facetColumns ? (e[key as keyof ExperimentRow] as string) : undefined);
}

export function ExperimentsPanel() {
  const answer = useData<ExperimentRow[]>('experiments', { columns: columns.join(',') });
  return (
    <Panel title="Experiments of the store" answer={answer}>
      {(list) => (list.length === 0 ? <EmptyStore /> : <Browser list={list} />)}
    </Panel>
  );
}

function Browser({ list }: { list: ExperimentRow[] }) {
  const address = useAddress();
  const search = address.get('find');
  const narrowed = address
    .all('narrow')
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
  const names = useMemo(() => new Map(list.map((e) => [e.experiment, e])), [list]);
  const ticked = address
    .all('tick')
    .map((name) => names.get(name))
    .filter((e): e is ExperimentRow => e !== undefined);
  const labels = useMemo(() => keysOf(list), [list]);
  const matching = useMemo(() => {
    const test = matcher(search);
    return test === undefined ? list : list.filter((e) => [e.experiment, e.host, e.target, ...pairs(e)].some(test));
  }, [list, search]);
  const has = (e: ExperimentRow, but?: string) =>
    narrowed.every(([key, value]) => key === but || valueOf(e, key) === value);
  const found = useMemo(() => matching.filter((e) => has(e)), [matching, address.all('narrow').join('\n')]);
  return (
    <>
      <Heading
        title="Experiments"
        sentence={
          found.length === list.length
            ? `${count(list.length)} recordings`
            : `${count(found.length)} of ${count(list.length)} recordings`
        }
      >
        {found.length > 0 && <Found found={found} all={list.length} narrowed={narrowed} searched={search !== ''} />}
      </Heading>
      {ticked.length > 0 && <Ticked of={ticked} labels={labels} />}
      <div class="browser">
        <Facets
          of={[...Object.keys(facetColumns), problems, ...labels.filter((k) => !(k in facetColumns))]}
          narrowed={narrowed}
          with={(key) => matching.filter((e) => has(e, key))}
        />
        <div class="found">
          <Find
            label="Find experiments"
            placeholder="Name, host, program, label=value, or /expression/"
            value={search}
            set={(v) => navigate({ find: v, page: null }, true)}
            note={`${count(found.length)} of ${count(list.length)}`}
          />
          {found.length === 0 ? (
            <p class="note">
              No experiment matches.{' '}
              <button type="button" class="btn" onClick={() => navigate({ find: null, narrow: null, page: null })}>
                Show all
              </button>
            </p>
          ) : (
            <List found={found} labels={labels} ticked={ticked} />
          )}
        </div>
      </div>
    </>
  );
}

function List({ found, labels, ticked }: { found: ExperimentRow[]; labels: string[]; ticked: ExperimentRow[] }) {
  const on = new Set(ticked.map((e) => e.experiment));
  const tick = (names: string[]) => navigate({ tick: names });
  const all = found.every((e) => on.has(e.experiment));
  const tickAll = () =>
    tick(
      all
        ? [...on].filter((n) => !found.some((e) => e.experiment === n))
        : [...new Set([...on, ...found.map((e) => e.experiment)])],
    );
  const shown: Column<ExperimentRow>[] = [
    {
      title: 'Ticked',
      value: (e) => (on.has(e.experiment) ? 1 : 0),
      show: (e) => (
        <input
          type="checkbox"
          aria-label={`tick ${e.experiment}`}
          checked={on.has(e.experiment)}
          onChange={(x) =>
            tick(x.currentTarget.checked ? [...on, e.experiment] : [...on].filter((n) => n !== e.experiment))
          }
        />
      ),
    },
    {
      title: 'Experiment',
      value: (e) => e.experiment,
      show: (e) => (
        <Link to={{ ...other, view: 'flame', experiment: e.experiment, tick: null, narrow: null, find: null }}>
          {e.experiment}
        </Link>
      ),
    },
    { title: 'Started (UTC)', value: (e) => e.started ?? '', show: (e) => start(e.started, e.started_from) },
    { title: 'Seconds', numeric: true, value: (e) => num(e.duration_ns), show: (e) => seconds(e.duration_ns) },
    { title: 'Samples', numeric: true, value: (e) => num(e.samples), show: (e) => num(e.samples).toLocaleString('en') },
    { title: 'Problems', value: (e) => 1e6 * num(e.errors) + num(e.warnings), show: (e) => <Problems of={e} /> },
    { title: 'Program', value: (e) => e.target },
    { title: 'Host', value: (e) => e.host },
    ...labels
      .slice(0, mostLabels)
      .map((key): Column<ExperimentRow> => ({ title: key, value: (e) => e.labels?.[key] ?? '' })),
    ...(labels.length > mostLabels
      ? [{ title: 'Other labels', value: (e: ExperimentRow) => pairs(e, labels.slice(0, mostLabels)).join(' ') }]
      : []),
    { title: 'Status', value: (e) => statuses[e.status] ?? e.status },
  ];
  const fits = tickedFit(found, on);
  return (
    <>
      <p class="tickall">
        <button type="button" class="btn" disabled={!all && !fits} onClick={tickAll}>
          {all ? 'Tick none of these' : `Tick all ${count(found.length)}`}
        </button>
        {!all && !fits && <span class="dim">too many to tick: narrow, or show all that were found</span>}
      </p>
      <div class="card">
        <Table
          label="Experiments"
          rows={found}
          keyOf={(e) => e.experiment_id}
          sorted={[2, true]}
          paged
          chosen={(e) => on.has(e.experiment)}
          columns={shown}
        />
      </div>
    </>
  );
}

// tickedFit reports whether a link can name what is ticked and what was found.
function tickedFit(found: ExperimentRow[], on: Set<string>): boolean {
  let length = 0;
  for (const n of on) length += n.length + 6;
  for (const e of found) if (!on.has(e.experiment)) length += encodeURIComponent(e.experiment).length + 6;
  return length < longestLink;
}

// Found makes all experiments that were found the selection or the base: if it can, by a selector, which later
// experiments match, too; otherwise by names.
function Found(p: { found: ExperimentRow[]; all: number; narrowed: [string, string][]; searched: boolean }) {
  const { found, narrowed } = p;
  const selectable = ([key, value]: [string, string]) =>
    key !== problems && value.trim() === value && value !== '' && !value.includes(',');
  const bySelector = !p.searched && narrowed.every(selectable);
  const selected = bySelector
    ? narrowed.map(([key, value]) => `${key}=${value}`).join(',')
    : found.map((e) => e.experiment);
  const what = found.length === p.all ? `all ${count(found.length)}` : `the ${count(found.length)} found`;
  if (!bySelector && !tickedFit(found, new Set()))
    return <span class="dim">{what} are too many for a link: narrow them without searching</span>;
  return <Uses what={what} of={selected === '' ? null : selected} />;
}

// Uses are what one can do with experiments.
function Uses({ what, of }: { what: string; of: string | string[] | null }) {
  const leave: Params = { ...other, tick: null, narrow: null, find: null, page: null, sort: null };
  return (
    <span class="uses">
      <span class="dim">Show {what} as</span>
      <Link className="btn" to={{ ...leave, view: 'flame', experiment: of }}>
        Flame graph
      </Link>
      <Link className="btn" to={{ ...leave, view: 'functions', experiment: of }}>
        Functions
      </Link>
      <Link className="btn" to={{ ...leave, view: 'trend', experiment: of }}>
        Trend
      </Link>
      <Link className="btn" to={{ ...leave, view: 'compare', experiment: of, base: null }}>
        Comparison
      </Link>
    </span>
  );
}

// Ticked says what is ticked on all pages, and what one can do with it.
function Ticked({ of, labels }: { of: ExperimentRow[]; labels: string[] }) {
  const names = of.map((e) => e.experiment);
  const take = (change: Params) => navigate({ ...other, ...change });
  return (
    <section class="card pad ticked" aria-label="Ticked experiments">
      <p class="ways">
        <b>{count(of.length)} ticked</b>
        <button type="button" class="btn pri" onClick={() => take({ experiment: names })}>
          Use as selection
        </button>
        <button type="button" class="btn" onClick={() => take({ base: names, tick: null })}>
          As base
        </button>
        <button type="button" class="btn" onClick={() => take({ experiment: names, tick: null })}>
          As test
        </button>
        <Uses what={of.length === 1 ? 'it' : 'them'} of={names} />
        <span class="sp" />
        <button type="button" class="btn" onClick={() => navigate({ tick: null })}>
          Untick all
        </button>
      </p>
      <Labels of={of} labels={labels} />
    </section>
  );
}

// Labels prepares the command that labels the ticked experiments: the server only reads.
function Labels({ of, labels }: { of: ExperimentRow[]; labels: string[] }) {
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const wrong = keyError(key, Object.keys(of[0]!));
  const preset = (k: string, v: string) => {
    setKey(k);
    setValue(v);
  };
  return (
    <div class="labels">
      <div class="ways">
        <span>Label</span>
        <input
          aria-label="Key of the label"
          placeholder="key"
          list="keys"
          value={key}
          aria-invalid={wrong !== undefined}
          onInput={(e) => setKey(e.currentTarget.value)}
        />
        <datalist id="keys">
          {labels.map((k) => (
            <option key={k} value={k} />
          ))}
        </datalist>
        =
        <input
          class="grow"
          aria-label="Value of the label"
          placeholder="value; empty removes the label"
          value={value}
          onInput={(e) => setValue(e.currentTarget.value)}
        />
        <button type="button" class="btn" onClick={() => preset('note', '')}>
          Note
        </button>
        <button type="button" class="btn" onClick={() => preset('broken', 'yes')}>
          Broken
        </button>
      </div>
      {wrong !== undefined && <p class="note">{wrong}</p>}
      {key !== '' && wrong === undefined && (
        <>
          <pre class="labelcommand">{labelCommand(of, key, value)}</pre>
          <p class="ways">
            <Copy text={labelCommand(of, key, value)} label="Copy the command" className="btn pri" />
            <span class="dim">
              Run it where the store can be written (with --store); the page shows the label then.
            </span>
          </p>
        </>
      )}
    </div>
  );
}
// Facets lists the values of hosts, programs and labels, with the number of experiments that have each. The
// counts of a facet ignore what is chosen in that facet, so that one can choose another value.
function Facets(p: { of: string[]; narrowed: [string, string][]; with: (key: string) => ExperimentRow[] }) {
  const groups = p.of.map((key) => {
    const counts = new Map<string, number>();
    const among = p.with(key);
    for (const e of among) {
      const value = valueOf(e, key);
      if (value !== undefined && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return {
      key,
      among: among.length,
      on: p.narrowed.find(([k]) => k === key)?.[1],
      values: [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])),
    };
  });
  // Hide facets with one value for all experiments: it would filter nothing.
  const shown = groups.filter((g) => g.on !== undefined || g.values.some(([, n]) => n < g.among));
  if (shown.length === 0) return null;
  const narrow = (key: string, value: string | undefined) =>
    navigate({
      narrow: [
        ...p.narrowed.filter(([k]) => k !== key).map(([k, v]) => `${k}=${v}`),
        ...(value === undefined ? [] : [`${key}=${value}`]),
      ],
      page: null,
    });
  const value = (key: string, v: string, n: number, on: boolean) => (
    <li key={v}>
      <button type="button" aria-pressed={on} onClick={() => narrow(key, on ? undefined : v)}>
        <span class="value">{key === 'status' ? (statuses[v] ?? v) : v}</span> <span class="count">{n}</span>
      </button>
    </li>
  );
  return (
    <section class="facets card" aria-label="Narrow">
      {shown.map(({ key, on, values }) => {
        // A chosen value is always shown, even if it is rare or no experiment has it anymore.
        const all =
          on !== undefined && !values.some(([v]) => v === on) ? [[on, 0] as [string, number], ...values] : values;
        const first = all.filter(([v], n) => n < mostValues || v === on);
        const rest = all.filter(([v], n) => n >= mostValues && v !== on);
        return (
          <section key={key} aria-label={key}>
            <h2>{facetColumns[key] ?? key}</h2>
            <ul>{first.map(([v, n]) => value(key, v, n, v === on))}</ul>
            {rest.length > 0 && (
              <details>
                <summary>{rest.length} more</summary>
                <ul>{rest.map(([v, n]) => value(key, v, n, false))}</ul>
              </details>
            )}
          </section>
        );
      })}
    </section>
  );
}

// keysOf returns the keys of labels, the most frequent first. It omits labels "phase...": they have the
// times of phases.
function keysOf(list: ExperimentRow[]): string[] {
  const counts = new Map<string, number>();
  for (const e of list)
    for (const key of Object.keys(e.labels ?? {}))
      if (!key.startsWith('phase.')) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([key]) => key);
}

function pairs(e: ExperimentRow, but: string[] = []): string[] {
  return Object.entries(e.labels ?? {})
    .filter(([k]) => !but.includes(k))
    .map(([k, v]) => `${k}=${v}`);
}

// Problems says how many problems an experiment has, by severity.
function Problems({ of: e }: { of: ExperimentRow }) {
  const some = (n: Value, word: string) =>
    num(n) === 0 ? undefined : (
      <span class={word}>
        {count(n)} {word}
        {num(n) === 1 ? '' : 's'}
      </span>
    );
  if (num(e.errors) + num(e.warnings) === 0) return null;
  return (
    <Link className="problems" to={{ ...other, view: 'unknown', experiment: e.experiment, tick: null, narrow: null }}>
      {some(e.errors, 'error')} {some(e.warnings, 'warning')}
    </Link>
  );
}
