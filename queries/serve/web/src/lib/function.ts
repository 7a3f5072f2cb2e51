// The answer of /api/v1/function: one function in the sum of the chosen experiments. A test on the server's side
// compares these types with what it sends.
import type { Value } from './units';

export interface FunctionAnswer {
  metric: string;
  unit: string;
  mode: string;
  inline: boolean;
  experiments: number; // how many have the metric
  lacking: number; // how many do not
  without: string[]; // names of the first of these
  total: Value; // what the filter leaves: the value of <Total>
  whole: Value; // the value of <Total> without the filter
  function: string;
  load_object: string;
  module: string;
  kind: string;
  found: number; // functions of this name with a value; 0: all values are 0
  others: FunctionName[]; // the other functions of this name, by inclusive value
  exclusive: Value;
  inclusive: Value;
  size: number | null; // bytes of code; null if unknown
  file: string; // empty if unknown
  line: number; // of the declaration; 0 if unknown
  callers: Neighbor[]; // by attributed value, highest first
  callees: Neighbor[];
  rest: { callers: Remainder; callees: Remainder }; // what the parameter limit leaves out
  values: FunctionHistory;
  base?: BaseValues; // with the parameter base
}

export interface FunctionName {
  function: string;
  load_object: string;
  module: string;
  kind: string;
}

// Neighbor is a caller or callee. The artificial caller <Total> stands for the start of stacks.
export interface Neighbor extends FunctionName {
  attributed: Value;
}

export interface Remainder {
  count: number;
  attributed: Value;
}

export interface FunctionHistory {
  by: string; // experiment, or night if there are more than 60 experiments
  points: FunctionPoint[]; // oldest first
  left: number; // older points that are left out
}

// FunctionPoint has the values of an experiment, or the means of a night's experiments.
export interface FunctionPoint {
  label: string; // the experiment's name, or the night's date; empty if experiments have no start
  started: string | null;
  experiments: number;
  exclusive: number;
  inclusive: number;
  total: number;
}

export interface BaseValues {
  experiments: number;
  lacking: number;
  without: string[];
  total: Value;
  exclusive: Value;
  inclusive: Value;
}
