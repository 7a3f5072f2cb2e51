// Bars that show a part of a whole.
function widthOf(part: number, total: number): string {
  return `${total === 0 ? 0 : Math.max(0, Math.min(100, (100 * part) / total))}%`;
}

export function Meter({ part, total, kind }: { part: number; total: number; kind?: 'slower' | 'faster' }) {
  return (
    <span class={`meter ${kind ?? ''}`} aria-hidden="true">
      <i style={{ width: widthOf(part, total) }} />
    </span>
  );
}

// Bar is the bar of a cell in a table; it is pale for inclusive values.
export function Bar({ part, total, pale }: { part: number; total: number; pale?: boolean }) {
  return (
    <i class={pale === true ? 'cellbar pale' : 'cellbar'} style={{ width: widthOf(part, total) }} aria-hidden="true" />
  );
}
