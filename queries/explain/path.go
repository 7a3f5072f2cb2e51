//go:build cgo

package explain

import (
	"context"
	"fmt"

	"stackmill/queries"
	"stackmill/queries/report"
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
	// In steps: the optimizer takes the experiment for the key of three tables.
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
