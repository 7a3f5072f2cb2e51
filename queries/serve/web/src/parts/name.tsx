// A name on the page. It leads to what it stands for, and has a menu.
import { useRef } from 'preact/hooks';
import { navigate, useAddress, type Params } from '../lib/address';
import { actionFor, actionsOf, choose, partsOf, type Door } from '../lib/door';
import { reference } from '../lib/shortname';
import { openMenu } from './menu';

const longTouch = 500; // ms

// Name shows a door's name, or a shorter text. A click chooses it or, with `to`, changes the address so.
export function Name({ of, text, to }: { of: Door; text?: string; to?: Params }) {
  const address = useAddress();
  const touch = useRef(0);
  const [path, last] = partsOf(text ?? of.name);
  const at = (e: MouseEvent) => openMenu(of, { x: e.clientX, y: e.clientY });
  return (
    <a
      class="named"
      href={address.with(to ?? (of.kind === 'function' ? { function: reference(of.name) } : {}))}
      title={of.name.length > 2000 ? of.name.slice(0, 2000) + '…' : of.name}
      onClick={(e) => {
        if (e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return; // the browser opens another tab or window
        e.preventDefault();
        if (to === undefined) choose(of);
        else navigate(to);
      }}
      onDblClick={() =>
        actionsOf(of)
          .find((a) => a.key === 'S')
          ?.run()
      }
      onContextMenu={(e) => {
        e.preventDefault();
        at(e);
      }}
      onTouchStart={(e) => {
        const { clientX: x, clientY: y } = e.touches[0]!;
        touch.current = setTimeout(() => openMenu(of, { x, y }), longTouch);
      }}
      onTouchMove={() => clearTimeout(touch.current)}
      onTouchEnd={() => clearTimeout(touch.current)}
      onKeyDown={(e) => {
        if (e.key === 'm' || e.key === 'ContextMenu') {
          const box = e.currentTarget.getBoundingClientRect();
          e.preventDefault();
          openMenu(of, { x: box.left, y: box.bottom });
          return;
        }
        const action = e.key === 'Enter' ? undefined : actionFor(of, e);
        if (action === undefined) return;
        e.preventDefault();
        e.stopPropagation();
        action.run();
      }}
    >
      {path !== '' && <span>{path}</span>}
      <b>{last.length > 400 ? last.slice(0, 400) + '…' : last}</b>
    </a>
  );
}
