package serve

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"stackmill/queries"
	"stackmill/queries/result"
)

// usualNodes is how many nodes a flame graph has without a wish.
const usualNodes = 10_000

// flamegraph answers with the call trees of the experiments, merged: `{name, value,
// exclusive, children}`, where exclusive and the children's values sum to the value. The
// nodes with the highest values are kept; what is left out below a node is in one named
// `<N more>`.
func flamegraph(w *work) error {
	mode, inline := cmp.Or(w.values.Get("mode"), "user"), w.values.Get("inline") == "true"
	most, err := w.number("nodes", usualNodes)
	if err != nil {
		return err
	}
	f, err := w.filter(mode, inline)
	if err != nil {
		return err
	}
	db, done, err := w.open(f, []string{"flame", "inline_modes"}, w.values["experiment"]...)
	if err != nil {
		return err
	}
	defer done()
	t := &flameTree{of: map[flameKey]int32{}, names: map[flameName]int32{}}
	if t.metric, t.unit, err = usualMetric(w.ctx, db, w.values.Get("metric")); err != nil {
		return err
	}
	if err := t.read(w.ctx, db, mode, inline); err != nil {
		return err
	}
	return t.write(w.out, mode, db.Count, max(most, 1))
}

// usualMetric returns the metric that is asked for, or the one that most experiments show
// first, and its unit.
func usualMetric(ctx context.Context, db *queries.DB, asked string) (metric, unit string, err error) {
	found, err := db.Records(ctx, `SELECT m.metric, any_value(m.unit) AS unit, count(*) FILTER (m.metric = d.metric) AS first, count(*) AS of
FROM metrics m LEFT JOIN default_metrics d USING (experiment_id) GROUP BY m.metric ORDER BY first DESC, of DESC, m.metric`)
	if err != nil {
		return "", "", err
	}
	var known []string
	for _, m := range found {
		if name := m.Text("metric"); asked == "" || name == asked {
			return name, m.Text("unit"), nil
		}
		known = append(known, m.Text("metric"))
	}
	if asked == "" { // nothing was recorded
		return "", "", nil
	}
	return "", "", wrong(fmt.Errorf("no metric %q%s", asked, queries.Suggest(asked, known)))
}

// flameTree is a tree of paths of functions. The root is node 0.
type flameTree struct {
	metric, unit string
	nodes        []flameNode // each after its parent
	of           map[flameKey]int32
	names        map[flameName]int32
	named        []flameName
}

type flameNode struct {
	parent           int32
	name             int32
	value, exclusive int64
}

// flameKey is the place of a node: its parent, and its name's number.
type flameKey struct{ parent, name int32 }

// flameName is what tells functions below the same caller apart, in all experiments.
type flameName struct{ function, loadObject, kind string }

// read adds the call trees of all experiments.
func (t *flameTree) read(ctx context.Context, db *queries.DB, mode string, inline bool) error {
	modes := "modes"
	if inline {
		modes = "inline_modes"
	}
	rows, err := db.QueryContext(ctx, `SELECT c.depth, f.name, COALESCE(o.name, ''), f.kind, v.attributed, v.exclusive
FROM tree_values v JOIN `+modes+` m ON v.modes & m.bit <> 0 AND m.mode = ?
JOIN call_nodes c ON c.experiment_id = v.experiment_id AND c.call_node = v.call_node
LEFT JOIN functions f ON f.experiment_id = v.experiment_id AND f.function_id = c.function_id
LEFT JOIN load_objects o ON o.experiment_id = v.experiment_id AND o.load_object_id = f.load_object_id
WHERE v.metric = ? ORDER BY v.experiment_id, c.call_node`, mode, t.metric)
	if err != nil {
		return err
	}
	defer rows.Close()
	var path []int32 // the nodes from the root to the last row's
	for rows.Next() {
		var depth int
		var name flameName
		var value, exclusive int64
		if err := rows.Scan(&depth, &name.function, &name.loadObject, &name.kind, &value, &exclusive); err != nil {
			return err
		}
		if depth > len(path) {
			return fmt.Errorf("internal error: a node of the call tree has no caller")
		}
		path = append(path[:depth], t.node(path[:depth], name))
		n := &t.nodes[path[depth]]
		n.value, n.exclusive = n.value+value, n.exclusive+exclusive
	}
	return rows.Err()
}

// node returns the number of the node with a name below a path.
func (t *flameTree) node(path []int32, name flameName) int32 {
	parent := int32(-1)
	if len(path) > 0 {
		parent = path[len(path)-1]
	}
	number, ok := t.names[name]
	if !ok {
		number = int32(len(t.named))
		t.names[name] = number
		t.named = append(t.named, name)
	}
	key := flameKey{parent, number}
	n, ok := t.of[key]
	if !ok {
		n = int32(len(t.nodes))
		t.nodes = append(t.nodes, flameNode{parent: parent, name: number})
		t.of[key] = n
	}
	return n
}

