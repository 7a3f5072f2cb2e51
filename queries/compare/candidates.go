package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/internal/cachekey"
	"stackmill/queries"
)

// isStatic reports whether a function is code without a symbol, whose name is an address. That
// differs between builds.
func isStatic(it *item) bool { return it.names[3] == "static" }

// sameName returns a function that returns a key of a function's name and load object.
func sameName(object func(*item) string) func(*item) string {
	return func(it *item) string {
		if isStatic(it) {
			return cachekey.Of(object(it))
		}
		return cachekey.Of(object(it), it.names[0])
	}
}

// withSymbol changes a key so that it is unique for code without a symbol, which is then never
// paired.
func withSymbol(key func(*item) string) func(*item) string {
	return func(it *item) string {
		if isStatic(it) {
			return fmt.Sprintf("%p", it)
		}
		return key(it)
	}
}

// closest returns the candidate whose path has the longest common suffix with the item's path; nil
// if there are several.
func closest(it *item, candidates []*item, path func(*item) string) *item {
	return nearest(candidates, func(other *item) int {
		if other.into != nil || other.in == both {
			return 0
		}
		return commonEnd(path(it), path(other))
	})
}

// nearest returns the candidate for which suffix is largest. It returns the zero value if several
// have that length, or if it is below 2: the file's name and one directory.
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

// commonEnd returns how many elements, counted from the end, two paths have in common.
func commonEnd(a, b string) (n int) {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// pairRest pairs functions of the same name and load object if exactly one is left on each side. It
// marks the other functions that have candidates as ambiguous.
func (c *comparison) pairRest(object func(*item) string) {
	c.pairSingle(withSymbol(sameName(object)), differences)
	c.markAmbiguous(sameName(object), "function")
}

// nameApart distinguishes functions with the same name, load object and module: in place of the
// load object's name, it shows the end of its path that distinguishes it.
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

// Labels returns labels for rows of functions that have the same name and load object: the name and
// the end of the module's path that distinguishes it. Other rows get "".
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

// shortest is the minimum number of instructions for a function to be recognized by its code.
const shortest = 5

// bodies is SQL that hashes the instructions of functions. It leaves out addresses, which differ
// between builds.
const bodies = `SELECT i.experiment_id, i.function_id, any_value(f.address) AS address,
  (hash(string_agg(CASE
    WHEN i.target_name <> '' THEN regexp_extract(i.text, '^\S+') || ' ' || split_part(i.target_name, '+', 1)
    WHEN i.target IS NOT NULL THEN regexp_extract(i.text, '^\S+') || ' ' || (i.target - f."offset")
    ELSE regexp_replace(i.text, '-?0x[0-9a-f]+\(%%rip\)|# .*', '', 'g') END, chr(10) ORDER BY i."offset")) >> 1)::BIGINT AS body
FROM instructions_wide i JOIN functions f USING (experiment_id, function_id)
WHERE (i.experiment_id, i.function_id) IN (VALUES %s)
GROUP BY ALL HAVING count(*) >= %d AND sum(i.size) >= any_value(f.size) - 16`

// haveOneName reports whether two of the functions have the same name.
func haveOneName(items []*item) bool {
	names := map[string]bool{}
	for _, it := range items {
		names[it.names[0]] = true
	}
	return len(names) < len(items)
}

// pairBodies pairs functions with equal code, out of those for which some returns true. If several
// have the same code, it pairs them by the order of their addresses, but only if both sides have
// equally many, and all on a side have different names.
func (c *comparison) pairBodies(object func(*item) string, some func(*item) bool) error {
	var wanted []string
	of := map[string]*item{}
	sides := presence(0)
	for _, it := range c.items[1:] {
		if it.in == both || it.into != nil || !some(it) {
			continue
		}
		sides |= it.in
		at := it.last[it.in-1]
		id := c.experiment(at.run)
		of[fmt.Sprint(id, at.function)] = it
		wanted = append(wanted, fmt.Sprintf("(%s, %d)", queries.Quote(id), at.function))
	}
	if sides != both {
		return nil
	}
	found, err := c.db.Records(c.ctx, fmt.Sprintf(bodies, strings.Join(wanted, ", "), shortest))
	if err != nil {
		return err
	}
	slices.SortFunc(found, func(a, b queries.Record) int { return cmp.Compare(a.Number("address"), b.Number("address")) })
	code := map[*item]int64{}
	var order []*item
	for _, r := range found {
		it := of[fmt.Sprint(r.Text("experiment_id"), r.Number("function_id"))]
		code[it] = r.Number("body")
		order = append(order, it)
	}
	for _, g := range c.leftOver(func(it *item) string {
		if code[it] == 0 {
			return fmt.Sprintf("%p", it)
		}
		return fmt.Sprint(object(it), code[it])
	}) {
		if len(g[0]) != len(g[1]) || haveOneName(g[0]) || haveOneName(g[1]) {
			continue
		}
		for _, side := range g {
			slices.SortFunc(side, func(a, b *item) int { return slices.Index(order, a) - slices.Index(order, b) })
		}
		for i, it := range g[1] {
			it.merge(g[0][i], "code, "+differences(g[0][i], it))
		}
	}
	return nil
}
