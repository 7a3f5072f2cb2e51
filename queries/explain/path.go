//go:build cgo

package explain

import (
	"context"
	"fmt"
	"slices"

	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/schema"
)

// pathFrame is one node on the path from the leaf of a recorded stack to its root: the recorded
// frame, and what each mode shows in its place. A pointer is nil if there is no such frame.
type pathFrame struct {
	recorded *frame
	modes    [3]*frame // indexed like report.Modes
	rules    [3]string // by mode: the rule that inserted, changed or dropped the frame
	own      int64     // location of the recorded word; -1: none
	shown    [3]int64  // by mode: location of the frame shown; -1: none is shown
}

// machineMode is the index of machine mode in report.Modes. The other modes are derived from
// machine mode.
const machineMode = 2

// readPath reads the path from a node of an experiment's stack tree to the root; the leaf comes
// first.
func readPath(ctx context.Context, db *queries.DB, experiment string, node int64) ([]pathFrame, error) {
	rows, err := db.Records(ctx, `WITH RECURSIVE nodes AS (
			SELECT up, node, frame FROM stack_tree WHERE experiment_id = $1 AND node = $2
			UNION ALL
			SELECT t.up, t.node, t.frame FROM nodes n JOIN stack_tree t ON t.node = n.node - n.up WHERE t.experiment_id = $1 AND n.up > 0
		)
		SELECT f.* FROM nodes n JOIN (SELECT * FROM tree_frames WHERE experiment_id = $1) f USING (frame) WHERE n.node > 0 ORDER BY n.node DESC`, experiment, node)
	if err != nil {
		return nil, err
	}
	locations, err := readLocations(ctx, db, experiment)
	if err != nil {
		return nil, err
	}
	path := make([]pathFrame, len(rows))
	for i, r := range rows {
		path[i] = newPathFrame(r, locations)
	}
	return path, nil
}

// newPathFrame makes a pathFrame from its row in tree_frames.
func newPathFrame(r queries.Record, locations map[int64]frame) pathFrame {
	f := pathFrame{own: location(r, "location")}
	if r["word"] != nil {
		w := locations[f.own]
		w.Part, w.Word = r.Text("part"), fmt.Sprintf("%#x", uint64(r.Number("word")))
		if f.own < 0 {
			w.Marker = markerText(uint64(r.Number("word")))
		}
		f.recorded = &w
	}
	for m, column := range [...]string{"user_location", "expert_location", "machine_location"} {
		f.rules[m], f.shown[m] = r.Text(report.Modes[m]+"_rule"), location(r, column)
		if f.shown[m] >= 0 {
			t := locations[f.shown[m]]
			t.Rule = f.rules[m]
			f.modes[m] = &t
		}
	}
	return f
}

// location returns the location number in a column, -1 if it is NULL.
func location(r queries.Record, column string) int64 {
	if r[column] == nil {
		return -1
	}
	return r.Number(column)
}

// readLocations returns the locations of an experiment as frames, by location number.
func readLocations(ctx context.Context, db *queries.DB, experiment string) (map[int64]frame, error) {
	// Join step by step: otherwise the optimizer treats experiment_id alone as a key of the tables.
	rows, err := db.Records(ctx, `WITH l AS MATERIALIZED (SELECT * FROM locations_wide WHERE experiment_id = $1),
		f AS MATERIALIZED (
			SELECT l.*, f.name AS "function", f."offset" AS begins, f.size FROM l LEFT JOIN (SELECT * FROM functions WHERE experiment_id = $1) f USING (function_id)
		)
		SELECT f.*, o.name AS load_object FROM f LEFT JOIN (SELECT * FROM load_objects WHERE experiment_id = $1) o USING (load_object_id)`, experiment)
	if err != nil {
		return nil, err
	}
	locations := map[int64]frame{}
	for _, r := range rows {
		f := frame{Function: r.Text("function"), LoadObject: r.Text("load_object"), File: r.Text("file"), Line: r.Number("line"), Reason: r.Text("reason")}
		if offset := r.Number("offset") - r.Number("begins"); offset >= 0 && offset < r.Number("size") {
			f.Offset = &offset
		}
		locations[r.Number("location")] = f
	}
	return locations, nil
}

// setPositions sets the positions of frames, counted from the leaf separately in each part of the
// recorded stack and in each mode.
func setPositions(path []pathFrame) {
	parts, modes := map[string]int64{}, [3]int64{}
	for _, f := range path {
		if f.recorded != nil {
			f.recorded.Position = parts[f.recorded.Part]
			parts[f.recorded.Part]++
		}
		for m, t := range f.modes {
			if t != nil {
				t.Position = modes[m]
				modes[m]++
			}
		}
	}
}

