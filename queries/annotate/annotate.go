// Package annotate shows the code of one function with values: the lines of its source file, its instructions, and the
// code that the compiler inlined at its lines. Start reading with Run in annotate.go,
// which lists the steps.
package annotate

import (
	"context"
	"fmt"
	"slices"

	"stackmill/queries"
	"stackmill/schema/storedir"
)

// Request says which function's code is shown, and by which values.
type Request struct {
	Metric string // empty: the default metric of most experiments
	Mode   string
	// Function is a name, a part of names or a regular expression. Key is the function_rollup.function_key of one of the
	// functions that it matches. If they leave a choice, the function with the highest exclusive value is shown.
	Function, Key string
	Build         string // load_objects.load_object_id of the build to show; if the function has no such build, the newest
	File          string // the source file; if it is none of the function's, the one with the most of its exclusive value
}

// Result is the code of one function, with sums over the experiments that ran one build of it.
type Result struct {
	Metric    string     `json:"metric"`
	Unit      string     `json:"unit"`
	Mode      string     `json:"mode"`
	Hottest   bool       `json:"hottest"`   // no function was requested: this is the one with the highest exclusive value
	Function  *Function  `json:"function"`  // nil if no function with values matches
	Functions []Function `json:"functions"` // all functions that match, by exclusive value, at most maxFunctions
	Builds    []Build    `json:"builds"`    // the builds of Function, the newest first
	Build     int        `json:"build"`     // index of the build that is shown; -1 without a function

	// Values of the build that is shown, in all its runs.
	Runs      int   `json:"runs"`
	Total     int64 `json:"total"` // <Total> of the runs
	Exclusive int64 `json:"exclusive"`
	Inclusive int64 `json:"inclusive"`

	Files     []File         `json:"files"` // files with lines of the function, by exclusive value
	File      int            `json:"file"`  // index of the file that is shown; -1 if the function has no lines
	Text      []string       `json:"text"`  // its lines, if the text is in the store
	Texts     int            `json:"texts"` // how many different texts the runs have; the newest run's is shown
	NoSource  *Explanation   `json:"no_source"`
	Lines     LineValues     `json:"lines"`
	Neighbors []Neighbor     `json:"neighbors"` // other functions with values in the file, by their first line
	Inlined   []InlinedPlace `json:"inlined"`   // code inlined at the lines of the file, in the order of line and path

	Parts          []Part       `json:"parts"`
	Instructions   Instructions `json:"instructions"`
	NoInstructions *Explanation `json:"no_instructions"`
	Containers     []string     `json:"containers"` // functions into which all code of the function is inlined

	// Lineless and Unplaced are exclusive values of the function that no line and no instruction shows, because the line
	// number or the instruction is unknown.
	Lineless int64 `json:"lineless"`
	Unplaced int64 `json:"unplaced"`

	Warnings []string `json:"-"`
}

// Function is a function that the request matches, with its values in all builds.
type Function struct {
	Key        string `json:"key"` // function_rollup.function_key
	Name       string `json:"name"`
	LoadObject string `json:"load_object"`
	Module     string `json:"module"`
	Kind       string `json:"kind"`
	Exclusive  int64  `json:"exclusive"`
	Inclusive  int64  `json:"inclusive"`
}

// Build is one build of the function's load object.
type Build struct {
	ID        string `json:"id"` // load_objects.load_object_id
	Path      string `json:"path"`
	BuildID   string `json:"build_id"` // empty if it has none
	Runs      int    `json:"runs"`     // number of experiments with the load object and the metric
	First     string `json:"first"`    // when the first of them started, in UTC; empty if unknown
	Last      string `json:"last"`
	Exclusive int64  `json:"exclusive"` // the function's
	Inclusive int64  `json:"inclusive"`

	function    int64 // functions.function_id
	experiments []string
	newest      string // the experiment that started last
}

// File is a source file with lines of the function.
type File struct {
	Name      string `json:"name"`      // as the debug information gives it
	Exclusive int64  `json:"exclusive"` // the function's on lines of the file
	First     int64  `json:"first"`     // the first line with code of the function
	Last      int64  `json:"last"`
}

// Explanation says why something is not shown, and what helps.
type Explanation struct {
	Reason string `json:"reason"` // sentences
	Remedy string `json:"remedy"` // a command; empty if nothing helps
}

// LineValues has, in columns, the values of the lines of a file that have any, by line.
type LineValues struct {
	Line              []int64 `json:"line"`
	Exclusive         []int64 `json:"exclusive"` // of all functions
	Inclusive         []int64 `json:"inclusive"`
	FunctionExclusive []int64 `json:"function_exclusive"` // of the function
	FunctionInclusive []int64 `json:"function_inclusive"`
}

// Neighbor is another function with values in the file that is shown.
type Neighbor struct {
	Name      string `json:"name"`
	First     int64  `json:"first"` // the first line with a value
	Last      int64  `json:"last"`
	Exclusive int64  `json:"exclusive"` // of its lines in the file
}

// InlinedPlace is a place in code that the compiler inlined at a line of the function.
type InlinedPlace struct {
	Line      int64  `json:"line"`     // of the function
	Depth     int    `json:"depth"`    // 0 if the line itself calls Function
	Path      string `json:"path"`     // as source_inlined.path
	Function  string `json:"function"` // the inlined function
	File      string `json:"file"`     // empty if unknown
	At        int64  `json:"at"`       // the line in File; 0 if unknown
	Exclusive int64  `json:"exclusive"`
	// Inclusive is nil if the function is recursive: the samples whose stacks reach the place more than once would count
	// several times.
	Inclusive *int64 `json:"inclusive"`
}

