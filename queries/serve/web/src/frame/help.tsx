// The list of keys.
import { useEffect, useRef } from 'preact/hooks';
import { help } from './keys';

export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="help pad"
      aria-label="Keys"
      onClose={close}
      onClick={(e) => e.target === dialog.current && close()}
    >
      <h2>Keys</h2>
      <dl>
        {help.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="btn" onClick={close}>
        Close
      </button>
    </dialog>
  );
}
