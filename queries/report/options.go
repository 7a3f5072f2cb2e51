package report

import (
	"context"
	"fmt"
	"strings"

	"stackmill/queries"
)

// option is an option that only some reports have. Other reports refuse it, because an option
// without effect would be misleading.
type option struct {
	name    string
	given   func(*Request) bool
	applies func(*Request) bool
}

var options = []option{
	{"metric", func(r *Request) bool { return r.Metric != "" && r.Metric != "all" }, func(r *Request) bool { return r.Measured() }},
	{"mode", func(r *Request) bool { return r.Mode != Defaults().Mode }, func(r *Request) bool { return r.has("mode") || !r.Filter.IsEmpty() }},
	{"function", func(r *Request) bool { return r.Function != "" }, (*Request).ofFunctions},
	{"file", func(r *Request) bool { return r.File != "" }, func(r *Request) bool { return r.ofFiles }},
	{"object", func(r *Request) bool { return r.Object != "" }, func(r *Request) bool { return r.has("descriptor") }},
	{"alias", func(r *Request) bool { return r.Alias != Defaults().Alias }, (*Request).showsAliases},
	{"width", func(r *Request) bool { return r.Width != Defaults().Width }, func(r *Request) bool { return ofWidth[r.Name] != "" }},
	// With a filter, inline matters for every report: filters look at inlined functions on stacks.
	{"inline", func(r *Request) bool { return r.Inline }, func(r *Request) bool { return r.withInlined != "" || r.inlinedBelow || !r.Filter.IsEmpty() }},
	{"hide", func(r *Request) bool { return len(r.Filter.Hide) > 0 }, (*Request).readsStacks},
	{"api-only", func(r *Request) bool { return len(r.Filter.APIOnly) > 0 }, (*Request).readsStacks},
}

// ofFunctions reports whether the report can be restricted to functions.
func (r *Request) ofFunctions() bool {
	return r.rows != nil && r.ofCode || r.ofFragment() || r.has("function_id") && r.Name != "call-tree"
}

// showsAliases reports whether the report shows names of functions, so that Alias has an effect.
func (r *Request) showsAliases() bool {
	return r.has("function_id") || r.has("other_id") || r.has("functions") || r.has("stack_id")
}

// readsStacks reports whether the rows depend on the functions on stacks.
func (r *Request) readsStacks() bool { return queries.ReadsStacks(r.Reads()...) }

// refused returns an error if the request has an option that does not apply to its report.
func (r *Request) refused() error {
	for _, o := range options {
		if o.given(r) && !o.applies(r) {
			return fmt.Errorf("--%s has no effect on %s (it applies to %s)", o.name, r.Name, o.reports())
		}
	}
	return nil
}

// reports lists the reports to which an option applies.
func (o *option) reports() string {
	var do, not []string
	for _, report := range Reports {
		if o.applies(&Request{Report: report}) {
			do = append(do, report.Name)
		} else {
			not = append(not, report.Name)
		}
	}
	if len(not) < len(do) {
		return "all reports except " + strings.Join(not, ", ")
	}
	return strings.Join(do, ", ")
}

// ShowsSources reports whether the report shows source text, which the store may lack.
func (r Report) ShowsSources() bool { return r.withText }

// fragmentView is the macro for the callers and callees of a fragment: functions that call each
// other in this order.
const fragmentView = "fragment_callers_callees"

// OfFragment returns the report to show: for the callers and callees of several functions, the
// report about this fragment of stacks.
func (r *Request) OfFragment() Report {
	if r.Name != "callers-callees" || len(Fragment(r.Function)) < 2 {
		return r.Report
	}
	return Report{
		Name: r.Name, View: fragmentView, Title: "Callers and callees of a fragment of stacks",
		Columns: []Column{{"relation", "Relation", Words}, {"other_label", "Name", Words}, attributed},
		order:   "array_position(['caller', 'self', 'callee'], relation), attributed DESC, other, other_id",
		Drawn:   true, withInlined: "inline_" + fragmentView,
	}
}

// ofFragment reports whether the rows are about a fragment of stacks.
func (r *Request) ofFragment() bool { return strings.HasSuffix(r.View, fragmentView) }

// operators are the names of C++ operators that contain commas, brackets or angle brackets. Longer
// names come before their prefixes.
var operators = []string{"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "<", ">", ","}

// Fragment splits a list of functions at commas, but not at commas in brackets or names of
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

// chooseFunctions finds the requested functions in the store.
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
