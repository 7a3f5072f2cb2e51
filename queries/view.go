// Package queries holds the SQL views of a store, one .sql file each, and the code that opens a
// store, builds its catalog and checks it.
//
// Start reading with OpenWith (store.go), which opens a store. Views lists the views, and Check
// (check.go) verifies a store.
package queries

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"stackmill/internal/lazyregexp"
	"stackmill/schema"
)

// View is a view, as the header of its .sql file describes it. A view with parameters is a table
// macro.
type View struct {
	Name       string
	Row        string // describes a row
	Rules      []string
	Like       string // the view from which it inherits columns and, without a query of its own, the query
	Parameters []Column
	Columns    []Column
	Invariants []Invariant
	SQL        string // the query
}

// Column is a column or parameter of a view.
type Column struct {
	Name   string
	Type   string // in DuckDB
	Unit   string // ns, bytes, count, "the metric's", or empty
	Doc    string
	Source string // `table.column` if it comes from the schema
	// Default is the default of an optional parameter, as SQL.
	Default string
}

// Invariant is a query that must return no rows.
type Invariant struct {
	Name, Doc, SQL string
}

//go:embed *.sql
var files embed.FS

// order lists the views, each after the views that it reads.
var order = []string{
	"labels", "marks", "series", "default_metrics", "modes", "location_levels", "node_depths", "mode_nodes", "node_modes", "node_values",
	"mode_leaves", "node_stacks", "mode_stacks", "stack_leaves", "leaf_values", "raw_stacks", "raw_frames", "stacks", "frames", "passing", "stack_metrics", "sample_metrics",
	"function_metrics", "function_trends", "function_totals", "callers_callees", "fragment_callers_callees", "call_paths", "node_paths", "tree_calls", "uneven_nodes", "call_tree", "stack_nodes", "folded", "line_metrics", "pc_metrics", "source", "source_inlined", "disasm",
	"load_object_metrics", "module_metrics", "thread_metrics", "thread_name_metrics", "cgroup_metrics", "cpu_metrics", "process_metrics",
	"timeline", "timeline_by", "cpu_timeline", "cpu_timeline_by", "second_metrics", "interval_metrics", "sample_point_metrics", "metric_totals", "nights",
	"headers", "object_list", "sample_points", "process_statistics", "function_details", "sync_objects",
	"sched_threads", "runqueue", "parallelism", "waits", "wait_stacks", "wakers", "event", "event_list", "event_samples", "counters", "event_counts",
	"syscall_names", "error_names", "leaf_functions", "tracepoint_samples", "event_gaps",
	"syscalls", "syscall_functions", "syscall_threads", "syscall_errors", "lock_waits", "lock_callers", "lock_threads", "locks",
	"block_requests", "block_io", "kernel_allocations", "kernel_memory", "interrupts", "interrupt_handlers",
	"size_ranges", "heap_calls", "heap_blocks", "heap_stacks", "heap_statistics", "heap_sizes",
	"byte_ranges", "size_metrics", "duration_ranges", "duration_metrics",
	"io_calls", "io_descriptors", "io_activity", "io_stacks", "io_statistics", "io_sizes",
	"data_object_metrics", "data_layout", "memory_objects", "memory_sources", "data_object_functions", "unattributed", "cut_stacks", "conservation",
	"inline_function_metrics", "inline_callers_callees", "inline_fragment_callers_callees", "inline_call_tree", "inline_folded", "inline_line_metrics", "inline_pc_metrics", "inline_source",
	"inline_heap_stacks", "inline_io_stacks",
	"index_metrics", "memory_metrics", "chosen", "top", "callers_of", "compare_functions", "passes", "flame",
}

// generated maps views to functions that return their queries, which are not written in .sql files.
var generated = map[string]func() string{
	"sample_metrics":  func() string { return sampleMetrics(func(schema.Kind, string) bool { return true }) },
	"default_metrics": func() string { return defaultMetrics("") },
	"syscall_names":   syscallNamesView, "error_names": errorNamesView,
	"event": func() string { return eventQuery(nil, noEvents) }, "heap_stacks": heapStacks.query, "io_stacks": ioStacks.query,
	"inline_heap_stacks": heapStacks.inlined, "inline_io_stacks": ioStacks.inlined, "size_metrics": sizes.query, "duration_metrics": durations.query,
}

// Views returns all views in an order in which they can be created.
func Views() ([]View, error) {
	views, err := parsed()
	return slices.Clone(views), err
}

// parsed returns the views. It parses their headers once, because that takes milliseconds.
var parsed = sync.OnceValues(func() ([]View, error) {
	views := make([]View, 0, len(order))
	for _, name := range order {
		text, err := files.ReadFile(name + ".sql")
		if err != nil {
			return nil, err
		}
		v, err := parse(name, string(text))
		if err != nil {
			return nil, err
		}
		if gen := generated[name]; gen != nil {
			v.SQL = gen()
		}
		if v.Like != "" {
			if err := v.inherit(views); err != nil {
				return nil, fmt.Errorf("%s.sql: %w", name, err)
			}
		}
		views = append(views, v)
	}
	return views, nil
})

// inMode matches a column that says whether a row of a value table belongs to a mode.
var inMode = lazyregexp.New(`\b[a-z]+\.in_(user|expert|machine)\b`)

