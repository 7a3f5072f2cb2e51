//go:build cgo

// Package explain shows how a recorded stack became the stacks of the three modes: its recorded
// frames, what each rule of the manual changed, and the result.
package explain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/schema"
)

// Explanation describes how a recorded stack became the stacks of the modes.
type Explanation struct {
	ExperimentID string           `json:"experiment_id"`
	Experiment   string           `json:"experiment"`
	Sample       *sample          `json:"sample,omitempty"`
	Normalized   *normalizedStack `json:"normalised,omitempty"`
	RawStackID   int64            `json:"raw_stack_id,string"`
	Process      int64            `json:"process"`
	PID          int64            `json:"pid"`
	Program      string           `json:"program"`
	FromNS       *int64           `json:"from_ns"` // when the words got this meaning; nil: from the start
	Samples      int64            `json:"samples"`
	Reason       string           `json:"reason,omitempty"`
	Recorded     []frame          `json:"recorded"`
	Rules        []step           `json:"rules"`
	Stacks       []modeStack      `json:"stacks"`
}

// sample is the sample whose stack is explained.
type sample struct {
	Sample   int64  `json:"sample"`
	Kind     string `json:"kind"`
	ThreadID int64  `json:"thread_id"`
	Thread   string `json:"thread_name,omitempty"`
	TimeNS   int64  `json:"time_ns"`
}

// normalizedStack describes the request if it was for a normalized stack.
type normalizedStack struct {
	StackID int64 `json:"stack_id,string"`
	Others  int64 `json:"others"` // number of other recorded stacks that became the same normalized stack
}

// modeStack is a normalized stack and the modes that show it.
type modeStack struct {
	Modes   []string `json:"modes"`
	StackID int64    `json:"stack_id,string"`
	Frames  []frame  `json:"frames"`
}

// frame is a frame of a recorded or a normalized stack.
type frame struct {
	Part       string `json:"part,omitempty"` // of a recorded frame: native, java or openmp
	Position   int64  `json:"position"`       // counted from the leaf, which is 0
	Word       string `json:"word,omitempty"` // as recorded, in hexadecimal
	Marker     string `json:"marker,omitempty"`
	Function   string `json:"function,omitempty"`
	Offset     *int64 `json:"offset,omitempty"` // from the start of the function; nil if the instruction is outside of it
	LoadObject string `json:"load_object,omitempty"`
	File       string `json:"file,omitempty"`
	Line       int64  `json:"line,omitempty"`
	Rule       string `json:"rule,omitempty"`   // the rule that inserted or changed the frame
	Reason     string `json:"reason,omitempty"` // why the function is unknown
}

// ParseID reads the id of a stack; hexadecimal ids may have all 64 bits.
func ParseID(s string) (int64, error) {
	var id int64
	digits, hexadecimal := strings.CutPrefix(s, "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if id = int64(n); !hexadecimal {
		id, err = strconv.ParseInt(s, 10, 64)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return id, nil
}

// one returns the only row. It returns an error if there is none, or one that names the experiments
// if there are several.
func one(what string, rows []queries.Record) (queries.Record, error) {
	switch len(rows) {
	case 0:
		return nil, fmt.Errorf("no %s in the store", what)
	case 1:
		return rows[0], nil
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Text("experiment"))
	}
	return nil, fmt.Errorf("%s is in %d experiments: %s (choose one)", what, len(names), queries.SomeNames(names))
}

// Sample explains the stack of a sample.
func Sample(ctx context.Context, db *queries.DB, n int64) (*Explanation, error) {
	found, err := db.Records(ctx, `SELECT experiment_id, experiment, raw_stack_id, kind, thread_id, COALESCE(thread_name, '') AS thread_name, time_ns
		FROM samples_wide JOIN experiment_names USING (experiment_id) WHERE sample = ? ORDER BY experiment`, n)
	if err != nil {
		return nil, err
	}
	r, err := one(fmt.Sprintf("sample %d", n), found)
	if err != nil {
		return nil, err
	}
	x := newExplanation(r)
	x.Sample = &sample{n, fmt.Sprint(r["kind"]), r.Number("thread_id"), r.Text("thread_name"), r.Number("time_ns")}
	return x, x.fill(ctx, db)
}

