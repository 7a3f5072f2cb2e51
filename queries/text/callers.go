//go:build cgo

package text

import (
	"cmp"
	"context"
	"slices"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// block is a function with its neighbors.
type block struct {
	label                string
	above                []string // for a fragment of stacks: the functions before the last one
	id                   int64
	exclusive, inclusive int64
	isTotal              bool
	callers, callees     []queries.Record
}

// callersCallees prints a block for each function, in the order of the function list:
// its callers, the function itself with a star, its callees. Percentages are of the
// function's inclusive value.
func (r *Report) callersCallees(_ context.Context, q *report.Question, rows []queries.Record) error {
	return r.sections(q, rows, func(w *terminal.Page, group []queries.Record) (leftOut, error) {
		w.Printf("%12s %6s  %s\n", "Attr."+unitOf(group), "%", "Function")
		blocks := blocksOf(group)
		if names := report.Fragment(r.Function); len(names) > 1 {
			blocks = []*block{fragment(group, names)}
		}
		shown := atMost(r.Limit, blocks)
		for _, b := range shown {
			w.Printf("\n")
			b.print(w, group[0].Text("unit"))
		}
		left := leftOut{what: "functions", rows: len(blocks) - len(shown), total: float64(group[0].Number("total"))}
		for _, b := range blocks[len(shown):] {
			left.value += float64(b.exclusive)
		}
		return left, nil
	})
}

func blocksOf(rows []queries.Record) []*block {
	byID := map[int64]*block{}
	var blocks []*block
	for _, rec := range rows {
		id := rec.Number("function_id")
		b := byID[id]
		if b == nil {
			b = &block{label: rec.Text("label"), id: id, isTotal: rec.Text("function") == "<Total>"}
			byID[id] = b
			blocks = append(blocks, b)
			if b.isTotal {
				b.exclusive, b.inclusive = rec.Number("total"), rec.Number("total")
			}
		}
		b.add(rec)
	}
	slices.SortFunc(blocks, func(a, b *block) int {
		if a.isTotal != b.isTotal {
			if a.isTotal {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.exclusive, a.exclusive), cmp.Compare(a.label, b.label), cmp.Compare(a.id, b.id))
	})
	return blocks
}

// fragment returns the block for a fragment of stacks. Its percentages are of the value of the
// stacks that contain the fragment.
func fragment(rows []queries.Record, names []string) *block {
	b := &block{label: names[len(names)-1], above: names[:len(names)-1]}
	for _, rec := range rows {
		b.add(rec)
	}
	b.exclusive = b.inclusive
	for _, rec := range b.callees {
		b.exclusive -= rec.Number("attributed")
	}
	return b
}

func (b *block) add(rec queries.Record) {
	switch rec.Text("relation") {
	case "caller":
		b.callers = append(b.callers, rec)
		return
	case "callee":
		b.callees = append(b.callees, rec)
	default:
		if !b.isTotal {
			b.exclusive += rec.Number("attributed")
		}
	}
	if !b.isTotal {
		b.inclusive += rec.Number("attributed")
	}
}

func (b *block) print(w *terminal.Page, unit string) {
	line := func(n int64, mark, name string) {
		w.Printf("%12s %6s %s%s\n", Value(n, unit), Percent(n, b.inclusive), mark, name)
	}
	for _, rec := range b.callers {
		line(rec.Number("attributed"), " ", rec.Text("other_label"))
	}
	for _, name := range b.above {
		w.Printf("%12s %6s *%s\n", "", "", name)
	}
	line(b.exclusive, "*", b.label)
	for _, rec := range b.callees {
		line(rec.Number("attributed"), " ", rec.Text("other_label"))
	}
}
