// Types of rows in the server's answers. Generated from its OpenAPI description: do not edit.
import type { Value } from './units';

export interface AllocationsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  stack: string;
  allocations: Value;
  allocated_bytes: Value;
  leaks: Value;
  leaked_bytes: Value;
  stack_id: string;
}

export interface BlockIoRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  function_id: string;
  function: string | null;
  load_object: string;
  device: string;
  operation: string;
  requests: Value;
  bytes: Value;
  timed: Value;
  total_ns: Value | null;
  mean_ns: Value;
  longest_ns: Value;
}

export interface CallTreeRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  node_id: string;
  parent_id: string | null;
  depth: number;
  function_id: string;
  function: string;
  attributed: Value;
  exclusive: Value;
}

export interface CallersCalleesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  function_id: string;
  function: string;
  relation: string;
  other_id: string;
  other: string;
  attributed: Value;
}

export interface CgroupsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  cgroup: string | null;
  value: Value;
  threads: Value;
  processes: Value;
}

export interface ConservationRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  what: string;
  expected: Value;
  found: Value;
}

export interface CountersRow {
  experiment_id: string;
  experiment: string;
  interval_no: number;
  t0_ns: Value;
  t1_ns: Value;
  event: string;
  cpu: number | null;
  thread_id: Value | null;
  thread_name: string | null;
  value: Value;
  amount: number;
  unit: string;
  enabled_ns: Value | null;
  running_ns: Value | null;
  running_percent: number | null;
  missing: string;
}

export interface CountsRow {
  experiment_id: string;
  experiment: string;
  interval_no: number;
  t0_ns: Value;
  t1_ns: Value;
  event: string;
  value: Value;
  amount: number;
  unit: string;
  enabled_ns: Value;
  running_ns: Value;
  running_percent: number | null;
  missing: string;
}

export interface CpuTimelineRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  t0_ns: Value;
  t1_ns: Value;
  cpu: number;
  value: Value;
}

export interface CpusRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  cpu: number;
  value: Value;
}

export interface CutStacksRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  reason: string;
  function_id: string;
  function: string;
  load_object: string;
  samples: Value;
  value: Value;
  share: number;
}

export interface DataLayoutRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  data_object_id: string;
  descriptor: string;
  position: Value;
  kind: string;
  member_id: string | null;
  member: string;
  name: string;
  member_offset: Value;
  size: Value | null;
  bit_offset: number;
  bit_size: number;
  cache_line: Value;
  value: Value;
  samples: Value;
  aggregate_value: Value;
  aggregate_size: Value | null;
  scope: string;
  aggregate_name: string;
  line_size: Value;
  line_size_source: string;
}

export interface DataObjectFunctionsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  data_object_id: string;
  descriptor: string;
  function_id: string | null;
  function: string;
  load_object: string;
  file: string;
  line: number;
  code_offset: Value | null;
  method: string;
  detail: string;
  agreement: string;
  value: Value;
  samples: Value;
  kind: string;
  inlined: string;
  embedding: string;
}

export interface DataObjectsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  data_object_id: string;
  parent_id: string | null;
  descriptor: string;
  kind: string;
  scope: string;
  value: Value;
  samples: Value;
  name: string;
  member_offset: Value | null;
  size: Value | null;
  scope_kind: string;
}

export interface DisasmRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  function_id: string;
  function: string;
  load_object: string;
  code_offset: Value;
  address: Value;
  size: number;
  text: string;
  target_name: string;
  file: string;
  line: number;
  exclusive: Value;
  inclusive: Value;
  high: boolean;
}

export interface DurationsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  duration_range: string;
  above: Value | null;
  upto: Value | null;
  value: Value;
  samples: Value;
}

export interface EventFieldsRow {
  experiment_id: string;
  experiment: string;
  sample: Value;
  time_ns: Value;
  process: number;
  thread_id: Value;
  thread_name: string | null;
  cpu: number;
  event: string;
  fields: string;
}

export interface EventFormatsRow {
  experiment_id: string;
  experiment: string;
  event: string;
  samples: Value;
  position: number;
  field: string;
  type: string;
  size: number;
  is_text: boolean;
}

export interface ExperimentRow {
  experiment_id: string;
  experiment: string;
  format: string;
  format_version: string;
  collector: string;
  host: string;
  os: string;
  arch: string;
  cpus: number;
  clock_mhz: number;
  page_size: Value;
  word_bits: number;
  target: string;
  command: string;
  directory: string;
  started: string | null;
  duration_ns: Value;
  processes: number;
  samples: Value;
  status: string;
  cache_line_size: Value | null;
  comment: string;
  path: string;
  ingested: string;
  started_from: string | null;
  file_time: string | null;
  errors: Value;
  warnings: Value;
  labels: Record<string, string>;
}

