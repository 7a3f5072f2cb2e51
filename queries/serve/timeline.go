package serve

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/queries"
	"stackmill/queries/result"
)

// Limits of a timeline. What is left out is counted and summed in the answer.
const (
	defaultRows        = 60   // rows of processes or CPUs
	maxRows            = 2000 // rows of processes or CPUs
	maxThreads         = 200  // threads that are listed below a process
	timelineIntervals  = 240  // about so many intervals
	mostIntervals      = 4000
	maxTimelineCells   = 1 << 20 // rows times intervals
	firstProcess       = "first" // in unfold: the process in the first row
	unrecordedCPU      = -1
	unknownProgramName = "(unknown)"
)

var (
	timelineRows   = []string{"processes", "cpus"}
	timelineOrders = []string{"busiest", "start", "name"}
	errTimes       = errors.New("the samples are damaged: their times are impossible (run stackmill check)")
)

// timelineTables are the tables and views that a timeline reads.
var timelineTables = []string{"sample_metrics", "samples", "recorded_stacks", "stack_tree", "tree_frames", "locations", "functions", "processes", "thread_names"}

// timelineRequest is a request for a timeline.
type timelineRequest struct {
	metric, unit, mode string
	cpus               bool // rows are CPUs
	order              string
	matches            func(text string) bool // nil: everything does
	limit, intervals   int
	unfold, pin        []string // keys of rows
	from, until        int64    // the shown time
	marked             [2]int64 // a range of time whose values are wanted; empty if none is
	grouper            functionGrouper
	auto               bool // the grouper's rule follows from the values
}

// timelineAnswer has the values of a metric over time. Times are since the start of each experiment.
type timelineAnswer struct {
	Metric      string          `json:"metric"`
	Unit        string          `json:"unit"`
	Mode        string          `json:"mode"`
	Kind        string          `json:"kind"` // what rows are: processes or cpus
	Experiments int             `json:"experiments"`
	Lacking     int             `json:"lacking"` // experiments that do not have the metric
	Start       int64           `json:"t0_ns"`   // start of the recorded time: 0, or the first sample, if that is earlier
	End         int64           `json:"t1_ns"`   // end of the recorded time
	From        int64           `json:"from_ns"` // the shown time
	Until       int64           `json:"until_ns"`
	Width       int64           `json:"width_ns"` // length of an interval
	Timed       bool            `json:"timed"`    // whether samples have times: those of a profile of pprof have none
	Rule        string          `json:"rule"`     // what groups are: load-object, package, module, function, or groups
	Groups      []timelineGroup `json:"groups"`   // with the highest values first; the last one may be the sum of others
	Value       int64           `json:"value"`    // in the shown time
	Whole       int64           `json:"whole"`    // in the recorded time
	Marked      int64           `json:"marked"`   // in the marked time
	Processes   int             `json:"processes"`
	Threads     int             `json:"threads"`
	CPUs        int             `json:"cpus"`  // without the row of samples whose CPU was not recorded
	Found       int             `json:"found"` // processes, or CPUs, that the search finds
	Rows        []*timelineRow  `json:"rows"`
	Rest        timelineRest    `json:"rest"` // what is found, but has no row
	Bars        timelineBars    `json:"bars"`
}

// timelineGroup is a group of functions: the samples whose leaf is one of them.
type timelineGroup struct {
	Name   string `json:"name"`
	Value  int64  `json:"value"`  // in the shown time
	Others int    `json:"others"` // number of groups that are summed here; 0 for a group of its own
}

// timelineRest is the sum of rows that are left out.
type timelineRest struct {
	Rows    int   `json:"rows"`
	Threads int   `json:"threads"`
	Value   int64 `json:"value"` // in the shown time
	Whole   int64 `json:"whole"`
}

// timelineRow is a process, a thread or a CPU.
type timelineRow struct {
	Key          string       `json:"key"` // identifies the row in requests
	Kind         string       `json:"kind"`
	ExperimentID string       `json:"experiment_id"`
	Experiment   string       `json:"experiment"`
	Process      int32        `json:"process"`
	PID          int64        `json:"pid"`
	Thread       int64        `json:"thread_id"`
	CPU          int32        `json:"cpu"`
	Name         string       `json:"name"`
	Names        []string     `json:"names"` // all names of a thread, the latest first
	Command      string       `json:"command"`
	Value        int64        `json:"value"` // in the shown time
	Whole        int64        `json:"whole"` // in the recorded time
	Marked       int64        `json:"marked"`
	First        int64        `json:"first_ns"` // time of the first sample
	Last         int64        `json:"last_ns"`  // time of the last sample
	Threads      int          `json:"threads"`  // of a process
	Open         bool         `json:"open"`     // whether its threads follow
	Pinned       bool         `json:"pinned"`
	Rest         timelineRest `json:"rest"` // threads that have no row
	Top          *topFunction `json:"top"`  // the function with the highest exclusive value in the shown time
	threads      []*timelineRow
	number       int32 // its row in the answer; -1 if it has none
}

