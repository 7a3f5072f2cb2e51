// The panel of experiments: find them, choose some.
import { useData } from './api';
import { finder } from './flametree';
import { Link } from './link';
import { Frame } from './parts';
import { go, usePlace } from './place';
import { Table } from './table';
import { moment, num, seconds, type Value } from './units';

export interface Experiment {
  experiment_id: string;
  experiment: string;
  format: string;
  host: string;
  target: string;
  started: string | null;
  duration_ns: Value | null;
  processes: number;
  samples: Value;
  status: string;
  errors: Value;
  warnings: Value;
  labels: Record<string, string> | null;
}

export function ExperimentsPanel() {
  const place = usePlace();
  const answer = useData<Experiment[]>('experiments', {});
  const search = place.get('find');
  const chosen = new Set(place.all('experiment'));
  const toggle = (name: string, on: boolean) => go({ experiment: on ? [...chosen, name] : [...chosen].filter((n) => n !== name) });
  return (
    <Frame title="Experiments" answer={answer} empty={(list) => list.length === 0} none="The store is empty: stackmill ingest puts recordings in, and they appear here.">
      {(list) => {
        const test = finder(search);
        const found = test === undefined ? list : list.filter((e) => [e.experiment, e.host, e.target, ...pairs(e)].some(test));
        return (
          <>
            <div class="bar">
              <label class="grow">
                Find
                <input type="search" value={search} placeholder="name, host, program, label=value" onInput={(e) => go({ find: e.currentTarget.value }, true)} />
              </label>
              <output>{found.length} of {list.length}</output>
              {chosen.size > 0 && <button type="button" onClick={() => go({ experiment: null })}>Choose none</button>}
            </div>
            <Table
              label="Experiments"
              rows={found}
              keyOf={(e) => e.experiment_id}
              sorted={[2, true]}
              chosen={(e) => chosen.has(e.experiment)}
              columns={[
                { title: 'Chosen', value: (e) => (chosen.has(e.experiment) ? 1 : 0), show: (e) => <input type="checkbox" aria-label={`choose ${e.experiment}`} checked={chosen.has(e.experiment)} onChange={(x) => toggle(e.experiment, x.currentTarget.checked)} /> },
                { title: 'Experiment', value: (e) => e.experiment, show: (e) => <Link to={{ view: 'flame', experiment: e.experiment, zoom: null, side: null, of: null, function: null }}>{e.experiment}</Link> },
                { title: 'Started (UTC)', value: (e) => e.started ?? '', show: (e) => moment(e.started) },
                { title: 'Seconds', numeric: true, value: (e) => num(e.duration_ns), show: (e) => seconds(e.duration_ns) },
                { title: 'Samples', numeric: true, value: (e) => num(e.samples) },
                { title: 'Program', value: (e) => e.target },
                { title: 'Host', value: (e) => e.host },
                { title: 'Labels', value: (e) => pairs(e).join(' ') },
                { title: 'Problems', numeric: true, value: (e) => 1e6 * num(e.errors) + num(e.warnings), show: (e) => <Problems of={e} /> },
              ]}
            />
          </>
        );
      }}
    </Frame>
  );
}

function pairs(e: Experiment): string[] {
  return Object.entries(e.labels ?? {}).map(([k, v]) => `${k}=${v}`);
}

function Problems({ of: e }: { of: Experiment }) {
  const words = [num(e.errors) > 0 ? `${e.errors} errors` : '', num(e.warnings) > 0 ? `${e.warnings} warnings` : '', e.status === 'complete' ? '' : e.status].filter((w) => w !== '');
  return words.length === 0 ? <></> : <Link to={{ view: 'unknown', experiment: e.experiment }}>{words.join(', ')}</Link>;
}
