// The selection in other viewers, and as files for other tools.
import { address } from './api';
import { scope, usePlace } from './place';

const files = ['pprof', 'folded', 'speedscope', 'firefox', 'callgrind', 'autofdo', 'pgo'];

export function OpenIn() {
  const place = usePlace();
  const of = { ...scope(place), metric: place.get('metric') };
  const profile = (as: string) => address('export', { as, ...of });
  const query = address('', of).split('?')[1] ?? '';
  return (
    <details class="openin">
      <summary>Open in …</summary>
      <ul>
        <li><a target="_blank" rel="noopener" href={'/speedscope?' + (query === '' ? 'mode=user' : query)}>speedscope</a></li>
        <li><a target="_blank" rel="noopener" href={`/pprof/${encodeURIComponent(query === '' ? 'mode=user' : query)}/flamegraph`}>pprof</a></li>
        <li>Save for {files.map((as, i) => <span key={as}>{i > 0 ? ', ' : ''}<a download={`profile.${as}${as === 'pprof' ? '.pb.gz' : as === 'speedscope' || as === 'firefox' ? '.json' : ''}`} href={profile(as)}>{as}</a></span>)}</li>
      </ul>
    </details>
  );
}
