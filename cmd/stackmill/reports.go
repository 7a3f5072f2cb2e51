package main

import (
	"context"
	"strings"
)

// report is one of the standard views as `report` prints it.
type report struct {
	name, view, title string
	columns           []reportColumn
	order             string // of the rows of one experiment and metric
	totals            bool   // whether tables start with <Total>, which the view lacks
	ofData            bool   // whether it is about data objects, which only some metrics have
	// rows, if not nil, is the condition of the rows that are meant by --function,
	// --file or neither; else --function means rows of functions.
	rows func(*reporter, *selection) string
	// print prints rows that are more than a table.
	print func(*reporter, context.Context, *selection, []record) error
}

// reportColumn is a column of the printed table.
type reportColumn struct {
	column, title string
	as            style
}

// style is how a column is printed.
type style uint8

const (
	words   style = iota
	number        // a count that is no metric
	metric        // in the metric's unit, seconds for ns, followed by the percentage of <Total>
	amount        // in the metric's unit
	seconds       // a time
	address       // hexadecimal
)

var (
	exclusive  = reportColumn{"exclusive", "Excl.", metric}
	inclusive  = reportColumn{"inclusive", "Incl.", metric}
	attributed = reportColumn{"attributed", "Attr.", metric}
	value      = reportColumn{"value", "Value", metric}
	label      = reportColumn{"label", "Function", words}
	loadObject = reportColumn{"load_object", "Load object", words}
	file       = reportColumn{"file", "File", words}
	line       = reportColumn{"line", "Line", number}
	thread     = reportColumn{"thread_id", "Thread", number}
	dataObject = reportColumn{"descriptor", "Data object", words}
)

