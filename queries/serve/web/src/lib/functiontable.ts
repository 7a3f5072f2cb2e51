// The answer of /api/v1/functions: a part of the table of functions, modules or load objects, in the sum of the chosen
// experiments. A test on the server's side compares these types with what it sends.
import type { BaseValues, FunctionName } from './function';
import type { Value } from './units';

export interface TableAnswer {
  mode: string;
  inline: boolean;
  group: string; // function, module or load-object
  metrics: TableMetric[];
  runs: TableRun[]; // what the runs of rows are; empty unless requested
  spread: boolean; // runs are the lowest, median and highest value of all runs
  nights: string[]; // what the history of rows is by, oldest first
  all: number; // rows without the search
  count: number; // rows that the search leaves
  found: Value[]; // by metric: the sum of their exclusive values
  offset: number;
  rows: TableRow[];
}

export interface TableMetric {
  metric: string;
  unit: string;
  experiments: number; // how many have the metric
  lacking: number; // how many do not
  without: string[]; // names of the first of these
  total: Value; // what the filter leaves: the value of <Total>
  whole: Value; // the value of <Total> without the filter
  base?: BaseValues;
}

export interface TableRun {
  label: string; // the experiment's name; lowest, median or highest
  started: string | null;
  total: number;
}

// TableRow has lists with a value for each metric.
export interface TableRow extends FunctionName {
  exclusive: Value[];
  inclusive: Value[];
  base?: BaseSums; // with a base
  runs?: RunValues; // of the first metric, by TableAnswer.runs
  size: number; // bytes of code; 0 unless requested and known
  history: number[]; // of the first metric, by TableAnswer.nights
}

export interface BaseSums {
  exclusive: Value[];
  inclusive: Value[];
}

export interface RunValues {
  exclusive: number[];
  inclusive: number[];
}
