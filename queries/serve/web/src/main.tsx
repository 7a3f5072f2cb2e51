import { Fragment, render, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { sessionEnded, useData } from './lib/api';
import { ChangesPanel } from './panels/changes';
import { ExperimentsPanel } from './panels/experiments';
import { CallersPanel, FunctionsPanel } from './panels/functions';
import { lazy } from './parts/lazy';
import { LeftOut } from './parts/leftout';
import { Link } from './parts/link';
import { OpenIn } from './parts/openin';
import { filters, navigate, useAddress } from './lib/address';
import { TimelinePanel } from './panels/timeline';
import { UnknownPanel } from './panels/unknown';
import type { MetricRow } from './lib/rows';

// Place is a panel with its name in the rail, and the heading above it there.
interface Place {
  label: string;
  heading?: string;
  panel: ComponentType;
}

const places: Record<string, Place> = {
  changes: { label: 'What changed', panel: ChangesPanel },
  experiments: { label: 'Experiments', heading: 'Across runs', panel: ExperimentsPanel },
  compare: { label: 'Compare', panel: lazy(() => import('./panels/compare').then((m) => m.ComparePanel)) },
  trend: { label: 'Trend', panel: lazy(() => import('./panels/trend').then((m) => m.TrendPanel)) },
  flame: {
    label: 'Flame graph',
    heading: 'Where it goes',
    panel: lazy(() => import('./panels/flame').then((m) => m.FlamePanel)),
  },
  functions: { label: 'Functions', panel: FunctionsPanel },
  callers: { label: 'Callers', panel: CallersPanel },
  source: { label: 'Source', panel: lazy(() => import('./panels/code').then((m) => m.CodePanel)) },
  timeline: { label: 'Timeline', heading: 'When', panel: TimelinePanel },
  heatmap: { label: 'Heat map', panel: lazy(() => import('./panels/heatmap').then((m) => m.HeatmapPanel)) },
  objects: {
    label: 'Data objects',
    heading: 'Memory',
    panel: lazy(() => import('./panels/objects').then((m) => m.ObjectsPanel)),
  },
  unknown: { label: 'Unknown', heading: 'Can I trust it', panel: UnknownPanel },
  sql: { label: 'SQL', heading: 'Ask', panel: lazy(() => import('./panels/sql').then((m) => m.SQLPanel)) },
};

// unscoped are the places that do not show the chosen experiments and filters.
const unscoped = ['changes', 'experiments', 'sql'];

function Page() {
  const address = useAddress();
  const view = address.get('view', 'changes');
  const { label: title, panel: Panel } = places[view] ?? places['changes']!;
  const [loggedOut, setLoggedOut] = useState(false);
  useEffect(() => {
    const update = () => setLoggedOut(true);
    sessionEnded.addEventListener('ended', update);
    return () => sessionEnded.removeEventListener('ended', update);
  }, []);
  useEffect(() => {
    document.title = [address.all('experiment').join(', '), title, 'stackmill'].filter((t) => t !== '').join(' – ');
  });
  return (
    <>
      <header>
        <h1>
          <Link to={{ view: null }}>
            <Logo />
            stackmill
          </Link>
        </h1>
        <nav aria-label="Panels">
          {Object.entries(places).map(([name, { label, heading }]) => (
            <Fragment key={name}>
              {heading !== undefined && <span class="group">{heading}</span>}
              <Link to={{ view: name }} current={view === name}>
                {label}
              </Link>
            </Fragment>
          ))}
        </nav>
        {document.body.dataset['login'] === 'token' && <LogOut />}
      </header>
      <div>
        <LeftOut />
        {!unscoped.includes(view) && view in places && <Scope />}
      </div>
      <main>
        {loggedOut && (
          <p class="error" role="alert">
            You were logged out: the server was restarted with another token, or you logged out in another tab.{' '}
            <a href={location.href}>Log in</a>
          </p>
        )}
        <div hidden={loggedOut}>
          <Panel key={view} />
        </div>
      </main>
      <footer>
        <a href={new URL('licenses.txt', import.meta.url).href}>Licenses</a>
      </footer>
    </>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <rect x="1" y="14" width="18" height="4" rx="1" />
      <rect x="1" y="8.5" width="12" height="4" rx="1" opacity=".72" />
      <rect x="1" y="3" width="6.5" height="4" rx="1" opacity=".45" />
    </svg>
  );
}

// LogOut makes the browser forget the token. If the user then goes back to the page, it reloads and so is
// not shown.
function LogOut() {
  return (
    <form
      method="post"
      action="/logout"
      class="logout"
      onSubmit={() => addEventListener('pageshow', () => location.reload())}
    >
      <button type="submit">Log out</button>
    </form>
  );
}

// Scope shows what all panels are about (experiments, metric, mode and filters), and lets people change it.
function Scope() {
  const address = useAddress();
  const metrics = useData<MetricRow[]>('metrics', { experiment: address.all('experiment') });
  const chosen = address.all('experiment');
  return (
    <div class="bar scope">
      <span class="chips">
        {chosen.length === 0 && <span class="chip">all experiments</span>}
        {chosen.slice(0, 5).map((name) => (
          <Chip key={name} text={name} without={{ experiment: chosen.filter((n) => n !== name) }} />
        ))}
        {chosen.length > 5 && <span class="chip">{chosen.length - 5} more</span>}
        {filters.flatMap((f) =>
          address
            .all(f)
            .map((value) => (
              <Chip
                key={f + value}
                text={`${f} ${value}`}
                without={{ [f]: address.all(f).filter((v) => v !== value) }}
              />
            )),
        )}
      </span>
      <label>
        Metric
        <select value={address.get('metric')} onChange={(e) => navigate({ metric: e.currentTarget.value, zoom: null })}>
          <option value="">default metric</option>
          {metrics.data?.map((m) => (
            <option key={m.metric} value={m.metric}>
              {m.title === '' ? m.metric : `${m.title} (${m.metric})`}
            </option>
          ))}
        </select>
      </label>
      <label>
        Mode
        <select
          value={address.get('mode', 'user')}
          onChange={(e) => navigate({ mode: e.currentTarget.value, zoom: null })}
        >
          <option>user</option>
          <option>expert</option>
          <option>machine</option>
        </select>
      </label>
      <form
        class="grow"
        onSubmit={(e) => {
          e.preventDefault();
          const input = e.currentTarget.elements.namedItem('where') as HTMLInputElement;
          navigate({ where: [...address.all('where'), input.value.trim()] });
          input.value = '';
        }}
      >
        <label>
          Only samples where
          <input name="where" placeholder="cpu = 3, stack_has('parse'), thread_id = 17 …" />
        </label>
      </form>
      <OpenIn />
    </div>
  );
}

function Chip({ text, without }: { text: string; without: Record<string, string[]> }) {
  return (
    <span class="chip">
      {text}
      <button type="button" aria-label={`without ${text}`} onClick={() => navigate({ ...without, zoom: null })}>
        ×
      </button>
    </span>
  );
}

render(<Page />, document.getElementById('app')!);
