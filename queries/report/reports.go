// Package report answers the standard reports. A report shows the rows of a view for the requested
// experiments, metrics, modes and functions, in its own order.
//
// Start reading with Reports, which lists them; Ask (request.go) resolves a request.
package report

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// Report describes how a view is shown to people.
type Report struct {
	Name, View, Title string
	Columns           []Column // of its table
	order             string   // ORDER BY of the rows of one experiment and metric
	Totals            bool     // whether tables start with <Total>, which the view lacks
	OfData            bool     // whether it is about data objects, which only some metrics have
	Every             bool     // whether it shows all metrics by default
	Drawn             bool     // whether its table is a drawing with an order of its own
	withInlined       string   // the view with inlined functions as frames of their own, if any
	inlinedBelow      bool     // whether its drawing can show inlined functions below its rows
	ofCode            bool     // whether a function selects its lines or instructions
	ofFiles           bool     // whether rows can be selected by a source file
	withText          bool     // whether its drawing shows source text, which the store may lack
	// rows, if not nil, returns the SQL condition for the rows of a question, which depends on the
	// requested functions or file. If nil, requested functions select their own rows.
	rows func(*Question) string
}

// Column is a column of a report's table.
type Column struct {
	Name, Title string
	As          Style
}

// Style is how a column is shown.
type Style uint8

// The styles.
const (
	Words   Style = iota
	Number        // a count other than a metric
	Metric        // a value in the metric's unit, seconds for ns, followed by the percentage of <Total>
	Amount        // a value in the metric's unit
	Seconds       // a duration
	Address       // hexadecimal
	Count         // a count or size; the rows' sum is the value of <Total>
	Time          // a duration in microseconds; the rows' sum is the value of <Total>
	Moment        // a time in microseconds
	Ratio         // a number with two decimals
)

var (
	exclusive  = Column{"exclusive", "Excl.", Metric}
	inclusive  = Column{"inclusive", "Incl.", Metric}
	attributed = Column{"attributed", "Attr.", Metric}
	value      = Column{"value", "Value", Metric}
	label      = Column{"label", "Function", Words}
	loadObject = Column{"load_object", "Load object", Words}
	file       = Column{"file", "File", Words}
	line       = Column{"line", "Line", Number}
	thread     = Column{"thread_id", "Thread", Number}
	threadName = Column{"thread_name", "Thread name", Words}
	dataObject = Column{"descriptor", "Data object", Words}
)

// Reports lists all reports in display order.
var Reports = slices.Concat(ofMetrics, sideBySide)

