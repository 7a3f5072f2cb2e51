import { render, type ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { CommandBox, type Command } from './frame/command';
import { Help } from './frame/help';
import { useKeys } from './frame/keys';
import { Rail, Tabs, useFolded } from './frame/rail';
import { SelectionBar } from './frame/selectionbar';
import { Top } from './frame/top';
import { currentAddress, filters, navigate, scope, useAddress } from './lib/address';
import { sessionEnded, useData } from './lib/api';
import { usePosition } from './frame/position';
import { setMark, useMarks } from './lib/marks';
import { useStore } from './lib/store';
import { applyTheme, toggleTheme } from './lib/theme';
import { percent } from './lib/units';
import { LeftOut } from './parts/leftout';
import { Menu } from './parts/menu';
import { shareLink } from './parts/share';
import { first, places } from './places';

function Page() {
  const address = useAddress();
  const asked = address.get('view', first);
  const view = asked in places ? asked : first;
  const { label, panel: Panel, unscoped } = places[view]!;
  const [box, setBox] = useState<'' | 'command' | 'help'>('');
  const [folded, fold] = useFolded();
  const [more, setMore] = useState(false);
  const store = useStore();
  const marks = useMarks();
  const main = useRef<HTMLElement>(null);
  useKeys({
    command: () => setBox('command'),
    help: () => setBox('help'),
    rail: fold,
    share: shareLink,
    base: takeAsBase,
    refresh: store.take,
  });
  const title = [address.all('experiment').join(', '), label, 'stackmill'].filter((t) => t !== '').join(' – ');
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => void document.getElementById('app')!.classList.toggle('folded', folded), [folded]);
  usePosition(view);
  useUnknownMark(unscoped !== true);
  const commands: Command[] = [
    { kind: 'Commands', text: 'Swap base and test', note: 'X', run: swap },
    { kind: 'Commands', text: 'Use the selection as base', note: 'B', run: takeAsBase },
    { kind: 'Commands', text: 'Light or dark', note: 'D', run: toggleTheme },
    { kind: 'Commands', text: 'Copy a link to exactly this', note: 'Y', run: shareLink },
    { kind: 'Commands', text: 'Remove all filters', run: removeFilters },
    { kind: 'Commands', text: 'Keys', note: '?', run: () => setBox('help') },
  ];
  return (
    <>
      <a class="skip" href="#content" onClick={() => main.current!.focus()}>
        Skip to the content
      </a>
      <Top store={store} command={() => setBox('command')} help={() => setBox('help')} />
      <Rail view={view} marks={marks} open={more} close={() => setMore(false)} />
      <div class="content">
        <SelectionBar unscoped={unscoped === true} />
        <LeftOut />
        <main id="content" tabIndex={-1} ref={main}>
          <Content>
            <Panel key={view} />
          </Content>
        </main>
      </div>
      <Tabs view={view} more={more} setMore={setMore} />
      <Menu />
      {box === 'command' && <CommandBox close={() => setBox('')} commands={commands} />}
      {box === 'help' && <Help close={() => setBox('')} />}
    </>
  );
}

// useUnknownMark shows in the rail which part of the metric is unknown.
function useUnknownMark(scoped: boolean): void {
  const address = useAddress();
  const { data } = useData<{ share: number }>(scoped ? 'unknown' : undefined, {
    ...scope(address),
    metric: address.get('metric'),
    only: 'share',
  });
  useEffect(() => {
    const text = data === undefined ? '' : percent(data.share, 1);
    setMark('unknown', text === '' || text === '0' ? undefined : { text, title: `${text} belong to no function` });
  }, [data]);
}

// Content is a place, unless the reader was logged out.
function Content({ children }: { children: ComponentChildren }) {
  const [loggedOut, setLoggedOut] = useState(false);
  useEffect(() => {
    const update = () => setLoggedOut(true);
    sessionEnded.addEventListener('ended', update);
    return () => sessionEnded.removeEventListener('ended', update);
  }, []);
  return (
    <>
      {loggedOut && (
        <p class="error" role="alert">
          You were logged out: the server was restarted with another token, or you logged out in another tab.{' '}
          <a class="link" href={location.href}>
            Log in
          </a>
        </p>
      )}
      <div hidden={loggedOut}>{children}</div>
    </>
  );
}

// swap makes the base the test, and the test the base.
function swap(): void {
  const address = currentAddress();
  if (address.all('base').length > 0)
    navigate({ base: address.all('experiment'), experiment: address.all('base'), zoom: null });
}

// takeAsBase makes the selection the pinned base: one can then look at other experiments, against it.
function takeAsBase(): void {
  const selectors = currentAddress().all('experiment');
  if (selectors.length > 0) navigate({ base: selectors, pin: '1' });
}

function removeFilters(): void {
  navigate({ ...Object.fromEntries([...filters, 'fold'].map((f) => [f, null])), zoom: null });
}

applyTheme();
render(<Page />, document.getElementById('app')!);
