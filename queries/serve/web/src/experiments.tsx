// The panel of experiments: find them by text and by what they have in common, choose some.
import { useMemo } from 'preact/hooks';
import { useData } from './api';
import { finder } from './finder';
import { Link } from './link';
import { Frame } from './parts';
import { go, usePlace } from './place';
import { Table, type Column } from './table';
import { moment, num, seconds, type Value } from './units';

interface Experiment {
  experiment_id: string;
  experiment: string;
  format: string;
  host: string;
  target: string;
  started: string | null;
  duration_ns: Value | null;
  samples: Value;
  status: string;
  errors: Value;
  warnings: Value;
  labels: Record<string, string> | null;
}

const columns = 'experiment_id,experiment,format,host,target,started,duration_ns,samples,status,errors,warnings,labels';
const mostLabels = 6; // with a column of their own
const mostValues = 8; // of a facet
const mostNames = 50; // in an address
const own = { host: 'Host', target: 'Program', status: 'Status', format: 'Format' } as const;

// statuses are what the store's words for what is in an experiment mean.
const statuses: Record<string, string> = {
  complete: 'complete',
  unclosed: 'complete until it was cut off: the recorder did not finish it',
  partial: 'incomplete: data was lost',
  failed: 'failed: no samples could be read',
  summary: 'sums by function only: the rest was deleted',
};

// valueOf is what an experiment has under a key: a label, or else a column, as in selectors.
function valueOf(e: Experiment, key: string): string | undefined {
  return e.labels?.[key] ?? (key in own ? e[key as keyof typeof own] : undefined);
}

export function ExperimentsPanel() {
  const answer = useData<Experiment[]>('experiments', { columns });
  return (
    <Frame title="Experiments" answer={answer} empty={(list) => list.length === 0} none="The store is empty: stackmill ingest puts recordings in, and they appear here.">
      {(list) => <Browser list={list} />}
    </Frame>
  );
}

