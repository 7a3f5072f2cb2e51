// The place Functions: the table of functions, modules or load objects in the sum of the selected experiments.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Popover } from '../frame/popover';
import { filters, navigate, scope, useAddress, type Address, type Params } from '../lib/address';
import { useData, type Answer } from '../lib/api';
import { actionsOf, choose, type Door } from '../lib/door';
import { columnsOf, type TableColumn } from '../lib/functioncolumns';
import type { TableAnswer, TableRow } from '../lib/functiontable';
import { hasData, titleOf, useSelection, type SelectionAnswer } from '../lib/selectionanswer';
import { count, percent } from '../lib/units';
import { reference } from '../lib/shortname';
import { Find } from '../parts/find';
import { Link } from '../parts/link';
import { Lacking } from '../parts/lacking';
import { Beside } from '../parts/inspector';
import { Panel } from '../parts/panel';
import { Picker } from '../parts/picker';
import { Segments } from '../parts/segments';

const chunk = 100; // rows of a request
const metricsShown = 3; // metrics that are side by side at first

const groups = [
  { value: 'function', text: 'functions' },
  { value: 'module', text: 'modules' },
  { value: 'load-object', text: 'load objects' },
  { value: 'package', text: 'packages' },
];

// show is what the columns are.
type Show = 'sum' | 'runs' | 'metrics';

export function FunctionsPanel() {
  const address = useAddress();
  const selection = useSelection(address);
  const show = address.get('show', 'sum') as Show;
  const group = address.get('rows', 'function');
  const metrics = metricsOf(address, selection.data, show);
  const request: Params = {
    ...scope(address),
    base: show === 'sum' ? address.all('base') : null,
    metric: metrics ?? '',
    inline: address.get('inline'),
    rows: group,
    runs: show === 'runs' ? 'true' : null,
    columns: group === 'function' ? address.all('columns').join(',') : null,
    sort: address.get('sort'),
  };
  const search = useTyped(address.get('search'));
  const answer = useData<TableAnswer>(metrics === undefined ? undefined : 'functions', {
    ...request,
    search: search.sent,
    limit: String(chunk),
  });
  const things = groups.find((g) => g.value === group)?.text ?? 'functions';
  const place = (
    <>
      <h1 class="hidden" tabIndex={-1}>
        Functions
      </h1>
      <div class="bar">
        <Segments<Show>
          label="Columns"
          options={[
            ['sum', 'Sum'],
            ...(group === 'package' ? [] : ([['runs', 'Column per run']] as [Show, string][])),
            ['metrics', 'Metrics'],
          ]}
          value={show}
          set={(v) => navigate({ show: v === 'sum' ? null : v, sort: null })}
        />
        <Picker
          label="Rows"
          text={
            <>
              <span>Rows</span> {things}
            </>
          }
          options={groups}
          value={group}
          set={(v) =>
            navigate({ rows: v === 'function' ? null : v, sort: null, ...(show === 'runs' ? { show: null } : {}) })
          }
        />
        {show === 'runs' && (
          <Segments
            label="Values"
            options={[
              ['exclusive', 'Self'],
              ['inclusive', 'Total'],
            ]}
            value={address.get('value', 'exclusive')}
            set={(v) => navigate({ value: v === 'exclusive' ? null : v, sort: v === 'exclusive' ? null : v })}
          />
        )}
        {group === 'function' && (
          <Picker
            label="Inlined functions"
            text={
              <>
                <span>Inlined</span> {address.get('inline') === 'true' ? 'apart' : 'in callers'}
              </>
            }
            options={[
              { value: '', text: 'in callers' },
              { value: 'true', text: 'apart, as functions of their own' },
            ]}
            value={address.get('inline')}
            set={(v) => navigate({ inline: v })}
          />
        )}
        <Find
          className="grow"
          label="Search"
          placeholder="Part of a name, or /expression/"
          value={search.typed}
          set={search.type}
          note={foundNote(answer.data, things)}
        />
        {selection.data === undefined ? (
          <button type="button" class="pick columns" disabled>
            Columns
          </button>
        ) : (
          <Columns selection={selection.data} show={show} group={group} />
        )}
      </div>
      {answer.data !== undefined && <Lacking of={answer.data.metrics} />}
      {answer.data?.metrics[0]?.base !== undefined && show === 'sum' && (
        <p class="note lacking">
          Means of {runsOf(answer.data.metrics[0].base.experiments)} and {runsOf(answer.data.metrics[0].experiments)},
          the largest differences first. <Link to={{ view: 'compare' }}>Compare</Link> tells which are more than noise.
        </p>
      )}
      <Panel
        title="Functions"
        answer={metrics === undefined ? { ...answer, loading: selection.loading, error: selection.error } : answer}
        empty={(t) => t.all === 0}
        none="No sample of the selection passes the filters, or no run has the metric."
      >
        {(t) => (
          <Rows
            key={JSON.stringify([request, search.sent])}
            first={t}
            request={{ ...request, search: search.sent }}
            show={show}
          />
        )}
      </Panel>
    </>
  );
  return address.get('function') === '' ? place : <Beside>{place}</Beside>;
}

