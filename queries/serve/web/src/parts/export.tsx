// Export opens the selection in other viewers, or saves it for other tools; and saves the table of the place.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { scope, useAddress, type Address, type Params } from '../lib/address';
import { requestURL } from '../lib/api';

interface Item {
  text: string;
  note?: string;
  href: string;
  file?: string; // the name under which it is saved; undefined: it opens in a tab
}

// profiles are the formats of stacks, with the end of the file's name.
const profiles: [string, string, string, string][] = [
  ['pprof', 'pprof', 'go tool pprof, Pyroscope, Parca', '.pb.gz'],
  ['firefox', 'Firefox Profiler', 'profiler.firefox.com: load from file', '.json'],
  ['speedscope', 'speedscope', 'a file for speedscope.app', '.speedscope.json'],
  ['folded', 'Folded stacks', 'flamegraph.pl, inferno', '.folded.txt'],
  ['callgrind', 'Callgrind', 'KCachegrind, QCachegrind', '.callgrind'],
  ['html', 'HTML', 'one file that needs no server', '.html'],
  ['svg', 'SVG', 'the flame graph as a picture', '.svg'],
  ['autofdo', 'AutoFDO', 'clang -fprofile-sample-use', '.afdo.txt'],
  ['pgo', 'Go PGO', 'go build -pgo', '.pgo'],
];

// tables are the views that places show, and the parameters of the address that select rows of them.
const tables: Record<string, { view: string; parameters?: string[] }> = {
  flame: { view: 'call-tree' },
  functions: { view: 'functions' },
  callers: { view: 'callers-callees', parameters: ['function'] },
  graph: { view: 'callers-callees', parameters: ['function'] },
  source: { view: 'source', parameters: ['function'] },
  timeline: { view: 'timeline' },
  heatmap: { view: 'seconds' },
  objects: { view: 'data-objects' },
  heap: { view: 'leaks' },
  files: { view: 'io-activity' },
  locks: { view: 'sync-objects' },
  unknown: { view: 'unattributed' },
};
const tableFormats: [string, string][] = [
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
  ['arrow', 'Arrow'],
  ['json', 'JSON'],
];

// itemsOf returns the links of the menu by heading.
export function itemsOf(address: Address): [string, Item[]][] {
  const of: Params = { ...scope(address), metric: address.get('metric') };
  const query = requestURL('', of).split('?')[1] ?? 'mode=user';
  const name = (address.all('experiment').length === 1 ? address.get('experiment') : 'profile').replace(
    /[^\w.=-]+/g,
    '-',
  );
  const groups: [string, Item[]][] = [
    [
      'Open the selection in',
      [
        { text: 'speedscope', note: 'here, in a tab', href: '/speedscope?' + query },
        { text: 'pprof', note: 'here, in a tab', href: `/pprof/${encodeURIComponent(query)}/flamegraph` },
      ],
    ],
    [
      'Save the selection for',
      profiles.map(([as, text, note, end]) => ({
        text,
        note,
        href: requestURL('export', { as, ...of }),
        file: name + end,
      })),
    ],
  ];
  const table = tables[address.get('view')];
  if (table !== undefined) {
    const rows = Object.fromEntries((table.parameters ?? []).map((p) => [p, address.all(p)]));
    groups.push([
      'Save the table of this place as',
      tableFormats.map(([format, text]) => ({
        text,
        href: requestURL(`views/${table.view}`, { ...of, ...rows, format }),
        file: `${table.view}.${format}`,
      })),
    ]);
  }
  return groups;
}

export function Export() {
  const address = useAddress();
  const [open, setOpen] = useState(false);
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!open) return;
    host.current!.querySelector<HTMLElement>('[role=menuitem]')!.focus();
    const outside = (e: Event) => {
      if (!host.current!.contains(e.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    host.current!.querySelector('button')!.focus();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (!open) {
      if (e.key !== 'ArrowDown') return;
      setOpen(true);
    } else {
      const items = [...host.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
      const at = items.indexOf(document.activeElement as HTMLElement);
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[e.key];
      if (e.key === 'Escape') close();
      else if (e.key === 'Tab') return setOpen(false);
      else if (to !== undefined) items[(to + items.length) % items.length]!.focus();
      else return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <div class="picker" ref={host} onKeyDown={onKeyDown}>
      <button type="button" class="icon" aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
        Export
        <i class="caret" aria-hidden="true" />
      </button>
      {open && (
        <div class="popover right" role="menu" aria-label="Export">
          {itemsOf(address).map(([heading, items]) => (
            <div key={heading} role="group" aria-label={heading}>
              <div class="group" aria-hidden="true">
                {heading}
              </div>
              {items.map((i) => (
                <a
                  key={i.text}
                  class="option"
                  role="menuitem"
                  tabIndex={-1}
                  href={i.href}
                  {...(i.file === undefined ? { target: '_blank', rel: 'noopener' } : { download: i.file })}
                  onClick={() => setOpen(false)}
                >
                  {i.text}
                  {i.note !== undefined && <small>{i.note}</small>}
                </a>
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