// Part is a piece of code whose instructions are shown: the function or, in user mode, the body of a parallel region in
// it (S11).
type Part struct {
	Name    string `json:"name"`
	Address int64  `json:"address"` // link-time virtual address
	Size    int64  `json:"size"`

	id, offset int64
}

// Instructions has the instructions of the function in columns, by part and offset.
type Instructions struct {
	Part       []int32  `json:"part"`   // index of Result.Parts
	Offset     []int64  `json:"offset"` // from the start of the part
	Size       []int64  `json:"size"`
	Text       []string `json:"text"`
	Target     []*int64 `json:"target"`      // where a jump leads, from the start of the part; nil if not inside it
	TargetName []string `json:"target_name"` // the function to which a call or jump leads; else empty
	File       []int32  `json:"file"`        // index of Result.Files; -1 if unknown
	Line       []int64  `json:"line"`        // 0 if unknown
	Exclusive  []int64  `json:"exclusive"`
	Inclusive  []int64  `json:"inclusive"`
}

// Reads returns the tables that Run reads.
func Reads() []string {
	return []string{"function_rollup", "functions", "line_values", "source_values", "pc_values", "metrics", "default_metrics"}
}

// annotation is a request while Run executes it.
type annotation struct {
	Request
	Result
	ctx      context.Context
	db       *queries.DB
	all      []string // ids of the experiments with the metric
	searched bool     // the function was looked for
	inlined  bool     // the function has code only inside others: its values count inlined code as functions
	build    *Build
	key      int64 // Key as a number
}

// Run reads the code of a function and its values in the experiments of a session.
func Run(ctx context.Context, db *queries.DB, r Request) (*Result, error) {
	a := &annotation{Request: r, Result: empty(), ctx: ctx, db: db}
	a.Result.Mode, a.Hottest = r.Mode, r.Function == "" && r.Key == ""
	for _, step := range []func() error{
		a.chooseMetric, a.chooseFunction, a.chooseBuild, a.readTotals,
		a.readInstructions, a.readLines, a.readText, a.readInlined, a.readContainers, a.explain,
	} {
		if err := step(); err != nil {
			return nil, err
		}
		if a.Result.Function == nil && a.searched {
			break
		}
	}
	return &a.Result, nil
}

// empty returns the result without a function. Its lists are empty, not nil, so that JSON has no null for them.
func empty() Result {
	return Result{
		Functions: []Function{}, Builds: []Build{}, Build: -1, Files: []File{}, File: -1, Text: []string{}, Neighbors: []Neighbor{},
		Inlined: []InlinedPlace{}, Parts: []Part{}, Containers: []string{},
		Lines: LineValues{[]int64{}, []int64{}, []int64{}, []int64{}, []int64{}},
		Instructions: Instructions{
			[]int32{}, []int64{}, []int64{}, []string{}, []*int64{}, []string{}, []int32{}, []int64{}, []int64{}, []int64{},
		},
	}
}

func (a *annotation) warn(format string, args ...any) {
	a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...))
}

// chooseMetric finds the metric, its unit, and the experiments that have it with values of lines.
func (a *annotation) chooseMetric() error {
	metrics, err := a.db.Metrics(a.ctx)
	if err != nil {
		return err
	}
	asked := a.Request.Metric
	i := slices.IndexFunc(metrics, func(m queries.Metric) bool { return asked == "" || m.Name == asked })
	switch {
	case i < 0 && asked != "":
		var known []string
		for _, m := range metrics {
			known = append(known, m.Name)
		}
		return fmt.Errorf("no metric %q%s", asked, queries.Suggest(asked, known))
	case i < 0: // the experiments have no metrics
		return nil
	}
	a.Result.Metric, a.Unit = metrics[i].Name, metrics[i].Unit
	summaries := 0
	for _, e := range a.db.Experiments() {
		_, has := slices.BinarySearch(metrics[i].Experiments, e.ExperimentID)
		switch {
		case !has:
		case e.Status == storedir.Summary:
			summaries++
		default:
			a.all = append(a.all, e.ExperimentID)
		}
	}
	if n := a.db.Count - len(a.all) - summaries; n > 0 {
		a.warn("%s of %d without the metric %s: left out", queries.Count(n, "experiment"), a.db.Count, a.Result.Metric)
	}
	if summaries > 0 {
		a.warn("%s kept as sums, without lines and instructions: left out", queries.Count(summaries, "experiment"))
	}
	return nil
}

// inMode is the SQL condition for the rows of the mode in a table with columns for modes with inlined functions.
func (a *annotation) inMode() string {
	return fmt.Sprintf(`by_mode_and_inlined(%s, %t, in_user, in_expert, in_machine,
  in_user_inlined, in_expert_inlined, in_machine_inlined)`, queries.Quote(a.Request.Mode), a.inlined)
}

// valued is the SQL condition for the rows of the metric and the mode.
func (a *annotation) valued() string {
	return "metric = " + queries.Quote(a.Result.Metric) + " AND " + a.inMode()
}

// among is the SQL condition that experiment_id is one of ids. If these are all experiments of the session, there is no
// condition.
func (a *annotation) among(ids []string) string {
	if len(ids) == a.db.Count {
		return "true"
	}
	return "experiment_id IN (" + queries.Quote(append(slices.Clone(ids), "")...) + ")"
}
