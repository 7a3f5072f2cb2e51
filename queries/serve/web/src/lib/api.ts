// Requests to the server.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Params } from './address';
import { anyState, shown, stateHeader } from './shown';

export class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly line?: number, // of the SQL that is wrong
  ) {
    super(message);
  }
}

// sessionEnded fires when the server asks for the token again.
export const sessionEnded = new EventTarget();

export interface Answer<T> {
  data: T | undefined; // of the latest answer; while the next one is loading, still the previous data
  error: Error | undefined;
  loading: boolean;
  warnings: string[];
  again?: () => void; // sends the request again
  stop?: () => void; // ends the request
  request?: string; // the request, for people: its URL, or its SQL
}

// stopped is the status of a request that the reader ended.
export const stopped = -1;

export function requestURL(path: string, parameters: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const v of value === null ? [] : [value].flat()) {
      if (v !== '') query.append(name, v);
    }
  }
  const text = query.toString();
  return '/api/v1/' + path + (text === '' ? '' : '?' + text);
}

// send sends a request, once: a request that failed is sent again only when the reader says so.
async function send(request: Request): Promise<{ response: Response; warnings: string[] }> {
  const named = shown.current;
  request.headers.set(stateHeader, named ?? anyState);
  let response: Response;
  try {
    response = await fetch(request);
  } catch (e) {
    if (request.signal.aborted) throw e;
    throw new Failure(0, 'the server does not answer (is it running?)');
  }
  if (!response.ok) {
    let message = response.statusText;
    let line: number | undefined;
    try {
      ({ error: message, line } = (await response.json()) as { error: string; line?: number });
    } catch {
      // The body is not JSON: a proxy answered instead of the server.
    }
    if (response.status === 401) sessionEnded.dispatchEvent(new Event('ended'));
    throw new Failure(response.status, message, line);
  }
  if (!request.signal.aborted) shown.answered(named, response.headers.get(stateHeader));
  const all = JSON.parse(response.headers.get('Stackmill-Warning') ?? '[]') as string[];
  setLeftOut(all.filter((text) => text.startsWith(leftOutPrefix)));
  return { response, warnings: all.filter((text) => !text.startsWith(leftOutPrefix)) };
}

// Warnings with this prefix are about experiments that all answers lack. Every answer repeats them, so
// those of the latest answer are current.
const leftOutPrefix = 'left out: ';
let missing: string[] = [];
const listeners = new Set<(texts: string[]) => void>();

export function leftOut(): string[] {
  return missing;
}

// onLeftOutChange calls listener with these warnings, now and whenever they change. The returned function
// ends that.
export function onLeftOutChange(listener: (texts: string[]) => void): () => void {
  listeners.add(listener);
  listener(missing);
  return () => void listeners.delete(listener);
}

function setLeftOut(texts: string[]): void {
  if (texts.join('\n') === missing.join('\n')) return;
  missing = texts;
  listeners.forEach((listener) => listener(texts));
}

async function read<T>(request: Request): Promise<{ data: T; warnings: string[] }> {
  const { response, warnings } = await send(request);
  return { data: (await response.json()) as T, warnings };
}

// useData requests data from an endpoint. If the path is undefined, it requests nothing.
export function useData<T>(path: string | undefined, parameters: Params): Answer<T> {
  const url = path === undefined ? undefined : requestURL(path, parameters);
  return useRequest<T>(url, (signal) => new Request(url ?? '', { signal }));
}

// useQuery runs SQL. It runs the same SQL once more when `again` changes.
export function useQuery<T>(sql: string | undefined, again = 0): Answer<T> {
  return useRequest<T>(sql === undefined ? undefined : `${again} ${sql}`, (signal) => query(sql ?? '', 'json', signal));
}

function query(sql: string, format: string, signal?: AbortSignal): Request {
  return new Request('/api/v1/query', {
    ...(signal === undefined ? {} : { signal }),
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ sql, format }),
  });
}

// save runs SQL and lets the browser save the answer as a file.
export async function save(sql: string, format: string): Promise<void> {
  const { response } = await send(query(sql, format));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = `result.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser needs the URL until it has read the file
}

// useMoves returns how often the page went to another state of the store.
function useMoves(): number {
  const [moves, set] = useState(shown.moves);
  useEffect(() => shown.onMove(() => set(shown.moves)), []);
  return moves;
}

function useRequest<T>(key: string | undefined, request: (signal: AbortSignal) => Request): Answer<T> {
  const [answer, set] = useState<Answer<T> & { of: string | undefined }>({
    data: undefined,
    error: undefined,
    loading: key !== undefined,
    warnings: [],
    of: key,
  });
  const [times, setTimes] = useState(0); // how often the reader asked again
  const moves = useMoves();
  const make = useRef(request);
  make.current = request;
  const control = useRef<AbortController>(undefined);
  useEffect(() => {
    if (key === undefined) {
      set({ data: undefined, error: undefined, loading: false, warnings: [], of: key });
      return;
    }
    const sent = new AbortController();
    control.current = sent;
    set((was) => ({ ...was, error: times > 0 ? undefined : was.error, loading: true, of: key }));
    read<T>(make.current(sent.signal)).then(
      ({ data, warnings }) => {
        if (!sent.signal.aborted) set({ data, error: undefined, loading: false, warnings, of: key });
      },
      (error: Error) => {
        if (!sent.signal.aborted) set({ data: undefined, error, loading: false, warnings: [], of: key });
      },
    );
    return () => sent.abort();
  }, [key, moves, times]);
  const stop = () => {
    control.current?.abort();
    const error = new Failure(stopped, 'You stopped the request.');
    set({ data: answer.data, error, loading: false, warnings: [], of: key });
  };
  const ways = { again: () => setTimes((n) => n + 1), stop, ...(key === undefined ? {} : { request: key }) };
  // Effects run only after painting: until then, `answer` may belong to the previous request.
  return answer.of === key ? { ...answer, ...ways } : { ...answer, ...ways, loading: key !== undefined };
}
