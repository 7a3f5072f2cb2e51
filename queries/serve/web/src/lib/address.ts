// The state of the page is in the query of its URL: the panel, the experiments and the filters. So the
// browser's back and forward work, and links can be shared.
import { useEffect, useState } from 'preact/hooks';

export type Params = Record<string, string | string[] | null>;

const moved = new EventTarget();

export class Address {
  constructor(private readonly values: URLSearchParams) {}

  get(name: string, otherwise = ''): string {
    return this.values.get(name) ?? otherwise;
  }

  all(name: string): string[] {
    return this.values.getAll(name);
  }

  // with returns the page's URL with some parameters changed; null removes a parameter. Another place keeps what all
  // places understand, and nothing else.
  with(changes: Params): string {
    const values = new URLSearchParams(this.values);
    if (changes['view'] !== undefined && (changes['view'] ?? '') !== this.get('view')) {
      for (const name of this.values.keys()) if (!(general as readonly string[]).includes(name)) values.delete(name);
    }
    for (const [name, value] of Object.entries(changes)) {
      values.delete(name);
      for (const v of value === null ? [] : [value].flat()) {
        if (v !== '') values.append(name, v);
      }
    }
    const query = values.toString();
    return query === '' ? '/' : '/?' + query;
  }
}

export function currentAddress(): Address {
  return new Address(new URLSearchParams(location.search));
}

// navigate changes parameters of the page's URL. If replacing is set, "back" does not return to the old
// URL.
export function navigate(changes: Params, replacing = false): void {
  const to = currentAddress().with(changes);
  if (to === location.pathname + location.search) return;
  if (replacing) history.replaceState(history.state, '', to);
  else {
    history.replaceState({ scroll: scrollY }, ''); // for the way back
    history.pushState(null, '', to);
  }
  moved.dispatchEvent(new Event('moved'));
}

export function useAddress(): Address {
  const [address, set] = useState(currentAddress);
  useEffect(() => {
    const update = () => set(currentAddress());
    moved.addEventListener('moved', update);
    addEventListener('popstate', update);
    return () => {
      moved.removeEventListener('moved', update);
      removeEventListener('popstate', update);
    };
  }, []);
  return address;
}

// filters are the server's parameters that select samples or hide functions.
export const filters = ['where', 'thread', 'cpu', 'pid', 'between', 'hide', 'api-only'] as const;

// general are the parameters that mean the same in all places. All others belong to one place.
const general = ['experiment', 'base', 'pin', 'metric', 'mode', 'function', 'inline', 'order', ...filters] as const;

// scope returns the parameters that the requests of all panels have.
export function scope(address: Address): Params {
  const of: Params = { experiment: address.all('experiment'), mode: address.get('mode') };
  for (const f of filters) of[f] = address.all(f);
  return of;
}
