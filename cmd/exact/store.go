package main

import (
	"context"
	"database/sql"
	"fmt"
	"path"
	"slices"

	"stackmill/queries"
)

var modes = []string{"user", "expert", "machine"}

// level is a function at a frame of a stack: the frame's function, or one that is inlined there.
type level struct {
	id       int64
	function string
	file     string
	line     int
}

type frame struct {
	location               int64
	levels                 []level // the frame's function, then inlined ones from the outermost to the innermost
	object, module         int64
	objectName, rule, kind string
}

// sample is a recorded page fault.
type sample struct {
	process       int
	pid, tid, cpu int64
	name          string // name of the thread when the sample was taken
	second        int64
	page          uint64
	reason        string
	stacks        [3]*stack // indexed like modes
}

// stack is the stack that a mode shows, the leaf first.
type stack struct {
	id     int64
	frames []*frame
}

// experiment has the samples of one recording, as they are in the store.
type experiment struct {
	id      string
	samples []*sample
}

// each runs SQL. For each row, it reads the values into dest and calls use.
func each(ctx context.Context, db *queries.DB, text string, dest []any, use func()) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
		use()
	}
	return rows.Err()
}

// storeReader reads the experiments of a store.
type storeReader struct {
	ctx         context.Context
	db          *queries.DB
	experiments map[string]*experiment // by name
	stacks      map[rowKey]*stack
	frames      map[rowKey][]*frame // by location; there is one frame for each rule that made frames of it
}

// rowKey identifies a row of a table in the store.
type rowKey struct {
	experiment string
	id         int64
}

// readStore returns the experiments of a store, by name.
func readStore(ctx context.Context, db *queries.DB) (map[string]*experiment, error) {
	r := &storeReader{ctx, db, map[string]*experiment{}, map[rowKey]*stack{}, map[rowKey][]*frame{}}
	for _, read := range []func() error{r.readSamples, r.readFrames, r.readLevels} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return r.experiments, nil
}

func (r *storeReader) stack(experiment string, id int64) *stack {
	k := rowKey{experiment, id}
	if r.stacks[k] == nil {
		r.stacks[k] = &stack{id: id}
	}
	return r.stacks[k]
}

// readSamples reads the samples and their stacks, still without frames.
func (r *storeReader) readSamples() error {
	var name, id string
	var s sample
	var thread, reason sql.NullString
	var page sql.NullInt64
	var ids [3]int64
	return each(r.ctx, r.db, `SELECT n.experiment, s.experiment_id, s.process, p.pid, s.thread_id, s.cpu, s.thread_name, s.time_ns // 1000000000, x.data_address,
			r.reason, r.user_stack_id, r.expert_stack_id, r.machine_stack_id
		FROM samples_wide s JOIN perf_samples x USING (experiment_id, sample) JOIN experiments n USING (experiment_id)
		JOIN raw_stacks r USING (experiment_id, raw_stack_id) JOIN processes p ON p.experiment_id = s.experiment_id AND p.process = s.process
		ORDER BY s.experiment_id, s.sample`,
		[]any{&name, &id, &s.process, &s.pid, &s.tid, &s.cpu, &thread, &s.second, &page, &reason, &ids[0], &ids[1], &ids[2]}, func() {
			if r.experiments[name] == nil {
				r.experiments[name] = &experiment{id: id}
			}
			row := s
			row.name, row.page, row.reason = thread.String, uint64(page.Int64)&^4095, reason.String
			for i, k := range ids {
				row.stacks[i] = r.stack(id, k)
			}
			r.experiments[name].samples = append(r.experiments[name].samples, &row)
		})
}

// readFrames reads the location of each frame.
func (r *storeReader) readFrames() error {
	var k rowKey
	var stackID int64
	var position int
	var rule string
	return each(r.ctx, r.db, `SELECT experiment_id, stack_id, position, location_id, rule FROM frames ORDER BY 1, 2, 3`,
		[]any{&k.experiment, &stackID, &position, &k.id, &rule}, func() {
			at := r.stack(k.experiment, stackID)
			at.frames = append(at.frames, r.frame(k, rule))
		})
}

func (r *storeReader) frame(location rowKey, rule string) *frame {
	for _, f := range r.frames[location] {
		if f.rule == rule {
			return f
		}
	}
	f := &frame{location: location.id, rule: rule}
	r.frames[location] = append(r.frames[location], f)
	return f
}

// readLevels reads the functions of the frames, and the functions inlined there.
func (r *storeReader) readLevels() error {
	var k rowKey
	var l level
	var f frame
	return each(r.ctx, r.db, `SELECT v.experiment_id, v.location_id, v.function_id, g.name, v.file, v.line, l.load_object_id, f.module_id, o.name, f.kind
		FROM location_levels v JOIN locations_wide l USING (experiment_id, location)
		JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_no = l.function_no
		JOIN functions g ON g.experiment_id = v.experiment_id AND g.function_id = v.function_id
		JOIN load_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id ORDER BY v.experiment_id, v.location_id, v.level`,
		[]any{&k.experiment, &k.id, &l.id, &l.function, &l.file, &l.line, &f.object, &f.module, &f.objectName, &f.kind}, func() {
			for _, to := range r.frames[k] {
				to.levels = append(to.levels, l)
				to.object, to.module, to.objectName, to.kind = f.object, f.module, f.objectName, f.kind
			}
		})
}

func (f *frame) text() string {
	t := f.levels[0].function
	for i, l := range f.levels {
		if i > 0 {
			t += " > " + l.function
		}
		if l.line > 0 {
			t += fmt.Sprintf(":%s:%d", path.Base(l.file), l.line)
		}
	}
	return t
}

func (s *stack) text() string {
	t := ""
	for _, f := range slices.Backward(s.frames) {
		t += "; " + f.text()
	}
	return t
}
