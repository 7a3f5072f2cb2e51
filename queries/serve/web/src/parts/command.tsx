// A command for people to copy.
import { useState } from 'preact/hooks';

export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div class="copycommand">
      <pre tabIndex={0} role="group" aria-label="Command">
        {text}
      </pre>
      <button
        type="button"
        class="btn"
        onClick={() => {
          void navigator.clipboard.writeText(text).then(() => {
            setCopied(true);
            setTimeout(() => setCopied(false), 2000);
          });
        }}
      >
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

// Recipe is how to record something.
export interface Recipe {
  with: string; // the recorder
  command: string;
}

// NotRecorded says that the selection lacks what a place shows, and how to record it.
export function NotRecorded({ what, recipes }: { what: string; recipes: Recipe[] }) {
  return (
    <section class="card pad notrecorded" aria-label="Not recorded">
      <h2>Not recorded</h2>
      <p>{what}</p>
      {recipes.map((r) => (
        <div key={r.command}>
          <h3>{r.with}</h3>
          <Command text={r.command} />
        </div>
      ))}
    </section>
  );
}
