// The answer of /api/v1/changes: all series of experiments with their values by night.
export interface ChangedFunction {
  function: string;
  load_object: string;
  function_key: string;
  state: 'sure' | 'maybe';
  kind: 'slower' | 'faster' | 'appeared' | 'vanished';
  since: string;
  last_good: string;
  nights: number;
  before: number;
  after: number;
  ratio: number | null;
  low: number | null;
  high: number | null;
  impact: number; // difference in relation to the whole program
  q: number;
}

export interface Finding {
  since: string;
  last_good: string;
  changes: ChangedFunction[] | null;
  differences?: { what: string; before: string[]; after: string[] }[];
  more_nights?: number;
  more_runs?: number;
}

export interface Program {
  series: string;
  program: string;
  metric: string;
  unit: string;
  state: 'sure' | 'maybe' | '';
  few: boolean;
  nights: number[]; // indexes of Changes.nights
  values: number[];
  runs: number[];
  usual: number;
  deviation: number;
  last: number;
  ratio: number | null;
  low: number | null;
  high: number | null;
  noise: number;
  problems: { reason: string; severity: string; experiments: number }[];
  finding: Finding;
}

export interface Changes {
  nights: string[];
  since: string;
  experiments: number;
  programs: Program[];
  common: { host: string; series: number; since: string; state: string; before: number; after: number }[];
  together: { since: string; series: number; perhaps: number; of: number; ratio: number; programs: string[] }[];
  warnings: string[];
}

export type Verdict = 'slower' | 'faster' | 'usual' | 'few';

// verdictOf returns the group in which a program is listed. A function that appeared makes a program slower.
export function verdictOf(p: Program): Verdict {
  if (p.few) return 'few';
  const first = p.finding.changes?.[0];
  if (p.state === '' || first === undefined) return 'usual';
  return first.impact > 0 ? 'slower' : 'faster';
}
