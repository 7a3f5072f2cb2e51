package report

import (
	"fmt"
	"strings"

	"stackmill/queries"
)

// option is an option that applies to some reports only. Other reports refuse it: an option without
// effect misleads.
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
	// Filters also look at inlined functions on stacks.
	{"inline", func(r *Request) bool { return r.Inline }, func(r *Request) bool { return r.withInlined != "" || r.inlinedBelow || !r.Filter.IsEmpty() }},
	{"hide", func(r *Request) bool { return len(r.Filter.Hide) > 0 }, (*Request).readsStacks},
	{"api-only", func(r *Request) bool { return len(r.Filter.APIOnly) > 0 }, (*Request).readsStacks},
}

// ofFunctions reports whether rows can be selected by a function.
func (r *Request) ofFunctions() bool {
	return r.rows != nil && r.ofCode || r.ofFragment() || r.has("function_id") && r.Name != "call-tree"
}

// showsAliases reports whether the report has names of functions, which are shown by one alias.
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
