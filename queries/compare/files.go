package compare

import (
	"maps"
	"slices"
	"strings"
)

// A renamed file must share more than the fraction alike of its lines with the old one. If more
// than manyFiles files are left, their texts are not compared.
const (
	alike     = 0.5
	manyFiles = 50
)

// movedFiles finds files that have another path in the test. It returns the path in the base by the
// path in the test. It first pairs files whose paths have the longest common suffix, then files
// whose base name is unique on both sides, then files that share most lines. It never pairs files
// of compilation units with different short paths (a/util.c and b/util.c).
func (c *comparison) movedFiles(files map[string][]*item) (map[string]string, error) {
	var alone [2][]string // files of one side only
	for _, file := range slices.Sorted(maps.Keys(files)) {
		in := presence(0)
		for _, it := range files[file] {
			in |= it.in
		}
		if in != both {
			alone[in-1] = append(alone[in-1], file)
		}
	}
	moved, taken := map[string]string{}, map[string]bool{}
	units, err := c.unitPaths()
	if err != nil {
		return nil, err
	}
	left := func(side int) []string {
		return slices.DeleteFunc(slices.Clone(alone[side]), func(f string) bool { return taken[f] || moved[f] != "" })
	}
	for _, test := range alone[1] {
		base := closestFile(test, left(0), units)
		if base != "" && closestFile(base, left(1), units) == test {
			moved[test], taken[base] = base, true
		}
	}
	for _, test := range left(1) {
		same := func(file string) bool { return lastPart(file) == lastPart(test) }
		if base := only(left(0), same); base != "" && only(left(1), same) != "" && !apart(units[base], units[test]) {
			moved[test], taken[base] = base, true
		}
	}
	return moved, c.renamedFiles(files, moved, left(0), left(1))
}

// unitPaths returns the short path of each compilation unit, by its recorded path.
func (c *comparison) unitPaths() (map[string]string, error) {
	records, err := c.db.Records(c.ctx, "WITH "+c.runTable()+` SELECT m.name, arg_max(m.short_path, r.n) AS short_path FROM modules m JOIN runs r USING (experiment_id) GROUP BY m.name`)
	if err != nil {
		return nil, err
	}
	units := map[string]string{}
	for _, r := range records {
		units[r.Text("name")] = r.Text("short_path")
	}
	return units, nil
}

// apart reports whether two short paths of units certainly belong to different files: both are
// known, and neither is the end of the other.
func apart(a, b string) bool {
	n := commonEnd(a, b)
	return a != "" && b != "" && n <= strings.Count(a, "/") && n <= strings.Count(b, "/")
}

// closestFile returns the candidate whose path has the longest common suffix with the file's path;
// empty if there are several.
func closestFile(file string, candidates []string, units map[string]string) string {
	return nearest(candidates, func(other string) int {
		if apart(units[file], units[other]) {
			return 0
		}
		return commonEnd(file, other)
	})
}

// only returns the only text that fulfills a condition; empty if there are none or several.
func only(texts []string, fulfills func(string) bool) (found string) {
	for _, t := range texts {
		if fulfills(t) {
			if found != "" {
				return ""
			}
			found = t
		}
	}
	return found
}

// renamedFiles pairs files with different names whose texts share most lines.
func (c *comparison) renamedFiles(files map[string][]*item, moved map[string]string, base, test []string) error {
	if len(base) == 0 || len(test) == 0 || len(base)+len(test) > manyFiles {
		return nil
	}
	lines := map[string]map[string]bool{}
	for _, file := range slices.Concat(base, test) {
		content := files[file][0].text()
		if content == 0 {
			continue
		}
		text, err := c.text(content)
		if err != nil {
			return err
		}
		lines[file] = map[string]bool{}
		for _, line := range text {
			lines[file][line] = true
		}
	}
	for _, t := range test {
		best, most := "", alike
		for _, b := range base {
			if share := shared(lines[b], lines[t]); share > most {
				best, most = b, share
			}
		}
		if best != "" {
			moved[t] = best
			base = slices.DeleteFunc(base, func(b string) bool { return b == best })
		}
	}
	return nil
}

// shared is the fraction of all lines of two texts that both have. The texts are sets of lines.
func shared(a, b map[string]bool) float64 {
	n := 0
	for line := range a {
		if b[line] {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(a)+len(b)-n)
}

// text returns the lines of the text with a hash.
func (c *comparison) text(content int64) ([]string, error) {
	records, err := c.db.Records(c.ctx, "WITH "+c.runTable()+`, one AS MATERIALIZED (SELECT experiment_id, file FROM (`+fileTexts+`) WHERE content = ? LIMIT 1)
		SELECT l.line, l.text FROM source_lines_wide l JOIN one o ON o.experiment_id = l.experiment_id AND o.file = l.file ORDER BY l.line`, content)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, r := range records {
		for int(r.Number("line")) > len(lines)+1 { // the store has only the lines around values
			lines = append(lines, "")
		}
		lines = append(lines, r.Text("text"))
	}
	return lines, nil
}
