package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/internal/cachekey"
	"stackmill/queries"
)

// isStatic reports whether an item is code without a symbol. Its name is an address, which differs
// between builds.
func isStatic(it *item) bool { return it.names[3] == "static" }

// sameName is a key of functions with one name and load object.
func sameName(object func(*item) string) func(*item) string {
	return func(it *item) string {
		if isStatic(it) {
			return cachekey.Of(object(it))
		}
		return cachekey.Of(object(it), it.names[0])
	}
}

// withSymbol makes a key of functions unique for code without a symbol, so that it is never paired.
func withSymbol(key func(*item) string) func(*item) string {
	return func(it *item) string {
		if isStatic(it) {
			return fmt.Sprintf("%p", it)
		}
		return key(it)
	}
}

// closest returns the candidate whose path has the longest common suffix with an item's; nil if
// several have.
func closest(it *item, candidates []*item, path func(*item) string) *item {
	return nearest(candidates, func(other *item) int {
		if other.into != nil || other.in == both {
			return 0
		}
		return commonEnd(path(it), path(other))
	})
}

// nearest returns the candidate with the longest common suffix, of at least the file's name and one
// directory. It returns the zero value if several have the longest.
func nearest[T any](candidates []T, suffix func(T) int) (best T) {
	var none T
	most := 1
	for _, other := range candidates {
		switch n := suffix(other); {
		case n < most:
		case n == most:
			best = none
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

// pairRest pairs functions of one name if one is left on each side. Several are ambiguous.
func (c *comparison) pairRest(object func(*item) string) {
	c.pairSingle(withSymbol(sameName(object)), differences)
	c.markAmbiguous(sameName(object), "function")
}

// nameApart names functions of the same name, load object and module by the distinguishing end of
// their load object's path.
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
				at := it.latest()
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

// Labels returns labels for rows of functions with the same name and load object: the name with the
// distinguishing end of the module's path. Other rows have none.
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