var reports = []report{
	{
		name: "functions", view: "function_metrics", title: "Functions",
		columns: []reportColumn{exclusive, inclusive, label, loadObject},
		order:   totalFirst + "exclusive DESC, function, load_object, function_id",
	},
	{
		name: "callers-callees", view: "callers_callees", title: "Callers and callees",
		columns: []reportColumn{label, {"relation", "Relation", words}, {"other_label", "Name", words}, attributed},
		order:   "function, function_id, array_position(['caller', 'self', 'callee'], relation), attributed DESC, other, other_id",
		print:   (*reporter).callersCallees,
	},
	{
		name: "call-tree", view: "call_tree", title: "Call tree",
		columns: []reportColumn{{"depth", "Depth", number}, attributed, exclusive, label},
		order:   "depth, attributed DESC, function, node_id",
		print:   (*reporter).callTree,
	},
	{
		name: "lines", view: "line_metrics", title: "Source lines",
		columns: []reportColumn{exclusive, inclusive, label, line, file},
		order:   "exclusive DESC, inclusive DESC, function, file, line, function_id",
		totals:  true,
	},
	{
		name: "pcs", view: "pc_metrics", title: "Instructions",
		columns: []reportColumn{exclusive, inclusive, label, loadObject, {"offset", "Offset", address}, line, file},
		order:   "exclusive DESC, inclusive DESC, function, load_object, \"offset\", location_id",
		totals:  true,
	},
	{
		name: "source", view: "source", title: "Annotated source",
		columns: []reportColumn{exclusive, inclusive, line, {"text", "Text", words}, {"functions", "Functions", words}, file},
		order:   "file, line",
		rows:    (*reporter).sourceRows,
		print:   (*reporter).source,
	},
	{
		name: "source-inlined", view: "source_inlined", title: "Code inlined at source lines",
		columns: []reportColumn{exclusive, inclusive, line, {"path", "Inlined", words}, file},
		order:   "file, line, path, inlined_file",
	},
	{
		name: "disasm", view: "disasm", title: "Annotated disassembly",
		columns: []reportColumn{exclusive, inclusive, label, {"address", "Address", address}, {"text", "Instruction", words}, {"target_name", "Target", words}, line},
		order:   "function, load_object, function_id, \"offset\"",
		rows:    (*reporter).disasmRows,
		print:   (*reporter).disasm,
	},
	{
		name: "load-objects", view: "load_object_metrics", title: "Load objects",
		columns: []reportColumn{exclusive, inclusive, loadObject, {"path", "Path", words}},
		order:   "exclusive DESC, inclusive DESC, load_object, load_object_id",
		totals:  true,
	},
	{
		name: "modules", view: "module_metrics", title: "Modules",
		columns: []reportColumn{exclusive, inclusive, {"module", "Module", words}, loadObject},
		order:   "exclusive DESC, inclusive DESC, module, load_object, module_id",
		totals:  true,
	},
	{
		name: "threads", view: "thread_metrics", title: "Threads",
		columns: []reportColumn{value, thread, {"process", "Process", number}},
		order:   "value DESC, process, thread_id",
		totals:  true,
	},
	{
		name: "cpus", view: "cpu_metrics", title: "CPUs",
		columns: []reportColumn{value, {"cpu", "CPU", number}},
		order:   "value DESC, cpu",
		totals:  true,
	},
	{
		name: "processes", view: "process_metrics", title: "Processes",
		columns: []reportColumn{value, {"pid", "PID", number}, {"target", "Program", words}},
		order:   "value DESC, process",
		totals:  true,
	},
	{
		name: "timeline", view: "timeline", title: "Timeline",
		columns: []reportColumn{{"t0_ns", "From s", seconds}, {"t1_ns", "To s", seconds}, thread, value},
		order:   "t0_ns, thread_id",
	},
	{
		name: "data-objects", view: "data_object_metrics", title: "Data objects",
		columns: []reportColumn{value, {"samples", "Samples", number}, {"offset", "Offset", number}, dataObject, {"scope", "Scope", words}},
		order:   "kind = 'total' DESC, value DESC, descriptor, scope, data_object_id",
		ofData:  true,
	},
	{
		name: "data-layout", view: "data_layout", title: "Members of aggregates",
		columns: []reportColumn{value, {"offset", "Offset", number}, {"size", "Size", number}, {"cache_line", "Line", number},
			{"kind", "Kind", words}, {"member", "Member", words}, {"descriptor", "Aggregate", words}},
		order:  "aggregate_value DESC, descriptor, scope, data_object_id, position",
		ofData: true,
		print:  (*reporter).dataLayout,
	},
	{
		name: "memory-objects", view: "memory_objects", title: "Memory: regions, pages and cache lines",
		columns: []reportColumn{value, {"samples", "Samples", number}, {"kind", "Kind", words}, {"address", "Address", address}, {"size", "Size", number},
			{"threads", "Threads", number}, {"objects", "Objects", number}, {"size_source", "Size is", words}, {"name", "Name", words}},
		order:  "array_position(['page', 'cache line'], kind) NULLS FIRST, value DESC, process, kind, address",
		ofData: true,
	},
	{
		name: "data-object-functions", view: "data_object_functions", title: "Code that accesses data objects",
		columns: []reportColumn{value, {"samples", "Samples", number}, dataObject, label, {"offset", "Offset", address}, line, {"inlined", "Inlined", words}, {"method", "Method", words}, {"detail", "Detail", words}, file},
		order:   "value DESC, descriptor, data_object_id, function, file, line, \"offset\", method, detail, agreement, embedding",
		ofData:  true,
	},
	{
		name: "unattributed", view: "unattributed", title: "Not attributed to a function or data object",
		columns: []reportColumn{value, {"samples", "Samples", number}, {"subject", "Subject", words}, {"reason", "Reason", words}, loadObject},
		order:   "subject DESC, value DESC, reason, load_object",
	},
	{
		name: "cut-stacks", view: "cut_stacks", title: "Stacks that end before their thread's start",
		columns: []reportColumn{value, {"samples", "Samples", number}, {"reason", "Reason", words}, label, loadObject},
		order:   "value DESC, reason, function, load_object, function_id",
	},
	{
		name: "conservation", view: "conservation", title: "Broken sums",
		columns: []reportColumn{{"mode", "Mode", words}, {"what", "Sum", words}, {"expected", "Expected", amount}, {"found", "Found", amount}},
		order:   "mode, what",
	},
}

// inlined returns the report with inlined functions as functions of their own
// (S10). Reports whose rows are neither functions nor in functions have none.
func (r report) inlined() report {
	switch r.view {
	case "function_metrics", "callers_callees", "call_tree", "line_metrics", "pc_metrics":
		r.view = "inline_" + r.view
		r.title += " with inlined functions"
	}
	return r
}

// totalFirst sorts <Total> before all functions.
const totalFirst = "(function = '<Total>' AND kind = 'artificial') DESC, "

// reportOf finds a report by its name, or that of its view, with - or _.
func reportOf(name string) (report, error) {
	name = strings.ReplaceAll(name, "_", "-")
	var known []string
	for _, r := range reports {
		if name == r.name || name == strings.ReplaceAll(r.view, "_", "-") {
			return r, nil
		}
		known = append(known, r.name)
	}
	return report{}, usageErrorf("report: no view %q%s (stackmill report lists them)", name, near(closest(name, known)))
}