// flameRest is what is left out below a node.
type flameRest struct {
	nodes int
	value int64
}

// keep chooses which nodes are shown: those with the highest values, callers before those
// that they call, so that with what stands for the others there are at most so many.
func (t *flameTree) keep(most int) (children [][]int32, rest []flameRest) {
	order := make([]int32, len(t.nodes))
	callees := make([]int32, len(t.nodes)) // that are left out
	for n := range order {
		order[n] = int32(n)
		if p := t.nodes[n].parent; p >= 0 {
			callees[p]++
		}
	}
	// A node comes after its caller, which has its value at least, and a smaller number.
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.nodes[b].value, t.nodes[a].value), cmp.Compare(a, b))
	})
	kept, shown := 0, 0
	for i, n := range order {
		shown++
		if callees[n] > 0 {
			shown++ // `<N more>`
		}
		if p := t.nodes[n].parent; p >= 0 {
			if callees[p]--; callees[p] == 0 {
				shown--
			}
		}
		if shown <= most {
			kept = i + 1
		}
	}
	kept = max(kept, min(1, len(order)))
	in := make([]bool, len(t.nodes))
	for _, n := range order[:kept] {
		p := t.nodes[n].parent
		in[n] = p < 0 || in[p]
	}
	children, rest = make([][]int32, len(t.nodes)), make([]flameRest, len(t.nodes))
	for n := len(t.nodes) - 1; n > 0; n-- {
		p := t.nodes[n].parent
		switch {
		case p < 0:
		case in[n]:
			children[p] = append(children[p], int32(n))
		case in[p]:
			rest[p].nodes += 1 + rest[n].nodes
			rest[p].value += t.nodes[n].value
		default:
			rest[p].nodes += 1 + rest[n].nodes
		}
	}
	return children, rest
}

// write writes the tree as JSON.
func (t *flameTree) write(w io.Writer, mode string, experiments, most int) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `{"metric":%s,"unit":%s,"mode":%q,"experiments":%d,"nodes":%d,"tree":`, result.Marshal(t.metric), result.Marshal(t.unit), mode, experiments, len(t.nodes))
	if len(t.nodes) == 0 {
		fmt.Fprint(out, "null")
	} else {
		children, rest := t.keep(most)
		names := make([][]byte, len(t.named))
		for i, n := range t.named {
			names[i] = fmt.Appendf(nil, `{"name":%s,"load_object":%s,"kind":%s`, result.Marshal(n.function), result.Marshal(n.loadObject), result.Marshal(n.kind))
		}
		t.writeNode(out, 0, names, children, rest)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// writeNode writes a node and those below it, the highest values first.
func (t *flameTree) writeNode(out *bufio.Writer, n int32, names [][]byte, children [][]int32, rest []flameRest) {
	x := t.nodes[n]
	_, _ = out.Write(names[x.name]) // Flush has the error
	writeValues(out, x.value, x.exclusive)
	slices.SortFunc(children[n], func(a, b int32) int {
		x, y := t.nodes[a], t.nodes[b]
		return cmp.Or(cmp.Compare(y.value, x.value), cmp.Compare(t.named[x.name].function, t.named[y.name].function), cmp.Compare(t.named[x.name].loadObject, t.named[y.name].loadObject))
	})
	_, _ = out.WriteString(`,"children":[`)
	for i, c := range children[n] {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		t.writeNode(out, c, names, children, rest)
	}
	if r := rest[n]; r.nodes > 0 {
		if len(children[n]) > 0 {
			_ = out.WriteByte(',')
		}
		fmt.Fprintf(out, `{"name":"<%d more>","load_object":"","kind":"artificial"`, r.nodes)
		writeValues(out, r.value, r.value)
		_, _ = out.WriteString(`,"children":[]}`)
	}
	_, _ = out.WriteString("]}")
}

// writeValues writes values as every reader of JSON understands them.
func writeValues(out *bufio.Writer, value, exclusive int64) {
	for _, v := range []struct {
		name string
		n    int64
	}{{`,"value":`, value}, {`,"exclusive":`, exclusive}} {
		_, _ = out.WriteString(v.name)
		if text, ok := result.Exact(v.n, "").(string); ok {
			_, _ = out.WriteString(strconv.Quote(text))
		} else {
			_, _ = out.Write(strconv.AppendInt(nil, v.n, 10))
		}
	}
}
