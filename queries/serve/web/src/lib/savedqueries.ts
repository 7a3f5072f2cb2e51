// Queries that the reader keeps in this browser, and those that were run lately.

export interface SavedQuery {
  name: string;
  sql: string;
  show?: string; // table, chart or flame graph, with its columns: parameters of the address
}

const savedKey = 'stackmill-queries';
const historyKey = 'stackmill-sql-history';
const longestHistory = 30;

function read<T>(key: string, is: (v: unknown) => v is T): T[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(list) ? list.filter(is) : [];
  } catch {
    return []; // the reader blocks storage, or something else wrote there
  }
}

function write(key: string, list: unknown[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(list));
  } catch {
    // The reader blocks storage, or it is full: the query is still in the address.
  }
}

export function savedQueries(): SavedQuery[] {
  return read(savedKey, (v): v is SavedQuery => {
    const q = v as Partial<SavedQuery> | null;
    return typeof q?.name === 'string' && typeof q.sql === 'string';
  });
}

// saveQuery keeps a query; it replaces one of the same name.
export function saveQuery(q: SavedQuery): void {
  const others = savedQueries().filter((o) => o.name !== q.name);
  write(
    savedKey,
    [...others, q].sort((a, b) => a.name.localeCompare(b.name)),
  );
}

export function deleteQuery(name: string): void {
  write(
    savedKey,
    savedQueries().filter((q) => q.name !== name),
  );
}

// history returns the queries that were run lately, the newest first.
export function history(): string[] {
  return read(historyKey, (v): v is string => typeof v === 'string');
}

export function remember(sql: string): void {
  write(historyKey, [sql, ...history().filter((s) => s !== sql)].slice(0, longestHistory));
}
