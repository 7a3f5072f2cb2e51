//go:build cgo

package main

import (
	"fmt"

	"stackmill/queries"
	"stackmill/queries/report"
)

// pathFrame is a frame of the path to a recorded stack's node: what was recorded, and
// what each mode shows of it; nil where there is nothing.
type pathFrame struct {
	recorded *stackFrame
	modes    [3]*stackFrame // in the order of report.Modes
	rules    [3]string      // what put in, changed or dropped it in the mode
	own      int64          // the number of the location that the word means by itself, -1 for none
	shown    [3]int64       // by mode, the number of the location, -1 if it does not show the frame
}

// machineMode is the place of machine mode, from which the others are made.
const machineMode = 2

// path reads the path to a node of an experiment's tree, from the leaf to the root.
func (s *storedStacks) path(experiment string, node int64) ([]pathFrame, error) {
	rows, err := s.records(`WITH RECURSIVE nodes AS (
			SELECT up, node, frame FROM stack_tree WHERE experiment_id = $1 AND node = $2
			UNION ALL
			SELECT t.up, t.node, t.frame FROM nodes n JOIN stack_tree t ON t.node = n.node - n.up WHERE t.experiment_id = $1 AND n.up > 0
		)
		SELECT f.* FROM nodes n JOIN (SELECT * FROM tree_frames WHERE experiment_id = $1) f USING (frame) WHERE n.node > 0 ORDER BY n.node DESC`, experiment, node)
	if err != nil {
		return nil, err
	}
	places, err := s.places(experiment)
	if err != nil {
		return nil, err
	}
	path := make([]pathFrame, len(rows))
	for i, r := range rows {
		path[i] = frameOfPath(r, places)
	}
	return path, nil
}

// frameOfPath makes a frame of its row in tree_frames, given what is at the locations.
func frameOfPath(r queries.Record, places map[int64]stackFrame) pathFrame {
	f := pathFrame{own: location(r, "location")}
	if r["word"] != nil {
		w := places[f.own]
		w.Part, w.Word = r.Text("part"), fmt.Sprintf("%#x", uint64(r.Number("word")))
		if f.own < 0 {
			w.Marker = markerText(uint64(r.Number("word")))
		}
		f.recorded = &w
	}
	for m, column := range [...]string{"user_location", "expert_location", "machine_location"} {
		f.rules[m], f.shown[m] = r.Text(report.Modes[m]+"_rule"), location(r, column)
		if f.shown[m] >= 0 {
			t := places[f.shown[m]]
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

// places reads what is at the locations of an experiment, by their numbers.
func (s *storedStacks) places(experiment string) (map[int64]stackFrame, error) {
	// In steps: the optimizer takes the experiment for the key of three tables.
	rows, err := s.records(`WITH l AS MATERIALIZED (SELECT * FROM locations_wide WHERE experiment_id = $1),
		f AS MATERIALIZED (
			SELECT l.*, f.name AS "function", f."offset" AS begins, f.size FROM l LEFT JOIN (SELECT * FROM functions WHERE experiment_id = $1) f USING (function_id)
		)
		SELECT f.*, o.name AS load_object FROM f LEFT JOIN (SELECT * FROM load_objects WHERE experiment_id = $1) o USING (load_object_id)`, experiment)
	if err != nil {
		return nil, err
	}
	places := map[int64]stackFrame{}
	for _, r := range rows {
		f := stackFrame{Function: r.Text("function"), LoadObject: r.Text("load_object"), File: r.Text("file"), Line: r.Number("line"), Reason: r.Text("reason")}
		if offset := r.Number("offset") - r.Number("begins"); offset >= 0 && offset < r.Number("size") {
			f.Offset = &offset
		}
		places[r.Number("location")] = f
	}
	return places, nil
}

// number numbers the frames of each part and of each mode from the leaf.
func number(path []pathFrame) {
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

// shown returns the frames that a mode shows of a path.
func shown(path []pathFrame, mode int) []stackFrame {
	frames := []stackFrame{} // a JSON list, also when empty
	for _, f := range path {
		if f.modes[mode] != nil {
			frames = append(frames, *f.modes[mode])
		}
	}
	return frames
}
