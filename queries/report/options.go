package report

import (
	"fmt"
	"strings"
)

// option is something that a request may ask for and only some reports heed. Any other
// report refuses it: an option that changes nothing misleads.
type option struct {
	name  string
	given func(*Request) bool
	heeds func(*Request) bool
}

var options = []option{
	{"metric", func(r *Request) bool { return r.Metric != "" && r.Metric != "all" }, func(r *Request) bool { return r.Measured() }},
	{"mode", func(r *Request) bool { return r.Mode != Usual.Mode }, func(r *Request) bool { return r.has("mode") || r.Filtered }},
	{"function", func(r *Request) bool { return r.Function != "" }, (*Request).ofFunctions},
	{"file", func(r *Request) bool { return r.File != "" }, func(r *Request) bool { return r.ofFiles }},
	{"object", func(r *Request) bool { return r.Object != "" }, func(r *Request) bool { return r.has("descriptor") }},
	{"alias", func(r *Request) bool { return r.Alias != Usual.Alias }, (*Request).showsAliases},
	{"width", func(r *Request) bool { return r.Width != Usual.Width }, func(r *Request) bool { return ofWidth[r.Name] != "" }},
	// Filters look for inlined functions on stacks, too.
	{"inline", func(r *Request) bool { return r.Inline }, func(r *Request) bool { return r.withInlined != "" || r.inlinedBelow || r.Filtered }},
}

// ofFunctions reports whether the rows can be chosen by a function.
func (r *Request) ofFunctions() bool {
	return r.rows != nil && r.ofCode || r.ofFragment() || r.has("function_id") && r.Name != "call-tree"
}

// showsAliases reports whether the report has names of functions that are chosen when it is
// printed.
func (r *Request) showsAliases() bool {
	return r.has("function_id") || r.has("other_id") || r.has("functions") || r.has("stack_id")
}

// refused returns the error of an option that the report does not heed.
func (r *Request) refused() error {
	for _, o := range options {
		if o.given(r) && !o.heeds(r) {
			return fmt.Errorf("--%s: %s does not heed it (%s)", o.name, r.Name, o.heeding())
		}
	}
	return nil
}

// heeding names the reports that heed an option, or those that do not if these are fewer.
func (o *option) heeding() string {
	var do, not []string
	for _, report := range Reports {
		if o.heeds(&Request{Report: report}) {
			do = append(do, report.Name)
		} else {
			not = append(not, report.Name)
		}
	}
	if len(not) < len(do) {
		return "all reports do but " + strings.Join(not, ", ")
	}
	return strings.Join(do, ", ") + " do"
}

// HeedsSources reports whether the report shows source text that the store may lack.
func (r Report) HeedsSources() bool { return r.withText }