// inherit copies the columns of the view Like. If the view has no query, it gets the query of that
// view, changed so that inlined functions are frames of their own (S10).
func (v *View) inherit(views []View) error {
	i := slices.IndexFunc(views, func(o View) bool { return o.Name == v.Like })
	if i < 0 {
		return fmt.Errorf("like: no view %s before it", v.Like)
	}
	v.Columns = views[i].Columns
	if v.SQL == "" {
		v.SQL = inMode().ReplaceAllString(views[i].SQL, "${0}_inlined")
	}
	return nil
}

// ColumnNames returns the names of the view's columns.
func (v View) ColumnNames() []string {
	return mapped(v.Columns, func(c Column) string { return c.Name })
}

// parse parses a .sql file: a header of comments, then the query. An item of the header begins one
// blank after the dashes; lines with more blanks continue it.
func parse(name, text string) (View, error) {
	v := View{Name: name}
	for line := 0; strings.HasPrefix(text, "--"); {
		var item string
		item, text = firstItem(text)
		line += 1 + strings.Count(item, "\n")
		if err := v.add(item); err != nil {
			return v, fmt.Errorf("%s.sql: line %d: %w", name, line, err)
		}
	}
	v.SQL = strings.TrimSpace(text)
	return v, nil
}

// firstItem splits the header's first item, without its dashes, from the rest of the text.
func firstItem(text string) (item, rest string) {
	const deeper = "\n--   "
	end := 0
	for {
		n := strings.IndexByte(text[end:], '\n')
		if n < 0 {
			end = len(text)
			break
		}
		if end += n; !strings.HasPrefix(text[end:], deeper) {
			break
		}
		end++
	}
	item, rest = text[len("--"):end], strings.TrimPrefix(text[end:], "\n")
	return strings.TrimSpace(strings.ReplaceAll(item, deeper, "\n")), rest
}

// add adds an item of the header to the view.
func (v *View) add(item string) error {
	if item == "" {
		return nil
	}
	head, doc, ok := strings.Cut(item, ":")
	words := strings.Fields(head)
	sentence := strings.Join(strings.Fields(doc), " ")
	switch {
	case len(words) == 3 && words[1] == "=":
		c, err := fromSchema(words[0], words[2], sentence)
		v.Columns = append(v.Columns, c)
		return err
	case !ok:
		return fmt.Errorf("%q has no colon", item)
	case head == "row":
		v.Row = sentence
	case head == "like":
		v.Like = sentence
	case head == "rules":
		v.Rules = strings.Split(sentence, ", ")
	case len(words) == 2 && words[0] == "invariant":
		first, sql, _ := strings.Cut(doc, "\n")
		v.Invariants = append(v.Invariants, Invariant{words[1], strings.TrimSpace(first), sql})
	case len(words) == 3 && words[0] == "parameter":
		v.Parameters = append(v.Parameters, column(words[1:], sentence))
	case len(words) == 5 && words[0] == "parameter" && words[3] == "=":
		c := column(words[1:3], sentence)
		c.Default = words[4]
		v.Parameters = append(v.Parameters, c)
	case len(words) == 2:
		v.Columns = append(v.Columns, column(words, sentence))
	default:
		return fmt.Errorf("%q: unknown kind of item (choose one of row, rules, like, NAME TYPE, parameter NAME TYPE, invariant NAME)", head)
	}
	return nil
}

// column returns the column for `NAME TYPE`. doc may start with the unit in brackets.
func column(words []string, doc string) Column {
	c := Column{Name: words[0], Type: strings.ReplaceAll(words[1], "_", " "), Doc: doc}
	if unit, rest, ok := strings.Cut(doc, "] "); ok && strings.HasPrefix(unit, "[") {
		c.Unit, c.Doc = unit[1:], rest
	}
	return c
}

// fromSchema returns a column like source (`table.column`), with the type and unit that the schema
// declares. If doc is empty, it also takes the description.
func fromSchema(name, source, doc string) (Column, error) {
	table, column, _ := strings.Cut(source, ".")
	t := schema.ByName(table)
	if t == nil {
		return Column{}, fmt.Errorf("column %s: no table %s", name, table)
	}
	for _, c := range slices.Concat(columnsOf(t.Columns), columnsOf(t.Owner()), computedOf(t.Committed), computedOf(t.Computed)) {
		if c.Name == column {
			c.Name, c.Doc, c.Source = name, cmp.Or(doc, c.Doc), source
			return c, nil
		}
	}
	return Column{}, fmt.Errorf("column %s: table %s has no column %s", name, table, column)
}

// Relation is a table, or its wide view, as SQL sees it.
type Relation struct {
	Name, Row string
	Wide      bool
	Columns   []Column
}

// Relations returns the tables, each followed by its wide view if it has one.
func Relations() (list []Relation) {
	for _, t := range schema.Tables {
		list = append(list, Relation{Name: t.Name, Row: t.Row, Columns: append(columnsOf(t.Columns), computedOf(t.Committed)...)})
		if name := t.Wide(); name != "" {
			list = append(list, Relation{name, fmt.Sprintf("%s, as in `%s`, with the identifiers and names that its numbers refer to", t.Row, t.Name), true,
				append(columnsOf(t.Shown()), computedOf(t.Computed)...)})
		}
	}
	return list
}

func columnsOf(columns []schema.Column) []Column {
	return mapped(columns, func(c schema.Column) Column {
		return Column{Name: c.Name, Type: c.Type.SQL(), Unit: c.Unit, Doc: c.Doc}
	})
}

func computedOf(columns []schema.DerivedColumn) []Column {
	return mapped(columns, func(c schema.DerivedColumn) Column { return Column{Name: c.Name, Type: c.Type.SQL(), Doc: c.Doc} })
}
