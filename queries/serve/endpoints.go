package serve

import (
	"fmt"
	"slices"

	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/export"
	"stackmill/queries/flametree"
	"stackmill/queries/functions"
	"stackmill/queries/report"
)

// digestParameters are the parameters of a digest.
var digestParameters = slices.Concat([]parameter{
	experimentParameter,
	{name: "since", kind: "string", doc: "changes since this night: a date, or a number of days before the newest night, such as 7d, the default"},
	{name: "order", kind: "string", doc: "what orders experiments: started, the default, or label=KEY"},
	{name: "series", kind: "string", doc: "what distinguishes series: columns of the view series and labels (label=KEY), separated by commas; by default series"},
	{name: "metric", kind: "string", doc: "the metric; by default each experiment's default metric"},
	modeParameter,
	{name: "nights", kind: "integer", doc: "how many nights are read, the newest ones; by default 100"},
	{name: "limit", kind: "integer", doc: "how many changed series are reported in full; by default 5"},
	{name: "min-share", kind: "number", doc: "do not judge functions with a smaller share of <Total>"},
	{name: "fdr", kind: "number", doc: "the false discovery rate among the changes that are called sure"},
}, filterParameters)

// endpoints are all paths of the API. Its description is generated from them.
var endpoints = []endpoint{
	{
		method: "GET", path: "/api/v1/store", summary: "The state of the store and the number of its experiments. It is cheap to ask again and again with the ETag of the last answer: 304 until the store changes.",
		parameters: []parameter{{name: "since", kind: "string", doc: "also count what changed since this earlier state, if the server still keeps it"}},
		mediaTypes: []string{jsonType}, handle: describeStore,
	},
	{
		method: "GET", path: "/api/v1/experiments", summary: "The experiments of the store, with labels and numbers of problems.",
		parameters: []parameter{experimentParameter, columnsParameter}, mediaTypes: []string{jsonType}, rows: []string{experimentRow}, handle: listExperiments,
	},
	{
		method: "GET", path: "/api/v1/metrics", summary: "The metrics, with the number of experiments that have each.",
		parameters: []parameter{experimentParameter}, mediaTypes: []string{jsonType}, rows: []string{metricRow}, handle: rowsOf(metricsQuery),
	},
	{
		method: "GET", path: "/api/v1/selection", summary: "What a selection contains: the numbers of experiments, the value of a metric with and without filters, all metrics with their sums, programs and nights.",
		parameters: slices.Concat([]parameter{
			experimentParameter,
			{name: "metric", kind: "string", doc: "the metric; by default the default metric of most of the experiments"},
			modeParameter,
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: describeSelection,
	},
	{
		method: "GET", path: "/api/v1/problems", summary: "Problems of the recordings.",
		parameters: []parameter{experimentParameter}, mediaTypes: []string{jsonType}, rows: []string{problemRow}, handle: rowsOf(problemsQuery),
	},
	{
		method: "GET", path: "/api/v1/views", summary: "The standard views, with their columns.",
		mediaTypes: []string{jsonType}, handle: listViews,
	},
	{
		method: "GET", path: "/api/v1/views/{name}", summary: "The rows of a standard view, as `stackmill report` prints them.",
		parameters: slices.Concat([]parameter{
			experimentParameter, metricParameter, modeParameter,
			{name: "function", kind: "string", doc: "only functions of this name; failing that, those whose name contains it or matches it as a regular expression; callers-callees: several, separated by commas, are a fragment of stacks"},
			{name: "file", kind: "string", doc: "source: only this file, by the end of its path"},
			{name: "object", kind: "string", doc: "views of data objects: only objects of this descriptor, as for functions"},
			{name: "alias", kind: "string", enum: report.Aliases, doc: "which of a function's names to show; by default manual"},
			inlineParameter,
			{name: "sum", kind: "boolean", enum: []string{"true", "false"}, doc: "add up the experiments: rows have the columns of the view, except for those of the experiment, then experiments, present_in, and the spread of each value (_min, _median, _max, _imbalance)"},
			{name: "by", kind: "string", doc: "as sum, with a column of each value for each value of this label or column of experiments"},
			{name: "sort", kind: "string", doc: "a column of the view, numbers in descending order; -COLUMN reverses"},
			limitParameter,
			{name: "width", kind: "string", doc: "timeline, cpu-timeline, seconds: the width of an interval, such as 100ms"},
			columnsParameter,
			{name: "format", kind: "string", enum: formatNames(), doc: "by default json"},
		}, filterParameters),
		mediaTypes: []string{jsonType, ndjsonType, csvType, arrowType, parquetType}, rows: reportRows(), handle: viewRows,
	},
	{
		method: "GET", path: "/api/v1/functions", summary: "A part of the table of functions, modules, load objects or packages: each row has the sums over the experiments, of several metrics side by side. Rows in other formats are in /api/v1/views/functions with sum=true.",
		parameters: slices.Concat([]parameter{
			experimentParameter,
			{name: "base", kind: "string", repeatable: true, doc: "experiments whose sums each row has, too: selectors, as in experiment"},
			{name: "metric", kind: "string", doc: "the metrics, separated by commas, or all; by default the default metric of most of the experiments"},
			modeParameter, inlineParameter,
			{name: "rows", kind: "string", enum: functions.Groups, doc: "what rows are; by default functions. Packages are namespaces in C++ and Rust; functions without one are in the row of their load object"},
			{name: "runs", kind: "boolean", enum: []string{"true", "false"}, doc: "the values of each experiment, too; of more than 12, the lowest, median and highest value"},
			{name: "search", kind: "string", doc: "only rows that have this in their name, module or load object, or that match it if it is a regular expression between slashes"},
			{name: "sort", kind: "string", doc: "the column to sort by, numbers in descending order, -COLUMN reverses: exclusive (the default), inclusive, exclusive.N or inclusive.N of the metric N from 0, run.N of a run, function, load_object, module; with base, exclusive and inclusive are the size of the difference of the means, and base-exclusive and base-inclusive the values of the base"},
			{name: "offset", kind: "integer", doc: "leave out this many rows"},
			{name: "limit", kind: "integer", doc: "at most this many rows; by default 200"},
			{name: "columns", kind: "string", doc: "more columns of functions, separated by commas: size (bytes of code), history (mean values of the 30 newest nights)"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: functionTable,
	},
	{
		method: "GET", path: "/api/v1/function", summary: "One function: its values in the sum of the experiments and over time, its callers and callees with attributed values, its size and its place in the source.",
		parameters: slices.Concat([]parameter{
			experimentParameter,
			{name: "base", kind: "string", repeatable: true, doc: "experiments whose values of the function are shown, too: selectors, as in experiment"},
			oneMetricParameter, modeParameter, inlineParameter,
			{name: "function", kind: "string", doc: "its name, or the first 1,000 characters of it at least; of several functions with this name, the one with the highest inclusive value; by default the function with the highest exclusive value"},
			{name: "load-object", kind: "string", doc: "only functions of the load object with this name"},
			{name: "module", kind: "string", doc: "only functions of the module with this name"},
			{name: "limit", kind: "integer", doc: "at most this many callers, and this many callees; `rest` has the number and the sum of the others"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: oneFunction,
	},
	{
		method: "GET", path: "/api/v1/callgraph", summary: "A function, module or load object in the graph of calls: its callers and callees with attributed values, and cycles.",
		parameters: slices.Concat([]parameter{
			experimentParameter, oneMetricParameter, modeParameter, inlineParameter,
			{name: "group", kind: "string", enum: flametree.CallGroups, doc: "what calls: functions (the default), modules, load objects or packages (in C++ and Rust namespaces; functions without one are in the group of their load object)"},
			{name: "name", kind: "string", doc: "the function, module or load object in the middle: its name, or the first 1,000 characters of it at least; of several with this name, the one with the highest inclusive value; by default the one with the highest exclusive value"},
			{name: "load-object", kind: "string", doc: "only functions and modules of the load object with this name"},
			{name: "module", kind: "string", doc: "only functions of the module with this name"},
			{name: "cycle", kind: "boolean", enum: []string{"true", "false"}, doc: "the whole cycle that it is in as one"},
			{name: "limit", kind: "integer", doc: "at most this many callers, and this many callees; `rest` has the number and the sum of the others"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: callGraph,
	},
	{
		method: "GET", path: "/api/v1/annotate", summary: "The source file and the instructions of one function, with values by line and instruction, summed over the experiments that ran one build of it.",
		parameters: slices.Concat([]parameter{
			experimentParameter,
			{name: "metric", kind: "string", doc: "the metric; by default the default metric of most of the experiments"},
			modeParameter,
			{name: "function", kind: "string", doc: "a function of this name; failing that, one whose name contains it or matches it as a regular expression; of several, and by default, the one with the highest exclusive value"},
			{name: "key", kind: "string", doc: "which of several functions of one name: its function_key, from an earlier answer"},
			{name: "build", kind: "string", doc: "which build of the function: the load_object_id, from an earlier answer; by default, and if it is none of the function's, the newest"},
			{name: "file", kind: "string", doc: "which of the function's source files; by default, and if it is none of them, the one with the highest exclusive value"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: annotated,
	},
	{
		method: "GET", path: "/api/v1/flamegraph", summary: "The merged call trees of the experiments, as far as they are visible in a drawing. Nodes that are too narrow are summed in one named `<N more>`.",
		parameters: slices.Concat(treeParameters, partParameters, []parameter{
			{name: "by", kind: "string", enum: append(slices.Clone(flametree.Groupings), autoGrouping), doc: "also the sums of groups of functions, of the whole tree; auto: by load object or, if one has over 80 %, by package, namespace or file"},
			{name: "form", kind: "string", enum: flameForms, doc: "tree (default): nodes with their children; columns: the same nodes in drawing order, with levels, positions and a table of names"},
		}),
		mediaTypes: []string{jsonType}, handle: flamegraph,
	},
	{
		method: "GET", path: "/api/v1/flamegraph/search", summary: "The nodes of the whole tree that a search finds: their number, their value, in which nested ones count once, and their positions in drawing order.",
		parameters: slices.Concat(treeParameters, searchParameters), mediaTypes: []string{jsonType}, handle: searchFlamegraph,
	},
	{
		method: "GET", path: "/api/v1/compare", summary: "The differences between two groups of experiments, as `stackmill compare` prints them.",
		parameters: slices.Concat([]parameter{
			baseParameter,
			testParameter,
			{name: "by", kind: "string", enum: compare.Subjects, doc: "what rows are; by default functions"},
			comparedParameter,
			modeParameter,
			{name: "inclusive", kind: "boolean", enum: []string{"true", "false"}, doc: "compare inclusive values"},
			normalizeParameter,
			{name: "pair", kind: "string", doc: "compare runs of both sides pairwise that have the same value of a label (label=round) or column"},
			{name: "block", kind: "string", doc: "compare only runs with the same value of a label or column; auto (default): of host, if both sides have the same several ones; none: all with all"},
			{name: "fdr", kind: "number", doc: "the false discovery rate"},
			{name: "level", kind: "number", doc: "the confidence level of intervals"},
			{name: "min-change", kind: "number", doc: "treat smaller changes as the same"},
			{name: "min-share", kind: "number", doc: "do not judge rows with a smaller share of <Total>"},
			{name: "judged", kind: "boolean", enum: []string{"true", "false"}, doc: "only rows that are large enough to be judged, or only the others; by default both"},
			{name: "limit", kind: "integer", doc: "at most this many rows besides <Total>"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: comparison,
	}, {
		method: "GET", path: "/api/v1/compare/flamegraph", summary: "The call trees of two groups of experiments as one tree, with the mean values of both sides for each path.",
		parameters: slices.Concat(differenceParameters, partParameters),
		mediaTypes: []string{jsonType}, handle: flameDifference,
	},
	{
		method: "GET", path: "/api/v1/compare/flamegraph/search", summary: "The nodes of the whole difference tree that a search finds, with their means on both sides.",
		parameters: slices.Concat(differenceParameters, searchParameters), mediaTypes: []string{jsonType}, handle: searchDifference,
	},

	{
		method: "GET", path: "/api/v1/trend", summary: "The values of a function or of <Total> over the experiments, in the order in which they were made, with change points.",
		parameters: slices.Concat([]parameter{
			experimentParameter,
			oneMetricParameter,
			modeParameter,
			{name: "function", kind: "string", doc: "functions of this name; failing that, those whose name contains it or matches it as a regular expression; by default <Total>"},
			{name: "inclusive", kind: "boolean", enum: []string{"true", "false"}, doc: "inclusive values"},
			normalizeParameter,
			{name: "limit", kind: "integer", doc: "at most this many functions, with the highest sums; by default 5"},
			{name: "order", kind: "string", doc: "what orders the experiments: started (the default), label=NAME, or another column of experiments"},
			{name: "by", kind: "string", doc: "a series for each value of label=NAME, or of a column of experiments"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: trendValues,
	},
	{
		method: "GET", path: "/api/v1/changes", summary: "All series of experiments with their values by night: the last night against what is usual, and what changed, as in the digest.",
		parameters: digestParameters, mediaTypes: []string{jsonType}, handle: changes,
	},
	{
		method: "GET", path: "/api/v1/digest", summary: "What changed lately in all series of experiments: since which night, in which functions, and how certain that is, as `stackmill digest` prints it.",
		parameters: digestParameters,
		mediaTypes: []string{jsonType}, handle: digestValues,
	},
	{
		method: "GET", path: "/api/v1/timeline", summary: "The values of a metric over time, by interval and group of functions: of all samples, of the busiest processes, and of threads or CPUs. Functions are grouped by the leaf of stacks. What has no row is counted and summed.",
		parameters: slices.Concat([]parameter{
			experimentParameter, metricParameter, modeParameter,
			{name: "rows", kind: "string", enum: timelineRows, doc: "what rows are: processes (default), whose threads unfold lists, or CPUs"},
			{name: "order", kind: "string", enum: timelineOrders, doc: "the order of rows: the busiest over the whole time first (default), by the first sample, or by name"},
			{name: "search", kind: "string", doc: "only processes and threads that have this in their name, number or command; /.../ is a regular expression"},
			{name: "unfold", kind: "string", repeatable: true, doc: "list the threads of the process with this key (rows have it); first: of the process in the first row"},
			{name: "pin", kind: "string", repeatable: true, doc: "the row with this key comes first, whatever else is shown"},
			{name: "limit", kind: "integer", doc: fmt.Sprintf("at most this many processes or CPUs; by default %d", defaultRows)},
			{name: "time", kind: "string", doc: "only this time: FROM,UNTIL since each experiment's start (10s,20s), where either may be left out"},
			{name: "intervals", kind: "integer", doc: fmt.Sprintf("divide the time into at most so many intervals, whose width is 1, 2 or 5 times a power of ten; by default %d", timelineIntervals)},
			{name: "marked", kind: "string", doc: "also sum the values in this time, given as `time`"},
			{name: "by", kind: "string", enum: groupRules, doc: "what groups of functions are; auto (default): load objects or, if one has over 80 % of the value, packages, namespaces and source files"},
			{name: "groups", kind: "string", repeatable: true, doc: "a group of your own, NAME=EXPRESSION: the functions whose name matches the regular expression and no earlier one"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: showTimeline,
	},
	{
		method: "GET", path: "/api/v1/heatmap", summary: "The values of a metric by column, which is a length of time, and by cell within the column. Cells are counted over all columns.",
		parameters: slices.Concat([]parameter{
			experimentParameter, metricParameter, modeParameter,
			{name: "column", kind: "string", doc: "the length of a column, such as 100ms, 1s or 10s; by default 1s, shorter for less than 10s. Columns are longer if there would be too many"},
			{name: "limit", kind: "integer", doc: fmt.Sprintf("at most this many columns; by default %d", heatColumns)},
			{name: "cells", kind: "integer", doc: fmt.Sprintf("the cells of a column; by default %d", heatCells)},
			{name: "time", kind: "string", doc: "only this time: FROM,UNTIL since each experiment's start (10s,20s), where either may be left out"},
			{name: "marked", kind: "string", doc: "also sum the values in this time, given as `time`"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: showHeatMap,
	},
	{
		method: "GET", path: "/api/v1/thread-states", summary: "The states of the busiest threads over time, of experiments with recorded context switches: all periods of these threads if there are few, otherwise the time in each state by interval.",
		parameters: []parameter{
			experimentParameter,
			{name: "time", kind: "string", doc: "only this time: FROM,UNTIL since the experiment's start (10s,20s), where either may be left out"},
			{name: "threads", kind: "integer", doc: fmt.Sprintf("at most this many threads of each experiment, those with the most time on CPUs; by default %d", defaultLanes)},
			{name: "intervals", kind: "integer", doc: fmt.Sprintf("how many intervals the time is divided into; by default %d", defaultIntervals)},
			{name: "thread", kind: "integer", repeatable: true, doc: "only these threads"},
			{name: "pid", kind: "integer", repeatable: true, doc: "only threads of these processes"},
			{name: "also", kind: "integer", repeatable: true, doc: "threads that are shown in any case"},
		},
		mediaTypes: []string{jsonType}, handle: listThreadStates,
	},
	{
		method: "GET", path: "/api/v1/thread-states/period", summary: "The state of a thread at a point in time, with the stack with which it was switched out and the thread that woke it up; null if it has none.",
		parameters: []parameter{
			{name: "experiment", kind: "string", required: true, doc: "the experiment: " + queries.SelectorHelp}, modeParameter,
			{name: "thread", kind: "integer", required: true, doc: "the thread"},
			{name: "process", kind: "integer", doc: "the thread's process (`processes.process`), 0 if it has none: threads of different process namespaces may have the same id; by default any"},
			{name: "at", kind: "integer", required: true, doc: "ns since the experiment's start"},
		},
		mediaTypes: []string{jsonType}, handle: describeThreadState,
	},
	{
		method: "GET", path: "/api/v1/unknown", summary: "How much of a metric belongs to no function, instruction or data object: by reason and load object, summed over the experiments, with what helps. `share` is the part of the metric that belongs to no function.",
		parameters: slices.Concat([]parameter{
			experimentParameter,
			{name: "metric", kind: "string", doc: "the metric; by default the default metric of most of the experiments"},
			modeParameter,
			{name: "only", kind: "string", enum: []string{"share"}, doc: "only the sums, without the reasons"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: listUnknown,
	},
	{
		method: "GET", path: "/api/v1/data-objects", summary: "The types of data objects, the variables, and the reasons why others are unknown, summed over the experiments.",
		parameters: slices.Concat([]parameter{experimentParameter, dataMetricParameter}, filterParameters),
		mediaTypes: []string{jsonType}, handle: listDataObjects,
	},
	{
		method: "GET", path: "/api/v1/data-objects/layout", summary: "The members of a type of data objects in memory, with their values and the code that accesses them, summed over the experiments in which the type is laid out in the same way.",
		parameters: slices.Concat([]parameter{
			experimentParameter, dataMetricParameter,
			{name: "type", kind: "string", required: true, doc: "the type, as `/api/v1/data-objects` writes it"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: showLayout,
	},
	{
		method: "GET", path: "/api/v1/memory", summary: "The cache lines or pages that were accessed, by value, with the threads and CPUs that accessed each, and with reads and writes. A piece that several threads access and one of them writes is `shared`; it is `false` sharing, perhaps, if a thread that writes and another thread access no address in common.",
		parameters: slices.Concat([]parameter{
			experimentParameter, dataMetricParameter, piecesParameter,
			{name: "first", kind: "string", enum: []string{"value", "shared"}, doc: "which pieces are listed first: those with the largest values (the default), or shared ones"},
			{name: "limit", kind: "integer", doc: "at most this many pieces; by default 200"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: listMemory,
	},
	{
		method: "GET", path: "/api/v1/memory/accesses", summary: "The accesses to one cache line or page: by address, data object, thread and line of code.",
		parameters: slices.Concat([]parameter{
			{name: "experiment", kind: "string", required: true, doc: "the experiment: " + queries.SelectorHelp},
			dataMetricParameter, piecesParameter,
			{name: "process", kind: "integer", required: true, doc: "the process, by its number in the experiment"},
			{name: "address", kind: "string", required: true, doc: "the address of the cache line or page, hexadecimal, as `/api/v1/memory` writes it"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: listAccesses,
	},
	{
		method: "GET", path: "/api/v1/heap", summary: "The traced heap: peaks of processes, the heap of one process over time, and allocations and leaks by size and by stack, summed over the experiments.",
		parameters: slices.Concat([]parameter{
			experimentParameter, modeParameter,
			{name: "what", kind: "string", enum: []string{"leaks", "allocations"}, doc: "what orders stacks: leaked bytes (the default), or allocated bytes"},
			{name: "run", kind: "string", doc: "the id of the experiment whose heap is shown over time; by default that of the process with the highest peak"},
			{name: "process", kind: "integer", doc: "the process of this experiment"},
			{name: "limit", kind: "integer", doc: "at most this many stacks; by default 200"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: showHeap,
	},
	{
		method: "GET", path: "/api/v1/files", summary: "Traced calls by file, system calls by name, and requests by device, summed over the experiments.",
		parameters: slices.Concat([]parameter{
			experimentParameter, modeParameter,
			{name: "limit", kind: "integer", doc: "at most this many files; by default 200"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: showFiles,
	},
	{
		method: "GET", path: "/api/v1/locks", summary: "What threads waited for: synchronization objects and locks of the kernel, the threads that waited for each, who woke whom, deadlocks and data races.",
		parameters: slices.Concat([]parameter{
			experimentParameter, modeParameter,
			{name: "limit", kind: "integer", doc: "at most this many waiting threads, and pairs of functions that waited and woke them; by default 200"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: showLocks,
	},
	{
		method: "GET", path: "/api/v1/stacks", summary: "The stacks of the calls on a file, of a system call, of requests to a device, or of waits for a lock, summed over the experiments.",
		parameters: slices.Concat([]parameter{
			experimentParameter, modeParameter,
			{name: "kind", kind: "string", required: true, enum: stackKinds, doc: "what `item` names: a file, a system call, a device with its operation (`254:0 read`), or the key of a lock of the kernel or of a synchronization object in `/api/v1/locks`"},
			{name: "item", kind: "string", required: true, doc: "its name"},
		}, filterParameters),
		mediaTypes: []string{jsonType}, handle: listStacks,
	},
	{
		method: "GET", path: exportPath, summary: "The stacks of the experiments in the formats of other tools, as `stackmill export` writes them.",
		parameters: slices.Concat([]parameter{
			{name: "as", kind: "string", enum: export.Formats(), required: true, doc: "the format"},
			experimentParameter, metricParameter, modeParameter, inlineParameter,
			{name: "by", kind: "string", enum: export.Origins, doc: "what separates equal stacks; by default nothing"},
		}, filterParameters),
		mediaTypes: []string{exportTypes["pprof"], jsonType, textType, htmlType, svgType}, handle: exportStacks,
	},
	{
		method: "GET", path: "/api/v1/sql", summary: "The catalog for SQL: views, macros and tables with their columns, and functions.",
		mediaTypes: []string{jsonType}, handle: describeSQL,
	},
	{
		method: "GET", path: "/api/v1/queries", summary: "The saved queries of the server: the files *.sql in the folder that serve --queries names.",
		mediaTypes: []string{jsonType}, uncached: true, handle: listSavedQueries,
	},
	{
		method: "POST", path: queryPath, summary: "The rows of a query in SQL, which can read only the store.",
		body: queryFields, mediaTypes: []string{jsonType, ndjsonType, csvType, arrowType, parquetType}, handle: runQuery,
	},
}
