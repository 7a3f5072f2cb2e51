package export

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

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
	names   []string // some of them, in the order of time; at most one more than mostNames
	nodes   []int32  // places in the tree's lists; -1 for no stack
	times   []int64  // ns
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
	t.rows, err = s.on.QueryContext(ctx, `SELECT t.process, t.thread_id, a.thread_name, t.time_ns, l.node, m.value
FROM (FROM samples_wide WHERE `+cond+`) t
LEFT JOIN (FROM thread_names WHERE `+cond+`) a ON a.process = t.process AND a.thread_id = t.thread_id AND a.name_no = t.name_no
JOIN (FROM sample_metrics WHERE metric = `+queries.Quote(s.metrics[0].name)+" AND "+cond+`) m ON m.sample = t.sample
JOIN (FROM mode_leaves WHERE mode = '`+s.mode+"' AND "+cond+`) l ON l.stack = t.stack
ORDER BY t.process, t.thread_id, t.time_ns, t.sample`)
	return t, err
}

// mostNames is how many of a thread's names are told.
const mostNames = 4

// named notes the name that the thread has in its next sample.
func (t *timedThread) named(name string) {
	if name != "" && len(t.names) <= mostNames && !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
}

// label is what the thread was called, one name after the other.
func (t *timedThread) label() string {
	switch {
	case len(t.names) == 0:
		return fmt.Sprintf("thread %d", t.thread)
	case len(t.names) > mostNames:
		return strings.Join(t.names[:mostNames], ", ") + ", ..."
	}
	return strings.Join(t.names, ", ")
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
		var name sql.NullString
		if err := t.rows.Scan(&process, &thread, &name, &at, &node, &value); err != nil {
			return err
		}
		if now == nil || now.process != process || now.thread != thread {
			if err := flush(); err != nil {
				return err
			}
			now = &timedThread{tree: t.tree, process: process, thread: thread}
		}
		now.named(name.String)
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
