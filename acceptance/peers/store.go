package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"stackmill/queries"
)

// function is one function of the store.
type function struct {
	id                   int64
	name, kind           string
	gprofng, perf        string // the names by the peers' choice of alias
	aliases              []string
	object               string // the load object's path
	address, offset, end int64  // offset and end are in the file
}

// is reports whether a linkage name is one of the function's.
func (f *function) is(linkage string) bool { return slices.Contains(f.aliases, linkage) }

// location is one instruction on a stack.
type location struct {
	function *function
	object   string
	offset   int64
}

// rawFrame is a word of a recorded stack and what it means by itself.
type rawFrame struct {
	word uint64
	location
}

// kernel reports whether a word is an address of the kernel's.
func (r rawFrame) kernel() bool { return int64(r.word) < 0 }

// frame is a frame of a stack to which the rules were applied.
type frame struct {
	location
	rule string
}

// stack is a recorded stack, in machine mode after the rules.
type stack struct {
	id      int64
	reason  string // why it is cut
	raw     []rawFrame
	machine []frame
	values  map[string]int64 // by metric
	leaks   map[string]int64 // those that gprofng counts, by metric
}

// sample is one sample of perf.
type sample struct {
	thread, time int64
	event        string
	value        int64
	stack        *stack
}

// pair is an exclusive and an inclusive value.
type pair struct{ exclusive, inclusive int64 }

// content is what a store says of one recording.
type content struct {
	units     map[string]string // by metric
	functions map[int64]*function
	total     int64 // the id of <Total>
	stacks    map[int64]*stack
	samples   []sample  // of perf
	recorded  time.Time // when the recording ended
	// values are those of machine mode, by metric and function.
	values map[string]map[int64]pair
	edges  map[edge]int64 // attributed, in machine mode
}

// edge is a neighbour of a function in a metric.
type edge struct {
	metric          string
	function, other int64
	caller          bool // the other one calls
}

