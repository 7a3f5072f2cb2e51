// The rail of places at the left and, on phones, five tabs below.
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { type Mark } from '../lib/marks';
import { places, toPlace } from '../places';
import { Link } from '../parts/link';
import { icons, type IconName } from './icons';

export function Rail({
  view,
  marks,
  open,
  close,
}: {
  view: string;
  marks: Record<string, Mark>; // by place
  open: boolean; // on phones
  close: () => void;
}) {
  return (
    <nav class={open ? 'rail open' : 'rail'} aria-label="Places" onClick={close}>
      {Object.entries(places).map(([name, p]) => (
        <Fragment key={name}>
          {p.heading !== undefined && <span class="group">{p.heading}</span>}
          <Link to={toPlace(name)} current={view === name} title={`${p.label}: ${p.answers} (G ${p.key})`}>
            <Icon name={name as IconName} />
            <span>{p.label}</span>
            {marks[name] !== undefined ? (
              <b class={marks[name].slower === true ? '' : 'calm'} title={marks[name].title}>
                {marks[name].text}
              </b>
            ) : (
              <kbd aria-hidden="true">G {p.key}</kbd>
            )}
          </Link>
        </Fragment>
      ))}
      <footer>
        {document.body.dataset['login'] === 'token' && <LogOut />}
        <a class="link" href={new URL('licenses.txt', import.meta.url).href}>
          Licenses
        </a>
      </footer>
    </nav>
  );
}

// LogOut makes the browser forget the token. If the user then goes back to the page, it reloads and so is not shown.
function LogOut() {
  return (
    <form method="post" action="/logout" onSubmit={() => addEventListener('pageshow', () => location.reload())}>
      <button type="submit" class="link">
        Log out
      </button>
    </form>
  );
}

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      width="18"
      height="18"
      viewBox="0 0 18 18"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      aria-hidden="true"
    >
      <path d={icons[name] ?? 'M4 9h10'} />
    </svg>
  );
}

const tabs = ['changes', 'compare', 'flame', 'functions'];

// Tabs are the places that most need on a phone; the last tab opens the rail.
export function Tabs({ view, more, setMore }: { view: string; more: boolean; setMore: (open: boolean) => void }) {
  return (
    <nav class="fivetabs" aria-label="Places below">
      {tabs.map((name) => (
        <Link key={name} to={toPlace(name)} current={view === name}>
          <Icon name={name as IconName} />
          {name === 'changes' ? 'Today' : places[name]!.label.replace(' graph', '')}
        </Link>
      ))}
      <button type="button" aria-expanded={more} onClick={() => setMore(!more)}>
        <Icon name="more" />
        More
      </button>
    </nav>
  );
}

// useFolded returns whether the rail is folded, which the browser remembers.
export function useFolded(): [boolean, () => void] {
  const [folded, set] = useState(() => {
    try {
      return localStorage.getItem('stackmill.rail') === 'folded';
    } catch {
      return false; // the browser allows no storage
    }
  });
  const toggle = () => {
    set(!folded);
    try {
      localStorage.setItem('stackmill.rail', folded ? '' : 'folded');
    } catch {
      // The choice ends with the visit.
    }
  };
  return [folded, toggle];
}
