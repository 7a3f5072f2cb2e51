package compare

import (
	"fmt"
	"slices"

	"stackmill/queries"
)

// Subjects are the kinds of rows that can be compared.
var Subjects = []string{"function", "line", "load-object", "data-object", "path"}

// subject is one kind of rows.
type subject struct {
	title string
	names []string // columns that name a row
	// values returns SQL that follows the CTE `runs`. It has a row for each item: its identity
	// (NULL for <Total>), its names, its id, a list of the numbers of the runs that have it, and a
	// list of its values in these runs.
	values func(c *comparison) string
	match  func(c *comparison) error // merges items that are the same
	data   bool                      // whether it applies to metrics of data objects only
	reads  []string                  // tables and views that it reads, besides the ones that all subjects read
}

var subjects map[string]*subject

func init() { // not in the declaration, since readPaths refers to it
	subjects = map[string]*subject{
		"function":    {title: "Functions", names: []string{"function", "load_object", "module", "kind"}, values: functionValues, match: (*comparison).matchFunctions, reads: []string{"functions", "instructions"}},
		"line":        {title: "Lines", names: []string{"file", "line"}, values: lineValues, match: (*comparison).matchLines, reads: []string{"source_values", "source_files", "source_lines", "modules"}},
		"load-object": {title: "Load objects", names: []string{"load_object", "path"}, values: objectValues, match: (*comparison).matchObjects},
		"data-object": {title: "Data objects", names: []string{"descriptor", "scope", "kind"}, values: dataValues, match: (*comparison).matchData, data: true, reads: []string{"data_object_metrics", "data_objects", "modules"}},
		"path":        {title: "Paths", names: []string{"path", "load_object"}, reads: []string{"functions", "instructions", "call_nodes", "tree_values"}},
	}
}

// item is a function, line, load object, data object or path, with its values in all runs.
type item struct {
	names   []string
	values  []float64 // by run; 0 where it is missing
	matched string    // how the two sides' items were matched

	ambiguous bool // it has candidates on the other side, none of them certain

	in    presence      // which sides have it
	last  [2]occurrence // of each side: the item in the last run that has it
	into  *item         // the item into which it was merged
	other *item         // the test's part, if it was split off
}

// occurrence is where an item occurs in the last run of a side that has the item.
type occurrence struct {
	names    []string
	run      int
	function int64 // functions.function_id, or the text of a line's file
}

// presence is a set of sides.
type presence uint8

const (
	inBase presence = 1 + iota
	inTest
	both
)

// merge merges another item into this one: their values are added up.
func (it *item) merge(other *item, how string) {
	for n, v := range other.values {
		it.values[n] += v
	}
	it.in, it.matched, other.into = it.in|other.in, how, it
	for side, s := range other.last {
		if it.last[side].names == nil {
			it.last[side] = s
		}
	}
}

func functionValues(c *comparison) string {
	return fmt.Sprintf(` SELECT CASE WHEN "function" = '<Total>' AND kind = 'artificial' THEN NULL ELSE function_key END AS identity, "function", load_object, module, kind,
		arg_max(function_id, n) AS function_id, list(n) AS ns, list(%s) AS vs
		FROM function_rollup JOIN runs USING (experiment_id)
		WHERE metric = %s AND in_%s GROUP BY ALL`, c.column(), queries.Quote(c.Metric), c.Mode)
}

// column is the name of the compared column: exclusive or inclusive values.
func (c *comparison) column() string {
	if c.Inclusive {
		return "inclusive"
	}
	return "exclusive"
}

// read reads all values; <Total> becomes the first item.
func (c *comparison) read() error {
	s := subjects[c.By]
	if s.values == nil {
		if err := c.readPaths(); err != nil {
			return err
		}
	} else if err := c.readRows(s); err != nil {
		return err
	} else if err := s.match(c); err != nil {
		return err
	}
	return c.normalize(c.items[0].values)
}

func (c *comparison) readRows(s *subject) error {
	rows, err := c.db.QueryContext(c.ctx, "WITH "+c.runTable()+s.values(c))
	if err != nil {
		return err
	}
	defer rows.Close()
	total := &item{names: make([]string, len(s.names)), values: make([]float64, len(c.runs))}
	total.names[0] = "<Total>"
	c.items, c.known = []*item{total}, map[any]*item{}
	var identity, id, ns, vs any
	names := make([]string, len(s.names))
	targets := []any{&identity}
	for i := range names {
		targets = append(targets, &names[i])
	}
	targets = append(targets, &id, &ns, &vs)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		it := c.known[identity]
		switch {
		case identity == nil:
			it = total
		case it == nil:
			it = &item{values: make([]float64, len(c.runs))}
			c.known[identity] = it
			c.items = append(c.items, it)
		}
		if list, some := ns.([]any); some { // NULL if no run has <Total>
			c.add(it, names, id, list, vs.([]any))
		}
	}
	slices.SortStableFunc(c.items[1:], func(a, b *item) int { return slices.Compare(a.names, b.names) })
	return rows.Err()
}

// add adds the values of a row to an item. The item takes the names that it has in the last run,
// since names may differ between builds.
func (c *comparison) add(it *item, names []string, id any, ns, vs []any) {
	for i, n := range ns {
		run := int(n.(int32))
		if v, ok := vs[i].(int64); ok {
			it.values[run] += float64(v)
		}
		side := c.side(int64(run))
		it.in |= inBase << side
		if s := &it.last[side]; s.names == nil || run >= s.run {
			number, _ := id.(int64)
			*s = occurrence{slices.Clone(names), run, number}
		}
	}
	if it.names = it.last[1].names; it.names == nil {
		it.names = it.last[0].names
	}
}

// normalize divides each run's values by its unit.
func (c *comparison) normalize(totals []float64) error {
	for n := range c.runs {
		switch c.runs[n].unit = 1; c.Normalize {
		case "total":
			c.runs[n].unit = totals[n]
		case "run":
			if c.runs[n].unit = c.runs[n].seconds; c.runs[n].unit == 0 {
				return fmt.Errorf("--normalise run: the duration of %s is unknown", c.name(n))
			}
		}
	}
	for _, it := range c.items {
		for n, v := range it.values {
			if v != 0 {
				it.values[n] = v / c.runs[n].unit
			}
		}
	}
	return nil
}

// Reads returns the tables and views that a comparison reads.
func (r *Request) Reads() []string {
	return append([]string{"experiments", "metrics", "stack_values", "object_values", "load_objects", "function_rollup"}, subjects[r.By].reads...)
}

// Title is the title of the rows, for people.
func (r *Result) Title() string { return subjects[r.By].title }

// Columns returns the columns that name a row.
func (r *Result) Columns() []string { return subjects[r.By].names }