func framesOf(path []pathFrame, mode int) []frame {
	frames := []frame{} // a JSON list, also when empty
	for _, f := range path {
		if f.modes[mode] != nil {
			frames = append(frames, *f.modes[mode])
		}
	}
	return frames
}

// step is one change that a rule made. Steps turn the recorded stack into the stack of machine mode,
// and that into the stacks of the other modes.
type step struct {
	Rule   string   `json:"rule"`
	Title  string   `json:"title"`
	Modes  []string `json:"modes"` // of the resulting stack
	Change string   `json:"change"`
	Frames []frame  `json:"frames"`
}

// The values of step.Change.
const (
	drops    = "drops"
	putsIn   = "puts in"
	uses     = "uses"     // takes the leaf's return register as the leaf's caller
	restores = "restores" // inserts the leaf's caller, which has no frame yet
	calls    = "calls"    // replaces return addresses by the calls before them
	shows    = "shows as" // changes a frame's function; Frames has the old and the new frame
)

// steps returns what the rules changed: first from the recorded frames to machine mode, then from
// machine mode to the other modes. shows has one of the modes of each stack in x.Stacks.
func (x *Explanation) steps(path []pathFrame, shows []int) []step {
	d := stepFinder{steps: []step{}} // a JSON list, also when empty
	machine := slices.Index(shows, machineMode)
	d.modes = x.Stacks[machine].Modes
	d.recorded(path)
	for i, mode := range shows {
		if i != machine {
			d.modes = x.Stacks[i].Modes
			d.mode(path, mode)
		}
	}
	return d.steps
}

func (x *Explanation) part(name string) (frames []frame) {
	for _, f := range x.Recorded {
		if f.Part == name {
			frames = append(frames, f)
		}
	}
	return frames
}

// stepFinder collects the steps that lead to the stack that modes show.
type stepFinder struct {
	modes []string
	steps []step
}

// add adds a step, or adds the frames to the last step if that is the same change by the same rule.
func (d *stepFinder) add(rule schema.Rule, change string, frames ...frame) {
	if n := len(d.steps); n > 0 && change != shows {
		if last := &d.steps[n-1]; last.Rule == rule.String() && last.Change == change && slices.Equal(last.Modes, d.modes) {
			last.Frames = append(last.Frames, frames...)
			return
		}
	}
	d.steps = append(d.steps, step{rule.String(), rule.Title(), d.modes, change, frames})
}

// recorded adds the steps by which the rules turned the recorded frames into those of machine mode.
func (d *stepFinder) recorded(path []pathFrame) {
	before := "" // the previous recorded word
	for _, f := range path {
		word, frame, rule := f.recorded, f.modes[machineMode], schema.RuleOf(f.rules[machineMode])
		switch {
		case word == nil && frame != nil:
			d.add(rule, putsIn, *frame)
		case word == nil || word.Part != "native":
			continue
		case frame == nil && word.Marker == "":
			d.add(rule, drops, *word)
		case frame != nil && word.Marker != "" && rule != schema.NoRule:
			d.add(rule, putsIn, *frame) // the frame replaces the marker
		case frame == nil || word.Marker != "": // no step: other markers, and addresses that only look like one
		case rule == schema.RuleLeafCheck && before == callWord:
			d.add(rule, restores, *frame)
		case rule == schema.RuleLeafCheck:
			d.add(rule, uses, *frame)
		case f.shown[machineMode] != f.own:
			d.add(schema.RuleCalls, calls, *word)
		}
		if word != nil {
			before = word.Word
		}
	}
}

// callWord is the value of schema.MarkCall in frame.Word.
var callWord = fmt.Sprintf("%#x", uint64(schema.MarkCall))

// mode adds the steps from machine mode to another mode. If the other mode shows a stack that was
// recorded separately (Java, OpenMP), the frames of that stack come first.
func (d *stepFinder) mode(path []pathFrame, mode int) {
	instead := slices.ContainsFunc(path, func(f pathFrame) bool { return f.recorded != nil && f.recorded.Part != "native" })
	for _, f := range path {
		if instead && f.modes[machineMode] == nil && f.modes[mode] != nil {
			d.add(schema.RuleOf(f.rules[mode]), putsIn, *f.modes[mode])
		}
	}
	for _, f := range path {
		machine, frame, rule := f.modes[machineMode], f.modes[mode], schema.RuleOf(f.rules[mode])
		switch {
		case machine == nil && frame != nil && !instead:
			d.add(rule, putsIn, *frame)
		case machine != nil && frame == nil:
			d.add(rule, drops, *machine)
		case machine != nil && f.shown[mode] != f.shown[machineMode]:
			d.add(rule, shows, *machine, *frame)
		}
	}
}
