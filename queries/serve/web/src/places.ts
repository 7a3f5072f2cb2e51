// The places of the page, in the order of the rail.
import { type ComponentType } from 'preact';
import { ChangesPanel } from './panels/changes';
import { ExperimentsPanel } from './panels/experiments';
import { CallersPanel, FunctionsPanel } from './panels/functions';
import { TimelinePanel } from './panels/timeline';
import { lazy } from './parts/lazy';

export interface Place {
  label: string;
  heading?: string; // of the places from this one on
  key: string; // after G
  answers: string; // the question that it answers
  panel: ComponentType;
  parameters?: string[]; // of the address that only this place understands; leaving it drops them
  unscoped?: boolean; // the place does not show the selected experiments
}

export const places: Record<string, Place> = {
  changes: {
    label: 'What changed',
    key: '1',
    answers: 'What happened last night, and what carries it?',
    panel: ChangesPanel,
    parameters: ['verdict', 'program', 'since', 'order', 'series'],
  },
  experiments: {
    label: 'Experiments',
    heading: 'Across runs',
    key: 'E',
    answers: 'Which recordings are there?',
    panel: ExperimentsPanel,
    parameters: ['narrow', 'sort', 'page', 'tick'],
  },
  compare: {
    label: 'Compare',
    key: 'C',
    answers: 'What differs between two groups of runs?',
    panel: lazy(() => import('./panels/compare').then((m) => m.ComparePanel)),
    parameters: ['by', 'normalise', 'width', 'small'],
  },
  trend: {
    label: 'Trend',
    key: 'T',
    answers: 'Since when?',
    panel: lazy(() => import('./panels/trend').then((m) => m.TrendPanel)),
    parameters: ['by', 'order', 'inclusive', 'normalise', 'what', 'axis', 'as', 'nights'],
  },
  flame: {
    label: 'Flame graph',
    heading: 'Where it goes',
    key: 'F',
    answers: 'On which paths?',
    panel: lazy(() => import('./panels/flame').then((m) => m.FlamePanel)),
    parameters: ['side', 'of', 'group', 'zoom', 'search', 'colour', 'root', 'nodes', 'fold'],
  },
  functions: {
    label: 'Functions',
    key: 'U',
    answers: 'In which functions?',
    panel: FunctionsPanel,
    parameters: ['search', 'beside', 'highest', 'rows', 'inline'],
  },
  callers: { label: 'Callers', key: 'A', answers: 'Called by whom?', panel: CallersPanel, parameters: ['piece'] },
  source: {
    label: 'Source',
    key: 'S',
    answers: 'At which line and instruction?',
    panel: lazy(() => import('./panels/source').then((m) => m.SourcePanel)),
    parameters: ['line', 'file', 'at', 'unfold', 'key', 'build', 'range', 'layout', 'value', 'pane', 'search'],
  },
  timeline: {
    label: 'Timeline',
    heading: 'When',
    key: 'L',
    answers: 'In which thread, at what time?',
    panel: TimelinePanel,
    parameters: ['lanes'],
  },
  heatmap: {
    label: 'Heat map',
    key: 'H',
    answers: 'In which rhythm?',
    panel: lazy(() => import('./panels/heatmap').then((m) => m.HeatmapPanel)),
  },
  objects: {
    label: 'Data objects',
    heading: 'Memory and waits',
    key: 'O',
    answers: 'Which variable, which member?',
    panel: lazy(() => import('./panels/objects').then((m) => m.ObjectsPanel)),
    parameters: ['type', 'by', 'find', 'first', 'limit', 'open'],
  },
  heap: {
    label: 'Heap and leaks',
    key: 'M',
    answers: 'Which block was never freed?',
    panel: lazy(() => import('./panels/heap').then((m) => m.HeapPanel)),
    parameters: ['what', 'run', 'process', 'find', 'limit', 'open'],
  },
  files: {
    label: 'Files',
    key: 'I',
    answers: 'Which file takes the time?',
    panel: lazy(() => import('./panels/files').then((m) => m.FilesPanel)),
    parameters: ['kind', 'find', 'limit', 'open', 'stack'],
  },
  locks: {
    label: 'Locks',
    key: 'K',
    answers: 'Who waits for what?',
    panel: lazy(() => import('./panels/locks').then((m) => m.LocksPanel)),
    parameters: ['by', 'limit', 'open', 'stack', 'thread-row'],
  },
  unknown: {
    label: 'Unknown',
    heading: 'Can I trust it',
    key: 'N',
    answers: 'What could not be told, and why?',
    panel: lazy(() => import('./panels/unknown').then((m) => m.UnknownPanel)),
    parameters: ['by', 'open'],
  },
  sql: {
    label: 'SQL',
    heading: 'Ask',
    key: 'Q',
    answers: 'Anything else',
    panel: lazy(() => import('./panels/sql').then((m) => m.SQLPanel)),
    parameters: ['query', 'chart'],
    unscoped: true,
  },
};

export const first = 'changes';

// toPlace returns the changes of the address that lead to a place. Parameters that only other places understand are
// dropped.
export function toPlace(name: string): Record<string, string | null> {
  const keep = places[name]?.parameters ?? [];
  const drop = Object.values(places)
    .flatMap((p) => p.parameters ?? [])
    .filter((p) => !keep.includes(p));
  return { ...Object.fromEntries(drop.map((p) => [p, null])), view: name === first ? null : name };
}