// load reads what a store holds of an experiment.
func load(ctx context.Context, db *queries.DB, experiment string) (*content, error) {
	c := &content{
		units: map[string]string{}, functions: map[int64]*function{}, stacks: map[int64]*stack{}, values: map[string]map[int64]pair{}, edges: map[edge]int64{},
	}
	locations := map[int64]location{}
	blocks := &leaks{live: map[int64]int{}}
	machine := map[int64][]*stack{}
	read := func(text string, scan func(*sql.Rows) error) error {
		rows, err := db.QueryContext(ctx, text, experiment)
		if err != nil {
			return fmt.Errorf("%w in %s", err, text)
		}
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return fmt.Errorf("%w in %s", err, text)
			}
		}
		return rows.Err()
	}
	for _, q := range []struct {
		text string
		scan func(*sql.Rows) error
	}{
		{`SELECT function_id, f.name, f.kind, gprofng_name, perf_name, aliases, o.path, f.address, f."offset", f.size
			FROM functions f JOIN load_objects o USING (experiment_id, load_object_id) JOIN experiments USING (experiment_id)
			WHERE experiment = ?`, func(r *sql.Rows) error {
			f := &function{}
			var aliases string
			var size int64
			err := r.Scan(&f.id, &f.name, &f.kind, &f.gprofng, &f.perf, &aliases, &f.object, &f.address, &f.offset, &size)
			f.aliases, f.end = strings.Split(aliases, "\t"), f.offset+size
			c.functions[f.id] = f
			if f.name == "<Total>" && f.kind == "artificial" {
				c.total = f.id
			}
			return err
		}},
		{`SELECT location_id, function_id, o.path, l."offset"
			FROM locations l JOIN load_objects o USING (experiment_id, load_object_id) JOIN experiments USING (experiment_id)
			WHERE experiment = ?`, func(r *sql.Rows) error {
			var id, f int64
			var l location
			err := r.Scan(&id, &f, &l.object, &l.offset)
			l.function = c.functions[f]
			if l.function == nil {
				return fmt.Errorf("location %d has no function", id)
			}
			locations[id] = l
			return err
		}},
		{`SELECT raw_stack_id, machine_stack_id, reason FROM raw_stacks JOIN experiments USING (experiment_id) WHERE experiment = ?`, func(r *sql.Rows) error {
			s := &stack{values: map[string]int64{}, leaks: map[string]int64{}}
			var m int64
			err := r.Scan(&s.id, &m, &s.reason)
			c.stacks[s.id], machine[m] = s, append(machine[m], s)
			return err
		}},
		{`SELECT raw_stack_id, word, location_id FROM raw_frames JOIN experiments USING (experiment_id)
			WHERE experiment = ? AND part = 'native' AND location_id IS NOT NULL ORDER BY raw_stack_id, position`, func(r *sql.Rows) error {
			var id, word, l int64
			err := r.Scan(&id, &word, &l)
			if s := c.stacks[id]; s != nil {
				s.raw = append(s.raw, rawFrame{uint64(word), locations[l]})
			}
			return err
		}},
		{`SELECT stack_id, location_id, rule FROM frames JOIN experiments USING (experiment_id)
			WHERE experiment = ? ORDER BY stack_id, position`, func(r *sql.Rows) error {
			var id, l int64
			var rule string
			err := r.Scan(&id, &l, &rule)
			for _, s := range machine[id] {
				s.machine = append(s.machine, frame{locations[l], rule})
			}
			return err
		}},
		{`SELECT raw_stack_id, metric, value FROM stack_values JOIN experiments USING (experiment_id) WHERE experiment = ?`, func(r *sql.Rows) error {
			var id, v int64
			var metric string
			err := r.Scan(&id, &metric, &v)
			if s := c.stacks[id]; s != nil {
				s.values[metric] += v
			}
			return err
		}},
		{`SELECT raw_stack_id, operation, size, address, old_address, leaked FROM heap_samples JOIN samples USING (experiment_id, sample)
			JOIN experiments USING (experiment_id) WHERE experiment = ? ORDER BY time_ns, sample`, func(r *sql.Rows) error {
			var id int64
			var call heapCall
			err := r.Scan(&id, &call.operation, &call.size, &call.address, &call.old, &call.leaked)
			call.stack = c.stacks[id]
			blocks.add(call)
			return err
		}},
		{`SELECT thread_id, time_ns, raw_stack_id, event, value FROM samples JOIN perf_samples USING (experiment_id, sample)
			JOIN experiments USING (experiment_id) WHERE experiment = ? ORDER BY time_ns, sample`, func(r *sql.Rows) error {
			var s sample
			var id int64
			err := r.Scan(&s.thread, &s.time, &id, &s.event, &s.value)
			s.stack = c.stacks[id]
			c.samples = append(c.samples, s)
			return err
		}},
		{`SELECT metric, function_id, other_id, relation = 'caller', attributed FROM callers_callees
			WHERE experiment = ? AND mode = 'machine' AND relation <> 'self'`, func(r *sql.Rows) error {
			var e edge
			var v int64
			err := r.Scan(&e.metric, &e.function, &e.other, &e.caller, &v)
			c.edges[e] = v
			return err
		}},
		{`SELECT metric, unit, function_id, exclusive, inclusive FROM function_metrics WHERE experiment = ? AND mode = 'machine'`, func(r *sql.Rows) error {
			var metric, unit string
			var id int64
			var v pair
			err := r.Scan(&metric, &unit, &id, &v.exclusive, &v.inclusive)
			c.units[metric] = unit
			if c.values[metric] == nil {
				c.values[metric] = map[int64]pair{}
			}
			c.values[metric][id] = v
			return err
		}},
	} {
		if err := read(q.text, q.scan); err != nil {
			return nil, err
		}
	}
	blocks.count()
	return c, nil
}