// topFunction is a function with a value.
type topFunction struct {
	Name       string `json:"name"`
	LoadObject string `json:"load_object"`
	Module     string `json:"module"`
	Value      int64  `json:"value"`
}

// timelineBar is the value of a group in one interval of a row; row -1 is the sum of all.
type timelineBar struct {
	row, interval, group int32
	value                int64
}

// timelineBars are ordered by row, interval and group.
type timelineBars []timelineBar

// MarshalJSON writes a list for each property.
func (b timelineBars) MarshalJSON() ([]byte, error) {
	rows, intervals, groups, values := make([]int32, len(b)), make([]int32, len(b)), make([]int32, len(b)), make([]int64, len(b))
	for i, bar := range b {
		rows[i], intervals[i], groups[i], values[i] = bar.row, bar.interval, bar.group, bar.value
	}
	return json.Marshal(map[string]any{"row": rows, "interval": intervals, "group": groups, "value": values})
}

// showTimeline answers with the values of a metric over time: of all samples, of the busiest processes and their
// threads, or of CPUs, by interval and group of functions.
func showTimeline(w *job) error {
	ask, err := w.timelineRequest()
	if err != nil {
		return err
	}
	f, err := w.filter(ask.mode, false)
	if err != nil {
		return err
	}
	db, done, err := w.openMetric(f, timelineTables, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	if ask.metric, ask.unit, err = chooseMetric(w.ctx, db, w.values.Get("metric")); err != nil {
		return err
	}
	conn, err := db.Conn(w.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := &timelineReader{timelineRequest: ask, ctx: w.ctx, conn: conn}
	if err := t.read(); err != nil {
		return err
	}
	a, err := t.answer()
	if err != nil {
		return err
	}
	a.Experiments = db.Count
	if a.Lacking, err = lacking(w.ctx, db, ask.metric); err != nil {
		return err
	}
	return w.writeExact(a)
}

// lacking returns how many experiments of a session do not have a metric.
func lacking(ctx context.Context, db *queries.DB, metric string) (int, error) {
	known, err := db.Metrics(ctx)
	for _, m := range known {
		if m.Name == metric {
			return db.Count - len(m.Experiments), err
		}
	}
	return db.Count, err
}

// timelineRequest returns the parameters of a call.
func (c *call) timelineRequest() (*timelineRequest, error) {
	v := c.values
	ask := &timelineRequest{mode: cmp.Or(v.Get("mode"), "user"), cpus: v.Get("rows") == "cpus", order: cmp.Or(v.Get("order"), timelineOrders[0]), unfold: v["unfold"], pin: v["pin"]}
	var err error
	if ask.limit, err = c.intValue("limit", defaultRows); err != nil {
		return nil, err
	}
	if ask.intervals, err = c.intValue("intervals", timelineIntervals); err != nil {
		return nil, err
	}
	if ask.limit > maxRows || ask.intervals > mostIntervals || ask.intervals == 0 {
		return nil, badRequest(fmt.Errorf("limit is at most %d and intervals from 1 to %d", maxRows, mostIntervals))
	}
	if ask.from, ask.until, err = shownTime(v.Get("time")); err != nil {
		return nil, badRequest(err)
	}
	if text := v.Get("marked"); text != "" {
		from, until, err := shownTime(text)
		if err != nil {
			return nil, badRequest(fmt.Errorf("marked: %w", err))
		}
		ask.marked = [2]int64{from, until}
	}
	if ask.matches, err = queries.ParseSearch(v.Get("search")); err != nil {
		return nil, badRequest(err)
	}
	rule := cmp.Or(v.Get("by"), groupRules[0])
	ask.auto = rule == groupRules[0]
	ask.grouper.rule = rule
	ask.grouper.patterns, err = parsePatterns(v["groups"])
	return ask, err
}

// timelineReader reads the samples of a timeline, summed by row, interval and function.
type timelineReader struct {
	*timelineRequest
	ctx  context.Context
	conn *sql.Conn

	start, end, width int64
	timed             bool
	experiments       map[string]int32
	ids, names        []string // of the experiments
	parents           []*timelineRow
	rows              []*timelineRow // by cell.row: threads or CPUs
	cells             []timelineCell
	functions         []groupedFunction
	numbers           map[experimentFunction]int32 // index into functions
}

// timelineCell is the value of one function in one interval of a thread or CPU.
type timelineCell struct {
	row, function, interval int32 // interval -1: outside of the shown time
	marked                  bool
	value                   int64
}

// experimentFunction is a function of an experiment, by its index and number; -1 for samples without a stack.
type experimentFunction struct{ experiment, number int32 }

// rowKey identifies a thread or CPU of an experiment.
type rowKey struct {
	experiment, process int32
	id                  int64
}

func (t *timelineReader) read() error {
	if err := t.readExtent(); err != nil {
		return err
	}
	if err := t.readCells(); err != nil {
		return err
	}
	if err := t.readFunctions(); err != nil {
		return err
	}
	return t.readNames()
}

// readExtent finds the recorded time, and from it the shown time and the width of intervals.
func (t *timelineReader) readExtent() error {
	var first, last sql.NullInt64
	if err := t.conn.QueryRowContext(t.ctx, "SELECT min(time_ns), max(time_ns) FROM samples").Scan(&first, &last); err != nil {
		return err
	}
	if first.Int64 < -maxTime || last.Int64 > maxTime {
		return errTimes
	}
	t.start, t.end, t.timed = min(first.Int64, 0), last.Int64+1, last.Int64 > first.Int64
	t.width = roundWidth(t.end-t.start, t.intervals)
	t.start = floorTo(t.start, t.width)
	t.end = floorTo(t.end+t.width-1, t.width)
	t.from, t.until = max(t.from, t.start), min(t.until, t.end)
	if t.until <= t.from {
		t.from, t.until = t.start, t.end
	}
	t.width = roundWidth(t.until-t.from, t.intervals)
	t.from = floorTo(t.from, t.width)
	t.until = floorTo(t.until+t.width-1, t.width)
	return nil
}

// roundWidth returns the length of at most n intervals of a time: 1, 2 or 5 times a power of ten, in ns.
func roundWidth(span int64, n int) int64 {
	for power := int64(1); power <= 1e17; power *= 10 {
		for _, f := range []int64{1, 2, 5} {
			if width := f * power; span/width < int64(n) || span == width*int64(n) {
				return width
			}
		}
	}
	return 5e18 // more than any span
}

// floorTo returns the highest multiple of width that is not above n.
func floorTo(n, width int64) int64 { return n - ((n%width)+width)%width }

// readCells sums the samples. The engine joins the leaves of stacks fast only if each step is materialized, and reads
// the samples of one metric alone only if the metric is a constant.
func (t *timelineReader) readCells() error {
	id := "s.thread_id"
	if t.cpus {
		id = "s.cpu::BIGINT"
	}
	process := "s.process"
	if t.cpus {
		process = "0::INTEGER"
	}
	statement := fmt.Sprintf(`WITH ends AS MATERIALIZED (
  SELECT experiment_id, stack, node - by_mode(%[8]s, user_up, expert_up, machine_up) AS node FROM recorded_stacks
),
framed AS MATERIALIZED (SELECT e.experiment_id, e.stack, t.frame FROM ends e JOIN stack_tree t USING (experiment_id, node)),
located AS MATERIALIZED (SELECT e.experiment_id, e.stack, by_mode(%[8]s, f.user_location, f.expert_location, f.machine_location) AS location FROM framed e JOIN tree_frames f USING (experiment_id, frame)),
leaves AS MATERIALIZED (SELECT e.experiment_id, e.stack, l.function_no FROM located e JOIN locations l USING (experiment_id, location)),
valued AS MATERIALIZED (
  SELECT s.experiment_id, %[1]s AS process, %[2]s AS id, s.stack, s.time_ns, v.value
  FROM sample_metrics v JOIN samples s USING (experiment_id, sample) WHERE v.metric = %[9]s
)
SELECT v.experiment_id, v.process::INTEGER, v.id, coalesce(l.function_no, -1)::INTEGER,
  IF(v.time_ns >= %[3]d AND v.time_ns < %[4]d, (v.time_ns - %[3]d) // %[5]d, -1)::INTEGER AS interval,
  (v.time_ns >= %[6]d AND v.time_ns < %[7]d)::INTEGER AS marked, sum(v.value)::BIGINT, min(v.time_ns), max(v.time_ns)
FROM valued v LEFT JOIN leaves l ON l.experiment_id = v.experiment_id AND l.stack = v.stack GROUP BY ALL`,
		process, id, t.from, t.until, t.width, t.marked[0], t.marked[1], queries.Quote(t.mode), queries.Quote(t.metric))
	t.experiments, t.numbers = map[string]int32{}, map[experimentFunction]int32{}
	of, parents := map[rowKey]int32{}, map[rowKey]*timelineRow{}
	last, experiment := "", int32(-1)
	return result.Batches(t.ctx, t.conn, func(b arrow.RecordBatch) error {
		ids, processes, threads, functions, intervals, marked := texts(b, 0), int32s(b, 1), int64s(b, 2), int32s(b, 3), int32s(b, 4), int32s(b, 5)
		values, firsts, lasts := int64s(b, 6), int64s(b, 7), int64s(b, 8)
		for i := range threads {
			if id := ids.Value(i); experiment < 0 || id != last {
				var ok bool
				if experiment, ok = t.experiments[id]; !ok {
					experiment = int32(len(t.ids))
					t.ids = append(t.ids, strings.Clone(id))
					t.experiments[t.ids[experiment]] = experiment
				}
				last = t.ids[experiment]
			}
			key := rowKey{experiment, processes[i], threads[i]}
			n, ok := of[key]
			if !ok {
				n = int32(len(t.rows))
				of[key] = n
				t.addRow(key, parents)
			}
			f := experimentFunction{experiment, functions[i]}
			function, ok := t.numbers[f]
			if !ok {
				function = int32(len(t.numbers))
				t.numbers[f] = function
			}
			t.cells = append(t.cells, timelineCell{n, function, intervals[i], marked[i] != 0, values[i]})
			t.rows[n].add(values[i], intervals[i] >= 0, marked[i] != 0, firsts[i], lasts[i])
		}
		return nil
	}, statement)
}

// addRow adds the row of a thread, with that of its process, or of a CPU.
func (t *timelineReader) addRow(key rowKey, parents map[rowKey]*timelineRow) {
	id := t.ids[key.experiment]
	row := &timelineRow{Kind: "cpu", ExperimentID: id, CPU: int32(key.id), number: -1, First: math.MaxInt64, Last: math.MinInt64, Names: []string{}}
	t.rows = append(t.rows, row)
	if t.cpus {
		row.Key, row.Name = fmt.Sprintf("%s.cpu%d", id, key.id), "CPU "+strconv.FormatInt(key.id, 10)
		if key.id == unrecordedCPU {
			row.Name = "not recorded"
		}
		t.parents = append(t.parents, row)
		return
	}
	row.Kind, row.CPU, row.Process, row.Thread = "thread", unrecordedCPU, key.process, key.id
	row.Key = fmt.Sprintf("%s.%d.%d", id, key.process, key.id)
	above := rowKey{key.experiment, key.process, 0}
	parent := parents[above]
	if parent == nil {
		parent = &timelineRow{Kind: "process", ExperimentID: id, Process: key.process, CPU: unrecordedCPU, Key: fmt.Sprintf("%s.%d", id, key.process),
			number: -1, First: math.MaxInt64, Last: math.MinInt64, Names: []string{}}
		parents[above] = parent
		t.parents = append(t.parents, parent)
	}
	parent.threads = append(parent.threads, row)
	parent.Threads++
}

// add adds a value to the sums of a row.
func (r *timelineRow) add(value int64, shown, marked bool, first, last int64) {
	r.Whole += value
	if shown {
		r.Value += value
	}
	if marked {
		r.Marked += value
	}
	r.First, r.Last = min(r.First, first), max(r.Last, last)
}

// readFunctions reads the names of the functions that cells have.
func (t *timelineReader) readFunctions() error {
	t.functions = make([]groupedFunction, len(t.numbers))
	wanted := map[int64]bool{}
	for f, i := range t.numbers {
		t.functions[i] = groupedFunction{name: noStack, loadObject: noStack, module: noStack}
		if f.number >= 0 {
			wanted[int64(f.number)] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	numbers := make([]int64, 0, len(wanted))
	for n := range wanted {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	names := map[string]string{} // each text once
	one := func(text string) string {
		if known, ok := names[text]; ok {
			return known
		}
		text = strings.Clone(text)
		names[text] = text
		return text
	}
	return result.Batches(t.ctx, t.conn, func(b arrow.RecordBatch) error {
		for i, n := range int32s(b, 1) {
			experiment, ok := t.experiments[texts(b, 0).Value(i)]
			if !ok {
				continue
			}
			if at, ok := t.numbers[experimentFunction{experiment, n}]; ok {
				t.functions[at] = groupedFunction{one(texts(b, 2).Value(i)), one(texts(b, 3).Value(i)), one(texts(b, 4).Value(i)), one(texts(b, 5).Value(i))}
			}
		}
		return nil
	}, `SELECT f.experiment_id, f.function_no, f.name, COALESCE(o.short_path, ''), COALESCE(m.short_path, ''), f.kind
FROM (FROM functions WHERE `+oneOf("function_no", numbers)+`) f LEFT JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id
LEFT JOIN modules m ON m.experiment_id = f.experiment_id AND m.module_id = f.module_id`)
}

// readNames reads the names of experiments, processes and threads.
func (t *timelineReader) readNames() error {
	t.names = make([]string, len(t.ids))
	if err := t.each("SELECT experiment_id, experiment FROM experiment_names", func(experiment int32, r queries.Record) {
		t.names[experiment] = r.Text("experiment")
	}); err != nil || t.cpus {
		t.nameExperiments()
		return err
	}
	t.nameExperiments()
	threads := make(map[rowKey]*timelineRow, len(t.rows))
	for _, r := range t.rows {
		threads[rowKey{t.experiments[r.ExperimentID], r.Process, r.Thread}] = r
	}
	if err := t.each(`SELECT experiment_id, process, thread_id, thread_name FROM thread_names WHERE thread_name <> '' ORDER BY name_no DESC`, func(experiment int32, r queries.Record) {
		row := threads[rowKey{experiment, int32(r.Number("process")), r.Number("thread_id")}]
		if name := r.Text("thread_name"); row != nil && !slices.Contains(row.Names, name) {
			row.Names = append(row.Names, name)
			row.Name = row.Names[0]
		}
	}); err != nil {
		return err
	}
	processes := make(map[rowKey]*timelineRow, len(t.parents))
	for _, p := range t.parents {
		processes[rowKey{t.experiments[p.ExperimentID], p.Process, 0}] = p
	}
	if err := t.each("SELECT experiment_id, process, pid, target, command FROM processes", func(experiment int32, r queries.Record) {
		if p := processes[rowKey{experiment, int32(r.Number("process")), 0}]; p != nil {
			p.PID, p.Name, p.Command = r.Number("pid"), r.Text("target"), r.Text("command")
		}
	}); err != nil {
		return err
	}
	for _, p := range t.parents {
		p.complete()
	}
	return nil
}

// each passes the rows of a query to use, with the index of the experiment that experiment_id names.
func (t *timelineReader) each(query string, use func(experiment int32, r queries.Record)) error {
	found, err := t.conn.QueryContext(t.ctx, query)
	if err != nil {
		return err
	}
	records, err := queries.ScanRecords(found)
	for _, r := range records {
		if n, ok := t.experiments[r.Text("experiment_id")]; ok {
			use(n, r)
		}
	}
	return err
}

func (t *timelineReader) nameExperiments() {
	for _, list := range [][]*timelineRow{t.parents, t.rows} {
		for _, r := range list {
			r.Experiment = t.names[t.experiments[r.ExperimentID]]
		}
	}
}

// complete sums the threads of a process, and names it by its main thread if its program is not known.
func (r *timelineRow) complete() {
	for _, thread := range r.threads {
		thread.PID = r.PID
		r.Whole, r.Value, r.Marked = r.Whole+thread.Whole, r.Value+thread.Value, r.Marked+thread.Marked
		r.First, r.Last = min(r.First, thread.First), max(r.Last, thread.Last)
		if (r.Name == "" || r.Name == unknownProgramName) && thread.Thread == r.PID && thread.Name != "" {
			r.Name = thread.Name
		}
	}
	if r.Name == unknownProgramName {
		r.Name = ""
	}
}
