import { type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

// lazy returns a component that is loaded when it is first shown.
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(p: P) {
    const [state, set] = useState<'loading' | 'failed' | 'there'>(loaded === undefined ? 'loading' : 'there');
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (component) => {
          loaded = component;
          set('there');
        },
        () => set('failed'),
      );
    }, []);
    if (loaded !== undefined) {
      const Loaded = loaded;
      return <Loaded {...p} />;
    }
    return state === 'failed' ? (
      <p class="error" role="alert">
        This part of the page did not load: the server does not answer, or was replaced by another version.{' '}
        <a href={location.href}>Load the page again</a>
      </p>
    ) : (
      <p class="note" aria-busy="true">
        Loading…
      </p>
    );
  };
}
