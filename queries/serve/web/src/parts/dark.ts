// The user's preference for dark colors.
import { useEffect, useState } from 'preact/hooks';

// useDark reports whether the user prefers dark colors.
export function useDark(): boolean {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const [dark, set] = useState(query.matches);
  useEffect(() => {
    const update = () => set(query.matches);
    query.addEventListener('change', update);
    return () => query.removeEventListener('change', update);
  }, []);
  return dark;
}