function Browser({ list }: { list: Experiment[] }) {
  const place = usePlace();
  const search = place.get('find');
  const narrowed = place.all('narrow').map((pair): [string, string] => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
  const chosen = new Set(place.all('experiment'));
  const toggle = (name: string, on: boolean) => go({ experiment: on ? [...chosen, name] : [...chosen].filter((n) => n !== name) });
  const labels = useMemo(() => keysOf(list), [list]);
  const test = finder(search);
  const matching = test === undefined ? list : list.filter((e) => [e.experiment, e.host, e.target, ...pairs(e)].some(test));
  const has = (e: Experiment, but?: string) => narrowed.every(([key, value]) => key === but || valueOf(e, key) === value);
  const found = matching.filter((e) => has(e));
  const shown: Column<Experiment>[] = [
    { title: 'Chosen', value: (e) => (chosen.has(e.experiment) ? 1 : 0), show: (e) => <input type="checkbox" aria-label={`choose ${e.experiment}`} checked={chosen.has(e.experiment)} onChange={(x) => toggle(e.experiment, x.currentTarget.checked)} /> },
    { title: 'Experiment', value: (e) => e.experiment, show: (e) => <Link to={{ view: 'flame', experiment: e.experiment, zoom: null, side: null, of: null, function: null }}>{e.experiment}</Link> },
    { title: 'Started (UTC)', value: (e) => e.started ?? '', show: (e) => moment(e.started) },
    { title: 'Seconds', numeric: true, value: (e) => num(e.duration_ns), show: (e) => seconds(e.duration_ns) },
    { title: 'Samples', numeric: true, value: (e) => num(e.samples) },
    { title: 'Program', value: (e) => e.target },
    { title: 'Host', value: (e) => e.host },
    ...labels.slice(0, mostLabels).map((key): Column<Experiment> => ({ title: key, value: (e) => e.labels?.[key] ?? '' })),
    ...(labels.length > mostLabels ? [{ title: 'Other labels', value: (e: Experiment) => pairs(e, labels.slice(0, mostLabels)).join(' ') }] : []),
    { title: 'Status', value: (e) => statuses[e.status] ?? e.status },
    { title: 'Problems', numeric: true, value: (e) => 1e6 * num(e.errors) + num(e.warnings), show: (e) => <Problems of={e} /> },
  ];
  return (
    <>
      <div class="bar">
        <label class="grow">
          Find
          <input type="search" value={search} placeholder="name, host, program, label=value" onInput={(e) => go({ find: e.currentTarget.value, page: null }, true)} />
        </label>
        <output>{found.length} of {list.length}</output>
        {chosen.size > 0 && <button type="button" onClick={() => go({ experiment: null })}>Choose none</button>}
      </div>
      {chosen.size > 0 && <Look to={{ experiment: [...chosen] }} what={chosen.size === 1 ? 'the chosen one' : `the ${chosen.size} chosen`} />}
      {found.length > 0 && found.length < list.length && <LookAt found={found} narrowed={narrowed} searched={test !== undefined} />}
      <div class="browser">
        <Facets of={[...Object.keys(own), ...labels.filter((k) => !(k in own))]} narrowed={narrowed} with={(key) => matching.filter((e) => has(e, key))} />
        {found.length === 0 ? <p class="note">No experiment is like that. <button type="button" onClick={() => go({ find: null, narrow: null, page: null })}>Show all</button></p> : (
          <Table label="Experiments" rows={found} keyOf={(e) => e.experiment_id} sorted={[2, true]} paged chosen={(e) => chosen.has(e.experiment)} columns={shown} />
        )}
      </div>
    </>
  );
}

// LookAt leads to what was found: by a selector, which finds later ones, too, or by names.
function LookAt({ found, narrowed, searched }: { found: Experiment[]; narrowed: [string, string][]; searched: boolean }) {
  const what = found.length === 1 ? 'the one that was found' : `the ${found.length} that were found`;
  if (!searched && narrowed.every(([, value]) => value.trim() === value && value !== '' && !value.includes(','))) {
    return <Look to={{ experiment: narrowed.map(([key, value]) => `${key}=${value}`).join(',') }} what={what} />;
  }
  if (found.length <= mostNames) return <Look to={{ experiment: found.map((e) => e.experiment) }} what={what} />;
  return <p class="note">To look at all of them at once, narrow by values only, or find at most {mostNames}.</p>;
}

function Look({ to, what }: { to: { experiment: string | string[] }; what: string }) {
  const at = { ...to, zoom: null, side: null, of: null, function: null };
  return (
    <p class="note">
      Look at {what} as <Link to={{ ...at, view: 'flame' }}>flame graph</Link>, <Link to={{ ...at, view: 'functions' }}>functions</Link>, <Link to={{ ...at, view: 'trend' }}>trend</Link>
    </p>
  );
}

// Facets are what experiments have in common: values and how many have each. Those of one
// key are counted as if nothing was chosen of it.
function Facets(p: { of: string[]; narrowed: [string, string][]; with: (key: string) => Experiment[] }) {
  const groups = p.of.map((key) => {
    const counts = new Map<string, number>();
    const among = p.with(key);
    for (const e of among) {
      const value = valueOf(e, key);
      if (value !== undefined && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return { key, among: among.length, on: p.narrowed.find(([k]) => k === key)?.[1], values: [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])) };
  });
  // What all have tells nothing apart.
  const shown = groups.filter((g) => g.on !== undefined || g.values.some(([, n]) => n < g.among));
  if (shown.length === 0) return <></>;
  const narrow = (key: string, value: string | undefined) =>
    go({ narrow: [...p.narrowed.filter(([k]) => k !== key).map(([k, v]) => `${k}=${v}`), ...(value === undefined ? [] : [`${key}=${value}`])], page: null });
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
        // What was chosen is shown even if it is rare, or no experiment has it any more.
        const all = on !== undefined && !values.some(([v]) => v === on) ? [[on, 0] as [string, number], ...values] : values;
        const first = all.filter(([v], n) => n < mostValues || v === on);
        const rest = all.filter(([v], n) => n >= mostValues && v !== on);
        return (
          <section key={key} aria-label={key}>
            <h3>{key in own ? own[key as keyof typeof own] : key}</h3>
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

// keysOf are the labels' keys, the most frequent first; phases are times, not properties.
function keysOf(list: Experiment[]): string[] {
  const counts = new Map<string, number>();
  for (const e of list) for (const key of Object.keys(e.labels ?? {})) if (!key.startsWith('phase.')) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([key]) => key);
}

function pairs(e: Experiment, but: string[] = []): string[] {
  return Object.entries(e.labels ?? {}).filter(([k]) => !but.includes(k)).map(([k, v]) => `${k}=${v}`);
}

function Problems({ of: e }: { of: Experiment }) {
  const some = (n: Value, word: string) => (num(n) === 0 ? '' : `${n} ${word}${num(n) === 1 ? '' : 's'}`);
  const words = [some(e.errors, 'error'), some(e.warnings, 'warning')].filter((w) => w !== '');
  return words.length === 0 ? <></> : <Link to={{ view: 'unknown', experiment: e.experiment }}>{words.join(', ')}</Link>;
}
