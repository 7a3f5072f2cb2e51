// What a place shows while an answer is not there yet, failed, or is empty.
import { type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { filters, navigate, useAddress, type Address } from '../lib/address';
import { Failure, stopped, type Answer } from '../lib/api';
import { chipText } from '../lib/filters';
import { format, parse } from '../lib/selection';
import { titleOf, useSelection } from '../lib/selectionanswer';
import { amount, num } from '../lib/units';
import { Copy } from './copy';

type Ways = Pick<Answer<unknown>, 'again' | 'stop' | 'request'>;

// Waiting says how long the reader has waited, after a second, and lets the reader stop the request. At first, when
// there is no picture yet, it shows where the picture will be.
export function Waiting({ stop, first }: { stop: Ways['stop']; first: boolean }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((s) => s + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class={first ? 'waiting first' : 'waiting'}>
      {first && (
        <div class="skeleton" aria-hidden="true">
          <i />
          <i />
          <i />
        </div>
      )}
      <p>
        <span role="status">{seconds > 0 && `Reading, ${seconds}\u202fs`}</span>
        {first && seconds === 0 && <span class="hidden">Loading…</span>}
        {seconds > 0 && stop !== undefined && (
          <button type="button" class="btn" onClick={stop}>
            Stop
          </button>
        )}
      </p>
    </div>
  );
}

// Failed says what failed and why, and offers ways out.
export function Failed({ error, ways }: { error: Error; ways: Ways }) {
  const address = useAddress();
  const status = error instanceof Failure ? error.status : 0;
  // The server's errors are one sentence, with what to do in parentheses at the end.
  const [, what, advice] = /^(.*?)(?: \(([^()]*(?:\([^()]*\)[^()]*)*)\))?$/s.exec(error.message)!;
  const ended = status === 422 ? ' It was sent once, and is not sent again by itself.' : '';
  return (
    <div class="failed">
      <div class="error" role="alert">
        <b>{sentence(what!)}</b>
        {(advice !== undefined || ended !== '') && (
          <p>
            {advice !== undefined && sentence(advice)}
            {ended}
          </p>
        )}
      </div>
      <p class="ways">
        {ways.again !== undefined && (
          <button type="button" class="btn pri" onClick={ways.again}>
            {status === 0 ? 'Try again' : 'Ask again'}
          </button>
        )}
        <Narrower address={address} status={status} />
        {ways.request !== undefined && status !== stopped && (
          <Copy text={requestText(ways.request)} label="Copy the request" />
        )}
      </p>
    </div>
  );
}

function sentence(text: string): string {
  const whole = text.startsWith('stackmill ') ? text : text.charAt(0).toUpperCase() + text.slice(1); // a command
  return /[.!?]$/.test(whole) ? whole : whole + '.';
}

// requestText is a request as a command, or SQL as it is.
function requestText(request: string): string {
  if (!request.startsWith('/')) return request.replace(/^\d+ /, '');
  return `curl -H "Authorization: Bearer $TOKEN" '${location.origin}${request}'`;
}

// Narrower is a button that asks for something else, which probably has an answer.
function Narrower({ address, status }: { address: Address; status: number }) {
  const filtered = filters.some((f) => address.all(f).length > 0);
  if (status === 422 || status === 413) return <Fewer address={address} />;
  if (status === 404 && address.all('experiment').length > 0)
    return <Way text="All experiments" to={{ experiment: null, base: null, zoom: null }} />;
  if (status === 400 && filtered) return <RemoveAll />;
  return null;
}

// Fewer chooses fewer experiments: those of the newest nights.
function Fewer({ address }: { address: Address }) {
  const { data } = useSelection(address, { metric: '', ...Object.fromEntries(filters.map((f) => [f, null])) });
  const nights = (data?.nights ?? []).filter((n) => n.name !== '');
  const n = [30, 7, 1].find((k) => nights.length > k);
  if (n === undefined) return <Way text="Choose experiments" to={{ view: 'experiments', zoom: null }} />;
  const runs = nights.slice(0, n).map((k) => `started=${k.name}`);
  const experiment = format({ ...parse(address.all('experiment')), runs });
  return <Way text={n === 1 ? 'Only the last night' : `Only the last ${n} nights`} to={{ experiment, zoom: null }} />;
}

function RemoveAll() {
  return <Way text="Remove all filters" to={{ ...Object.fromEntries(filters.map((f) => [f, null])), zoom: null }} />;
}

function Way({ text, to, first }: { text: string; to: Parameters<typeof navigate>[0]; first?: boolean }) {
  return (
    <button type="button" class={first === true ? 'btn pri' : 'btn'} onClick={() => navigate(to)}>
      {text}
    </button>
  );
}

// Empty says that an answer is empty and, if filters are the reason, which one: without it, there are values.
export function Empty({ children }: { children: ComponentChildren }) {
  const address = useAddress();
  const list = filters.flatMap((f) => address.all(f).map((value): [string, string] => [f, value]));
  if (list.length === 0) return <p class="note">{children}</p>;
  return (
    <div class="emptied">
      <p>
        {children} {list.length === 1 ? 'There is a filter.' : `There are ${list.length} filters.`}
      </p>
      {list.map(([f, value]) => (
        <Without key={f + value} address={address} parameter={f} value={value} only={list.length === 1} />
      ))}
      {list.length > 1 && (
        <p class="ways">
          <RemoveAll />
        </p>
      )}
    </div>
  );
}

// Without says what there is without a filter, if anything.
function Without(p: { address: Address; parameter: string; value: string; only: boolean }) {
  const others = p.address.all(p.parameter).filter((v) => v !== p.value);
  const { data, loading } = useSelection(p.address, { [p.parameter]: others });
  const text = chipText(p.parameter, p.value);
  if (data === undefined || loading || (num(data.value) === 0 && !p.only)) return null;
  return (
    <p class="ways">
      <span>
        Without <b>{text}</b> there {num(data.value) === 0 ? 'is nothing either' : 'are '}
        {num(data.value) !== 0 && `${amount(data.value, data.unit)} of ${titleOf(data)}`}.
      </span>
      <Way text={`Remove ${text}`} to={{ [p.parameter]: others, zoom: null }} first />
    </p>
  );
}
