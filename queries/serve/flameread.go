package serve

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/queries"
	"stackmill/queries/result"
)

// nodesAtOnce bounds how many nodes are in memory before they are merged, unless one
// experiment has more.
const nodesAtOnce = 2 << 20

// readFlameTree merges the call trees of all experiments of a session. The tables are read
// as they are and put together here, where the numbers of nodes are indexes: that is
// several times as fast as SQL that joins and sorts them.
func readFlameTree(ctx context.Context, db *queries.DB, metric, mode string, inline bool) (*flameTree, error) {
	inMode := "by_mode(?, in_user, in_expert, in_machine)"
	if inline {
		inMode = "by_mode(?, in_user_inlined, in_expert_inlined, in_machine_inlined)"
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	r := &flameReader{ctx: ctx, conn: conn, of: []any{metric, mode},
		values: "FROM tree_values WHERE metric = ? AND " + inMode}
	parts, err := r.parts()
	room := 0
	if len(parts) > 0 {
		room = parts[0].size / len(parts[0].ids) // experiments of one program have about the same nodes
	}
	r.tree = newFlameTree(room)
	for _, p := range parts {
		if err = r.read(p); err != nil {
			break
		}
	}
	return r.tree, err
}

// flameReader reads call trees into a tree.
type flameReader struct {
	ctx    context.Context
	conn   *sql.Conn
	tree   *flameTree
	values string // the rows with values, given those of
	of     []any
}

// part is some experiments whose identifiers follow each other, with their call trees.
type part struct {
	ids   []string
	spans map[string]span
	size  int // of nodes
	nodes []callNode
}

// span is where the nodes of an experiment are.
type span struct{ from, to int }

// callNode is a node of a call tree.
type callNode struct {
	parent      int32 // its number, -1 of the root
	name        int32 // of flameTree.named
	value, self int64
	valued      bool // others are not shown
}

// of returns the nodes of an experiment, by their numbers.
func (p *part) of(id string) []callNode {
	e, ok := p.spans[id]
	if !ok {
		return nil
	}
	return p.nodes[e.from:e.to]
}

// parts divides the experiments that have values into those that are read together.
func (r *flameReader) parts() (parts []*part, err error) {
	err = r.spans(func(id string, b arrow.RecordBatch, from, to int) error {
		nodes := int(integers(b, 1)[from])
		if len(parts) == 0 || parts[len(parts)-1].size+nodes > nodesAtOnce {
			parts = append(parts, &part{spans: map[string]span{}})
		}
		p := parts[len(parts)-1]
		p.ids, p.spans[id] = append(p.ids, id), span{p.size, p.size + nodes}
		p.size += nodes
		return nil
	}, "SELECT experiment_id, max(call_node) + 1 "+r.values+" GROUP BY 1 ORDER BY 1", r.of...)
	return parts, err
}

// spans calls a function for the rows of a query that belong to one experiment, which the
// first column has, and follow each other in a batch.
func (r *flameReader) spans(rows func(id string, b arrow.RecordBatch, from, to int) error, query string, args ...any) error {
	return result.Batches(r.ctx, r.conn, func(b arrow.RecordBatch) error {
		ids := b.Column(0).(*array.String)
		for from := 0; from < ids.Len(); {
			to := from + 1
			for to < ids.Len() && ids.Value(to) == ids.Value(from) {
				to++
			}
			if err := rows(strings.Clone(ids.Value(from)), b, from, to); err != nil {
				return err
			}
			from = to
		}
		return nil
	}, query, args...)
}

func integers(b arrow.RecordBatch, column int) []int32 {
	return b.Column(column).(*array.Int32).Int32Values()
}
func numbers(b arrow.RecordBatch, column int) []int64 {
	return b.Column(column).(*array.Int64).Int64Values()
}
func texts(b arrow.RecordBatch, column int) *array.String { return b.Column(column).(*array.String) }

var (
	// errDamaged says that the tables of call trees do not fit together.
	errDamaged = errors.New("a node of the call tree has no caller, no function or no possible value (stackmill check says what is damaged)")
	// errTooLarge says that values of several experiments cannot be added.
	errTooLarge = errors.New("the values of these experiments are too large to be added (choose fewer of them)")
)

// read reads the trees of a part and merges them.
func (r *flameReader) read(p *part) error {
	const some = " experiment_id BETWEEN ? AND ?"
	ends := []any{p.ids[0], p.ids[len(p.ids)-1]}
	names := make(map[string]map[int64]int32, len(p.ids)) // of functions, of each experiment
	err := r.spans(func(id string, b arrow.RecordBatch, from, to int) error {
		of := names[id]
		if of == nil {
			of = map[int64]int32{}
			names[id] = of
		}
		for i := from; i < to; i++ {
			of[numbers(b, 1)[i]] = r.tree.name(flameName{texts(b, 2).Value(i), texts(b, 3).Value(i), texts(b, 4).Value(i), texts(b, 5).Value(i)})
		}
		return nil
	}, `SELECT f.experiment_id, f.function_id, f.name, COALESCE(o.short_path, ''), COALESCE(m.short_path, ''), f.kind
FROM (FROM functions WHERE`+some+`) f LEFT JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id
LEFT JOIN modules m ON m.experiment_id = f.experiment_id AND m.module_id = f.module_id`, ends...)
	if err != nil {
		return err
	}
	p.nodes = make([]callNode, p.size)
	defer func() { p.nodes = nil }()
	err = r.spans(func(id string, b arrow.RecordBatch, from, to int) error {
		of, nodes := names[id], p.of(id)
		parents, functions := integers(b, 2), numbers(b, 3)
		for i := from; i < to; i++ {
			n := int(integers(b, 1)[i])
			if n < 0 {
				return errDamaged
			}
			if n >= len(nodes) {
				continue // nothing below has a value
			}
			parent := int32(-1)
			if b.Column(2).IsValid(i) {
				parent = parents[i]
			}
			name, ok := of[functions[i]]
			if !ok {
				return errDamaged
			}
			nodes[n].parent, nodes[n].name = parent, name
		}
		return nil
	}, "SELECT experiment_id, call_node, parent, function_id FROM call_nodes_wide WHERE"+some, ends...)
	if err != nil {
		return err
	}
	err = r.spans(func(id string, b arrow.RecordBatch, from, to int) error {
		nodes := p.of(id)
		for i := from; i < to; i++ {
			at := integers(b, 1)[i]
			if at < 0 {
				return errDamaged
			}
			n := &nodes[at]
			n.value, n.self, n.valued = numbers(b, 2)[i], numbers(b, 3)[i], true
		}
		return nil
	}, "SELECT experiment_id, call_node, attributed, exclusive "+r.values+" AND"+some, append(r.of[:len(r.of):len(r.of)], ends...)...)
	if err != nil {
		return err
	}
	for _, id := range p.ids {
		if err := r.tree.merge(p.of(id)); err != nil {
			return err
		}
	}
	return nil
}
