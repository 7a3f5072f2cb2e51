// Answers of the server about data objects, cache lines, the heap, files, locks and unknown values. A test compares
// them with the server's types.
import type { Value } from './units';

export interface DataObjects {
  metric: string;
  unit: string;
  experiments: number;
  without: number;
  total: Value;
  samples: Value;
  types: DataType[];
  variables: DataVariable[];
  unknown: UnknownObject[];
}

export interface DataType {
  type: string;
  kind: string;
  value: Value;
  samples: Value;
  size: number | null;
  objects: number;
  members: number;
  experiments: number;
}

export interface DataVariable {
  name: string;
  type: string;
  kind: string;
  scope: string;
  scope_kind: string;
  value: Value;
  samples: Value;
  size: number | null;
  experiments: number;
}

export interface UnknownObject {
  reason: string;
  value: Value;
  samples: Value;
  experiments: number;
  help: string;
  command: string;
}

export interface LayoutAnswer {
  type: string;
  metric: string;
  unit: string;
  layouts: DataLayout[];
}

export interface DataLayout {
  size: number | null;
  line_size: number;
  assumed: boolean;
  value: Value;
  experiments: number;
  objects: number;
  members: LayoutMember[];
  code: MemberCode[];
}

export interface LayoutMember {
  shape: string;
  position: number;
  kind: string;
  member: string;
  name: string;
  offset: number;
  size: number | null;
  bit_offset: number;
  bit_size: number;
  cache_line: number;
  value: Value;
  samples: Value;
}

export interface MemberCode {
  shape: string;
  position: number;
  function: string;
  load_object: string;
  file: string;
  line: number;
  value: Value;
  samples: Value;
}

export interface MemoryAnswer {
  metric: string;
  unit: string;
  by: string;
  experiments: number;
  without: number;
  total: Value;
  value: Value;
  reads: number;
  writes: number;
  pieces: number;
  shared: number;
  rows: MemoryPiece[];
}

export interface MemoryPiece {
  experiment_id: string;
  experiment: string;
  process: number;
  address: string;
  size: number;
  assumed: boolean;
  region: string;
  name: string;
  value: Value;
  samples: Value;
  reads: number;
  writes: number;
  threads: number;
  cpus: number;
  objects: number;
  top: string | null;
  sharing: string;
}

export interface AccessRow {
  offset: number;
  object: string | null;
  thread: number;
  thread_name: string | null;
  cpus: number[];
  value: Value;
  samples: Value;
  reads: number;
  writes: number;
  function: string;
  load_object: string;
  file: string;
  line: number;
}

export interface HeapAnswer {
  mode: string;
  experiments: number;
  without: number;
  processes: number;
  allocations: number;
  bytes: Value;
  leaks: number;
  leaked_bytes: Value;
  peaks: HeapPeak[];
  shown: HeapPeak | null;
  timeline: HeapMoment[];
  sizes: HeapSizes[];
  stack_count: number;
  stacks: HeapOfStack[];
}

export interface HeapPeak {
  experiment_id: string;
  experiment: string;
  process: number;
  pid: number | null;
  target: string;
  peak_bytes: Value | null;
  peak_ns: Value | null;
  allocations: number;
  bytes: Value;
  leaks: number;
  leaked_bytes: Value;
}

export interface HeapMoment {
  at: number;
  highest: number;
  last: number;
}

export interface HeapSizes {
  what: string;
  range: string;
  above: number;
  upto: number;
  blocks: Value;
  bytes: Value;
}

export interface HeapOfStack {
  stack: string;
  allocations: number;
  bytes: Value;
  smallest: number;
  largest: number;
  leaks: number;
  leaked_bytes: Value;
  smallest_leak: number | null;
  largest_leak: number | null;
  freed: number;
  shortest_life: number | null;
  mean_life: number | null;
  longest_life: number | null;
  youngest_leak: number | null;
  mean_leak_age: number | null;
  oldest_leak: number | null;
  experiments: number;
}