// metricsOf returns the metrics of a request; undefined until they are known.
function metricsOf(address: Address, selection: SelectionAnswer | undefined, show: Show): string | undefined {
  const chosen = address.get('metric');
  if (show !== 'metrics') return chosen;
  const beside = address.all('beside');
  if (beside.length === 0 && selection === undefined) return undefined;
  const first = chosen === '' ? (selection?.metric ?? '') : chosen;
  const more =
    beside.length > 0
      ? beside
      : selection!.metrics.filter((m) => hasData(m) && m.metric !== first).map((m) => m.metric);
  return [...new Set([first, ...more])]
    .filter((m) => m !== '')
    .slice(0, beside.length > 0 ? undefined : metricsShown)
    .join(',');
}

// useTyped is a search that is sent, and in the address, when the reader stops typing.
function useTyped(value: string): { typed: string; sent: string; type: (text: string) => void } {
  const [typed, type] = useState(value);
  const last = useRef(value);
  useEffect(() => {
    if (last.current !== value) {
      last.current = value;
      type(value);
    }
  }, [value]);
  useEffect(() => {
    if (typed === value) return;
    const wait = setTimeout(() => {
      last.current = typed;
      navigate({ search: typed }, true);
    }, 200);
    return () => clearTimeout(wait);
  }, [typed]);
  return { typed, sent: value, type };
}

const runsOf = (n: number) => (n === 1 ? 'one run' : `${count(n)} runs`);

function foundNote(t: TableAnswer | undefined, things: string): string {
  if (t === undefined) return '';
  const text = `${count(t.count)} ${t.count === 1 ? things.replace(/s$/, '') : things}`;
  return t.count === t.all ? text : `${text} · ${percent(t.found[0] ?? 0, t.metrics[0]!.total)}`;
}

// Columns chooses more columns.
function Columns({ selection, show, group }: { selection: SelectionAnswer; show: Show; group: string }) {
  const address = useAddress();
  const [open, setOpen] = useState(false);
  const extra = address.all('columns');
  const shown = (metricsOf(address, selection, 'metrics') ?? '').split(',');
  const toggle = (list: string[], value: string) =>
    list.includes(value) ? list.filter((v) => v !== value) : [...list, value];
  return (
    <Popover label="Columns to add" text="Columns" className="pick columns" open={open} setOpen={setOpen}>
      {group === 'function' &&
        [
          ['size', 'Size of the code'],
          ['history', '30 nights'],
        ].map(([value, text]) => (
          <label key={value} class="option">
            <input
              type="checkbox"
              checked={extra.includes(value!)}
              onChange={() => navigate({ columns: toggle(extra, value!) })}
            />
            {text}
          </label>
        ))}
      <div class="group">Metrics side by side</div>
      {selection.metrics.map((m) => (
        <label key={m.metric} class="option">
          <input
            type="checkbox"
            checked={show === 'metrics' ? shown.includes(m.metric) : m.metric === selection.metric}
            disabled={m.metric === selection.metric}
            onChange={() => {
              const now = show === 'metrics' ? shown.filter((n) => n !== selection.metric) : [];
              navigate({ show: 'metrics', beside: toggle(now, m.metric), sort: null });
            }}
          />
          {titleOf(selection, m.metric)}
        </label>
      ))}
    </Popover>
  );
}

// doorOf returns what a row stands for.
function doorOf(r: TableRow, t: TableAnswer): Door {
  const door: Door = {
    kind:
      t.group === 'function'
        ? 'function'
        : r.kind === 'package'
          ? 'package'
          : t.group === 'module'
            ? 'module'
            : 'load object',
    name: r.function,
    value: Number(r.inclusive[0]),
    total: Number(t.metrics[0]!.total),
    unit: t.metrics[0]!.unit,
  };
  if (r.load_object !== '') door.loadObject = r.load_object;
  if (r.module !== '') door.module = r.module;
  return door;
}

