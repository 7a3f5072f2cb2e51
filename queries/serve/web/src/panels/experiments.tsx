// The panel of experiments: search them, filter them by host, program and labels, and choose some.
import { useMemo } from 'preact/hooks';
import { useData } from '../lib/api';
import { matcher } from '../lib/search';
import { Link } from '../parts/link';
import { Panel } from '../parts/panel';
import { navigate, useAddress } from '../lib/address';
import { Table, type Column } from '../parts/table';
import { num, seconds, start, type Value } from '../lib/units';
import type { ExperimentRow } from '../lib/rows';

const columns =
  'experiment_id,experiment,format,host,target,started,started_from,duration_ns,samples,status,errors,warnings,labels';
const mostLabels = 6; // labels that have their own column
const mostValues = 8; // values of a facet shown at first
const mostNames = 50; // names of experiments in one URL
const facetColumns = { host: 'Host', target: 'Program', status: 'Status', format: 'Format' } as const;

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
  return e.labels?.[key] ?? (key in facetColumns ? e[key as keyof typeof facetColumns] : undefined);
}

export function ExperimentsPanel() {
  const answer = useData<ExperimentRow[]>('experiments', { columns });
  return (
    <Panel
      title="Experiments"
      answer={answer}
      empty={(list) => list.length === 0}
      none="The store is empty: add recordings with stackmill ingest."
    >
      {(list) => <Browser list={list} />}
    </Panel>
  );
}

function Browser({ list }: { list: ExperimentRow[] }) {
  const address = useAddress();
  const search = address.get('find');
  const narrowed = address
    .all('narrow')
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
  const chosen = new Set(address.all('experiment'));
  const toggle = (name: string, on: boolean) =>
    navigate({ experiment: on ? [...chosen, name] : [...chosen].filter((n) => n !== name) });
  const labels = useMemo(() => keysOf(list), [list]);
  const test = matcher(search);
  const matching =
    test === undefined ? list : list.filter((e) => [e.experiment, e.host, e.target, ...pairs(e)].some(test));
  const has = (e: ExperimentRow, but?: string) =>
    narrowed.every(([key, value]) => key === but || valueOf(e, key) === value);
  const found = matching.filter((e) => has(e));
  const shown: Column<ExperimentRow>[] = [
    {
      title: 'Chosen',
      value: (e) => (chosen.has(e.experiment) ? 1 : 0),
      show: (e) => (
        <input
          type="checkbox"
          aria-label={`choose ${e.experiment}`}
          checked={chosen.has(e.experiment)}
          onChange={(x) => toggle(e.experiment, x.currentTarget.checked)}
        />
      ),
    },
    {
      title: 'Experiment',
      value: (e) => e.experiment,
      show: (e) => (
        <Link to={{ view: 'flame', experiment: e.experiment, zoom: null, side: null, of: null, function: null }}>
          {e.experiment}
        </Link>
      ),
    },
    { title: 'Started (UTC)', value: (e) => e.started ?? '', show: (e) => start(e.started, e.started_from) },
    { title: 'Seconds', numeric: true, value: (e) => num(e.duration_ns), show: (e) => seconds(e.duration_ns) },
    { title: 'Samples', numeric: true, value: (e) => num(e.samples) },
    { title: 'Program', value: (e) => e.target },
    { title: 'Host', value: (e) => e.host },
    ...labels
      .slice(0, mostLabels)
      .map((key): Column<ExperimentRow> => ({ title: key, value: (e) => e.labels?.[key] ?? '' })),
    ...(labels.length > mostLabels
      ? [{ title: 'Other labels', value: (e: ExperimentRow) => pairs(e, labels.slice(0, mostLabels)).join(' ') }]
      : []),
    { title: 'Status', value: (e) => statuses[e.status] ?? e.status },
    {
      title: 'Problems',
      numeric: true,
      value: (e) => 1e6 * num(e.errors) + num(e.warnings),
      show: (e) => <Problems of={e} />,
    },
  ];
  return (
    <>
      <div class="bar">
        <label class="grow">
          Find
          <input
            type="search"
            value={search}
            placeholder="name, host, program, label=value"
            onInput={(e) => navigate({ find: e.currentTarget.value, page: null }, true)}
          />
        </label>
        <output>
          {found.length} of {list.length}
        </output>
        {chosen.size > 0 && (
          <button type="button" onClick={() => navigate({ experiment: null })}>
            Choose none
          </button>
        )}
      </div>
      {chosen.size > 0 && (
        <ViewLinks
          to={{ experiment: [...chosen] }}
          what={chosen.size === 1 ? 'the chosen one' : `the ${chosen.size} chosen`}
        />
      )}
      {found.length > 0 && found.length < list.length && (
        <FoundLinks found={found} narrowed={narrowed} searched={test !== undefined} />
      )}
      <div class="browser">
        <Facets
          of={[...Object.keys(facetColumns), ...labels.filter((k) => !(k in facetColumns))]}
          narrowed={narrowed}
          with={(key) => matching.filter((e) => has(e, key))}
        />
        {found.length === 0 ? (
          <p class="note">
            No experiment matches.{' '}
            <button type="button" onClick={() => navigate({ find: null, narrow: null, page: null })}>
              Show all
            </button>
          </p>
        ) : (
          <Table
            label="Experiments"
            rows={found}
            keyOf={(e) => e.experiment_id}
            sorted={[2, true]}
            paged
            chosen={(e) => chosen.has(e.experiment)}
            columns={shown}
          />
        )}
      </div>
    </>
  );
}

