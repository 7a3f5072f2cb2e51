// The place is all that a link holds: which panel, of what, with which filters. It is the
// query of the page's address, so that back and forward work, and links can be shared.
import { useEffect, useState } from 'preact/hooks';

export type Changes = Record<string, string | string[] | null>;

const moved = new EventTarget();

export class Place {
  constructor(private readonly values: URLSearchParams) {}

  get(name: string, otherwise = ''): string {
    return this.values.get(name) ?? otherwise;
  }

  all(name: string): string[] {
    return this.values.getAll(name);
  }

  // with returns the address of another place: null takes a value away.
  with(changes: Changes): string {
    const values = new URLSearchParams(this.values);
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

export function here(): Place {
  return new Place(new URLSearchParams(location.search));
}

// go moves to another place; replacing, without a step for "back".
export function go(changes: Changes, replacing = false): void {
  const to = here().with(changes);
  if (to === location.pathname + location.search) return;
  if (replacing) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  moved.dispatchEvent(new Event('moved'));
}

export function usePlace(): Place {
  const [place, set] = useState(here);
  useEffect(() => {
    const update = () => set(here());
    moved.addEventListener('moved', update);
    addEventListener('popstate', update);
    return () => {
      moved.removeEventListener('moved', update);
      removeEventListener('popstate', update);
    };
  }, []);
  return place;
}

// filters are the parameters of the server that say which samples count.
export const filters = ['where', 'thread', 'cpu', 'pid', 'between', 'hide', 'api-only'] as const;

// scope is what all panels have in common, as parameters of the server.
export function scope(place: Place): Changes {
  const of: Changes = { experiment: place.all('experiment'), mode: place.get('mode') };
  for (const f of filters) of[f] = place.all(f);
  return of;
}
