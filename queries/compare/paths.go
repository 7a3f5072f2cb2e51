package compare

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/queries"
	"stackmill/queries/result"
)

// readPaths reads the values of the paths of the call tree. Functions are matched first, so that a
// path has the same identity in all builds.
func (c *comparison) readPaths() error {
	functions, err := c.functionsByID()
	if err != nil {
		return err
	}
	paths := []*item{c.items[0]} // by number; the root is <Total>
	err = c.walkPaths(functions, func(path int, s step, n int, value float64) {
		if path == len(paths) {
			paths = append(paths, &item{names: c.pathNames(paths[s.above], s.function), values: make([]float64, len(c.runs))})
		}
		if it := paths[path]; path > 0 && value != 0 {
			it.values[n] += value
			it.in |= inBase << c.side(int64(n))
		}
	})
	if err != nil {
		return err
	}
	for _, it := range paths[1:] {
		if it.in != 0 {
			c.items = append(c.items, it)
		}
	}
	c.matchSame("path")
	return nil
}

// pathColumn is the name of the compared column of tree_values.
func (c *comparison) pathColumn() string {
	if c.Inclusive {
		return "attributed"
	}
	return "exclusive"
}

// functionsByID matches functions, and returns the matched function of each side by function_id. Of
// the items, only <Total> stays in c.items.
func (c *comparison) functionsByID() (map[int64]*[2]*item, error) {
	if err := c.readRows(subjects["function"]); err != nil {
		return nil, err
	}
	keys := map[any]*item{}
	for k, it := range c.known {
		keys[k] = it
	}
	inclusive := c.Inclusive
	c.Inclusive = true // this keeps clones apart, as paths must
	err := c.matchFunctions()
	c.Inclusive = inclusive
	if err != nil {
		return nil, err
	}
	byID := map[int64]*[2]*item{}
	records, err := c.db.Records(c.ctx, "WITH "+c.runTable()+fmt.Sprintf(` SELECT DISTINCT function_id, function_key FROM function_rollup JOIN runs USING (experiment_id) WHERE in_%s`, c.Mode))
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if it := keys[r.Number("function_key")]; it != nil {
			byID[r.Number("function_id")] = &[2]*item{it.whole(0), it.whole(1)}
		}
	}
	c.items = c.items[:1]
	c.items[0].names = c.items[0].names[:2]
	return byID, nil
}

// whole returns the item that represents this one on a side, after all splits and merges.
func (it *item) whole(side int) *item {
	if side == 1 && it.other != nil {
		it = it.other
	}
	for it.into != nil {
		it = it.into
	}
	return it
}

// step identifies a node of the merged call tree of all runs: a function, and the path above it.
type step struct {
	above    int
	function *item
}

