// A choice among a few values, which are all visible.
export function Segments<V extends string>(p: {
  label: string;
  options: [V, string][]; // values and their texts
  value: V;
  set: (value: V) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={p.label}>
      {p.options.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === p.value} onClick={() => p.set(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}
