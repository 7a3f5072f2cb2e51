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

// pathFrame is a frame on the path to a recorded stack's node: the recorded frame, and the frame
// that each mode shows for it; nil where there is none.
type pathFrame struct {
	recorded *frame
	modes    [3]*frame // in the order of report.Modes
	rules    [3]string // by mode, the rule that inserted, changed or dropped it
	own      int64     // the location of the recorded word, -1 for none
	shown    [3]int64  // by mode, the location, -1 if the mode does not show the frame
}

// machineMode is the index of machine mode, from which the other modes are made.
const machineMode = 2

// readPath reads the path to a node of an experiment's tree, from the leaf to the root.
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

// newPathFrame makes a frame from its row in tree_frames and the locations.
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

// location returns a location's number, -1 for none.
func location(r queries.Record, column string) int64 {
	if r[column] == nil {
		return -1
	}
	return r.Number(column)
}

// readLocations reads the locations of an experiment, by their numbers.
func readLocations(ctx context.Context, db *queries.DB, experiment string) (map[int64]frame, error) {
	// One join after the other: else the optimizer takes experiment_id alone for a key of the tables.
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

// setPositions numbers the frames of each part and of each mode from the leaf.
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

// step is one change that a rule made to a stack.
type step struct {
	Rule   string   `json:"rule"`
	Title  string   `json:"title"`
	Modes  []string `json:"modes"` // the modes it leads to: machine mode from what was recorded, others from machine mode
	Change string   `json:"change"`
	Frames []frame  `json:"frames"`
}

// The changes that a rule makes.
const (
	drops    = "drops"
	putsIn   = "puts in"
	uses     = "uses"     // the leaf's return register as its caller
	restores = "restores" // the leaf's caller, which no frame shows
	calls    = "calls"    // frames are the calls before the recorded return addresses
	shows    = "shows as" // a frame in another function: the frame before and the one after
)

// steps returns the changes of the rules: from the recorded frames to machine mode, and from
// machine mode to the others. shows has, for each stack, a mode that shows it.
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

// stepFinder collects the steps that lead to the stack of some modes.
type stepFinder struct {
	modes []string
	steps []step
}

// add adds a step; it extends the last one if the rule did the same to the frame before.
func (d *stepFinder) add(rule schema.Rule, change string, frames ...frame) {
	if n := len(d.steps); n > 0 && change != shows {
		if last := &d.steps[n-1]; last.Rule == rule.String() && last.Change == change && slices.Equal(last.Modes, d.modes) {
			last.Frames = append(last.Frames, frames...)
			return
		}
	}
	d.steps = append(d.steps, step{rule.String(), rule.Title(), d.modes, change, frames})
}

// recorded finds the steps from the recorded frames to machine mode.
func (d *stepFinder) recorded(path []pathFrame) {
	before := "" // the word before
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
			d.add(rule, putsIn, *frame) // in place of the marker
		case frame == nil || word.Marker != "": // a marker's value elsewhere is an address
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

// callWord is schema.MarkCall as a word of a frame.
var callWord = fmt.Sprintf("%#x", uint64(schema.MarkCall))

// mode finds the steps from machine mode to another mode. If that shows a separately recorded stack
// (Java, OpenMP), the frames of this stack come first.
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
