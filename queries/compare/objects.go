package compare

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/internal/cachekey"
	"stackmill/queries"
)

// totals is SQL for the row of <Total>, which comes first; names is the number of name columns.
func (c *comparison) totals(names int) string {
	return fmt.Sprintf(`SELECT NULL AS identity, '<Total>'%s, NULL AS function_id, list(n) AS ns, list(exclusive) AS vs
		FROM function_rollup JOIN runs USING (experiment_id)
		WHERE metric = %s AND in_%s AND "function" = '<Total>' AND kind = 'artificial'`, strings.Repeat(", ''", names-1), queries.Quote(c.Metric), c.Mode)
}

// objectValues is SQL for the values of load objects. They are named by the end of their path that
// distinguishes them.
func objectValues(c *comparison) string {
	return fmt.Sprintf(`, found AS MATERIALIZED (SELECT experiment_id, n, load_object_id, %s AS v FROM object_values JOIN runs USING (experiment_id) WHERE metric = %s AND in_%s)
		%s UNION ALL
		SELECT %s AS identity, any_value(o.name), arg_max(o.path, f.n), NULL, list(f.n), list(f.v)
		FROM found f JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id GROUP BY identity`,
		c.column(), queries.Quote(c.Metric), c.Mode, c.totals(2), queries.ObjectPath)
}

// matchObjects merges versions of a library, the programs of both sides, and load objects of the
// same name whose paths have the longest common suffix.
func (c *comparison) matchObjects() error {
	c.matchSame("name")
	path := func(it *item) string { return it.names[1] }
	name := func(it *item) string { return it.names[0] }
	byPath := func(base, _ *item) string { return "path (" + path(base) + ")" }
	c.pairEnds(name, path, byPath)
	c.pairSingle(c.objects(0), func(base, test *item) string {
		if name(base) == name(test) {
			return byPath(base, test)
		}
		return "version (" + name(base) + ")"
	})
	c.markAmbiguous(name, "load object")
	c.items = slices.DeleteFunc(c.items, func(it *item) bool { return it.into != nil })
	return nil
}

// dataValues is SQL for the values of data objects. They are identified by their descriptor and a
// scope that is the same in every build: the short path of the compilation unit, or the
// distinguishing end of the load object's path. A member's descriptor begins with the descriptor of
// its aggregate.
func dataValues(c *comparison) string {
	program := c.onlyPrograms()
	return fmt.Sprintf(`, found AS MATERIALIZED (
			SELECT v.n, v.data_object_id, v.value, d.descriptor, d.kind, d.scope, d.scope_kind, v.experiment_id, d.load_object_id
			FROM (SELECT experiment_id, n, data_object_id, value FROM data_object_metrics JOIN runs USING (experiment_id) WHERE metric = %s AND mode = %s) v
			JOIN data_objects d ON d.experiment_id = v.experiment_id AND d.data_object_id = v.data_object_id),
		placed AS (SELECT f.*, CASE WHEN o.name IN (%s) THEN '<program>' ELSE %s END AS object
			FROM found f LEFT JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id),
		units AS (SELECT experiment_id, load_object_id, name, any_value(short_path) AS short_path FROM modules JOIN runs USING (experiment_id) GROUP BY ALL)
		SELECT CASE WHEN kind <> 'total' THEN concat_ws(chr(10), kind, descriptor, scope_kind, object,
			CASE scope_kind WHEN 'load object' THEN '' ELSE COALESCE(NULLIF(u.short_path, ''), scope) END) END AS identity,
		descriptor, arg_max(scope, n) AS scope, kind, NULL AS function_id, list(n) AS ns, list(value) AS vs
		FROM placed p LEFT JOIN units u ON p.scope_kind = 'compilation unit' AND u.experiment_id = p.experiment_id AND u.load_object_id = p.load_object_id AND u.name = p.scope
		GROUP BY identity, descriptor, kind`, queries.Quote(c.Metric), queries.Quote(c.Mode), program, queries.ObjectPath)
}

// onlyPrograms is SQL for the names of the programs of base and test; NULL if a side has several.
func (c *comparison) onlyPrograms() string {
	base, test := c.programNames()
	if base == "" || test == "" {
		return "NULL"
	}
	return queries.Quote(base) + ", " + queries.Quote(test)
}

// matchData merges data objects with the same descriptor, if the paths of their scopes have the
// longest common suffix, or if each is the only one on its side whose scope has that base name.
func (c *comparison) matchData() error {
	c.matchSame("descriptor")
	scope := func(it *item) string { return it.names[1] }
	described := func(it *item) string { return cachekey.Of(it.names[2], it.names[0]) }
	named := func(it *item) string { return cachekey.Of(described(it), lastPart(scope(it))) }
	byScope := func(base, _ *item) string { return "scope (" + scope(base) + ")" }
	c.pairEnds(named, scope, byScope)
	c.pairSingle(named, byScope)
	c.markAmbiguous(named, "data object")
	c.items = slices.DeleteFunc(c.items, func(it *item) bool { return it.into != nil })
	return nil
}

// pairEnds merges two items with the same key, one of each side, if each is the closest to the
// other by the common suffix of their paths (see nearest).
func (c *comparison) pairEnds(key, path func(*item) string, how func(base, test *item) string) {
	for _, g := range c.leftOver(key) {
		for _, test := range g[1] {
			base := closest(test, g[0], path)
			if base != nil && closest(base, g[1], path) == test {
				test.merge(base, how(base, test))
			}
		}
	}
}

// markAmbiguous marks items that were not matched although the other side has items with the same
// key. If that is one item, it has several candidates itself, or the items have no names.
func (c *comparison) markAmbiguous(key func(*item) string, what string) {
	ambiguous := 0
	for _, g := range c.leftOver(key) {
		for side, items := range g {
			others := len(g[1-side])
			for _, it := range items {
				switch {
				case others == 0:
					continue
				case others == 1:
					it.matched = "one candidate, which is not certain"
				default:
					it.matched = fmt.Sprintf("one of %d candidates", others)
				}
				it.ambiguous = true
				ambiguous++
			}
		}
	}
	if ambiguous > 0 {
		c.warn("ambiguous: %s with candidates on the other side, none of them certain, so neither matched nor judged", queries.Count(ambiguous, what))
	}
}

// matchSame records, for the items that both sides have, that they were matched by `how`.
func (c *comparison) matchSame(how string) {
	for _, it := range c.items[1:] {
		if it.in == both {
			it.matched = how
		}
	}
}
