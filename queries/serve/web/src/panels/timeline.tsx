// The place Timeline: in which thread, at what time? A chosen time is a filter of all places.
import { type ComponentChildren } from 'preact';
import { useData } from '../lib/api';
import { searchError } from '../lib/search';
import { parseRange } from '../lib/timeaxis';
import type { TimelineAnswer } from '../lib/timeline';
import { Find } from '../parts/find';
import { lazy } from '../parts/lazy';
import { Panel } from '../parts/panel';
import { Picker } from '../parts/picker';
import { Segments } from '../parts/segments';
import { TimelineView } from '../parts/timelineview';
import { navigate, scope, useAddress } from '../lib/address';
import { count, num, plural } from '../lib/units';
import type { MetricRow } from '../lib/rows';

// StatesPanel is loaded when an experiment with thread states is shown.
const StatesPanel = lazy(() => import('./threadstates').then((m) => m.ThreadStatesPanel));

export type Lanes = 'threads' | 'cpus' | 'states';

const rowsAtFirst = 60;
const moreRows = 100;

const colors: Record<string, string> = {
  auto: 'automatic',
  'load-object': 'load object',
  package: 'package',
  module: 'source file',
  function: 'function',
};

const orders: Record<string, string> = { busiest: 'busiest first', start: 'by start', name: 'by name' };

// TimelinePanel shows the values of processes, threads or CPUs over time or, if context switches were recorded, the
// states of threads: that is what it shows first for wall-clock time.
export function TimelinePanel() {
  const address = useAddress();
  const metrics = useData<MetricRow[]>('metrics', { experiment: address.all('experiment') });
  const withStates = metrics.data?.some((m) => m.metric === 'wall') ?? false;
  const metric = address.get('metric', metrics.data?.[0]?.metric);
  const asked = address.get('lanes', metric === 'wall' || metric.startsWith('offcpu') ? 'states' : 'threads');
  const lanes: Lanes = asked === 'cpus' || (asked === 'states' && withStates) ? asked : 'threads';
  const options: [Lanes, string][] = [
    ['threads', 'Threads'],
    ['cpus', 'CPUs'],
  ];
  if (withStates) options.push(['states', 'States of threads']);
  const choice = (
    <Segments
      label="Rows"
      options={options}
      value={lanes}
      set={(to) => navigate({ lanes: to === 'threads' && !withStates ? null : to, open: null, pinned: null })}
    />
  );
  return (
    <>
      <h1 class="hidden" tabIndex={-1}>
        Timeline
      </h1>
      {lanes === 'states' ? (
        <>
          <div class="bar">{choice}</div>
          <StatesPanel />
        </>
      ) : (
        <Values lanes={lanes}>{choice}</Values>
      )}
    </>
  );
}

// Values shows the values of a metric over time.
function Values({ lanes, children }: { lanes: 'threads' | 'cpus'; children: ComponentChildren }) {
  const address = useAddress();
  const search = address.get('named');
  const open = address.all('open');
  const ranges = address.all('between');
  const chosen = ranges.length === 1 ? parseRange(ranges[0]!) : undefined;
  const limit = Math.min(Math.max(Math.trunc(Number(address.get('more'))) || 0, 0), 19) * moreRows + rowsAtFirst;
  // The timeline shows the whole time, and marks the chosen one in it.
  const answer = useData<TimelineAnswer>('timeline', {
    ...scope(address),
    between: null,
    metric: address.get('metric'),
    rows: lanes === 'cpus' ? 'cpus' : null,
    order: address.get('arrange'),
    search: searchError(search) === undefined ? search : '',
    unfold: open.length === 0 ? 'first' : open.filter((key) => key !== 'none'),
    pin: address.all('pinned'),
    limit: String(limit),
    time: address.get('time'),
    marked: chosen === undefined ? null : ranges[0]!,
    by: address.get('color'),
    groups: address.all('groups'),
  });
  const a = answer.data;
  const ofPage = a !== undefined && a.kind === (lanes === 'cpus' ? 'cpus' : 'processes');
  const what = lanes === 'cpus' ? plural(a?.cpus ?? 0, 'CPU', 'CPUs') : plural(a?.threads ?? 0, 'thread', 'threads');
  const found = `${count(a?.found ?? 0)} found`;
  return (
    <>
      <div class="bar timelinebar">
        {children}
        <Picker
          label="Color"
          text={
            <>
              <span>Color</span>{' '}
              {address.all('groups').length > 0 ? 'own groups' : colors[address.get('color', 'auto')]}
            </>
          }
          value={address.all('groups').length > 0 ? 'own' : address.get('color', 'auto')}
          options={Object.entries(colors).map(([value, text]) => ({ value, text }))}
          set={(to) => navigate({ color: to === 'auto' ? null : to, groups: null })}
        />
        <Picker
          label="Order"
          text={
            <>
              <span>Order</span> {orders[address.get('arrange', 'busiest')]}
            </>
          }
          value={address.get('arrange', 'busiest')}
          options={Object.entries(orders).map(([value, text]) => ({ value, text }))}
          set={(to) => navigate({ arrange: to === 'busiest' ? null : to })}
        />
        <Find
          label={lanes === 'cpus' ? 'Find a CPU' : 'Find a thread or process'}
          placeholder={lanes === 'cpus' ? 'CPU' : 'Thread or process'}
          value={search}
          set={(to) => navigate({ named: to === '' ? null : to }, true)}
          note={a === undefined ? '' : search === '' ? what : found}
        />
      </div>
      <Panel
        title="Timeline"
        answer={ofPage ? answer : { ...answer, data: undefined }}
        empty={(of) => of.found === 0 && num(of.whole) === 0}
        none="No samples of this metric pass the filters."
      >
        {(of) => <TimelineView answer={of} chosen={chosen} lanes={lanes} limit={limit} />}
      </Panel>
    </>
  );
}
