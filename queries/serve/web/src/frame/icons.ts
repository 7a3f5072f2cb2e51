// Paths of icons of 18 by 18 pixels, drawn as lines.
export const icons = {
  changes: 'M2 14l4-5 4 3 6-8M12 4h4v4',
  experiments: 'M3 4h12M3 9h12M3 14h12',
  compare: 'M3 5h9M3 13h12M14 3v4',
  trend: 'M2 15V3M2 15h14M4 11l4-3 3 2 4-5',
  flame: 'M2 14h14M2 10h10M2 6h5',
  functions: 'M3 4h6M3 9h12M3 14h9',
  graph: 'M3 4h4v4H3zM11 10h4v4h-4zM7 6h6v4',
  source: 'M6 5L2 9l4 4M12 5l4 4-4 4',
  timeline: 'M2 5h8M6 9h10M2 13h6',
  heatmap: 'M3 3h4v4H3zM11 3h4v4h-4zM3 11h4v4H3zM11 11h4v4h-4z',
  objects: 'M3 5l6-3 6 3v8l-6 3-6-3zM3 5l6 3 6-3M9 8v8',
  heap: 'M2 15h14M4 15V9h3v6M8 15V4h3v11M12 15v-4h3v4',
  files: 'M4 2h7l3 3v11H4zM11 2v4h3',
  locks: 'M4 8h10v8H4zM6 8V5a3 3 0 0 1 6 0v3',
  unknown: 'M6 6a3 3 0 1 1 4 3c-1 .5-1 1-1 2M9 14v.5',
  sql: 'M3 5c0-3 12-3 12 0v8c0 3-12 3-12 0zM3 5c0 3 12 3 12 0M3 9c0 3 12 3 12 0',
  more: 'M4 9h.5M9 9h.5M14 9h.5',
};
export type IconName = keyof typeof icons;
