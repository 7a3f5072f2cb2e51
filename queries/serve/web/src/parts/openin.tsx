// OpenIn has links that open the current selection in other viewers, or download it as a file for other
// tools.
import { requestURL } from '../lib/api';
import { scope, useAddress } from '../lib/address';

const suffixes: Record<string, string> = { pprof: '.pb.gz', speedscope: '.json', firefox: '.json' };
const files = ['pprof', 'folded', 'speedscope', 'firefox', 'callgrind', 'autofdo', 'pgo', 'html', 'svg'];

export function OpenIn() {
  const address = useAddress();
  const of = { ...scope(address), metric: address.get('metric') };
  const profile = (as: string) => requestURL('export', { as, ...of });
  const query = requestURL('', of).split('?')[1] ?? '';
  return (
    <details class="openin">
      <summary>Open in …</summary>
      <ul>
        <li>
          <a target="_blank" rel="noopener" href={'/speedscope?' + (query === '' ? 'mode=user' : query)}>
            speedscope
          </a>
        </li>
        <li>
          <a
            target="_blank"
            rel="noopener"
            href={`/pprof/${encodeURIComponent(query === '' ? 'mode=user' : query)}/flamegraph`}
          >
            pprof
          </a>
        </li>
        <li>
          Save for{' '}
          {files.map((as, i) => (
            <span key={as}>
              {i > 0 ? ', ' : ''}
              <a download={`profile.${as}${suffixes[as] ?? ''}`} href={profile(as)}>
                {as}
              </a>
            </span>
          ))}
        </li>
      </ul>
    </details>
  );
}