// Rows is the table. It has the height of all rows; those in sight are requested in chunks. For the Tab key it is one
// stop: arrows move between rows, and between the headings above them.
function Rows({ first, request, show }: { first: TableAnswer; request: Params; show: Show }) {
  const address = useAddress();
  const filtered = filters.some((f) => address.all(f).length > 0);
  const columns = columnsOf(first, { show, filtered, inclusive: address.get('value') === 'inclusive' });
  const host = useRef<HTMLDivElement>(null);
  const height = useRowHeight();
  const [head, setHead] = useState(104); // px of what stays above the headings
  const [sight, setSight] = useState<[number, number]>([0, 60]); // the rows in sight
  const [current, setCurrent] = useState(-1); // the row that has the Tab stop; -1: the first heading
  const focus = useRef<number | undefined>(undefined); // a row that gets the focus when it is there
  useEffect(() => {
    const look = () => {
      const body = host.current?.querySelector('tbody.rows');
      if (body === null || body === undefined) return;
      setHead(document.querySelector('.selection')?.getBoundingClientRect().bottom ?? 0);
      const top = -body.getBoundingClientRect().top;
      const [from, to] = [Math.floor(top / height) - 30, Math.ceil((top + innerHeight) / height) + 30];
      setSight((was) => (was[0] === from && was[1] === to ? was : [from, to]));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [height, first]);
  useLayoutEffect(() => {
    const all = [...host.current!.querySelectorAll<HTMLElement>('th button, tbody a')];
    const row = host.current!.querySelector<HTMLElement>(`[aria-rowindex="${current + 3}"] a`);
    const stop = row ?? all[0];
    for (const e of all) e.tabIndex = e === stop ? 0 : -1;
    if (focus.current !== undefined && row !== null && focus.current === current) {
      focus.current = undefined;
      row.focus();
    }
  });
  const to = (index: number) => {
    const at = Math.max(0, Math.min(index, first.count - 1));
    focus.current = at;
    setCurrent(at);
    const body = host.current!.querySelector('tbody.rows')!.getBoundingClientRect().top;
    const [top, above] = [body + at * height, head + 40];
    if (top < above) scrollBy(0, top - above);
    else if (top + height > innerHeight - 60) scrollBy(0, top + height - innerHeight + 60);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const heading = (e.target as HTMLElement).closest('th');
    const onPage = Math.max(1, Math.floor(innerHeight / height) - 6);
    if (heading !== null && (e.key === 'ArrowRight' || e.key === 'ArrowLeft')) {
      const all = [...host.current!.querySelectorAll<HTMLElement>('th button')];
      const at = all.indexOf(e.target as HTMLElement) + (e.key === 'ArrowRight' ? 1 : -1);
      all[(at + all.length) % all.length]?.focus();
    } else if (heading === null && e.key === 'ArrowUp' && current <= 0) {
      setCurrent(-1);
      host.current!.querySelector<HTMLElement>('th button')?.focus();
    } else {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: onPage, PageUp: -onPage }[e.key];
      const goal = e.key === 'Home' ? 0 : e.key === 'End' ? first.count - 1 : step;
      if (goal === undefined || first.count === 0) return;
      to(step === undefined ? goal : heading === null ? current + step : 0);
    }
    e.preventDefault();
    e.stopPropagation();
  };
  const chunks: number[] = [];
  for (let offset = 0; offset < first.count; offset += chunk) {
    const near = offset <= sight[1] && offset + chunk >= sight[0];
    if (near || offset === 0 || (current >= offset && current < offset + chunk)) chunks.push(offset);
  }
  return (
    <div
      class={`card functions ${show}`}
      style={{ '--head': `${Math.max(0, head)}px` }}
      ref={host}
      onKeyDown={onKeyDown}
      onFocusCapture={(e) => {
        const index = (e.target as HTMLElement).closest('tr')?.ariaRowIndex;
        if (index !== undefined && index !== null && Number(index) > 2) setCurrent(Number(index) - 3);
      }}
    >
      <table class="fix" aria-label="Functions" aria-rowcount={first.count + 2}>
        <colgroup>
          {columns.map((c) => (
            <col key={c.key} class={c.className ?? ''} style={c.width === undefined ? {} : { width: `${c.width}px` }} />
          ))}
        </colgroup>
        <Head columns={columns} sort={address.get('sort')} />
        <tbody>
          <tr aria-rowindex={2} class="whole">
            {columns.map((c) => (
              <td key={c.key} class={c.className ?? ''}>
                {c.whole}
              </td>
            ))}
          </tr>
        </tbody>
        {chunks.map((offset, n) => (
          <Chunk
            key={offset}
            offset={offset}
            gap={(offset - (n === 0 ? 0 : chunks[n - 1]! + chunk)) * height}
            first={first}
            request={request}
            columns={columns}
            height={height}
          />
        ))}
        <tbody aria-hidden="true">
          <tr
            style={{ height: `${Math.max(0, first.count - (chunks[chunks.length - 1] ?? 0) - chunk) * height}px` }}
            class="gap"
          />
        </tbody>
      </table>
      {first.count === 0 && <p class="note pad">No name, module or load object has it.</p>}
    </div>
  );
}

function useRowHeight(): number {
  const narrow = matchMedia('(max-width: 760px)');
  const [height, set] = useState(narrow.matches ? 40 : 28);
  useEffect(() => {
    const change = () => set(narrow.matches ? 40 : 28);
    narrow.addEventListener('change', change);
    return () => narrow.removeEventListener('change', change);
  }, []);
  return height;
}

function Head({ columns, sort }: { columns: TableColumn[]; sort: string }) {
  const of = sort === '' ? 'exclusive' : sort.replace(/^-/, '');
  return (
    <thead>
      <tr aria-rowindex={1}>
        {columns.map((c) => {
          const sorted = c.sort !== undefined && c.sort === of;
          const text = /^(function|load_object|module)$/.test(c.sort ?? '');
          const up = sort.startsWith('-') !== text;
          return (
            <th
              key={c.key}
              scope="col"
              class={c.className ?? ''}
              title={c.title ?? ''}
              {...(c.sort === undefined ? {} : { 'aria-sort': sorted ? (up ? 'ascending' : 'descending') : 'none' })}
            >
              {c.sort === undefined ? (
                c.heading
              ) : (
                <button
                  type="button"
                  onClick={() => navigate({ sort: sorted && !sort.startsWith('-') ? `-${c.sort}` : c.sort! }, true)}
                >
                  {c.heading}
                  {sorted && <span aria-hidden="true">{up ? ' ↑' : ' ↓'}</span>}
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

// Chunk is a part of the rows, with the gap of rows out of sight above it.
function Chunk(p: {
  offset: number;
  gap: number;
  first: TableAnswer;
  request: Params;
  columns: TableColumn[];
  height: number;
}) {
  const own = p.offset === 0;
  const answer: Answer<TableAnswer> = useData<TableAnswer>(own ? undefined : 'functions', {
    ...p.request,
    offset: String(p.offset),
    limit: String(chunk),
  });
  const address = useAddress();
  const chosen = address.get('function');
  const rows = own ? p.first.rows : (answer.data?.rows ?? []);
  const size = Math.min(chunk, p.first.count - p.offset);
  return (
    <>
      {p.gap > 0 && (
        <tbody aria-hidden="true">
          <tr class="gap" style={{ height: `${p.gap}px` }} />
        </tbody>
      )}
      <tbody class={own ? 'rows' : ''} aria-busy={answer.loading}>
        {rows.map((r, i) => {
          const door = doorOf(r, p.first);
          return (
            <tr
              key={r.function + r.load_object + r.module + String(i)}
              aria-rowindex={p.offset + i + 3}
              class={reference(r.function) === chosen && p.first.group === 'function' ? 'chosen' : ''}
              onClick={(e) => (e.target as HTMLElement).closest('a') === null && choose(door)}
              onDblClick={() =>
                actionsOf(door)
                  .find((a) => a.key === 'S')
                  ?.run()
              }
            >
              {p.columns.map((c) => (
                <td key={c.key} class={c.className ?? ''}>
                  {c.cell(r, door)}
                </td>
              ))}
            </tr>
          );
        })}
        {rows.length < size && (
          <tr class="gap" style={{ height: `${(size - rows.length) * p.height}px` }}>
            <td colSpan={p.columns.length}>{answer.error?.message ?? ''}</td>
          </tr>
        )}
      </tbody>
    </>
  );
}
