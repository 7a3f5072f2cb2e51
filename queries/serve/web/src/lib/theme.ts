// The colors of the page: those that the system prefers, unless the reader chose others.
import { useEffect, useState } from 'preact/hooks';

const key = 'stackmill.theme'; // in the browser's storage: light or dark
const preferred = matchMedia('(prefers-color-scheme: dark)');
const changed = new EventTarget();

function stored(): string {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return ''; // the browser allows no storage
  }
}

function isDark(): boolean {
  const chosen = document.documentElement.style.colorScheme;
  return chosen === '' ? preferred.matches : chosen === 'dark';
}

// applyTheme shows the page in the colors that were chosen before.
export function applyTheme(): void {
  document.documentElement.style.colorScheme = stored();
}

// toggleTheme changes between light and dark, and remembers the choice.
export function toggleTheme(): void {
  const to = isDark() ? 'light' : 'dark';
  document.documentElement.style.colorScheme = to;
  try {
    localStorage.setItem(key, to);
  } catch {
    // The choice ends with the visit.
  }
  changed.dispatchEvent(new Event('changed'));
}

// useDark reports whether the page is dark.
export function useDark(): boolean {
  const [dark, set] = useState(isDark);
  useEffect(() => {
    const update = () => set(isDark());
    preferred.addEventListener('change', update);
    changed.addEventListener('changed', update);
    return () => {
      preferred.removeEventListener('change', update);
      changed.removeEventListener('changed', update);
    };
  }, []);
  return dark;
}

// tokenColor returns the color of a token of style/tokens.css, such as --frame0, in the current colors. A canvas
// cannot use the token itself.
export function tokenColor(token: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