export interface FilesAnswer {
  mode: string;
  experiments: number;
  traced: number;
  called: number;
  requested: number;
  files: FileActivity[];
  file_count: number;
  kinds: IoKind[];
  sizes: IoSizes[];
  calls: SystemCall[];
  devices: DeviceUse[];
}

export interface FileActivity {
  name: string;
  file_system: string;
  opens: number;
  reads: number;
  read_bytes: Value;
  read_ns: Value;
  writes: number;
  written_bytes: Value;
  write_ns: Value;
  others: number;
  other_ns: Value;
  errors: number;
  error_ns: Value;
  time_ns: Value;
  longest_ns: Value;
  smallest: number | null;
  largest: number | null;
  threads: number;
  experiments: number;
}

export interface IoKind {
  part: string;
  calls: Value;
  bytes: Value;
  smallest: number | null;
  largest: number | null;
  time_ns: Value;
  longest_ns: Value;
}

export interface IoSizes {
  part: string;
  range: string;
  above: number;
  upto: number;
  calls: Value;
  bytes: Value;
}

export interface SystemCall {
  name: string;
  calls: Value;
  timed: number;
  time_ns: Value | null;
  longest_ns: Value | null;
  errors: number;
  error_names: string | null;
  bytes: Value | null;
  threads: number;
  experiments: number;
}

export interface DeviceUse {
  device: string;
  operation: string;
  requests: number;
  bytes: Value;
  timed: number;
  time_ns: Value | null;
  longest_ns: Value | null;
  errors: number;
  experiments: number;
}

export interface StackUse {
  stack: string;
  count: number;
  bytes: Value;
  time_ns: Value;
  longest_ns: Value;
  errors: number;
  experiments: number;
}

export interface LocksAnswer {
  mode: string;
  experiments: number;
  traced: number;
  contended: number;
  scheduled: number;
  analyzed: number;
  locks: LockUse[];
  waiters: LockWaiter[];
  waiter_count: number;
  wakers: Waker[];
  waker_count: number;
  deadlocks: LockEvent[];
  races: RaceAccess[];
}

export interface LockUse {
  key: string;
  kind: string;
  kernel: boolean;
  variable: string | null;
  program: string | null;
  address: string | null;
  experiment: string | null;
  waits: number;
  timed: number;
  wait_ns: Value | null;
  longest_ns: Value | null;
  threads: number;
  experiments: number;
}

export interface LockWaiter {
  key: string;
  experiment: string;
  thread: number;
  thread_name: string | null;
  stack: string;
  stacks: number;
  waits: number;
  wait_ns: Value | null;
  longest_ns: Value | null;
}

export interface Waker {
  function: string | null;
  thread: string | null;
  waker_function: string | null;
  waker: string | null;
  waits: number;
  wait_ns: Value;
  experiments: number;
}

export interface LockEvent {
  experiment: string;
  deadlock: number;
  process: number;
  thread: number;
  thread_name: string | null;
  at: number | null;
  address: string;
  lock_type: number;
  type: number;
  stack: string;
}

export interface RaceAccess {
  experiment: string;
  race: number;
  thread: number;
  thread_name: string | null;
  address: string;
  type: number;
  accesses: number;
  stack: string;
}

export interface UnknownAnswer {
  metric: string;
  unit: string;
  mode: string;
  experiments: number;
  without: number;
  total: Value;
  functions: Value;
  code: Value;
  data_objects: Value;
  has_data: boolean;
  share: number;
  reasons: UnknownReason[];
}

export interface UnknownReason {
  subject: string;
  reason: string;
  load_object: string;
  value: Value;
  samples: Value;
  experiments: number;
  programs: number;
  program: string | null;
  nights: number;
  first_night: string | null;
  last_night: string | null;
  experiment: string;
  help: string;
  command: string;
}
