package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/internal/cachekey"
	"stackmill/queries"
)

// isStatic reports whether an item is code that no symbol covers. Its name is an address, which
// says nothing about other builds.
func isStatic(it *item) bool { return it.names[3] == "static" }

// sameName is a key of functions of one name in the load object.
func sameName(object func(*item) string) func(*item) string {
	return func(it *item) string {
		if isStatic(it) {
			return cachekey.Of(object(it))
		}
		return cachekey.Of(object(it), it.names[0])
	}
}

// pairPaths makes one item of two functions of one name whose modules' paths have more
// directories in common than those of all other candidates.
func (c *comparison) pairPaths(key func(*item) string) {
	for _, g := range c.leftOver(key) {
		for _, test := range g[1] {
			base := closest(test, g[0], modulePath)
			if base != nil && !isStatic(test) && closest(base, g[1], modulePath) == test {
				test.take(base, "path, "+differences(base.names, test.names))
			}
		}
	}
}

func modulePath(it *item) string { return it.names[2] }

// closest returns the candidate whose path has most in common with an item's, at
// its end: the file's name and at least one directory. It returns nil if several have as much.
func closest(it *item, candidates []*item, path func(*item) string) (best *item) {
	most := 1
	for _, other := range candidates {
		n := commonEnd(path(it), path(other))
		switch {
		case other.into != nil || other.in == both || n < most:
		case n == most:
			best = nil
		default:
			best, most = other, n
		}
	}
	return best
}

// commonEnd returns how many elements two paths have in common at their ends.
func commonEnd(a, b string) (n int) {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// settleRest looks at the functions that still have no partner although the other side has
// functions of their name. Where one is left on each side, these are partners. Several cannot
// be told apart.
func (c *comparison) settleRest(object func(*item) string) {
	for _, g := range c.leftOver(sameName(object)) {
		if len(g[0]) == 1 && len(g[1]) == 1 && !isStatic(g[0][0]) {
			g[1][0].take(g[0][0], differences(g[0][0].names, g[1][0].names))
		}
	}
	c.settle(sameName(object), "functions")
}

// nameApart gives functions of one name, load object and module the end of their load object's
// path that distinguishes them from each other.
func (c *comparison) nameApart() error {
	groups := map[string][]*item{}
	for _, it := range c.items[1:] {
		k := cachekey.Of(it.names[:3])
		groups[k] = append(groups[k], it)
	}
	wanted := map[string][]*item{}
	for _, g := range groups {
		for _, it := range g {
			if len(g) > 1 {
				side := 0
				if it.in&inTest != 0 {
					side = 1
				}
				at := it.last[side]
				k := fmt.Sprintf("(%s, %d)", queries.Quote(c.experiment(at.run)), at.function)
				wanted[k] = append(wanted[k], it)
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	records, err := c.db.Records(c.ctx, `SELECT f.experiment_id, f.function_id, o.short_path FROM functions f JOIN load_objects o USING (experiment_id, load_object_id)
		WHERE (f.experiment_id, f.function_id) IN (VALUES `+strings.Join(slices.Sorted(maps.Keys(wanted)), ", ")+`)`)
	if err != nil {
		return err
	}
	for _, r := range records {
		for _, it := range wanted[fmt.Sprintf("(%s, %d)", queries.Quote(r.Text("experiment_id")), r.Number("function_id"))] {
			it.names = slices.Clone(it.names)
			it.names[1] = r.Text("short_path")
		}
	}
	return nil
}

// Labels returns the names for people of rows of functions that have one name and load object:
// with the ends of their modules' paths that distinguish them. Others have no label.
func Labels(by string, rows []Row) []string {
	labels, groups := make([]string, len(rows)), map[[2]string][]int{}
	for i := range rows {
		if by == "function" {
			k := [2]string{rows[i].Names[0], rows[i].Names[1]}
			groups[k] = append(groups[k], i)
		}
	}
	for k, g := range groups {
		for _, i := range g {
			module, n := rows[i].Names[2], 0
			for _, other := range g {
				if path := rows[other].Names[2]; path != module {
					n = max(n, commonEnd(module, path)+1)
				}
			}
			if elements := strings.Split(module, "/"); n > 0 {
				labels[i] = k[0] + " (" + strings.Join(elements[max(0, len(elements)-n):], "/") + ")"
			}
		}
	}
	return labels
}
