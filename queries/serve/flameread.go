package serve

import (
	"context"
	"database/sql"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/queries"
	"stackmill/queries/flametree"
	"stackmill/queries/result"
)

// nodesAtOnce limits the call nodes that are in memory at once before they are merged. A single experiment may have
// more.
const nodesAtOnce = 2 << 20

// readFlameTree merges the call trees of all experiments in db. It reads whole tables and joins them here, with node
// numbers as indexes: that is several times as fast as joining and sorting in SQL.
func readFlameTree(ctx context.Context, db *queries.DB, metric, mode string, inline bool) (*flametree.Tree, error) {
	inMode := "by_mode(?, in_user, in_expert, in_machine)"
	if inline {
		inMode = "by_mode(?, in_user_inlined, in_expert_inlined, in_machine_inlined)"
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	r := &flameReader{ctx: ctx, conn: conn, args: []any{metric, mode},
		valueRows: "FROM tree_values WHERE metric = ? AND " + inMode}
	parts, err := r.groups()
	room := 0
	if len(parts) > 0 {
		room = parts[0].size / len(parts[0].ids) // the mean: experiments of one program have similar trees
	}
	r.tree = flametree.New(room)
	for _, p := range parts {
		if err = r.read(p); err != nil {
			break
		}
	}
	return r.tree, err
}

// flameReader reads call trees and merges them into one tree.
type flameReader struct {
	ctx       context.Context
	conn      *sql.Conn
	tree      *flametree.Tree
	valueRows string // SQL, from FROM on, that selects the rows with values; args are its parameters
	args      []any
}

// experimentGroup is a group of experiments whose call trees are read together. Their ids are adjacent.
type experimentGroup struct {
	ids    []string
	ranges map[string]nodeRange
	size   int // number of nodes in all trees
	nodes  []flametree.CallNode
}

// nodeRange says which nodes of a group belong to an experiment: from <= index < to.
type nodeRange struct{ from, to int }

// nodesOf returns the nodes of an experiment, indexed by node number.
func (p *experimentGroup) nodesOf(id string) []flametree.CallNode {
	e, ok := p.ranges[id]
	if !ok {
		return nil
	}
	return p.nodes[e.from:e.to]
}

// groups divides the experiments with values into groups of at most nodesAtOnce nodes.
func (r *flameReader) groups() (parts []*experimentGroup, err error) {
	err = r.eachExperiment(func(id string, b arrow.RecordBatch, from, to int) error {
		nodes := int(int32s(b, 1)[from])
		if len(parts) == 0 || parts[len(parts)-1].size+nodes > nodesAtOnce {
			parts = append(parts, &experimentGroup{ranges: map[string]nodeRange{}})
		}
		p := parts[len(parts)-1]
		p.ids, p.ranges[id] = append(p.ids, id), nodeRange{p.size, p.size + nodes}
		p.size += nodes
		return nil
	}, "SELECT experiment_id, max(call_node) + 1 "+r.valueRows+" GROUP BY 1 ORDER BY 1", r.args...)
	return parts, err
}

// eachExperiment runs a query whose first column is the experiment id. It calls rows for each range of adjacent rows
// of one experiment in a batch: from <= row < to.
func (r *flameReader) eachExperiment(rows func(id string, b arrow.RecordBatch, from, to int) error, query string, args ...any) error {
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

func int32s(b arrow.RecordBatch, column int) []int32 {
	return b.Column(column).(*array.Int32).Int32Values()
}
func int64s(b arrow.RecordBatch, column int) []int64 {
	return b.Column(column).(*array.Int64).Int64Values()
}
func texts(b arrow.RecordBatch, column int) *array.String { return b.Column(column).(*array.String) }

// read reads the call trees of a group and merges them into r.tree.
func (r *flameReader) read(p *experimentGroup) error {
	const some = " experiment_id BETWEEN ? AND ?"
	ends := []any{p.ids[0], p.ids[len(p.ids)-1]}
	names := make(map[string]map[int64]int32, len(p.ids)) // index into flametree.Tree.Functions, by experiment and function id
	err := r.eachExperiment(func(id string, b arrow.RecordBatch, from, to int) error {
		of := names[id]
		if of == nil {
			of = map[int64]int32{}
			names[id] = of
		}
		for i := from; i < to; i++ {
			of[int64s(b, 1)[i]] = r.tree.Intern(flametree.Function{Name: texts(b, 2).Value(i), LoadObject: texts(b, 3).Value(i), Module: texts(b, 4).Value(i), Kind: texts(b, 5).Value(i)})
		}
		return nil
	}, `SELECT f.experiment_id, f.function_id, f.name, COALESCE(o.short_path, ''), COALESCE(m.short_path, ''), f.kind
FROM (FROM functions WHERE`+some+`) f LEFT JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id
LEFT JOIN modules m ON m.experiment_id = f.experiment_id AND m.module_id = f.module_id`, ends...)
	if err != nil {
		return err
	}
	p.nodes = make([]flametree.CallNode, p.size)
	defer func() { p.nodes = nil }()
	err = r.eachExperiment(func(id string, b arrow.RecordBatch, from, to int) error {
		of, nodes := names[id], p.nodesOf(id)
		parents, functions := int32s(b, 2), int64s(b, 3)
		for i := from; i < to; i++ {
			n := int(int32s(b, 1)[i])
			if n < 0 {
				return flametree.ErrDamaged
			}
			if n >= len(nodes) {
				continue // neither it nor its descendants have a value
			}
			parent := int32(-1)
			if b.Column(2).IsValid(i) {
				parent = parents[i]
			}
			name, ok := of[functions[i]]
			if !ok {
				return flametree.ErrDamaged
			}
			nodes[n].Parent, nodes[n].Name = parent, name
		}
		return nil
	}, "SELECT experiment_id, call_node, parent, function_id FROM call_nodes_wide WHERE"+some, ends...)
	if err != nil {
		return err
	}
	err = r.eachExperiment(func(id string, b arrow.RecordBatch, from, to int) error {
		nodes := p.nodesOf(id)
		for i := from; i < to; i++ {
			at := int32s(b, 1)[i]
			if at < 0 {
				return flametree.ErrDamaged
			}
			n := &nodes[at]
			n.Value, n.Self, n.Valued = int64s(b, 2)[i], int64s(b, 3)[i], true
		}
		return nil
	}, "SELECT experiment_id, call_node, attributed, exclusive "+r.valueRows+" AND"+some, append(r.args[:len(r.args):len(r.args)], ends...)...)
	if err != nil {
		return err
	}
	for _, id := range p.ids {
		if err := r.tree.Merge(p.nodesOf(id)); err != nil {
			return err
		}
	}
	return nil
}

// files returns the source files of the functions of the call trees that a call selects: of each, the file with the
// most of its instructions.
func (w *job) files() (map[flametree.Function]string, error) {
	mode, inline := w.mode(), w.inline()
	db, done, err := w.openTree(mode, inline)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := db.QueryContext(w.ctx, `SELECT f.name, COALESCE(o.short_path, ''), COALESCE(m.short_path, ''), f.kind, mode(l.file)
FROM (SELECT experiment_id, function_no, file FROM locations WHERE file <> '') l JOIN functions f USING (experiment_id, function_no)
LEFT JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id
LEFT JOIN modules m ON m.experiment_id = f.experiment_id AND m.module_id = f.module_id GROUP BY ALL`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	files := map[flametree.Function]string{}
	for rows.Next() {
		var f flametree.Function
		var file string
		if err := rows.Scan(&f.Name, &f.LoadObject, &f.Module, &f.Kind, &file); err != nil {
			return nil, err
		}
		files[f] = file
	}
	return files, rows.Err()
}
