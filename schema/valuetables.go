package schema

import "slices"

// Values: sums of samples, computed once when the experiment is read.
var (
	value     = Column{"value", Int64, Dict, "the metric's", false, "The sum of the samples' values."}
	samples   = Column{"samples", Int64, Dict, "count", false, "The number of samples with a value other than 0."}
	exclusive = Column{"exclusive", Int64, Dict, "the metric's", false, "The value of the samples whose leaf is in the function (line, instruction, ...) of this row."}
	inclusive = Column{"inclusive", Int64, Dict, "the metric's", false, "The value of the samples whose stack contains the function (line, instruction, ...) of this row. Each sample counts once, even with recursion."}
	attribute = Column{"attributed", Int64, Dict, "the metric's", false, "The part of the value that is attributed to this caller or callee, or to this path of the call tree."}
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
		{"second", Int32, Delta, "s", false, "The second in which the samples were taken: whole seconds since the founder's start."},
		metric, value, samples,
	}}
	FunctionValues = &Table{Name: "function_values", Row: "one metric's value of one function, or of `<Total>`", Key: valueKey(inModes, "function_no"), Columns: valueColumns(inModes,
		functionNo, exclusive, inclusive,
	), Joined: ofFunction, Computed: []DerivedColumn{functionID}}
	CallValues = &Table{Name: "call_values", Row: "one metric's value of one caller or callee of one function, or of the function itself", Key: valueKey(inModes, "function_no", "relation", "other_no"), Columns: valueColumns(inModes,
		functionNo,
		Column{"relation", Label, Dict, "", false, "`caller`, `self` or `callee`."},
		Column{"other_no", Int32, Dict, "", false, "The number of the caller or callee; for `self`, of the function itself."},
		attribute,
	), Joined: ofFunction + " LEFT JOIN functions o ON o.experiment_id = t.experiment_id AND o.function_no = t.other_no", Computed: []DerivedColumn{
		functionID,
		{"other_id", Int64, "o.function_id", "The caller or callee; for `self`, the function itself."},
	}}
	CallNodes = &Table{Name: "call_nodes", Row: "one node of the call tree of some mode: a function reached by one path of calls from `<Total>`", Key: key("call_node"), Columns: []Column{
		experimentID,
		{"call_node", Int32, Delta, "", false, "The node's number. The nodes below it have the numbers that follow. 0 is the root, `<Total>`."},
		{"up", Int32, PlainOrDelta, "", false, "The parent, which is the caller's node, is the node `call_node - up`; 0 for the root."},
		{"below", Int32, Dict, "count", false, "The number of nodes below this one; they have the numbers that follow its own."},
		{"depth", Int32, Delta, "", false, "The number of calls on the path from the root; 0 for the root."},
		functionNo.as(Dict),
	}, Joined: ofFunction, Computed: []DerivedColumn{
		functionID,
		{"parent", Int32, "CASE WHEN up > 0 THEN call_node - up END", "The caller's node; missing for the root."},
		{"last", Int32, "call_node + below", "The last node below this one, or its own number if there is none."},
	}}
	TreeValues = &Table{Name: "tree_values", Row: "one metric's value of one node of the call tree", Key: valueKey(inModes, "call_node"), Columns: valueColumns(inModes,
		Column{"call_node", Int32, Delta, "", false, "The node: `call_nodes.call_node`."},
		attribute, exclusive,
	)}
	LineValues = &Table{Name: "line_values", Row: "one metric's value of one source line of one function", Key: valueKey(inModes, "function_no", "file", "line"), Columns: valueColumns(inModes,
		functionNo,
		Column{"file", String, Dict, "", false, "The source file's path, empty for instructions without line numbers."},
		Column{"line", Int32, Dict, "", false, "The line, 0 for instructions without line numbers."},
		exclusive, inclusive,
	), Joined: ofFunction, Computed: []DerivedColumn{functionID}}
	SourceValues = &Table{Name: "source_values", Row: "one metric's value of one source line, summed over all functions with code on the line", Key: valueKey(inModes, "file", "line"), Columns: valueColumns(inModes,
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
	DataValues = &Table{Name: "data_values", Row: "one metric's value of the accesses of one instruction to one data object that was identified in one way", Key: key("metric", "data_object_id", "location", "method", "detail", "agreement", "embedding_object_id"), Columns: []Column{
		experimentID, metric, dataObject,
		{"location", Int32, Dict, "", true, "The instruction that accessed memory or, if that was not found, the one at the recorded PC: `locations.location`; missing if no PC was recorded."},
		dataMethod,
		{"detail", String, Dict, "", false, "Details of the method, or of the reason why the data object is unknown; empty if there are none."},
		agreement, embedding, value, samples,
	}, Joined: ofLocation, Computed: []DerivedColumn{locationID}}
	FunctionRollup = &Table{Name: "function_rollup", Summary: true, Row: "one metric's value of one function, or of `<Total>`, as in `function_values`, but with all names. Rows are sorted by metric, mode and function, so that a file has a function's rows of all experiments in one place", Key: valueKey(inModes, "function_id"), Columns: slices.Concat([]Column{experimentID, metric, metricUnit}, inModes, []Column{
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
	functionKey  = Column{"function_key", Int64, Dict, "", false, "An identifier of the function that is the same in every build: hash of the load object's short path, of the linkage name (without one, the display name) and, if the name is unique only within its module, of the module's short path. If only its position distinguishes the function from another (`functions.name_scope`), it is `function_id`, which differs between builds."}
	functionName = Column{"function", Label, Dict, "", false, "The function's display name."}
	objectName   = Column{"load_object", Label, Dict, "", false, "The name of the function's load object."}
	moduleName   = Column{"module", Label, Dict, "", false, "The name of the function's module."}
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
