package export

import (
	"context"
	"database/sql"
	"slices"

	"stackmill/queries"
)

// timed are the samples of an experiment by thread and time.
type timed struct {
	selection  *selection
	experiment *experiment
	tree       *timedTree
	rows       *sql.Rows
}

// timedTree is the tree of stacks that a mode shows.
type timedTree struct {
	nodes              []int32 // their numbers, ascending
	parents, locations []int32 // parents are places in these lists; -1: none
}

// timedThread is the samples of a thread that have a value.
type timedThread struct {
	tree    *timedTree
	process int32
	thread  int64
	nodes   []int32 // places in the tree's lists; -1 for no stack
	times   []int64 // ns
	values  []int64
}

// timed asks for the samples of an experiment, which cond selects. Their rows are to be
// read with each.
func (s *selection) timed(ctx context.Context, e *experiment, cond string) (*timed, error) {
	t := &timed{selection: s, experiment: e, tree: &timedTree{}}
	var node, depth, location int32
	var path []int32
	err := scan(ctx, s.on, "SELECT node, depth, location FROM mode_nodes WHERE mode = '"+s.mode+"' AND "+cond+" ORDER BY node", func() error {
		path = path[:min(len(path), int(depth)-1)]
		parent := int32(-1)
		if len(path) > 0 {
			parent = path[len(path)-1]
		}
		path = append(path, int32(len(t.tree.nodes)))
		t.tree.nodes, t.tree.parents, t.tree.locations = append(t.tree.nodes, node), append(t.tree.parents, parent), append(t.tree.locations, location)
		return nil
	}, &node, &depth, &location)
	if err != nil {
		return nil, err
	}
	t.rows, err = s.on.QueryContext(ctx, `SELECT t.process, t.thread_id, t.time_ns, l.node, m.value
FROM (FROM samples WHERE `+cond+`) t
JOIN (FROM sample_metrics WHERE metric = `+queries.Quote(s.metrics[0].name)+" AND "+cond+`) m ON m.sample = t.sample
JOIN (FROM mode_leaves WHERE mode = '`+s.mode+"' AND "+cond+`) l ON l.stack = t.stack
ORDER BY t.process, t.thread_id, t.time_ns, t.sample`)
	return t, err
}

// each calls a function for each thread with samples.
func (t *timed) each(do func(*experiment, *timedThread) error) error {
	defer t.rows.Close()
	var now *timedThread
	flush := func() error {
		if now == nil {
			return nil
		}
		return do(t.experiment, now)
	}
	for t.rows.Next() {
		var process, node int32
		var thread, at, value int64
		if err := t.rows.Scan(&process, &thread, &at, &node, &value); err != nil {
			return err
		}
		if now == nil || now.process != process || now.thread != thread {
			if err := flush(); err != nil {
				return err
			}
			now = &timedThread{tree: t.tree, process: process, thread: thread}
		}
		place := int32(-1)
		if n, ok := slices.BinarySearch(t.tree.nodes, node); ok {
			place = int32(n)
		}
		now.nodes, now.times, now.values = append(now.nodes, place), append(now.times, at), append(now.values, value)
	}
	if err := t.rows.Err(); err != nil {
		return err
	}
	return flush()
}
