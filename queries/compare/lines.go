package compare

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"stackmill/queries"
)

// lineValues is SQL for the values of source lines. An item is a line in one text of its file: if
// builds have different texts of a file, their lines are different items until matchLines merges
// them.
func lineValues(c *comparison) string {
	return fmt.Sprintf(`, texts AS MATERIALIZED (%s),
		found AS MATERIALIZED (SELECT experiment_id, n, file, line, %s AS v FROM source_values JOIN runs USING (experiment_id) WHERE metric = %s AND in_%s)
		%s UNION ALL
		SELECT concat_ws(chr(10), f.file, f.line, COALESCE(t.content, 0)), f.file, f.line::VARCHAR, COALESCE(any_value(t.content), 0), list(f.n), list(f.v)
		FROM found f LEFT JOIN texts t ON t.experiment_id = f.experiment_id AND t.n = f.n AND t.file = f.file GROUP BY f.file, f.line, COALESCE(t.content, 0)`,
		fileTexts, c.column(), queries.Quote(c.Metric), c.Mode, c.totals(2))
}

// fileTexts is SQL for the source files of the runs, with the hash of each file's text.
const fileTexts = `SELECT experiment_id, n, file, listed_in, listing, max(content) OVER (PARTITION BY listed_in, listing) AS content
	FROM source_files JOIN runs USING (experiment_id)`

// matchLines maps lines of all texts of a file to the text of the last run. If the store lacks a
// text, it matches lines by number.
func (c *comparison) matchLines() error {
	c.matchSame("number")
	files := map[string][]*item{}
	for _, it := range c.items[1:] {
		files[it.names[0]] = append(files[it.names[0]], it)
	}
	moved, err := c.movedFiles(files)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		items := files[file]
		if old := moved[file]; old != "" {
			items = append(items, files[old]...)
		}
		if err := c.matchFile(items); err != nil {
			return err
		}
	}
	c.items = slices.DeleteFunc(c.items, func(it *item) bool { return it.into != nil })
	if n := c.byNumber(); n > 0 {
		c.warn("lines of %s are compared by number: the store does not have their text", queries.Count(n, "file"))
	}
	for _, it := range c.items[1:] {
		if it.names[0] == "" {
			it.names = []string{"(no line numbers)", ""}
		}
	}
	return nil
}

// byNumber returns the number of files whose lines were matched by number only.
func (c *comparison) byNumber() int {
	files := map[string]bool{}
	for _, it := range c.items[1:] {
		if it.matched == "number" && it.names[0] != "" {
			files[it.names[0]] = true
		}
	}
	return len(files)
}

// matchFile merges the items that are the same line in different texts of a file.
func (c *comparison) matchFile(items []*item) error {
	slices.SortStableFunc(items, func(a, b *item) int { return b.latest().run - a.latest().run })
	reference := items[0].text() // the text of the file in the last run
	lines := map[string]*item{}
	for _, it := range items {
		if it.text() == reference {
			if it.in == both && reference != 0 {
				it.matched = "text"
			}
			if lines[it.names[1]] == nil {
				lines[it.names[1]] = it
			}
		}
	}
	aligned := map[int64][]int{}
	for _, it := range items {
		text := it.text()
		if text == reference && lines[it.names[1]] == it {
			continue
		}
		if _, known := aligned[text]; !known && text != 0 && reference != 0 {
			a, err := c.text(text)
			if err != nil {
				return err
			}
			b, err := c.text(reference)
			if err != nil {
				return err
			}
			aligned[text] = align(a, b)
		}
		c.mapLine(it, aligned[text], lines)
	}
	return nil
}

// mapLine merges a line into the line of the reference text that it is aligned to.
func (c *comparison) mapLine(it *item, aligned []int, lines map[string]*item) {
	number, how := it.names[1], "number"
	if aligned != nil {
		line, err := strconv.Atoi(number)
		if err != nil || line < 1 || line > len(aligned) || aligned[line-1] < 0 {
			return
		}
		number, how = strconv.Itoa(aligned[line-1]+1), "text (line "+number+")"
	}
	if at := lines[number]; at != nil {
		at.merge(it, how)
		return
	}
	// The reference text has the line, but no run with that text has a value there.
	it.names = []string{it.names[0], number}
	lines[number] = it
	if aligned != nil {
		it.matched = how
	}
}

// latest returns the item's occurrence in the last run of the test or, if the test lacks it, of the
// base.
func (it *item) latest() occurrence {
	if it.in&inTest != 0 {
		return it.last[1]
	}
	return it.last[0]
}

// text returns the hash of the text that a line belongs to.
func (it *item) text() int64 { return it.latest().function }