// ofMetrics lists the reports in which each row belongs to one metric.
var ofMetrics = []Report{
	{
		Name: "functions", View: "function_metrics", Title: "Functions",
		withInlined: "inline_function_metrics",
		Columns:     []Column{exclusive, inclusive, label, loadObject},
		order:       totalFirst + "exclusive DESC, function, load_object, function_id",
	},
	{
		Name: "callers-callees", View: "callers_callees", Title: "Callers and callees",
		withInlined: "inline_callers_callees",
		Columns:     []Column{label, {"relation", "Relation", Words}, {"other_label", "Name", Words}, attributed},
		order:       "function, function_id, array_position(['caller', 'self', 'callee'], relation), attributed DESC, other, other_id",
		Drawn:       true,
	},
	{
		Name: "call-tree", View: "call_tree", Title: "Call tree",
		withInlined: "inline_call_tree",
		Columns:     []Column{{"depth", "Depth", Number}, attributed, exclusive, label},
		order:       "depth, attributed DESC, function, node_id",
		Drawn:       true,
	},
	{
		Name: "stack-nodes", View: "stack_nodes", Title: "Nodes of the tree of stacks",
		Columns: []Column{{"node", "Node", Number}, {"last", "Last", Number}, {"depth", "Depth", Number}, exclusive, inclusive, label, loadObject},
		order:   "node",
	},
	{
		Name: "folded", View: "folded", Title: "Stacks, folded",
		withInlined: "inline_folded",
		Columns:     []Column{value, {"samples", "Samples", Number}, {"stack", "Stack", Words}},
		order:       "value DESC, stack",
	},
	{
		Name: "lines", View: "line_metrics", Title: "Source lines",
		withInlined: "inline_line_metrics",
		Columns:     []Column{exclusive, inclusive, label, line, file},
		order:       "exclusive DESC, inclusive DESC, function, file, line, function_id",
		Totals:      true,
	},
	{
		Name: "pcs", View: "pc_metrics", Title: "Instructions",
		withInlined: "inline_pc_metrics",
		Columns:     []Column{exclusive, inclusive, label, loadObject, {"code_offset", "Offset", Address}, line, file},
		order:       "exclusive DESC, inclusive DESC, function, load_object, code_offset, location_id",
		Totals:      true,
	},
	{
		Name: "source", View: "source", Title: "Annotated source",
		Columns: []Column{exclusive, inclusive, line, {"text", "Text", Words}, {"functions", "Functions", Words}, file},
		order:   "file, line",
		rows:    (*Question).sourceRows, ofCode: true, ofFiles: true, withText: true, inlinedBelow: true,
		Drawn: true,
	},
	{
		Name: "source-inlined", View: "source_inlined", Title: "Code inlined at source lines",
		Columns: []Column{exclusive, inclusive, line, {"path", "Inlined", Words}, file},
		order:   "file, line, path, inlined_file",
		rows:    (*Question).inlinedRows, ofCode: true, ofFiles: true,
	},
	{
		Name: "disasm", View: "disasm", Title: "Annotated disassembly",
		Columns: []Column{exclusive, inclusive, label, {"address", "Address", Address}, {"text", "Instruction", Words}, {"target_name", "Target", Words}, line},
		order:   "function, load_object, function_id, code_offset",
		rows:    (*Question).disasmRows, ofCode: true, withText: true,
		Drawn: true,
	},
	{
		Name: "load-objects", View: "load_object_metrics", Title: "Load objects",
		Columns: []Column{exclusive, inclusive, loadObject, {"path", "Path", Words}},
		order:   "exclusive DESC, inclusive DESC, load_object, load_object_id",
		Totals:  true,
	},
	{
		Name: "modules", View: "module_metrics", Title: "Modules",
		Columns: []Column{exclusive, inclusive, {"module", "Module", Words}, loadObject},
		order:   "exclusive DESC, inclusive DESC, module, load_object, module_id",
		Totals:  true,
	},
	{
		Name: "threads", View: "thread_metrics", Title: "Threads",
		Columns: []Column{value, thread, threadName, {"process", "Process", Number}},
		order:   "value DESC, process, thread_id, thread_name",
		Totals:  true,
	},
	{
		Name: "thread-names", View: "thread_name_metrics", Title: "Names of threads",
		Columns: []Column{value, threadName, {"threads", "Threads", Number}, {"processes", "Processes", Number}},
		order:   "value DESC, thread_name",
		Totals:  true,
	},
	{
		Name: "cgroups", View: "cgroup_metrics", Title: "Control groups",
		Columns: []Column{value, {"cgroup", "Control group", Words}, {"threads", "Threads", Number}, {"processes", "Processes", Number}},
		order:   "value DESC, cgroup",
		Totals:  true,
	},
	{
		Name: "cpus", View: "cpu_metrics", Title: "CPUs",
		Columns: []Column{value, {"cpu", "CPU", Number}},
		order:   "value DESC, cpu",
		Totals:  true,
	},
	{
		Name: "processes", View: "process_metrics", Title: "Processes",
		Columns: []Column{value, {"pid", "PID", Number}, {"target", "Program", Words}},
		order:   "value DESC, process",
		Totals:  true,
	},
	{
		Name: "timeline", View: "timeline", Title: "Timeline",
		Columns: []Column{{"t0_ns", "From s", Seconds}, {"t1_ns", "To s", Seconds}, thread, threadName, value},
		order:   "t0_ns, thread_id, thread_name",
	},
	{
		Name: "cpu-timeline", View: "cpu_timeline", Title: "Timeline of CPUs",
		Columns: []Column{{"t0_ns", "From s", Seconds}, {"t1_ns", "To s", Seconds}, {"cpu", "CPU", Number}, value},
		order:   "t0_ns, cpu",
	},
	{
		Name: "seconds", View: "second_metrics", Title: "Seconds",
		Columns: []Column{value, {"t0_ns", "From s", Seconds}, {"t1_ns", "To s", Seconds}},
		order:   "t0_ns",
		Totals:  true,
	},
	{
		Name: "samples", View: "sample_point_metrics", Title: "Sample points",
		Columns: []Column{value, process, {"point", "Sample point", Number}, {"t0_ns", "From s", Seconds}, {"t1_ns", "To s", Seconds}, {"label", "Label at the end", Words}},
		order:   "process, point NULLS FIRST",
		Totals:  true,
	},
	{
		Name: "sizes", View: "size_metrics", Title: "Sizes of blocks and transfers",
		Columns: []Column{value, {"samples", "Samples", Number}, sizeRange},
		order:   "above",
		Totals:  true,
	},
	{
		Name: "durations", View: "duration_metrics", Title: "Durations of calls, waits and blocks' lives",
		Columns: []Column{value, {"samples", "Samples", Number}, {"duration_range", "Duration", Words}},
		order:   "above",
		Totals:  true,
	},
	{
		Name: "overview", View: "metric_totals", Title: "Metrics",
		Columns: []Column{{"value", "Value", Amount}, {"unit", "Unit", Words}, {"title", "Title", Words}, {"kind", "Data", Words}},
		order:   "metric",
		Every:   true,
	},
	{
		Name: "function-summary", View: "function_details", Title: "Functions, all metrics of each",
		Columns: []Column{exclusive, inclusive, label, loadObject},
		order:   totalFirst + "exclusive DESC, function, load_object, function_id",
		Every:   true, Drawn: true,
	},
	{
		Name: "data-objects", View: "data_object_metrics", Title: "Data objects",
		Columns: []Column{value, {"samples", "Samples", Number}, {"member_offset", "Offset", Number}, dataObject, {"scope", "Scope", Words}},
		order:   "kind = 'total' DESC, value DESC, descriptor, scope, data_object_id",
		OfData:  true,
	},
	{
		Name: "data-layout", View: "data_layout", Title: "Members of aggregates",
		Columns: []Column{value, {"member_offset", "Offset", Number}, {"size", "Size", Number}, {"cache_line", "Line", Number},
			{"kind", "Kind", Words}, {"member", "Member", Words}, {"descriptor", "Aggregate", Words}},
		order:  "aggregate_value DESC, descriptor, scope, data_object_id, position",
		OfData: true,
		Drawn:  true,
	},
	{
		Name: "memory-objects", View: "memory_objects", Title: "Memory: regions, pages and cache lines",
		Columns: []Column{value, {"samples", "Samples", Number}, {"kind", "Kind", Words}, {"address", "Address", Address}, {"size", "Size", Number},
			{"threads", "Threads", Number}, {"objects", "Objects", Number}, {"size_source", "Size is", Words}, {"name", "Name", Words}},
		order:  "array_position(['page', 'cache line'], kind) NULLS FIRST, value DESC, process, kind, address",
		OfData: true,
	},
	{
		Name: "memory-sources", View: "memory_sources", Title: "Memory: where accessed data came from",
		Columns: []Column{value, {"samples", "Samples", Number}, {"latency", "Latency", Number}, {"operation", "Operation", Words}, {"level", "Level", Words}, {"hit", "Hit", Words},
			{"snoop", "Snoop", Words}, {"tlb", "TLB", Words}, {"locked", "Locked", Words}, {"blocked", "Blocked", Words}},
		order: "value DESC, operation, level, hit, snoop, tlb, locked, blocked",
	},
	{
		Name: "data-object-functions", View: "data_object_functions", Title: "Code that accesses data objects",
		Columns: []Column{value, {"samples", "Samples", Number}, dataObject, label, {"code_offset", "Offset", Address}, line, {"inlined", "Inlined", Words}, {"method", "Method", Words}, {"detail", "Detail", Words}, file},
		order:   "value DESC, descriptor, data_object_id, function, file, line, code_offset, method, detail, agreement, embedding",
		OfData:  true,
	},
	{
		Name: "unattributed", View: "unattributed", Title: "Not attributed to a function or data object",
		Columns: []Column{value, {"samples", "Samples", Number}, {"subject", "Subject", Words}, {"reason", "Reason", Words}, loadObject},
		order:   "subject DESC, value DESC, reason, load_object",
	},
	{
		Name: "cut-stacks", View: "cut_stacks", Title: "Stacks that end before their thread's start",
		Columns: []Column{value, {"samples", "Samples", Number}, {"reason", "Reason", Words}, label, loadObject},
		order:   "value DESC, reason, function, load_object, function_id",
	},
	{
		Name: "conservation", View: "conservation", Title: "Broken sums",
		Columns: []Column{{"mode", "Mode", Words}, {"what", "Sum", Words}, {"expected", "Expected", Amount}, {"found", "Found", Amount}},
		order:   "mode, what",
		Every:   true,
	},
}

// Inlined returns the report with inlined functions as frames of their own (S10), if there is one.
func (r Report) Inlined() Report {
	if r.withInlined != "" {
		r.View = r.withInlined
		r.Title += " with inlined functions"
	}
	return r
}

// totalFirst sorts <Total> before all functions.
const totalFirst = "(function = '<Total>' AND kind = 'artificial') DESC, "

// Find finds a report by its name or its view's name; - and _ are equal.
func Find(name string) (Report, error) {
	name = strings.ReplaceAll(name, "_", "-")
	var known []string
	for _, r := range Reports {
		if name == r.Name || name == strings.ReplaceAll(r.View, "_", "-") {
			return r, nil
		}
		known = append(known, r.Name)
	}
	if slices.Contains(verbs, name) {
		return Report{}, fmt.Errorf("%q is not a view but a verb (stackmill %s)", name, name)
	}
	return Report{}, fmt.Errorf("no view %q%s (stackmill report lists them)", name, queries.Suggest(name, known))
}

// verbs are verbs of the program that people look for among the views.
var verbs = []string{"compare", "digest", "experiments", "gate", "problems", "trend"}
