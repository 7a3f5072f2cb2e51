// A verdict: a sign (unless it is plain), a word and a color.
import { type ComponentChildren } from 'preact';

export type VerdictKind = 'slower' | 'faster' | 'appeared' | 'vanished' | 'same' | 'few';

const signs: Record<VerdictKind, string> = {
  slower: '▲',
  faster: '▼',
  appeared: '+',
  vanished: '\u2212',
  same: '=',
  few: '○',
};

export function Verdict(p: { kind: VerdictKind; maybe?: boolean; plain?: boolean; children?: ComponentChildren }) {
  const maybe = p.maybe === true;
  return (
    <span class={`verdict ${p.kind}${maybe ? ' maybe' : ''}`}>
      {p.plain !== true && <i aria-hidden="true">{maybe ? '?' : signs[p.kind]}</i>}
      <span>{p.children ?? p.kind}</span>
    </span>
  );
}
