package schema

import "slices"

// Values: sums of samples, computed once when the experiment is read.
var (
	value     = Column{"value", Int64, Dict, "the metric's", false, "The sum."}
	samples   = Column{"samples", Int64, Dict, "count", false, "The number of samples with a value other than 0."}
	exclusive = Column{"exclusive", Int64, Dict, "the metric's", false, "The value of the samples whose leaf is here."}
	inclusive = Column{"inclusive", Int64, Dict, "the metric's", false, "The value of the samples whose stack passes here, each counted once."}
	attribute = Column{"attributed", Int64, Dict, "the metric's", false, "The part of the value attributed to the pair or path."}
)

// The value tables.
var (
	StackValues = &Table{Name: "stack_values", Row: "one metric's value of one recorded stack", Key: key("stack", "metric"), Columns: []Column{
		experimentID, stackNo.as(Delta), metric, value, samples,
	}, Computed: []DerivedColumn{rawStackID}}
	UsageValues = &Table{Name: "usage_values", Row: "one metric's value of one thread, under one name and in one control group, on one CPU in one second", Key: key("process", "thread_id", "name_no", "cgroup", "cpu", "second", "metric"), Columns: []Column{
		experimentID, process,
		{"thread_id", Int64, Dict, "", false, "The kernel's id of the thread."},
		nameNo, cgroup,
		{"cpu", Int32, Dict, "", false, "The CPU."},
		{"second", Int32, Delta, "s", false, "Whole seconds from the founder's start."},
		metric, value, samples,
	}}
	FunctionValues = &Table{Name: "function_values", Row: "one metric's value of one function, or of `<Total>`", Key: valueKey(inModes, "function_no"), Columns: valueColumns(inModes,
		functionNo, exclusive, inclusive,
	), Joined: ofFunction, Computed: []DerivedColumn{functionID}}
	CallValues = &Table{Name: "call_values", Row: "one metric's value of one neighbor of one function", Key: valueKey(inModes, "function_no", "relation", "other_no"), Columns: valueColumns(inModes,
		functionNo,
		Column{"relation", Label, Dict, "", false, "`caller`, `self` or `callee`."},
		Column{"other_no", Int32, Dict, "", false, "The neighbor's number."},
		attribute,
	), Joined: ofFunction + " LEFT JOIN functions o ON o.experiment_id = t.experiment_id AND o.function_no = t.other_no", Computed: []DerivedColumn{
		functionID,
		{"other_id", Int64, "o.function_id", "The neighbor."},
	}}
	CallNodes = &Table{Name: "call_nodes", Row: "one node of the call tree, in any mode: the functions on a path from `<Total>`", Key: key("call_node"), Columns: []Column{
		experimentID,
		{"call_node", Int32, Delta, "", false, "Its number: the nodes below a node follow it directly. 0 is the root, `<Total>`."},
		{"up", Int32, PlainOrDelta, "", false, "How far before it its parent is: the caller's node. 0 for the root."},
		{"below", Int32, Dict, "count", false, "How many nodes are below it: the next so many."},
		{"depth", Int32, Delta, "", false, "0 is the root."},
		functionNo.as(Dict),
	}, Joined: ofFunction, Computed: []DerivedColumn{
		functionID,
		{"parent", Int32, "CASE WHEN up > 0 THEN call_node - up END", "The caller's node; missing for the root."},
		{"last", Int32, "call_node + below", "The last node below it, itself if there is none."},
	}}
	TreeValues = &Table{Name: "tree_values", Row: "one metric's value of one node of the call tree", Key: valueKey(inModes, "call_node"), Columns: valueColumns(inModes,
		Column{"call_node", Int32, Delta, "", false, "The node."},
		attribute, exclusive,
	)}
	LineValues = &Table{Name: "line_values", Row: "one metric's value of one source line of one function", Key: valueKey(inModes, "function_no", "file", "line"), Columns: valueColumns(inModes,
		functionNo,
		Column{"file", String, Dict, "", false, "The source file's path, empty for instructions without line numbers."},
		Column{"line", Int32, Dict, "", false, "The line, 0 for instructions without line numbers."},
		exclusive, inclusive,
	), Joined: ofFunction, Computed: []DerivedColumn{functionID}}
	SourceValues = &Table{Name: "source_values", Row: "one metric's value of one source line, of all functions with code there", Key: valueKey(inModes, "file", "line"), Columns: valueColumns(inModes,
		Column{"file", String, Dict, "", false, "The source file's path, empty for instructions without line numbers."},
		Column{"line", Int32, Dict, "", false, "The line, 0 for instructions without line numbers."},
		exclusive, inclusive,
	)}
	PCValues = &Table{Name: "pc_values", Row: "one metric's value of one instruction", Key: valueKey(inPlainModes, "location"), Columns: valueColumns(inPlainModes,
		Column{"location", Int32, Delta, "", false, "The instruction: `locations.location`."},
		exclusive, inclusive,
	)}
	ModuleValues = &Table{Name: "module_values", Row: "one metric's value of one module", Key: valueKey(inPlainModes, "module_id"), Columns: valueColumns(inPlainModes,
		Column{"module_id", Int64, Dict, "", false, "The module."},
		exclusive, inclusive,
	)}
	ObjectValues = &Table{Name: "object_values", Row: "one metric's value of one load object", Key: valueKey(inPlainModes, "load_object_id"), Columns: valueColumns(inPlainModes,
		Column{"load_object_id", Int64, Dict, "", false, "The load object."},
		exclusive, inclusive,
	)}
	DataValues = &Table{Name: "data_values", Row: "one metric's value of one data object, as one instruction accessed it in one way", Key: key("metric", "data_object_id", "location", "method", "detail", "agreement", "embedding_object_id"), Columns: []Column{
		experimentID, metric, dataObject,
		{"location", Int32, Dict, "", true, "The instruction that accessed memory, or the one at the recorded PC if it was not found; missing without a PC: `locations.location`."},
		dataMethod,
		{"detail", String, Dict, "", false, "More about the way or the reason; empty if there is none."},
		agreement, embedding, value, samples,
	}, Joined: ofLocation, Computed: []DerivedColumn{locationID}}
	FunctionRollup = &Table{Name: "function_rollup", Summary: true, Row: "one metric's value of one function, or of `<Total>`, as `function_values` has it, with all names: what all experiments say of a function is in one place of a file, and what they say of a metric", Key: valueKey(inModes, "function_id"), Columns: slices.Concat([]Column{experimentID, metric, metricUnit}, inModes, []Column{
		{"function_id", Int64, Dict, "", false, "The function."},
		functionKey, functionName, objectName, moduleName, functionKind, exclusive, inclusive,
	})}
	// FunctionSums are read instead of FunctionRollup for batches whose experiments are all
	// visible. For other batches, readers sum the visible rows of FunctionRollup.
	FunctionSums = &Table{Name: "function_sums", Row: "the sum of one metric's values of one function, or of `<Total>`, over the experiments of a batch. Its sums equal the sums of `function_rollup`, which has a row for each experiment", Columns: slices.Concat([]Column{metric, metricUnit}, inModes, []Column{
		functionKey, functionName, objectName, moduleName, functionKind, exclusive, inclusive,
	})}
)

// Columns that describe the function and metric of a value.
var (
	metricUnit   = Column{"unit", Label, Dict, "", false, "The metric's base unit: ns, bytes or count."}
	functionKey  = Column{"function_key", Int64, Dict, "", false, "The same in every build, and in one experiment only this function's: hash of the load object's short path, the linkage name, or else the name for people, and the module's short path if the name is only known there; the function's own identifier, which is its build's, where nothing but its place distinguishes it (`functions.name_scope`)."}
	functionName = Column{"function", Label, Dict, "", false, "Its name for people."}
	objectName   = Column{"load_object", Label, Dict, "", false, "The name of its load object."}
	moduleName   = Column{"module", Label, Dict, "", false, "The name of its module."}
	functionKind = Column{"kind", Label, Dict, "", false, "As `functions.kind`."}
)

// valueColumns returns the columns of a value table: the common first ones, and more.
func valueColumns(modes []Column, more ...Column) []Column {
	return slices.Concat([]Column{experimentID}, modes, []Column{metric}, more)
}

// valueKey returns the key of a value table.
func valueKey(modes []Column, more ...string) []string {
	columns := []string{}
	for _, c := range modes {
		columns = append(columns, c.Name)
	}
	return append(append(key(columns...), metric.Name), more...)
}
