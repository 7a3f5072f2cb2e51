package report

import (
	"slices"
	"strings"
)

// addition says how a report adds up several experiments.
type addition struct {
	// keys are the columns of the view that identify a row in all experiments. Identifiers are replaced
	// by values that are the same in every build: function_id by the function's key, node_id by the path.
	keys []string
	// apart marks reports about things that belong to one experiment, such as threads. The rows of all
	// experiments are listed, not added up.
	apart bool
}

func by(keys ...string) addition { return addition{keys: keys} }

// apart is the addition of reports whose rows never describe the same thing in two experiments.
var apart = addition{apart: true}

// additions maps the names of reports to how they add up experiments. Reports without an entry list
// events or describe experiments, so there is nothing to add up.
var additions = map[string]addition{
	"functions":             by("function_id"),
	"callers-callees":       by("function_id", "relation", "other_id"),
	"call-tree":             by("node_id"),
	"folded":                by("stack"),
	"lines":                 by("function_id", "file", "line"),
	"pcs":                   by("location_id"),
	"source":                by("file", "line"),
	"source-inlined":        by("file", "line", "depth", "path", "inlined_file", "inlined_line"),
	"disasm":                by("code_function_id", "code_offset"),
	"load-objects":          by("load_object_id"),
	"modules":               by("module_id"),
	"threads":               apart,
	"thread-names":          by("thread_name"),
	"cgroups":               by("cgroup"),
	"cpus":                  by("cpu"),
	"processes":             apart,
	"timeline":              apart,
	"cpu-timeline":          by("t0_ns", "t1_ns", "cpu"),
	"seconds":               by("t0_ns", "t1_ns"),
	"samples":               by("process", "point"),
	"sizes":                 by("size_range", "above", "upto"),
	"durations":             by("duration_range", "above", "upto"),
	"overview":              by(),
	"function-summary":      by("function_id"),
	"data-objects":          by("kind", "descriptor", "scope", "scope_kind", "name", "member_offset", "size"),
	"data-layout":           by("kind", "descriptor", "scope", "aggregate_name", "position", "member", "member_offset", "bit_offset", "bit_size", "size", "cache_line", "line_size", "line_size_source"),
	"memory-objects":        apart,
	"memory-sources":        by("operation", "level", "hit", "snoop", "tlb", "locked", "blocked"),
	"data-object-functions": by("kind", "descriptor", "function_id", "file", "line", "code_offset", "method", "detail", "agreement", "inlined", "embedding"),
	"unattributed":          by("subject", "reason", "load_object"),
	"cut-stacks":            by("reason", "function_id"),
	"leaks":                 by("stack_id"),
	"allocations":           by("stack_id"),
	"heap":                  by("stack_id"),
	"heap-statistics":       apart,
	"heap-sizes":            by("what", "size_range", "above", "upto"),
	"io-activity":           by("name", "file_system"),
	"io-descriptors":        apart,
	"io-stacks":             by("stack_id"),
	"io-statistics":         by("part"),
	"io-sizes":              by("part", "size_range", "above", "upto"),
	"sched-threads":         apart,
	"waits":                 by("function_id", "state"),
	"wait-stacks":           by("stack", "state"),
	"wakers":                by("function", "thread_name", "waker_function", "waker_thread_name"),
	"runqueue":              apart,
	"parallelism":           by("level"),
	"syscalls":              by("function_id", "number", "name"),
	"syscall-threads":       apart,
	"syscall-errors":        by("function_id", "number", "name", "error", "error_name"),
	"lock-waits":            by("function_id", "type"),
	"lock-threads":          apart,
	"locks":                 apart,
	"block-io":              by("function_id", "device", "operation"),
	"kernel-memory":         by("function_id", "caller", "caller_offset"),
	"interrupts":            by("kind", "number", "name"),
	"counts":                by("interval_no", "event", "unit"),
	"counters":              apart,
	"sync-objects":          apart,
	"objects":               by("load_object", "path", "kind", "build_id", "symbols"),
	"statistics":            by(),
}

// summands are the columns whose values are added up.
var summands = strings.Fields(`exclusive inclusive attributed value amount samples allocations allocated_bytes leaks leaked_bytes blocks bytes
	opens reads read_bytes read_ns writes written_bytes write_ns others other_ns errors error_ns calls time_ns on_ns wall_ns
	waits wait_ns timed total_ns requests requested_bytes wasted_bytes unfreed_bytes moved runs aggregate_value latency threads processes mappings
	enabled_ns running_ns points real_ns user_ns system_ns trap_ns text_fault_ns data_fault_ns kernel_fault_ns lock_ns sleep_ns cpu_wait_ns stopped_ns
	minor_faults major_faults swaps blocks_in blocks_out messages_sent messages_received signals voluntary_switches involuntary_switches system_calls characters`)

// aggregates maps other columns to the SQL aggregate that combines the values of several experiments.
var aggregates = map[string]string{
	"longest_ns": "max", "largest_bytes": "max", "shortest_ns": "min", "smallest_bytes": "min", "cpus": "max",
	"t0_ns": "min", "t1_ns": "max", "has_code": "bool_or", "high": "bool_or",
	// names and identifiers: any experiment's
	"function": "min", "load_object": "min", "module": "min", "other": "min", "file": "min", "function_id": "min", "other_id": "min", "location_id": "min", "node_id": "min",
	"load_object_id": "min", "module_id": "min", "data_object_id": "min", "parent_id": "min", "member_id": "min", "stack": "min", "functions": "min", "scope": "min",
}

// ratios are columns that are computed from sums.
var ratios = []string{"mean_ns", "running_percent", "share"}

// CanAdd reports whether the report can add up experiments.
func (r Report) CanAdd() bool {
	_, ok := additions[r.Name]
	return ok
}

// ListsApart reports whether a sum lists the rows of all experiments, because no two rows describe the
// same thing.
func (r Report) ListsApart() bool { return additions[r.Name].apart }

// Identifies reports whether a column is among those that identify a row of a sum.
func (r Report) Identifies(column string) bool {
	return slices.Contains(additions[r.Name].keys, column)
}

// addition returns how the request's report adds up experiments.
func (r *Request) addition() addition {
	if r.ofFragment() {
		return by("relation", "other_id")
	}
	return additions[r.Name]
}

// Members returns how many experiments are added up for a metric. For reports without metrics, it is
// the number of all experiments.
func (q *Question) Members(metric string) (n int) {
	if !q.Measured() {
		return q.db.Count
	}
	for _, of := range q.metrics {
		if slices.Contains(of, metric) {
			n++
		}
	}
	return n
}

// ByColumns returns the columns by which Request.By divides each column of values.
func (q *Question) ByColumns() []ByColumn { return q.by.Columns() }

// Spread lists the columns that a sum has for a column of values, without the common prefix: the
// lowest, median and highest value of an experiment, and the imbalance, which is the highest
// divided by the mean, minus 1. An experiment that lacks the row counts as 0.
var Spread = []string{"min", "median", "max", "imbalance"}

// SpreadOf returns the column with the spread of a column of values.
func SpreadOf(column, of string) string { return column + "_" + of }

// summedColumns returns the columns of the view whose values a sum adds up.
func (r *Request) summedColumns() (columns []string) {
	keys := r.addition().keys
	for _, c := range r.columnsOfView() {
		if slices.Contains(summands, c) && !slices.Contains(keys, c) {
			columns = append(columns, c)
		}
	}
	return columns
}
