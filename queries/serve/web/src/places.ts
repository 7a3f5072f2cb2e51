// The places of the page, in the order of the rail.
import { type ComponentType } from 'preact';
import { ChangesPanel } from './panels/changes';
import { ExperimentsPanel } from './panels/experiments';
import { TimelinePanel } from './panels/timeline';
import { lazy } from './parts/lazy';

export interface Place {
  label: string;
  heading?: string; // of the places from this one on
  key: string; // after G
  answers: string; // the question that it answers
  panel: ComponentType;
  unscoped?: boolean; // the place does not show the selected experiments
}

export const places: Record<string, Place> = {
  changes: {
    label: 'What changed',
    key: '1',
    answers: 'What happened last night, and what carries it?',
    panel: ChangesPanel,
  },
  experiments: {
    label: 'Experiments',
    heading: 'Across runs',
    key: 'E',
    answers: 'Which recordings are there?',
    panel: ExperimentsPanel,
  },
  compare: {
    label: 'Compare',
    key: 'C',
    answers: 'What differs between two groups of runs?',
    panel: lazy(() => import('./panels/compare').then((m) => m.ComparePanel)),
  },
  trend: {
    label: 'Trend',
    key: 'T',
    answers: 'Since when?',
    panel: lazy(() => import('./panels/trend').then((m) => m.TrendPanel)),
  },
  flame: {
    label: 'Flame graph',
    heading: 'Where it goes',
    key: 'F',
    answers: 'On which paths?',
    panel: lazy(() => import('./panels/flame').then((m) => m.FlamePanel)),
  },
  functions: {
    label: 'Functions',
    key: 'U',
    answers: 'In which functions?',
    panel: lazy(() => import('./panels/functions').then((m) => m.FunctionsPanel)),
  },
  graph: {
    label: 'Call graph',
    key: 'G',
    answers: 'Called by whom?',
    panel: lazy(() => import('./panels/graph').then((m) => m.GraphPanel)),
  },
  source: {
    label: 'Source',
    key: 'S',
    answers: 'At which line and instruction?',
    panel: lazy(() => import('./panels/source').then((m) => m.SourcePanel)),
  },
  timeline: {
    label: 'Timeline',
    heading: 'When',
    key: 'L',
    answers: 'In which thread, at what time?',
    panel: TimelinePanel,
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
  },
  heap: {
    label: 'Heap and leaks',
    key: 'M',
    answers: 'Which block was never freed?',
    panel: lazy(() => import('./panels/heap').then((m) => m.HeapPanel)),
  },
  files: {
    label: 'Files',
    key: 'I',
    answers: 'Which file takes the time?',
    panel: lazy(() => import('./panels/files').then((m) => m.FilesPanel)),
  },
  locks: {
    label: 'Locks',
    key: 'K',
    answers: 'Who waits for what?',
    panel: lazy(() => import('./panels/locks').then((m) => m.LocksPanel)),
  },
  unknown: {
    label: 'Unknown',
    heading: 'Can I trust it',
    key: 'N',
    answers: 'What could not be told, and why?',
    panel: lazy(() => import('./panels/unknown').then((m) => m.UnknownPanel)),
  },
  sql: {
    label: 'SQL',
    heading: 'Ask',
    key: 'Q',
    answers: 'Anything else',
    panel: lazy(() => import('./panels/sql').then((m) => m.SQLPanel)),
    unscoped: true,
  },
};

export const first = 'changes';

// toPlace returns the changes of the address that lead to a place.
export function toPlace(name: string): { view: string | null } {
  return { view: name === first ? null : name };
}
