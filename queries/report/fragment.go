package report

import (
	"context"
	"fmt"
	"strings"

	"stackmill/queries"
)

// fragmentView is the macro of the callers and callees of a fragment of stacks.
const fragmentView = "fragment_callers_callees"

// OfFragment returns the report of callers and callees of a fragment of stacks, if Function lists
// functions that call each other, separated by commas; else the report itself.
func (r *Request) OfFragment() Report {
	if r.Name != "callers-callees" || len(Fragment(r.Function)) < 2 {
		return r.Report
	}
	return Report{
		Name: r.Name, View: fragmentView, Title: "Callers and callees of a piece of stacks",
		Columns: []Column{{"relation", "Relation", Words}, {"other_label", "Name", Words}, attributed},
		order:   "array_position(['caller', 'self', 'callee'], relation), attributed DESC, other, other_id",
		Drawn:   true, withInlined: "inline_" + fragmentView,
	}
}

// ofFragment reports whether the rows are about a fragment of stacks.
func (r *Request) ofFragment() bool { return strings.HasSuffix(r.View, fragmentView) }

// operators are operator names with commas and brackets, longer ones before their prefixes.
var operators = []string{"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "<", ">", ","}

// Fragment splits a list of functions at commas, except those in brackets and in names of
// operators.
func Fragment(list string) (functions []string) {
	depth, start := 0, 0
	for i := 0; i < len(list); i++ {
		if strings.HasPrefix(list[i:], "operator") && (i == 0 || !isWord(list[i-1])) {
			i += len("operator")
			for _, o := range operators {
				if strings.HasPrefix(list[i:], o) {
					i += len(o)
					break
				}
			}
			i-- // the loop skips one byte
			continue
		}
		switch c := list[i]; {
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0:
			depth = max(depth-1, 0)
		case c == ',' && depth == 0:
			functions = append(functions, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	return append(functions, strings.TrimSpace(list[start:]))
}

// isWord reports whether a byte can be part of an identifier.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// chooseFunctions resolves the names of functions.
func (q *Question) chooseFunctions(ctx context.Context) error {
	known, err := q.db.Texts(ctx, fmt.Sprintf(`SELECT DISTINCT unnest([name, gprofng_name, perf_name]) AS name FROM functions_wide
		WHERE kind <> 'inlined' OR %t OR function_id IN (SELECT body_of FROM functions_wide WHERE body_of IS NOT NULL) ORDER BY name`, q.Inline))
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
