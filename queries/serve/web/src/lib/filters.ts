// The filters of the selection bar: their names, and how a chip shows them.
import { sqlText } from './door';

export interface FilterKind {
  parameter: 'where' | 'thread' | 'cpu' | 'pid' | 'between' | 'hide' | 'api-only';
  name: string;
  hint: string; // an example of a value
  parse?: (value: string) => string; // the parameter's value of what a reader wrote
}

const stackHas = /^(NOT )?stack_has\('((?:[^']|'')*)'\)$/;

export const filterKinds: FilterKind[] = [
  { parameter: 'thread', name: 'Thread', hint: '4711' },
  { parameter: 'pid', name: 'Process', hint: '4700' },
  { parameter: 'cpu', name: 'CPU', hint: '3' },
  { parameter: 'between', name: 'Time', hint: '10s,20s' },
  {
    parameter: 'where',
    name: 'Stack has',
    hint: 'part of a function, or ^function$',
    parse: (v) => `stack_has(${sqlText(v)})`,
  },
  { parameter: 'where', name: 'SQL condition', hint: "thread_id = 17 AND stack_has('parse')" },
  { parameter: 'hide', name: 'Hide function', hint: 'a function, whose time its caller gets' },
  { parameter: 'api-only', name: 'Only calls into', hint: 'a load object' },
];

// chipText returns the text of a filter's chip.
export function chipText(parameter: string, value: string): string {
  const has = stackHas.exec(value);
  if (parameter === 'where' && has !== null) {
    const text = has[2]!.replaceAll("''", "'");
    const exact = /^\^(.*)\$$/.exec(text)?.[1];
    const name = exact === undefined ? `…${text}…` : exact.replace(/\\(.)/g, '$1');
    return `${has[1] === undefined ? 'with' : 'without'} ${name}`;
  }
  if (parameter === 'where') return value;
  if (parameter === 'between') return value.replace(',', ' … ');
  if (parameter === 'pid') return `process ${value}`;
  if (parameter === 'api-only') return `calls into ${value}`;
  if (parameter === 'fold') return `recursion of ${value} folded`;
  return `${parameter} ${value}`;
}

// written returns what a reader would write to make a filter, with the index of its kind.
export function written(parameter: string, value: string): { kind: number; text: string } {
  const has = stackHas.exec(value);
  if (parameter === 'where' && has !== null && has[1] === undefined)
    return { kind: filterKinds.findIndex((k) => k.parse !== undefined), text: has[2]!.replaceAll("''", "'") };
  return { kind: filterKinds.findIndex((k) => k.parameter === parameter && k.parse === undefined), text: value };
}
