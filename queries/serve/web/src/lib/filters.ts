// The filters of the selection bar: their names, and how a chip shows them.

export interface FilterKind {
  parameter: 'where' | 'thread' | 'cpu' | 'pid' | 'between' | 'hide' | 'api-only';
  name: string;
  hint: string; // an example of a value
  parse?: (value: string) => string; // the parameter's value of what a reader wrote
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

export const filterKinds: FilterKind[] = [
  { parameter: 'thread', name: 'Thread', hint: '4711' },
  { parameter: 'pid', name: 'Process', hint: '4700' },
  { parameter: 'cpu', name: 'CPU', hint: '3' },
  { parameter: 'between', name: 'Time', hint: '10s,20s' },
  { parameter: 'where', name: 'Stack has', hint: 'a function', parse: (v) => `stack_has(${quoted(v)})` },
  { parameter: 'where', name: 'SQL condition', hint: "thread_id = 17 AND stack_has('parse')" },
  { parameter: 'hide', name: 'Hide function', hint: 'a function, whose time its caller gets' },
  { parameter: 'api-only', name: 'Only calls into', hint: 'a load object' },
];

// chipText returns the text of a filter's chip.
export function chipText(parameter: string, value: string): string {
  const has = /^(NOT )?stack_has\('((?:[^']|'')*)'\)$/.exec(value);
  if (parameter === 'where')
    return has === null ? value : `${has[1] === undefined ? 'with' : 'without'} ${has[2]!.replaceAll("''", "'")}`;
  if (parameter === 'between') return value.replace(',', ' … ');
  if (parameter === 'pid') return `process ${value}`;
  if (parameter === 'api-only') return `calls into ${value}`;
  if (parameter === 'fold') return `recursion of ${value} folded`;
  return `${parameter} ${value}`;
}

// written returns what a reader would write to make a filter, with the index of its kind.
export function written(parameter: string, value: string): { kind: number; text: string } {
  const has = /^stack_has\('((?:[^']|'')*)'\)$/.exec(value);
  if (parameter === 'where' && has !== null)
    return { kind: filterKinds.findIndex((k) => k.parse !== undefined), text: has[1]!.replaceAll("''", "'") };
  return { kind: filterKinds.findIndex((k) => k.parameter === parameter && k.parse === undefined), text: value };
}
