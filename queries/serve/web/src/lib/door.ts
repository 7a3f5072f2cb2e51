// Doors: what a name on the page stands for, and where its menu leads.
import { currentAddress, navigate, type Params } from './address';
import { reference } from './shortname';

export type Kind =
  | 'function'
  | 'load object'
  | 'module'
  | 'package'
  | 'data object'
  | 'thread'
  | 'process'
  | 'CPU'
  | 'line'
  | 'experiment'
  | 'night';

export interface Door {
  kind: Kind;
  name: string;
  loadObject?: string;
  module?: string;
  file?: string;
  line?: number;
  experiment?: string; // a selector
  value?: number;
  total?: number;
  unit?: string;
  stack?: string[]; // the names of the frames from the root to this one
  zoom?: () => void; // shows this frame over the whole width
  id?: string; // the number of a thread, process or CPU
  threadName?: string; // of a thread, or of the main thread of a process
  pin?: { pinned: boolean; run: () => void }; // puts a row on top, or takes it from there
}

// Action is an item of the menu.
export interface Action {
  text: string;
  key: string; // as the menu shows it: S, Shift F
  group: 'show' | 'filter' | 'more';
  run: () => void;
}

// sqlText returns a text as a literal in SQL.
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

// stackHas returns the SQL condition that a stack has a function of exactly this name.
export function stackHas(name: string): string {
  return `stack_has(${sqlText(`^${name.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')}$`)})`;
}

// add appends a value to a parameter of the address that may be repeated.
function add(name: string, value: string, more: Params = {}): void {
  const all = currentAddress().all(name);
  navigate({ ...more, [name]: all.includes(value) ? all : [...all, value], zoom: null });
}

// copy puts a text on the clipboard. Without a secure connection, or if the reader forbids it, the browser does not let
// the page do that: then the text is shown, for copying by hand.
function copy(text: string): void {
  Promise.resolve()
    .then(() => navigator.clipboard.writeText(text))
    .catch(() => prompt('The browser does not let the page copy. Press Ctrl C:', text));
}

// numbers are the parameters that select samples by number.
const numbers: Partial<Record<Kind, string>> = { thread: 'thread', process: 'pid', CPU: 'cpu' };

// conditionOf returns the SQL condition that selects the samples of a door; undefined if there is none.
function conditionOf(d: Door): string | undefined {
  switch (d.kind) {
    case 'function':
      return stackHas(d.name);
    case 'thread':
      return d.id === undefined ? undefined : `thread_id = ${d.id}`;
    case 'process':
      return d.id === undefined ? undefined : `pid = ${d.id}`;
    case 'CPU':
      return d.id === undefined ? undefined : `cpu = ${d.id}`;
    default:
      return undefined;
  }
}

// actionsOf returns the items of the menu of a door; those that do not apply are left out.
export function actionsOf(d: Door): Action[] {
  const address = currentAddress();
  const list: Action[] = [];
  const item = (group: Action['group'], text: string, key: string, run: () => void) =>
    list.push({ group, text, key, run });
  if (d.zoom !== undefined) item('show', 'Zoom to this frame', 'Enter', d.zoom);
  if (d.kind === 'function') {
    const go = (view: string, more: Params = {}) => navigate({ view, function: reference(d.name), ...more });
    item('show', 'Source and instructions', 'S', () => go('source', { line: null }));
    item('show', 'Callers', 'Shift C', () =>
      go('flame', { side: 'callers', of: reference(d.name), group: null, zoom: null }),
    );
    item('show', 'Callees', 'Shift E', () =>
      go('flame', { side: 'callees', of: reference(d.name), group: null, zoom: null }),
    );
    item('show', 'Call graph', 'G', () => go('graph'));
    item('show', 'Trend over nights', 'T', () => go('trend'));
  } else if (d.kind === 'module' || d.kind === 'load object') {
    const around = (side: string) => () => navigate({ view: 'flame', side, of: d.name, group: d.kind, zoom: null });
    item('show', 'Callers', 'Shift C', around('callers'));
    item('show', 'Callees', 'Shift E', around('callees'));
    const group = d.kind === 'module' ? 'module' : 'load-object';
    item('show', 'Call graph', 'G', () => navigate({ view: 'graph', group, of: d.name, piece: null }));
  } else if (d.kind === 'package') {
    item('show', 'Call graph', 'G', () => navigate({ view: 'graph', group: 'package', of: d.name, piece: null }));
  } else if (d.kind === 'line') {
    item('show', 'Source and instructions', 'S', () =>
      navigate({ view: 'source', ...(d.file === undefined ? {} : { file: d.file }), line: String(d.line ?? '') }),
    );
  } else if (d.kind === 'experiment' && d.experiment !== undefined) {
    const of = d.experiment;
    item('show', 'Flame graph', 'Enter', () => navigate({ view: 'flame', experiment: of, zoom: null }));
  }
  if (numbers[d.kind] !== undefined && d.id !== undefined) {
    const filter = { [numbers[d.kind]!]: [d.id] };
    item('show', 'Flame graph', 'Enter', () => navigate({ view: 'flame', zoom: null, ...filter }));
  }
  if (d.threadName !== undefined) {
    const where = `thread_name = ${sqlText(d.threadName)}`;
    item('show', `Trend of threads named ${d.threadName}`, 'T', () =>
      navigate({ view: 'trend', function: null, experiment: null, between: null, where }),
    );
  }
  const condition = conditionOf(d);
  const numbered = numbers[d.kind];
  if (numbered !== undefined && d.id !== undefined) {
    const id = d.id;
    item('filter', `Only this ${d.kind}`, 'F', () => add(numbered, id));
    item('filter', 'Without it', 'Shift F', () => add('where', `NOT (${condition})`));
  } else if (condition !== undefined) {
    item('filter', 'Only samples with it', 'F', () => add('where', condition));
    item('filter', 'Without it', 'Shift F', () => add('where', `NOT ${condition}`));
  }
  if (d.kind === 'function') {
    item('filter', 'Hide the frame, keep its time', 'H', () => add('hide', d.name));
    if (address.get('view') === 'flame') item('filter', 'Collapse recursion', 'R', () => add('fold', d.name));
  }
  if (d.pin !== undefined) item('more', d.pin.pinned ? 'Unpin' : 'Pin on top', '', d.pin.run);
  if (d.experiment !== undefined) {
    const of = d.experiment;
    item('more', 'Use as base', 'B', () => navigate({ base: of }));
  } else if (d.kind === 'function' && address.all('base').length > 0) {
    item('more', 'Compare it with the base', 'C', () => navigate({ view: 'compare', function: reference(d.name) }));
  }
  item('more', 'Copy name', d.stack === undefined ? 'Y' : '', () => copy(d.name));
  if (d.stack !== undefined) {
    const stack = d.stack;
    item('more', 'Copy stack', 'Y', () => copy(stack.join('\n')));
  }
  return list;
}

// actionFor returns the action of a pressed key; undefined if the door has none.
export function actionFor(d: Door, e: KeyboardEvent): Action | undefined {
  if (e.ctrlKey || e.metaKey || e.altKey) return undefined;
  const key = (e.shiftKey && e.key.length === 1 ? 'Shift ' : '') + (e.key.length === 1 ? e.key.toUpperCase() : e.key);
  return actionsOf(d).find((a) => a.key === key);
}

// choose makes a door's function the chosen one, which the inspector shows. Of threads, processes and CPUs, only that
// one is shown then.
export function choose(d: Door): void {
  if (d.kind === 'function') navigate({ function: reference(d.name) });
  else if (numbers[d.kind] !== undefined)
    actionsOf(d)
      .find((a) => a.key === 'F')
      ?.run();
  else actionsOf(d)[0]?.run();
}

// partsOf divides a name into its path, which may be cut, and its last part.
export function partsOf(name: string): [string, string] {
  let depth = 0;
  let start = 0;
  const opening = name.indexOf('(', name.startsWith('(') || name.startsWith('<') ? 1 : 0);
  const end = opening < 1 ? name.length : opening;
  for (let i = 0; i < name.length - 1; i++) {
    const c = name[i];
    if (c === '<' || c === '(') depth++;
    else if (c === '>' || c === ')') depth--;
    else if (c === '/' && i < end) start = i + 1;
    else if (c === ':' && name[i + 1] === ':' && depth === 0 && i < end) start = i + 2;
  }
  return [name.slice(0, start), name.slice(start)];
}
