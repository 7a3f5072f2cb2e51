package report

import (
	"context"
	"fmt"
	"strings"

	"stackmill/queries"
)

// fragmentView is the macro of the neighbours of a piece of stacks.
const fragmentView = "fragment_callers_callees"

// OfFragment returns the report of callers and callees of a piece of stacks, if that is
// asked for: functions that call each other, with commas between them.
func (r *Request) OfFragment() Report {
	if r.Name != "callers-callees" || len(Fragment(r.Function)) < 2 {
		return r.Report
	}
	return Report{
		Name: r.Name, View: fragmentView, Title: "Callers and callees of a piece of stacks",
		Columns: []Column{{"relation", "Relation", Words}, {"other_label", "Name", Words}, attributed},
		order:   "array_position(['caller', 'self', 'callee'], relation), attributed DESC, other, other_id",
		Drawn:   true,
	}
}

// ofFragment reports whether the rows are about a piece of stacks.
func (r *Request) ofFragment() bool { return strings.HasSuffix(r.View, fragmentView) }

// Fragment cuts a list of functions at its commas; those in brackets, and that of
// `operator,`, belong to names.
func Fragment(list string) (functions []string) {
	depth, start := 0, 0
	for i, c := range list {
		switch {
		case strings.ContainsRune("([{<", c):
			depth++
		case strings.ContainsRune(")]}>", c):
			depth = max(depth-1, 0) // operator->
		case c == ',' && depth == 0 && !strings.HasSuffix(list[start:i], "operator"):
			functions = append(functions, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	return append(functions, strings.TrimSpace(list[start:]))
}

// chooseFunctions resolves the functions that are asked for.
func (q *Question) chooseFunctions(ctx context.Context) error {
	known, err := q.db.Texts(ctx, fmt.Sprintf(`SELECT DISTINCT unnest([name, gprofng_name, perf_name]) AS name FROM functions
		WHERE kind <> 'inlined' OR %t ORDER BY name`, q.Inline))
	if err != nil {
		return err
	}
	parts := []string{q.Function}
	if q.ofFragment() {
		parts = Fragment(q.Function)
	}
	for _, p := range parts {
		found := NamesOf(known, p)
		if found == nil {
			return fmt.Errorf("no function %q%s (stackmill report functions lists them)", p, queries.Suggest(p, known))
		}
		if q.ofFragment() {
			q.fragment = append(q.fragment, strings.Join(found, "\n"))
		} else {
			q.functions = found
		}
	}
	return nil
}