// FoundLinks links to views of the experiments found. If it can, it links by a selector, which will also
// match later experiments, otherwise by names.
function FoundLinks({
  found,
  narrowed,
  searched,
}: {
  found: ExperimentRow[];
  narrowed: [string, string][];
  searched: boolean;
}) {
  const what = found.length === 1 ? 'the one found' : `the ${found.length} found`;
  if (!searched && narrowed.every(([, value]) => value.trim() === value && value !== '' && !value.includes(','))) {
    return <ViewLinks to={{ experiment: narrowed.map(([key, value]) => `${key}=${value}`).join(',') }} what={what} />;
  }
  if (found.length <= mostNames) return <ViewLinks to={{ experiment: found.map((e) => e.experiment) }} what={what} />;
  return <p class="note">To view all of them together, narrow without searching, or find at most {mostNames}.</p>;
}

function ViewLinks({ to, what }: { to: { experiment: string | string[] }; what: string }) {
  const at = { ...to, zoom: null, side: null, of: null, function: null };
  return (
    <p class="note">
      View {what} as <Link to={{ ...at, view: 'flame' }}>flame graph</Link>,{' '}
      <Link to={{ ...at, view: 'functions' }}>functions</Link>, <Link to={{ ...at, view: 'trend' }}>trend</Link>,{' '}
      <Link to={{ ...at, view: 'compare', base: null }}>comparison</Link>, or{' '}
      <Link to={{ ...at, view: 'compare', base: at.experiment, experiment: null }}>base of a comparison</Link>
    </p>
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
  if (shown.length === 0) return <></>;
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
    <section class="facets" aria-label="Narrow">
      {shown.map(({ key, on, values }) => {
        // A chosen value is always shown, even if it is rare or no experiment has it anymore.
        const all =
          on !== undefined && !values.some(([v]) => v === on) ? [[on, 0] as [string, number], ...values] : values;
        const first = all.filter(([v], n) => n < mostValues || v === on);
        const rest = all.filter(([v], n) => n >= mostValues && v !== on);
        return (
          <section key={key} aria-label={key}>
            <h3>{key in facetColumns ? facetColumns[key as keyof typeof facetColumns] : key}</h3>
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

function Problems({ of: e }: { of: ExperimentRow }) {
  const some = (n: Value, word: string) => (num(n) === 0 ? '' : `${n} ${word}${num(n) === 1 ? '' : 's'}`);
  const words = [some(e.errors, 'error'), some(e.warnings, 'warning')].filter((w) => w !== '');
  return words.length === 0 ? (
    <></>
  ) : (
    <Link to={{ view: 'unknown', experiment: e.experiment }}>{words.join(', ')}</Link>
  );
}
