package serve

import (
	"slices"

	"stackmill/queries/compare"
	"stackmill/queries/export"
	"stackmill/queries/report"
)

// endpoints are all paths under which there is data. The description of the API is made
// from them.
var endpoints = []endpoint{
	{
		method: "GET", path: "/api/v1/experiments", does: "The experiments of the store, with labels and numbers of problems.",
		parameters: []parameter{experimentParameter, columnsParameter}, gives: []string{jsonType}, rows: []string{experimentRow}, run: listExperiments,
	},
	{
		method: "GET", path: "/api/v1/metrics", does: "The metrics, and how many experiments have each.",
		parameters: []parameter{experimentParameter}, gives: []string{jsonType}, rows: []string{metricRow}, run: listMetrics,
	},
	{
		method: "GET", path: "/api/v1/problems", does: "What is wrong with the recordings.",
		parameters: []parameter{experimentParameter}, gives: []string{jsonType}, rows: []string{problemRow}, run: listProblems,
	},
	{
		method: "GET", path: "/api/v1/views", does: "The standard views, with their columns.",
		gives: []string{jsonType}, run: listViews,
	},
	{
		method: "GET", path: "/api/v1/views/{name}", does: "The rows of a standard view, as `stackmill report` prints them.",
		parameters: slices.Concat([]parameter{
			experimentParameter, metricParameter, modeParameter,
			{name: "function", kind: "string", does: "only functions of this name; failing that, those whose name contains it or matches it as a regular expression; callers-callees: several with commas between them are a piece of stacks"},
			{name: "file", kind: "string", does: "source: only this file, named by the end of its path"},
			{name: "object", kind: "string", does: "views of data objects: only objects of this descriptor, as for functions"},
			{name: "alias", kind: "string", one: report.Aliases, does: "whose choice among a function's several names to show; by default manual"},
			inlineParameter,
			{name: "sort", kind: "string", does: "a column of the view, numbers descending; -COLUMN reverses"},
			limitParameter,
			{name: "width", kind: "string", does: "timeline, cpu-timeline, seconds: the width of an interval, such as 100ms"},
			columnsParameter,
			{name: "format", kind: "string", one: formatNames(), does: "by default json"},
		}, filterParameters),
		gives: []string{jsonType, ndjsonType, csvType, arrowType, parquetType}, rows: reportRows(), run: view,
	},
	{
		method: "GET", path: "/api/v1/functions", does: "Functions with the values of several metrics side by side, in columns `exclusive.METRIC` and `inclusive.METRIC`.",
		parameters: slices.Concat([]parameter{
			experimentParameter,
			{name: "metric", kind: "string", does: "the metrics, with commas between them, or all; by default the first of each experiment"},
			modeParameter, inlineParameter,
			{name: "search", kind: "string", does: "only functions that have this in their name or that of their module or load object, and <Total>"},
			{name: "sort", kind: "string", does: "the column whose highest values come first: exclusive or inclusive, of the first metric or with a dot and a metric; by default exclusive"},
			{name: "limit", kind: "integer", does: "at most this many functions of each experiment, besides <Total>"},
			{name: "format", kind: "string", one: formatNames(), does: "by default json"},
		}, filterParameters),
		gives: []string{jsonType, ndjsonType, csvType, arrowType, parquetType}, run: functions,
	},
	{
		method: "GET", path: "/api/v1/flamegraph", does: "The call trees of the experiments, merged, as one tree; what is left out below a node is in one named `<N more>`.",
		parameters: slices.Concat([]parameter{
			experimentParameter, metricParameter, modeParameter, inlineParameter,
			{name: "nodes", kind: "integer", does: "at most this many nodes; by default 10000"},
			{name: "side", kind: "string", one: flameSides, does: "what the tree is seen from, if not from its root: inverted, what each function has itself, with its callers below it; callers or callees of what group and of say"},
			{name: "group", kind: "string", one: flameGroups, does: "callers and callees: what they are of; by default a function"},
			{name: "of", kind: "string", does: "callers and callees: the name of what they are of. Each sample counts once, where it enters that first"},
			{name: "form", kind: "string", one: flameForms, does: "by default tree: nodes with their children; columns: the same nodes in the order in which they are drawn, with their levels and a table of names"},
		}, filterParameters),
		gives: []string{jsonType}, run: flamegraph,
	},
	{
		method: "GET", path: "/api/v1/compare", does: "What differs between two groups of experiments, as `stackmill compare` prints it.",
		parameters: slices.Concat([]parameter{
			baseParameter,
			testParameter,
			{name: "by", kind: "string", one: compare.Subjects, does: "what a row is; by default a function"},
			comparedParameter,
			modeParameter,
			{name: "inclusive", kind: "boolean", one: []string{"true", "false"}, does: "compare inclusive values"},
			normaliseParameter,
			{name: "fdr", kind: "number", does: "the part of the rows called different that may be so by chance"},
			{name: "level", kind: "number", does: "how often an interval is right"},
			{name: "min-change", kind: "number", does: "call smaller changes the same"},
			{name: "min-share", kind: "number", does: "do not judge rows with a smaller part of <Total>"},
			{name: "limit", kind: "integer", does: "at most this many rows besides <Total>"},
		}, filterParameters),
		gives: []string{jsonType}, run: comparison,
	}, {
		method: "GET", path: "/api/v1/compare/flamegraph", does: "The call trees of two groups of experiments as one: what the runs of either side have of each path, on average.",
		parameters: slices.Concat([]parameter{
			baseParameter, testParameter, comparedParameter, modeParameter, normaliseParameter,
			{name: "nodes", kind: "integer", does: "at most this many nodes; by default 10000"},
		}, filterParameters),
		gives: []string{jsonType}, run: flameDifference,
	},

	{
		method: "GET", path: "/api/v1/trend", does: "The values of a function, or of <Total>, over the experiments in the order of time, and where they change.",
		parameters: slices.Concat([]parameter{
			experimentParameter,
			{name: "metric", kind: "string", does: "the metric; by default the first of most of the experiments"},
			modeParameter,
			{name: "function", kind: "string", does: "functions of this name; failing that, those whose name contains it or matches it as a regular expression; by default <Total>"},
			{name: "inclusive", kind: "boolean", one: []string{"true", "false"}, does: "inclusive values"},
			normaliseParameter,
			{name: "limit", kind: "integer", does: "at most this many functions, those with the highest sums; by default 5"},
		}, filterParameters),
		gives: []string{jsonType}, run: follow,
	},
	{
		method: "GET", path: exportPath, does: "The stacks of the experiments as other tools read them, as `stackmill export` writes them.",
		parameters: slices.Concat([]parameter{
			{name: "as", kind: "string", one: export.Formats(), required: true, does: "what to write"},
			experimentParameter, metricParameter, modeParameter, inlineParameter,
			{name: "by", kind: "string", one: export.Origins, does: "what separates stacks; by default nothing"},
		}, filterParameters),
		gives: []string{exportTypes["pprof"], jsonType, textType}, run: exported,
	},
	{
		method: "GET", path: "/api/v1/sql", does: "What SQL can name: views, macros and tables with their columns, and functions.",
		gives: []string{jsonType}, run: describeSQL,
	},
	{
		method: "POST", path: queryPath, does: "The rows of a query in SQL, which may read the store and nothing else.",
		body: queryFields, gives: []string{jsonType, ndjsonType, csvType, arrowType, parquetType}, run: query,
	},
}
