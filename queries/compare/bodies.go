package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// shortest is the minimum number of instructions by which a function can be recognized.
const shortest = 5

// bodies is SQL of functions with a hash of their instructions, without the addresses that differ
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

// pairBodies merges functions with equal code, among those for which some returns true. If both
// sides have equally many functions with the same code, it pairs them in the order of their
// addresses, unless some have the same name.
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
