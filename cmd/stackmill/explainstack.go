//go:build cgo

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/stages/decode"
)

// explanation is how a recorded stack became what it is.
type explanation struct {
	ExperimentID string           `json:"experiment_id"`
	Experiment   string           `json:"experiment"`
	Sample       *explainedSample `json:"sample,omitempty"`
	Normalised   *normalisedStack `json:"normalised,omitempty"`
	RawStackID   int64            `json:"raw_stack_id,string"`
	Process      int64            `json:"process"`
	PID          int64            `json:"pid"`
	Program      string           `json:"program"`
	FromNS       *int64           `json:"from_ns"` // nil: from the start
	Samples      int64            `json:"samples"`
	Reason       string           `json:"reason,omitempty"`
	Recorded     []stackFrame     `json:"recorded"`
	Rules        []step           `json:"rules"`
	Stacks       []modeStack      `json:"stacks"`
}

// explainedSample is the sample that was asked for.
type explainedSample struct {
	Sample   int64  `json:"sample"`
	Kind     string `json:"kind"`
	ThreadID int64  `json:"thread_id"`
	Thread   string `json:"thread_name,omitempty"`
	TimeNS   int64  `json:"time_ns"`
}

// normalisedStack is the normalised stack that was asked for, and how many
// recorded stacks became it besides the one that is shown.
type normalisedStack struct {
	StackID int64 `json:"stack_id,string"`
	Others  int64 `json:"others"`
}

// modeStack is a normalised stack and the modes that show it.
type modeStack struct {
	Modes   []string     `json:"modes"`
	StackID int64        `json:"stack_id,string"`
	Frames  []stackFrame `json:"frames"`
}

// stackFrame is a frame of a recorded or of a normalised stack.
type stackFrame struct {
	Part       string `json:"part,omitempty"` // of a recorded one: native, java or openmp
	Position   int64  `json:"position"`       // 0 is the leaf
	Word       string `json:"word,omitempty"` // as recorded, in hexadecimal
	Marker     string `json:"marker,omitempty"`
	Function   string `json:"function,omitempty"`
	Offset     *int64 `json:"offset,omitempty"` // in the function, if that holds the instruction
	LoadObject string `json:"load_object,omitempty"`
	File       string `json:"file,omitempty"`
	Line       int64  `json:"line,omitempty"`
	Rule       string `json:"rule,omitempty"`   // that put the frame in or changed it
	Reason     string `json:"reason,omitempty"` // why the function is unknown
}

// storedStacks reads stacks from a store.
type storedStacks struct {
	ctx context.Context
	db  *queries.DB
}

func (s *storedStacks) records(query string, args ...any) ([]queries.Record, error) {
	return s.db.Records(s.ctx, query, args...)
}

// one returns the only row; if there are several, the error names their experiments.
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
	return nil, fmt.Errorf("%s is in %d experiments: %s (choose one with --experiment)", what, len(names), strings.Join(names, ", "))
}

func (s *storedStacks) findSample(n int64) (*explanation, error) {
	found, err := s.records(`SELECT experiment_id, experiment, raw_stack_id, kind, thread_id, COALESCE(thread_name, '') AS thread_name, time_ns
		FROM samples_wide JOIN experiment_names USING (experiment_id) WHERE sample = ? ORDER BY experiment`, n)
	if err != nil {
		return nil, err
	}
	r, err := one(fmt.Sprintf("sample %d", n), found)
	if err != nil {
		return nil, err
	}
	x := explain(r)
	x.Sample = &explainedSample{n, fmt.Sprint(r["kind"]), r.Number("thread_id"), r.Text("thread_name"), r.Number("time_ns")}
	return x, nil
}

// findStack finds a recorded stack or, of a normalised one, the recorded stack
// that became it and has the most samples.
func (s *storedStacks) findStack(id int64) (*explanation, error) {
	what := fmt.Sprintf("stack %d", id)
	found, err := s.records(`SELECT experiment_id, experiment, raw_stack_id
		FROM recorded_stacks_wide JOIN experiment_names USING (experiment_id) WHERE raw_stack_id = ? ORDER BY experiment`, id)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		r, err := one(what, found)
		if err != nil {
			return nil, err
		}
		return explain(r), nil
	}
	found, err = s.records(`WITH became AS MATERIALIZED (
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
	x := explain(r)
	x.Normalised = &normalisedStack{id, r.Number("others")}
	return x, nil
}

func explain(r queries.Record) *explanation {
	return &explanation{ExperimentID: r.Text("experiment_id"), Experiment: r.Text("experiment"), RawStackID: r.Number("raw_stack_id")}
}

// fill reads everything about the recorded stack.
func (s *storedStacks) fill(x *explanation) error {
	found, err := s.records(`WITH one AS MATERIALIZED (SELECT * FROM recorded_stacks_wide WHERE experiment_id = $1 AND raw_stack_id = $2)
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
	path, err := s.path(x.ExperimentID, r.Number("node"))
	if err != nil {
		return err
	}
	x.become(r, path)
	return nil
}

// become sets the recorded frames and the stacks of the modes, and works out the rules.
// The row has the stacks' identifiers.
func (x *explanation) become(r queries.Record, path []pathFrame) {
	number(path)
	x.Recorded = []stackFrame{} // a JSON list, also when empty
	for _, part := range []string{"native", "java", "openmp"} {
		for _, f := range path {
			if f.recorded != nil && f.recorded.Part == part {
				x.Recorded = append(x.Recorded, *f.recorded)
			}
		}
	}
	var shows []int // by stack, one of the modes that show it
	for m, mode := range report.Modes {
		id := r.Number(mode + "_stack_id")
		i := slices.IndexFunc(x.Stacks, func(s modeStack) bool { return s.StackID == id })
		if i < 0 {
			i = len(x.Stacks)
			x.Stacks, shows = append(x.Stacks, modeStack{StackID: id, Frames: shown(path, m)}), append(shows, m)
		}
		x.Stacks[i].Modes = append(x.Stacks[i].Modes, mode)
		if m == machineMode {
			shows[i] = m
		}
	}
	x.Rules = x.steps(path, shows)
}

// markerText words a marker among the recorded words.
func markerText(word uint64) string {
	switch word {
	case decode.MarkLeafCheck:
		return "leaf check: the next word is the leaf's return register"
	case decode.MarkCall:
		return "the next word is the call into the leaf, from the processor's branch records"
	case decode.MarkTruncated:
		return "truncated: the stack did not fit the buffer"
	case decode.MarkFailedUnwind:
		return "the unwinder gave up"
	}
	return "marker"
}