export interface FoldedRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  stack: string;
  value: Value;
  samples: Value;
}

export interface FunctionSummaryRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  function_id: string;
  function: string;
  load_object: string;
  title: string;
  exclusive: Value;
  inclusive: Value;
  size: Value;
  address: Value;
  module: string;
  object_path: string;
  linkage_name: string;
  aliases: string;
  kind: string;
}

export interface FunctionsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  function_id: string;
  function_key: string;
  function: string;
  load_object: string;
  module: string;
  address: Value;
  kind: string;
  exclusive: Value;
  inclusive: Value;
}

export interface HeaderRow {
  experiment_id: string;
  experiment: string;
  path: string;
  format: string;
  format_version: string;
  collector: string;
  host: string;
  os: string;
  arch: string;
  cpus: number;
  clock_mhz: number;
  page_size: Value;
  word_bits: number;
  target: string;
  command: string;
  directory: string;
  started: string | null;
  started_from: string | null;
  duration_ns: Value;
  processes: number;
  samples: Value;
  status: string;
  comment: string;
  pid: Value;
  kinds: string;
  errors: Value;
  warnings: Value;
}

export interface HeapBlocksRow {
  experiment_id: string;
  experiment: string;
  sample: Value;
  process: number;
  thread_id: Value;
  operation: string;
  size: Value;
  address: Value;
  leaked: Value;
  allocated_ns: Value;
  fate: string;
  ended_ns: Value | null;
  stack: number;
}

export interface HeapCallsRow {
  experiment_id: string;
  experiment: string;
  sample: Value;
  process: number;
  thread_id: Value;
  cpu: number;
  time_ns: Value;
  operation: string;
  allocates: boolean;
  size: Value;
  address: Value;
  old_address: Value;
  leaked: Value;
  freed: Value;
  stack: number;
}

export interface HeapRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  stack: string;
  allocations: Value;
  allocated_bytes: Value;
  leaks: Value;
  leaked_bytes: Value;
  stack_id: string;
}

export interface HeapSizesRow {
  experiment_id: string;
  experiment: string;
  what: string;
  size_range: string;
  above: Value;
  upto: Value;
  blocks: Value;
  bytes: Value;
}

export interface HeapStatisticsRow {
  experiment_id: string;
  experiment: string;
  process: number;
  pid: Value;
  target: string;
  peak_bytes: Value;
  peak_ns: Value | null;
  allocations: Value;
  allocated_bytes: Value;
  smallest_bytes: Value;
  largest_bytes: Value;
  leaks: Value;
  leaked_bytes: Value;
  smallest_leak: Value | null;
  largest_leak: Value | null;
}

export interface InterruptsRow {
  experiment_id: string;
  experiment: string;
  kind: string;
  number: Value;
  name: string;
  runs: Value;
  timed: Value;
  total_ns: Value | null;
  mean_ns: Value;
  longest_ns: Value;
  cpus: Value;
}

export interface IoActivityRow {
  experiment_id: string;
  experiment: string;
  name: string;
  file_system: string;
  opens: Value;
  reads: Value;
  read_bytes: Value;
  read_ns: Value;
  writes: Value;
  written_bytes: Value;
  write_ns: Value;
  others: Value;
  other_ns: Value;
  errors: Value;
  error_ns: Value;
}

export interface IoCallsRow {
  experiment_id: string;
  experiment: string;
  sample: Value;
  process: number;
  thread_id: Value;
  cpu: number;
  time_ns: Value;
  operation: string;
  failed: boolean;
  part: string;
  fd: number;
  file: number;
  name: string;
  file_system: string;
  bytes: Value;
  duration_ns: Value;
  metric_ns: Value;
  stack: number;
}

export interface IoDescriptorsRow {
  experiment_id: string;
  experiment: string;
  process: number;
  file: number;
  fd: number | null;
  name: string;
  file_system: string;
  reads: Value;
  read_bytes: Value;
  read_ns: Value;
  writes: Value;
  written_bytes: Value;
  write_ns: Value;
  others: Value;
  other_ns: Value;
  errors: Value;
  error_ns: Value;
}

export interface IoSizesRow {
  experiment_id: string;
  experiment: string;
  part: string;
  size_range: string;
  above: Value;
  upto: Value;
  calls: Value;
  bytes: Value;
}

export interface IoStacksRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  stack: string;
  reads: Value;
  read_bytes: Value;
  read_ns: Value;
  writes: Value;
  written_bytes: Value;
  write_ns: Value;
  others: Value;
  other_ns: Value;
  errors: Value;
  error_ns: Value;
  stack_id: string;
}

