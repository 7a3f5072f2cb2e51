// The answer of /api/v1/selection: what the chosen selectors, metric and filters contain.
import { useData, type Answer } from './api';
import { scope, type Address, type Params } from './address';
import { num, type Value } from './units';

export interface SelectionAnswer {
  experiments: number;
  of: number; // experiments in the store
  lacking: number; // selected experiments without the metric
  metric: string;
  unit: string;
  value: Value; // of the samples that pass the filters
  whole: Value; // of all samples of the selected experiments
  metrics: { metric: string; title: string; unit: string; kind: string; experiments: number; value: Value }[];
  programs: Counted[]; // of the store
  nights: Counted[]; // of the selected experiments, the newest first
}

export interface Counted {
  name: string;
  experiments: number;
}

export function useSelection(address: Address, change: Params = {}): Answer<SelectionAnswer> {
  return useData<SelectionAnswer>('selection', { ...scope(address), metric: address.get('metric'), ...change });
}

// kinds are the headings of the metric picker.
export function kindOf(m: { metric: string; unit: string; kind: string }): string {
  if (/^heap/.test(m.metric)) return 'Heap';
  if (/^(io|read|write|other)/.test(m.metric) && m.kind !== 'clock') return 'Files';
  if (/^sync/.test(m.metric)) return 'Locks';
  return m.unit === 'ns' ? 'Time' : 'Events';
}

// titleOf returns a metric's title, or its name if it has none.
export function titleOf(s: SelectionAnswer, metric = s.metric): string {
  const m = s.metrics.find((m) => m.metric === metric);
  return m === undefined || m.title === '' ? metric : m.title;
}

export function hasData(m: { value: Value }): boolean {
  return num(m.value) !== 0;
}
