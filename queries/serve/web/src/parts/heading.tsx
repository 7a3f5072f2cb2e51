// The heading of a place: its title, a sentence, and controls at the right.
import { type ComponentChildren } from 'preact';

export function Heading(p: { title: ComponentChildren; sentence?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="heading">
      <div>
        <h1 tabIndex={-1}>{p.title}</h1>
        {p.sentence !== undefined && <p>{p.sentence}</p>}
      </div>
      <span class="sp" />
      {p.children}
    </div>
  );
}