// walkPaths calls visit for each node of each run's call tree, with the number of the node's path,
// the last step of the path, the number of the run, and the node's value. Paths are numbered from 1
// in the order of their first visit, callers first. Path 0 is the root.
func (c *comparison) walkPaths(functions map[int64]*[2]*item, visit func(path int, s step, n int, value float64)) error {
	conn, err := c.db.Conn(c.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	known := map[step]int{}
	var at []int // paths of the current run's nodes
	last := -1
	return result.Batches(c.ctx, conn, func(b arrow.RecordBatch) error {
		runs, nodes, parents := b.Column(0).(*array.Int32), b.Column(1).(*array.Int32), b.Column(2).(*array.Int32)
		ids, values := b.Column(3).(*array.Int64), b.Column(4).(*array.Int64)
		for i := range int(b.NumRows()) {
			n, node := int(runs.Value(i)), int(nodes.Value(i))
			if node < 0 || parents.IsValid(i) && (parents.Value(i) < 0 || int(parents.Value(i)) >= node) {
				return fmt.Errorf("%s: node %d of the call tree does not follow its caller (stackmill check says what is damaged)", c.name(n), node)
			}
			if n != last {
				at, last = at[:0], n
			}
			for len(at) <= node {
				at = append(at, 0)
			}
			var s step
			path := 0
			if parents.IsValid(i) {
				s.above = at[parents.Value(i)]
				if f := functions[ids.Value(i)]; f != nil {
					s.function = f[c.side(int64(n))]
				}
				var is bool
				if path, is = known[s]; !is {
					path = len(known) + 1
					known[s] = path
				}
			}
			at[node] = path
			visit(path, s, n, float64(values.Value(i)))
		}
		return nil
	}, "WITH "+c.runTable()+fmt.Sprintf(`,
		found AS MATERIALIZED (SELECT n, call_node, %s AS v FROM tree_values JOIN runs USING (experiment_id) WHERE metric = %s AND in_%s),
		nodes AS MATERIALIZED (SELECT n, call_node, parent, function_id FROM call_nodes_wide JOIN runs USING (experiment_id))
		SELECT c.n, c.call_node, c.parent, c.function_id, COALESCE(f.v, 0)::BIGINT FROM nodes c LEFT JOIN found f ON f.n = c.n AND f.call_node = c.call_node
		ORDER BY c.n, c.call_node`, c.pathColumn(), queries.Quote(c.Metric), c.Mode))
}

// pathNames returns the names of a path: its functions, from the root on, and the load object of
// the last.
func (c *comparison) pathNames(above *item, function *item) []string {
	name, object := "<Unknown>", ""
	if function != nil {
		name, object = function.names[0], function.names[1]
	}
	if above == c.items[0] {
		return []string{name, object}
	}
	return []string{above.names[0] + ";" + strings.ReplaceAll(name, ";", ":"), object}
}

// Tree is the merged call tree of two groups of runs, with matched functions.
type Tree struct {
	Result        // without rows
	Nodes  []Node // callers first; <Total> is the first. None if nothing has a value
}

// Node is a path of functions in a Tree. Values are means over the runs of a side, in which runs
// without the path count as 0.
type Node struct {
	Caller                             int32 // index, -1 for the root
	Function, LoadObject, Module, Kind string
	Base, Test                         float64 // inclusive values
	BaseExclusive, TestExclusive       float64
}

// Trees merges the call trees of two groups of experiments. It matches functions and normalizes
// values as Run does, but does not test anything.
func Trees(ctx context.Context, db *queries.DB, r Request) (*Tree, error) {
	r.By, r.Inclusive = "path", false
	c := &comparison{ctx: ctx, db: db, Result: Result{Request: r}}
	for _, step := range []func() error{c.choose, c.chooseMetric, c.measure, c.environment} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	functions, err := c.functionsByID()
	if err != nil {
		return nil, err
	}
	if err := c.normalize(c.items[0].values); err != nil {
		return nil, err
	}
	nodes := []Node{{Caller: -1, Function: "<Total>", LoadObject: "<Total>", Kind: "artificial"}}
	err = c.walkPaths(functions, func(path int, s step, n int, value float64) {
		if path == len(nodes) {
			nodes = append(nodes, nodeOf(s))
		}
		if value == 0 {
			return
		}
		if value /= c.runs[n].unit; c.side(int64(n)) == 0 {
			nodes[path].BaseExclusive += value
		} else {
			nodes[path].TestExclusive += value
		}
	})
	if err != nil {
		return nil, err
	}
	return &Tree{Result: c.Result, Nodes: summed(nodes, float64(len(c.Result.Base.Runs)), float64(len(c.Result.Test.Runs)))}, nil
}

func nodeOf(s step) Node {
	n := Node{Caller: int32(s.above), Function: "<Unknown>", Kind: "unknown"}
	if s.function != nil {
		names := s.function.names
		n.Function, n.LoadObject, n.Module, n.Kind = names[0], names[1], lastPart(names[2]), names[3]
	}
	return n
}

// summed divides sums of exclusive values by the number of runs, and computes inclusive values. It
// drops paths without values: they have values of other modes or metrics only.
func summed(nodes []Node, base, test float64) []Node {
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i]
		n.BaseExclusive, n.TestExclusive = n.BaseExclusive/base, n.TestExclusive/test
		n.Base, n.Test = n.Base+n.BaseExclusive, n.Test+n.TestExclusive
		if n.Caller >= 0 {
			nodes[n.Caller].Base += n.Base
			nodes[n.Caller].Test += n.Test
		}
	}
	numbers := make([]int32, len(nodes))
	var kept []Node
	for i, n := range nodes {
		if n.Base == 0 && n.Test == 0 {
			continue
		}
		if n.Caller >= 0 {
			n.Caller = numbers[n.Caller]
		}
		numbers[i] = int32(len(kept))
		kept = append(kept, n)
	}
	return kept
}
