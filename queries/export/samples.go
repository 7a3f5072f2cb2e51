package export

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// send sends the experiments and their samples to a sink. It checks that the total of each metric fits in 64 bits;
// then every sum of samples does.
func (s *selection) send(ctx context.Context, to sink) error {
	s.total = make([]int64, len(s.metrics))
	to = &totalingSink{s, to}
	if s.rows != nil {
		return s.rows.send(to)
	}
	list, err := s.experiments(ctx)
	if err != nil {
		return err
	}
	s.setTitle(list)
	for _, some := range groupExperiments(list) {
		p := newExperimentGroup(some)
		if err := p.read(ctx, s.on); err != nil {
			return err
		}
		if err := s.samples(ctx, p, some, to); err != nil {
			return err
		}
		p.release()
	}
	return nil
}

// totalingSink is a sink that adds up the samples that pass through it.
type totalingSink struct {
	*selection
	sink
}

func (c *totalingSink) sample(s *sample) error {
	for i, v := range s.values {
		if err := addChecked(&c.total[i], v, c.metrics[i].name); err != nil {
			return err
		}
	}
	return c.sink.sample(s)
}

// heading returns the title and the warnings, for formats that have no other place for warnings.
func (s *selection) heading() string {
	return strings.Join(append([]string{s.title}, s.leftOut...), "; ")
}

// setTitle sets the title of the export.
func (s *selection) setTitle(list []*experiment) {
	s.multiple, s.title = len(list) > 1, fmt.Sprintf("%d experiments", len(list))
	if !s.multiple {
		s.title = list[0].name
	}
}

