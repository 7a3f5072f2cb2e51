package export

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// timedSamples reads the samples of an experiment in order of thread and time.
type timedSamples struct {
	selection  *selection
	experiment *experiment
	tree       *timedTree
	rows       *sql.Rows
}

// timedTree is the stack tree that a mode shows.
type timedTree struct {
	nodes              []int32 // node numbers, ascending
	parents, locations []int32 // by index into nodes; a parent is such an index, -1: none
}

// timedThread has the samples of a thread that have a value of the metric.
type timedThread struct {
	tree    *timedTree
	process int32
	thread  int64
	names   []string // all names that the thread had, in order of time; at most maxThreadNames+1
	nodes   []int32  // by sample: index into tree.nodes; -1: no stack
	times   []int64  // by sample: time in ns
	values  []int64
}

// timed queries the samples of an experiment; cond is an SQL condition that selects it. The method each reads them.
func (s *selection) timed(ctx context.Context, e *experiment, cond string) (*timedSamples, error) {
	t := &timedSamples{selection: s, experiment: e, tree: &timedTree{}}
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

// maxThreadNames is how many names of a thread its label has at most.
const maxThreadNames = 4

// addName adds a name to the thread's names, unless it has it already.
func (t *timedThread) addName(name string) {
	if name != "" && len(t.names) <= maxThreadNames && !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
	}
}

// label returns the thread's names, or its id if it has none.
func (t *timedThread) label() string {
	switch {
	case len(t.names) == 0:
		return fmt.Sprintf("thread %d", t.thread)
	case len(t.names) > maxThreadNames:
		return strings.Join(t.names[:maxThreadNames], ", ") + ", ..."
	}
	return strings.Join(t.names, ", ")
}

// each calls do once for each thread, with its samples.
func (t *timedSamples) each(do func(*experiment, *timedThread) error) error {
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
		now.addName(name.String)
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
