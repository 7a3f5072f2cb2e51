// The answer of /api/v1/callgraph: a function, module or load object with its callers and callees. A test on the
// server's side compares these types with what it sends.
import type { FunctionName, Neighbor, Remainder } from './function';
import type { Value } from './units';

export interface GraphAnswer extends FunctionName {
  metric: string;
  unit: string;
  mode: string;
  inline: boolean;
  experiments: number; // how many have the metric
  lacking: number; // how many do not
  without: string[]; // names of the first of these
  group: string; // function, module or load-object
  total: Value; // what the filter leaves: the value of <Total>
  whole: Value; // the value of <Total> without the filter
  found: number; // how many of this name have a value; 0: all values are 0
  exclusive: Value;
  inclusive: Value;
  callers: GraphNeighbor[]; // by attributed value, highest first
  callees: GraphNeighbor[];
  rest: { callers: Remainder; callees: Remainder }; // what the parameter limit leaves out
  in_cycle: number; // the cycle of what is in the middle, as an index into cycles; -1: none
  closed: boolean; // the whole cycle is in the middle
  cycles: GraphCycle[];
}

export interface GraphNeighbor extends Neighbor {
  in_cycle: number; // index into cycles; -1: none
}

export interface GraphCycle {
  size: number;
  members: FunctionName[]; // the first 100
}