// Stack explains a recorded stack by its id. If the id is a normalized stack's, it explains the
// recorded stack with the most samples among those that became that stack.
func Stack(ctx context.Context, db *queries.DB, id int64) (*Explanation, error) {
	what := fmt.Sprintf("stack %d", id)
	found, err := db.Records(ctx, `SELECT experiment_id, experiment, raw_stack_id
		FROM recorded_stacks_wide JOIN experiment_names USING (experiment_id) WHERE raw_stack_id = ? ORDER BY experiment`, id)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		r, err := one(what, found)
		if err != nil {
			return nil, err
		}
		x := newExplanation(r)
		return x, x.fill(ctx, db)
	}
	found, err = db.Records(ctx, `WITH became AS MATERIALIZED (
			SELECT experiment_id, raw_stack_id FROM raw_stacks WHERE ? IN (user_stack_id, expert_stack_id, machine_stack_id)
		),
		counted AS MATERIALIZED (
			SELECT b.experiment_id, b.raw_stack_id, count(s.sample) AS samples FROM became b LEFT JOIN samples_wide s USING (experiment_id, raw_stack_id) GROUP BY ALL
		)
		SELECT experiment_id, experiment, arg_max(raw_stack_id, (samples, -raw_stack_id)) AS raw_stack_id, count(*) - 1 AS others
		FROM counted JOIN experiment_names USING (experiment_id) GROUP BY ALL ORDER BY experiment`, id)
	if err != nil {
		return nil, err
	}
	r, err := one(what, found)
	if err != nil {
		return nil, err
	}
	x := newExplanation(r)
	x.Normalized = &normalizedStack{id, r.Number("others")}
	return x, x.fill(ctx, db)
}

func newExplanation(r queries.Record) *Explanation {
	return &Explanation{ExperimentID: r.Text("experiment_id"), Experiment: r.Text("experiment"), RawStackID: r.Number("raw_stack_id")}
}

// fill reads and sets everything about the recorded stack.
func (x *Explanation) fill(ctx context.Context, db *queries.DB) error {
	found, err := db.Records(ctx, `WITH one AS MATERIALIZED (SELECT * FROM recorded_stacks_wide WHERE experiment_id = $1 AND raw_stack_id = $2)
		SELECT r.process, p.pid, p.target, r.from_ns, r.reason, r.node, w.user_stack_id, w.expert_stack_id, w.machine_stack_id,
			(SELECT count(*) FROM samples_wide SEMI JOIN one USING (experiment_id, stack)) AS samples
		FROM one r JOIN raw_stacks w USING (experiment_id, raw_stack_id)
		LEFT JOIN processes p ON p.experiment_id = r.experiment_id AND p.process = r.process`, x.ExperimentID, x.RawStackID)
	if err != nil {
		return err
	}
	r, err := one("recorded stack", found)
	if err != nil {
		return err
	}
	x.Process, x.PID, x.Program, x.Reason, x.Samples = r.Number("process"), r.Number("pid"), r.Text("target"), r.Text("reason"), r.Number("samples")
	if r["from_ns"] != nil {
		from := r.Number("from_ns")
		x.FromNS = &from
	}
	path, err := readPath(ctx, db, x.ExperimentID, r.Number("node"))
	if err != nil {
		return err
	}
	x.setPath(r, path)
	return nil
}

// setPath sets the recorded frames, the stacks of the modes (r has their ids), and the steps of the
// rules.
func (x *Explanation) setPath(r queries.Record, path []pathFrame) {
	setPositions(path)
	x.Recorded = []frame{} // a JSON list, also when empty
	for _, part := range []string{"native", "java", "openmp"} {
		for _, f := range path {
			if f.recorded != nil && f.recorded.Part == part {
				x.Recorded = append(x.Recorded, *f.recorded)
			}
		}
	}
	var shows []int // by stack: one of the modes that show it
	for m, mode := range report.Modes {
		id := r.Number(mode + "_stack_id")
		i := slices.IndexFunc(x.Stacks, func(s modeStack) bool { return s.StackID == id })
		if i < 0 {
			i = len(x.Stacks)
			x.Stacks, shows = append(x.Stacks, modeStack{StackID: id, Frames: framesOf(path, m)}), append(shows, m)
		}
		x.Stacks[i].Modes = append(x.Stacks[i].Modes, mode)
		if m == machineMode {
			shows[i] = m
		}
	}
	x.Rules = x.steps(path, shows)
}

// markerText describes a marker that the profiler recorded in place of an address.
func markerText(word uint64) string {
	switch word {
	case schema.MarkLeafCheck:
		return "leaf check: the next word is the leaf's return register"
	case schema.MarkCall:
		return "the next word is the call into the leaf, from the processor's branch records"
	case schema.MarkTruncated:
		return "truncated: the stack did not fit the buffer"
	case schema.MarkFailedUnwind:
		return "the unwinder gave up"
	}
	return "marker"
}
