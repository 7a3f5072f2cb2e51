import { render, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ended, useData } from './api';
import { ExperimentsPanel } from './experiments';
import { CallersPanel, FunctionsPanel } from './functions';
import { later } from './later';
import { LeftOut } from './leftout';
import { Link } from './link';
import { OpenIn } from './openin';
import { filters, go, usePlace } from './place';
import { TimelinePanel } from './timeline';
import { UnknownPanel } from './unknown';

const panels: Record<string, [string, ComponentType]> = {
  experiments: ['Experiments', ExperimentsPanel],
  flame: ['Flame graph', later(() => import('./flame').then((m) => m.FlamePanel))],
  functions: ['Functions', FunctionsPanel],
  callers: ['Callers', CallersPanel],
  source: ['Source', later(() => import('./code').then((m) => m.CodePanel))],
  timeline: ['Timeline', TimelinePanel],
  heatmap: ['Heat map', later(() => import('./heatmap').then((m) => m.HeatmapPanel))],
  objects: ['Data objects', later(() => import('./objects').then((m) => m.ObjectsPanel))],
  trend: ['Trend', later(() => import('./trend').then((m) => m.TrendPanel))],
  compare: ['Compare', later(() => import('./compare').then((m) => m.ComparePanel))],
  unknown: ['Unknown', UnknownPanel],
  sql: ['SQL', later(() => import('./sql').then((m) => m.SQLPanel))],
};

interface Metric {
  metric: string;
  unit: string;
  title: string;
  experiments: number;
  default_of: number;
}

function Page() {
  const place = usePlace();
  const view = place.get('view', 'experiments');
  const [title, Panel] = panels[view] ?? panels['experiments']!;
  const [loggedOut, setLoggedOut] = useState(false);
  useEffect(() => {
    const update = () => setLoggedOut(true);
    ended.addEventListener('ended', update);
    return () => ended.removeEventListener('ended', update);
  }, []);
  useEffect(() => {
    document.title = [place.all('experiment').join(', '), title, 'stackmill'].filter((t) => t !== '').join(' – ');
  });
  return (
    <>
      <header>
        <h1><Link to={{ view: null }}>stackmill</Link></h1>
        <nav aria-label="Panels">
          {Object.entries(panels).map(([name, [label]]) => <Link key={name} to={{ view: name }} current={view === name}>{label}</Link>)}
        </nav>
        {document.body.dataset['login'] === 'token' && <LogOut />}
      </header>
      <LeftOut />
      {view !== 'experiments' && view !== 'sql' && <Scope />}
      <main>
        {loggedOut && (
          <p class="error" role="alert">
            You are not logged in any more: the server was started with another token, or you logged out in another tab. <a href={location.href}>Log in</a>
          </p>
        )}
        <div hidden={loggedOut}><Panel key={view} /></div>
      </main>
      <footer><a href={new URL('licenses.txt', import.meta.url).href}>Licenses</a></footer>
    </>
  );
}

// LogOut is the button that makes the browser forget the token. Back shows nothing of the page then.
function LogOut() {
  return (
    <form method="post" action="/logout" class="logout" onSubmit={() => addEventListener('pageshow', () => location.reload())}>
      <button type="submit">Log out</button>
    </form>
  );
}

// Scope says, above all panels, what they are about.
function Scope() {
  const place = usePlace();
  const metrics = useData<Metric[]>('metrics', { experiment: place.all('experiment') });
  const chosen = place.all('experiment');
  return (
    <div class="bar scope">
      <span class="chips">
        {chosen.length === 0 && <span class="chip">all experiments</span>}
        {chosen.slice(0, 5).map((name) => <Chip key={name} text={name} without={{ experiment: chosen.filter((n) => n !== name) }} />)}
        {chosen.length > 5 && <span class="chip">{chosen.length - 5} more</span>}
        {filters.flatMap((f) => place.all(f).map((value) => <Chip key={f + value} text={`${f} ${value}`} without={{ [f]: place.all(f).filter((v) => v !== value) }} />))}
      </span>
      <label>
        Metric
        <select value={place.get('metric')} onChange={(e) => go({ metric: e.currentTarget.value, zoom: null })}>
          <option value="">each one’s first</option>
          {metrics.data?.map((m) => <option key={m.metric} value={m.metric}>{m.title === '' ? m.metric : `${m.title} (${m.metric})`}</option>)}
        </select>
      </label>
      <label>
        Mode
        <select value={place.get('mode', 'user')} onChange={(e) => go({ mode: e.currentTarget.value, zoom: null })}>
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
          go({ where: [...place.all('where'), input.value.trim()] });
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
      <button type="button" aria-label={`without ${text}`} onClick={() => go({ ...without, zoom: null })}>×</button>
    </span>
  );
}

render(<Page />, document.getElementById('app')!);