export interface IoStatisticsRow {
  experiment_id: string;
  experiment: string;
  part: string;
  calls: Value;
  bytes: Value;
  smallest_bytes: Value | null;
  largest_bytes: Value;
  time_ns: Value;
  longest_ns: Value;
}

export interface KernelMemoryRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  function_id: string;
  function: string | null;
  load_object: string;
  call_site: Value;
  caller: string | null;
  caller_offset: Value;
  allocations: Value;
  requested_bytes: Value;
  allocated_bytes: Value;
  wasted_bytes: Value;
  unfreed_bytes: Value;
  moved: Value;
}

export interface LeaksRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  stack: string;
  allocations: Value;
  allocated_bytes: Value;
  leaks: Value;
  leaked_bytes: Value;
  stack_id: string;
}

export interface LinesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  function_id: string;
  function: string;
  file: string;
  line: number;
  exclusive: Value;
  inclusive: Value;
}

export interface LoadObjectsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  load_object: string;
  exclusive: Value;
  inclusive: Value;
  load_object_id: string;
  path: string;
}

export interface LockThreadsRow {
  experiment_id: string;
  experiment: string;
  process: number;
  thread_id: Value;
  thread_name: string | null;
  waits: Value;
  timed: Value;
  wait_ns: Value | null;
  mean_ns: Value;
  longest_ns: Value;
}

export interface LockWaitsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  function_id: string;
  function: string | null;
  load_object: string;
  type: string | null;
  waits: Value;
  timed: Value;
  wait_ns: Value | null;
  mean_ns: Value;
  longest_ns: Value;
}

export interface LocksRow {
  experiment_id: string;
  experiment: string;
  lock: Value;
  type: string;
  threads: Value;
  waits: Value;
  timed: Value;
  wait_ns: Value | null;
  mean_ns: Value;
  longest_ns: Value;
}

export interface MemoryObjectsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  kind: string;
  address: Value;
  size: Value;
  name: string;
  load_object: string;
  value: Value;
  samples: Value;
  process: number;
  threads: Value;
  objects: Value;
  size_source: string;
}

export interface MemorySourcesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  operation: string;
  level: string;
  hit: string;
  snoop: string;
  tlb: string;
  locked: string;
  blocked: string;
  value: Value;
  samples: Value;
  latency: Value;
}

export interface MetricRow {
  metric: string;
  title: string;
  unit: string;
  kind: string;
  data_objects: boolean;
  experiments: Value;
  default_of: Value;
}

export interface ModulesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  load_object: string;
  module: string;
  exclusive: Value;
  inclusive: Value;
  module_id: string;
}

export interface ObjectsRow {
  experiment_id: string;
  experiment: string;
  load_object: string;
  path: string;
  kind: string;
  build_id: string;
  symbols: string;
  functions: Value;
  lines: boolean;
  mappings: Value;
  load_object_id: string;
}

export interface OverviewRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  title: string;
  kind: string;
  value: Value;
  data_objects: boolean;
}

export interface ParallelismRow {
  experiment_id: string;
  experiment: string;
  level: Value;
  wall_ns: Value;
  on_ns: Value;
}

export interface PcsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  function_id: string;
  function: string;
  load_object: string;
  code_offset: Value;
  file: string;
  line: number;
  exclusive: Value;
  inclusive: Value;
  location_id: string;
}

export interface ProblemRow {
  experiment_id: string;
  problem: number;
  severity: string;
  process: number;
  file: string;
  offset: Value | null;
  reason: string;
  message: string;
  count: Value;
  experiment: string | null;
}

export interface ProcessesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  pid: Value;
  value: Value;
  process: number;
  target: string;
}

export interface RunqueueRow {
  experiment_id: string;
  experiment: string;
  process: number | null;
  thread_id: Value;
  thread_name: string | null;
  delays: Value;
  delay_ns: Value;
  mean_ns: Value;
  longest_ns: Value;
  longest_at_ns: Value;
}

export interface SamplePointsRow {
  experiment_id: string;
  experiment: string;
  process: number;
  pid: Value;
  point: number;
  label: string;
  t0_ns: Value;
  t1_ns: Value;
  real_ns: Value;
  user_ns: Value;
  system_ns: Value;
  trap_ns: Value;
  text_fault_ns: Value;
  data_fault_ns: Value;
  kernel_fault_ns: Value;
  lock_ns: Value;
  sleep_ns: Value;
  cpu_wait_ns: Value;
  stopped_ns: Value;
  minor_faults: Value;
  major_faults: Value;
  swaps: Value;
  blocks_in: Value;
  blocks_out: Value;
  messages_sent: Value;
  messages_received: Value;
  signals: Value;
  voluntary_switches: Value;
  involuntary_switches: Value;
  system_calls: Value;
  characters: Value;
}