// samples sends the experiments of a group and their samples to a sink. It reads the nodes of the stack tree by node
// number, so that a node comes after its callers.
func (s *selection) samples(ctx context.Context, p *experimentGroup, list []*experiment, to sink) error {
	rows, err := s.on.QueryContext(ctx, s.sql(p))
	if err != nil {
		return err
	}
	defer rows.Close()
	w := &nodeWalker{selection: s, part: p, list: list, to: to, next: sample{values: make([]int64, len(s.metrics))}}
	for rows.Next() {
		var r nodeRow
		if err := rows.Scan(&r.id, &r.node, &r.depth, &r.location, &r.process, &r.thread, &r.name, &r.cgroup, &r.labels, &r.metric, &r.value); err != nil {
			return err
		}
		if err := w.row(&r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return w.end("")
}

// sql returns a query for the nodes of the stack tree that the mode shows. A node is repeated for each value of
// samples whose stack ends there.
func (s *selection) sql(p *experimentGroup) string {
	names := make([]string, len(s.metrics))
	for i, m := range s.metrics {
		names[i] = m.name
	}
	cond := p.cond
	valued := `SELECT experiment_id, node, 0 AS process, 0 AS thread_id, NULL AS thread_name, NULL AS cgroup, '' AS labels, metric, value FROM leaf_values
  WHERE mode = '` + s.mode + `' AND ` + cond
	if s.by != "" {
		// Join step by step, as in the views, because experiment_id alone is no key.
		valued = `SELECT l.experiment_id, l.node, ` + originColumns[s.by] + `, v.metric, v.value
  FROM (FROM mode_leaves WHERE mode = '` + s.mode + `' AND ` + cond + `) l JOIN (
    SELECT t.experiment_id, t.stack, t.process, t.thread_id, t.name_no, t.cgroup, t.labels, m.metric, sum(m.value)::BIGINT AS value
    FROM (` + p.samples(s.by) + `) t JOIN (FROM sample_metrics WHERE ` + cond + `) m ON m.experiment_id = t.experiment_id AND m.sample = t.sample
    GROUP BY ALL
  ) v ON v.experiment_id = l.experiment_id AND v.stack = l.stack
  LEFT JOIN (FROM thread_names WHERE ` + cond + `) a ON a.experiment_id = v.experiment_id AND a.process = v.process AND a.thread_id = v.thread_id AND a.name_no = v.name_no`
	}
	return `WITH valued AS MATERIALIZED (
  ` + valued + `
),
ends AS MATERIALIZED (
  SELECT experiment_id, node, process, thread_id, thread_name, cgroup, labels, list_position([` + queries.Quote(names...) + `], metric)::INTEGER AS number, sum(value)::BIGINT AS value
  FROM valued WHERE metric IN (` + queries.Quote(names...) + `) GROUP BY ALL
),
shown AS MATERIALIZED (
  SELECT experiment_id, node, depth, location FROM mode_nodes WHERE mode = '` + s.mode + `' AND ` + cond + `
)
SELECT n.experiment_id, n.node, n.depth, n.location, e.process, e.thread_id, e.thread_name, e.cgroup, e.labels, e.number, e.value
FROM shown n LEFT JOIN ends e ON e.experiment_id = n.experiment_id AND e.node = n.node
UNION ALL
SELECT experiment_id, node, 0, NULL, process, thread_id, thread_name, cgroup, labels, number, value FROM ends WHERE node = 0
ORDER BY ALL`
}

// originColumns has the SQL columns for the fields of origin, by what separates stacks.
var originColumns = map[string]string{
	byOrigin: "v.process, v.thread_id, a.thread_name, v.cgroup, v.labels",
	byThread: "v.process, v.thread_id, a.thread_name, NULL AS cgroup, '' AS labels",
	byName:   "0 AS process, 0 AS thread_id, a.thread_name, NULL AS cgroup, '' AS labels",
}

// samples returns a query for the samples of the group. It joins their own labels if these separate stacks.
func (p *experimentGroup) samples(by string) string {
	if !p.labeled || by != byOrigin {
		return "SELECT experiment_id, sample, stack, process, thread_id, name_no, cgroup, '' AS labels FROM samples_wide WHERE " + p.cond
	}
	return `SELECT t.experiment_id, t.sample, t.stack, t.process, t.thread_id, t.name_no, t.cgroup, COALESCE(l.labels, '') AS labels
    FROM (FROM samples_wide WHERE ` + p.cond + `) t LEFT JOIN (FROM pprof_samples WHERE ` + p.cond + `) l ON l.experiment_id = t.experiment_id AND l.sample = t.sample`
}

// nodeRow is a row of that query: a node of the stack tree and, if samples end there, one value of a metric and an
// origin.
type nodeRow struct {
	id            string
	node, depth   int32
	location      sql.NullInt32
	process       sql.NullInt32
	thread, value sql.NullInt64
	metric        sql.NullInt32
	name, cgroup  sql.NullString
	labels        sql.NullString
}

func (r *nodeRow) origin() origin {
	return origin{r.process.Int32, r.thread.Int64, r.name.String, r.cgroup.String, r.labels.String}
}

// nodeWalker turns rows into samples.
type nodeWalker struct {
	*selection
	part     *experimentGroup
	list     []*experiment // experiments that the sink has not received yet
	to       sink
	id       string // id of the current experiment
	node     int32
	path     []int32
	hasValue bool // next has a value other than 0
	next     sample
}

func (w *nodeWalker) row(r *nodeRow) error {
	if r.id != w.id {
		if err := w.end(r.id); err != nil {
			return err
		}
	}
	if r.node != w.node || r.origin() != w.next.origin {
		if err := w.flush(); err != nil {
			return err
		}
		w.node, w.next.origin = r.node, r.origin()
	}
	if r.depth > 0 {
		w.path = append(w.path[:min(len(w.path), int(r.depth)-1)], r.location.Int32)
	}
	if r.value.Int64 != 0 {
		w.next.values[r.metric.Int32-1] = r.value.Int64
		w.hasValue = true
	}
	return nil
}

// flush sends w.next if it has a value other than 0, and then clears its values.
func (w *nodeWalker) flush() error {
	if !w.hasValue {
		return nil
	}
	w.next.path = w.path
	err := w.to.sample(&w.next)
	w.hasValue = false
	clear(w.next.values)
	return err
}

// end sends the last sample of the current experiment. Then it begins the experiments up to the one with the id; for
// "", all that are left.
func (w *nodeWalker) end(id string) error {
	if err := w.flush(); err != nil {
		return err
	}
	w.id, w.node, w.path = id, 0, w.path[:0]
	w.next.origin = origin{}
	n := slices.IndexFunc(w.list, func(e *experiment) bool { return e.id == id }) + 1
	if id == "" {
		n = len(w.list)
	}
	for _, e := range w.list[:n] {
		if err := w.to.begin(e); err != nil {
			return err
		}
	}
	w.list = w.list[n:]
	return nil
}
