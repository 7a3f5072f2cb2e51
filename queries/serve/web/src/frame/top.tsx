// The top line: the name, the command box, the state of the store, and what one can do with the whole page.
import { Link } from '../parts/link';
import { Export } from '../parts/export';
import { Lens } from '../parts/find';
import { Share } from '../parts/share';
import { type Store } from '../lib/store';
import { toggleTheme } from '../lib/theme';
import { count } from '../lib/units';
import { toPlace } from '../places';

export function Top({ store, command, help }: { store: Store; command: () => void; help: () => void }) {
  return (
    <header class="top">
      <Link to={toPlace('changes')} className="brand" title="stackmill: what changed">
        <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
          <rect x="1" y="14" width="18" height="4" rx="1" />
          <rect x="1" y="8.5" width="12" height="4" rx="1" opacity=".72" />
          <rect x="1" y="3" width="6.5" height="4" rx="1" opacity=".45" />
        </svg>
        <span class="wide">stackmill</span>
      </Link>
      <button type="button" class="omnibox" onClick={command}>
        <Lens />
        <span>Find a program, night, function or view</span>
        <kbd class="wide">Ctrl K</kbd>
      </button>
      <span class="sp" />
      <StoreMark store={store} />
      <Share />
      <Export />
      <button
        type="button"
        class="icon square"
        title="Light or dark (D)"
        aria-label="Light or dark"
        onClick={toggleTheme}
      >
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" />
          <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
        </svg>
      </button>
      <button type="button" class="icon square wide" title="Keys (?)" aria-label="Keys" onClick={help}>
        ?
      </button>
    </header>
  );
}

// StoreMark tells how many experiments the page shows, what is new in the store, and why it cannot be read.
function StoreMark({ store: s }: { store: Store }) {
  const title =
    s.problem ??
    (s.changes === ''
      ? 'The page shows the newest state of the store'
      : `Since this was drawn: ${s.changes}. Show it (R)`);
  return (
    <button
      type="button"
      class={s.problem === undefined ? 'icon store' : 'icon store wrong'}
      title={title}
      disabled={s.changes === ''}
      onClick={s.take}
    >
      <i aria-hidden="true" />
      {s.experiments !== undefined && <span class="wide">{count(s.experiments)} experiments</span>}
      <span role="status">{s.problem !== undefined ? s.problem : s.changes !== '' && <b>{s.changes}</b>}</span>
    </button>
  );
}