export interface SamplesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  process: number;
  point: number | null;
  label: string | null;
  t0_ns: Value | null;
  t1_ns: Value | null;
  value: Value;
}

export interface SchedThreadsRow {
  experiment_id: string;
  experiment: string;
  process: number | null;
  thread_id: Value;
  thread_name: string | null;
  on_ns: Value;
  preempted_ns: Value;
  runqueue_ns: Value;
  blocked_ns: Value;
  disk_ns: Value;
  unknown_ns: Value;
  switches: Value;
  migrations: Value;
  longest_runqueue_ns: Value | null;
}

export interface SecondsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  t0_ns: Value;
  t1_ns: Value;
  value: Value;
}

export interface SizesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  size_range: string;
  above: Value | null;
  upto: Value | null;
  value: Value;
  samples: Value;
}

export interface SourceInlinedRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  file: string;
  line: number;
  depth: number;
  path: string;
  function: string;
  inlined_file: string;
  inlined_line: number;
  exclusive: Value;
  inclusive: Value;
}

export interface SourceRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  file: string;
  line: number;
  text: string | null;
  functions: string;
  exclusive: Value;
  inclusive: Value;
  high: boolean;
  has_code: boolean;
}

export interface StackNodesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  node: number;
  parent: number | null;
  last: number;
  depth: number;
  function_id: string;
  function: string;
  load_object: string;
  location_id: string | null;
  exclusive: Value;
  inclusive: Value;
}

export interface StatisticsRow {
  experiment_id: string;
  experiment: string;
  process: number;
  pid: Value;
  target: string;
  t0_ns: Value;
  t1_ns: Value;
  points: Value;
  real_ns: Value;
  user_ns: Value;
  system_ns: Value;
  trap_ns: Value;
  text_fault_ns: Value;
  data_fault_ns: Value;
  kernel_fault_ns: Value;
  lock_ns: Value;
  sleep_ns: Value;
  cpu_wait_ns: Value;
  stopped_ns: Value;
  minor_faults: Value;
  major_faults: Value;
  swaps: Value;
  blocks_in: Value;
  blocks_out: Value;
  messages_sent: Value;
  messages_received: Value;
  signals: Value;
  voluntary_switches: Value;
  involuntary_switches: Value;
  system_calls: Value;
  characters: Value;
}

export interface SyncObjectsRow {
  experiment_id: string;
  experiment: string;
  process: number;
  object: Value;
  variable: string | null;
  waits: Value;
  wait_ns: Value;
  longest_ns: Value;
  threads: Value;
}

export interface SyscallErrorsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  function_id: string;
  function: string | null;
  load_object: string;
  number: Value;
  name: string | null;
  error: Value;
  error_name: string | null;
  calls: Value;
  total_ns: Value | null;
}

export interface SyscallThreadsRow {
  experiment_id: string;
  experiment: string;
  process: number;
  thread_id: Value;
  thread_name: string | null;
  number: Value;
  name: string | null;
  calls: Value;
  errors: Value;
  timed: Value;
  total_ns: Value | null;
  mean_ns: Value;
  shortest_ns: Value;
  longest_ns: Value;
}

export interface SyscallsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  function_id: string;
  function: string | null;
  load_object: string;
  number: Value;
  name: string | null;
  calls: Value;
  errors: Value;
  timed: Value;
  total_ns: Value | null;
  mean_ns: Value;
  shortest_ns: Value;
  longest_ns: Value;
}

export interface ThreadNamesRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  thread_name: string | null;
  value: Value;
  threads: Value;
  processes: Value;
}

export interface ThreadsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  thread_id: Value;
  value: Value;
  process: number;
  thread_name: string | null;
}

export interface TimelineRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  t0_ns: Value;
  t1_ns: Value;
  thread_id: Value;
  value: Value;
  thread_name: string | null;
}

export interface UnattributedRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  metric: string;
  unit: string;
  reason: string;
  load_object: string;
  samples: Value;
  value: Value;
  subject: string;
}

export interface WaitStacksRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  stack: string;
  state: string;
  waits: Value | null;
  wait_ns: Value;
  mean_ns: Value;
  longest_ns: Value;
}

export interface WaitsRow {
  experiment_id: string;
  experiment: string;
  mode: string;
  function_id: string;
  function: string;
  load_object: string;
  state: string;
  waits: Value | null;
  wait_ns: Value;
  mean_ns: Value;
  longest_ns: Value;
}

export interface WakersRow {
  experiment_id: string;
  experiment: string;
  function: string;
  thread_name: string;
  waker_function: string;
  waker_thread_name: string | null;
  waits: Value;
  wait_ns: Value;
}
