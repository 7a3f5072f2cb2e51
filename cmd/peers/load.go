package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"stackmill/queries"
)

// loader reads an experiment from a store.
type loader struct {
	*content
	ctx        context.Context
	db         *queries.DB
	experiment string
	locations  map[int64]location
	machine    map[int64][]*stack // recorded stacks, by the id of their stack in machine mode
	blocks     *leaks
}

// load reads an experiment from the store: first the rows to which other rows refer.
func load(ctx context.Context, db *queries.DB, experiment string) (*content, error) {
	l := &loader{
		content: &content{units: map[string]string{}, functions: map[int64]*function{}, stacks: map[int64]*stack{},
			values: map[string]map[int64]pair{}, edges: map[edge]int64{}},
		ctx: ctx, db: db, experiment: experiment,
		locations: map[int64]location{}, machine: map[int64][]*stack{}, blocks: &leaks{live: map[int64]int{}},
	}
	for _, read := range []func() error{
		l.readFunctions, l.readLocations, l.readStacks, l.readRawFrames, l.readFrames, l.readStackValues,
		l.readHeapCalls, l.readSamples, l.readEdges, l.readValues,
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	l.blocks.count()
	return l.content, nil
}

// rows runs a query with the experiment's id as its parameter, and calls scan for each row.
func (l *loader) rows(text string, scan func(*sql.Rows) error) error {
	rows, err := l.db.QueryContext(l.ctx, text, l.experiment)
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

func (l *loader) readFunctions() error {
	return l.rows(`SELECT function_id, f.name, f.kind, gprofng_name, perf_name, aliases, o.path, f.address, f."offset", f.size
		FROM functions_wide f JOIN load_objects o USING (experiment_id, load_object_id) JOIN experiments USING (experiment_id)
		WHERE experiment = ?`, func(r *sql.Rows) error {
		f := &function{}
		var aliases string
		var size int64
		err := r.Scan(&f.id, &f.name, &f.kind, &f.gprofng, &f.perf, &aliases, &f.object, &f.address, &f.offset, &size)
		f.aliases, f.end = strings.Split(aliases, "\t"), f.offset+size
		l.functions[f.id] = f
		if f.name == "<Total>" && f.kind == "artificial" {
			l.total = f.id
		}
		return err
	})
}

func (l *loader) readLocations() error {
	return l.rows(`SELECT location_id, function_id, o.path, l."offset"
		FROM locations_wide l JOIN load_objects o USING (experiment_id, load_object_id) JOIN experiments USING (experiment_id)
		WHERE experiment = ?`, func(r *sql.Rows) error {
		var id, f int64
		var at location
		err := r.Scan(&id, &f, &at.object, &at.offset)
		at.function = l.functions[f]
		if at.function == nil {
			return fmt.Errorf("location %d has no function", id)
		}
		l.locations[id] = at
		return err
	})
}

func (l *loader) readStacks() error {
	return l.rows(`SELECT raw_stack_id, machine_stack_id, reason FROM raw_stacks JOIN experiments USING (experiment_id) WHERE experiment = ?`, func(r *sql.Rows) error {
		s := &stack{values: map[string]int64{}, leaks: map[string]int64{}}
		var m int64
		err := r.Scan(&s.id, &m, &s.reason)
		l.stacks[s.id], l.machine[m] = s, append(l.machine[m], s)
		return err
	})
}

func (l *loader) readRawFrames() error {
	return l.rows(`SELECT raw_stack_id, word, location_id FROM raw_frames JOIN experiments USING (experiment_id)
		WHERE experiment = ? AND part = 'native' AND location_id IS NOT NULL ORDER BY raw_stack_id, position`, func(r *sql.Rows) error {
		var id, word, at int64
		err := r.Scan(&id, &word, &at)
		if s := l.stacks[id]; s != nil {
			s.raw = append(s.raw, rawFrame{uint64(word), l.locations[at]})
		}
		return err
	})
}

func (l *loader) readFrames() error {
	return l.rows(`SELECT stack_id, location_id, rule FROM frames JOIN experiments USING (experiment_id)
		WHERE experiment = ? ORDER BY stack_id, position`, func(r *sql.Rows) error {
		var id, at int64
		var rule string
		err := r.Scan(&id, &at, &rule)
		for _, s := range l.machine[id] {
			s.machine = append(s.machine, frame{l.locations[at], rule})
		}
		return err
	})
}

func (l *loader) readStackValues() error {
	return l.rows(`SELECT raw_stack_id, metric, value FROM stack_values_wide JOIN experiments USING (experiment_id) WHERE experiment = ?`, func(r *sql.Rows) error {
		var id, v int64
		var metric string
		err := r.Scan(&id, &metric, &v)
		if s := l.stacks[id]; s != nil {
			s.values[metric] += v
		}
		return err
	})
}

func (l *loader) readHeapCalls() error {
	return l.rows(`SELECT raw_stack_id, operation, size, address, old_address, leaked FROM heap_samples JOIN samples_wide USING (experiment_id, sample)
		JOIN experiments USING (experiment_id) WHERE experiment = ? ORDER BY time_ns, sample`, func(r *sql.Rows) error {
		var id int64
		var call heapCall
		err := r.Scan(&id, &call.operation, &call.size, &call.address, &call.old, &call.leaked)
		call.stack = l.stacks[id]
		l.blocks.add(call)
		return err
	})
}

func (l *loader) readSamples() error {
	return l.rows(`SELECT thread_id, time_ns, raw_stack_id, event, value FROM samples_wide JOIN perf_samples USING (experiment_id, sample)
		JOIN experiments USING (experiment_id) WHERE experiment = ? ORDER BY time_ns, sample`, func(r *sql.Rows) error {
		var s sample
		var id int64
		err := r.Scan(&s.thread, &s.time, &id, &s.event, &s.value)
		s.stack = l.stacks[id]
		l.samples = append(l.samples, s)
		return err
	})
}

func (l *loader) readEdges() error {
	return l.rows(`SELECT metric, function_id, other_id, relation = 'caller', attributed FROM callers_callees
		WHERE experiment = ? AND mode = 'machine' AND relation <> 'self'`, func(r *sql.Rows) error {
		var e edge
		var v int64
		err := r.Scan(&e.metric, &e.function, &e.other, &e.caller, &v)
		l.edges[e] = v
		return err
	})
}

func (l *loader) readValues() error {
	return l.rows(`SELECT metric, unit, function_id, exclusive, inclusive FROM function_metrics WHERE experiment = ? AND mode = 'machine'`, func(r *sql.Rows) error {
		var metric, unit string
		var id int64
		var v pair
		err := r.Scan(&metric, &unit, &id, &v.exclusive, &v.inclusive)
		l.units[metric] = unit
		if l.values[metric] == nil {
			l.values[metric] = map[int64]pair{}
		}
		l.values[metric][id] = v
		return err
	})
}
