package compare

import (
	"fmt"
	"strings"

	"stackmill/queries"
)

// totals is SQL of the row of <Total>, of a subject with so many names.
func (c *comparison) totals(names int) string {
	return fmt.Sprintf(`SELECT NULL AS identity, '<Total>'%s, NULL AS function_id, list(n) AS ns, list(exclusive) AS vs
		FROM function_rollup JOIN runs USING (experiment_id)
		WHERE metric = %s AND modes & %d <> 0 AND "function" = '<Total>' AND kind = 'artificial'`, strings.Repeat(", ''", names-1), queries.Quote(c.Metric), modeBits[c.Mode])
}

// objectValues is SQL of load objects by their names.
func objectValues(c *comparison) string {
	return fmt.Sprintf(`, found AS MATERIALIZED (SELECT experiment_id, n, load_object_id, %s AS v FROM object_values JOIN runs USING (experiment_id) WHERE metric = %s AND modes & %d <> 0)
		%s UNION ALL
		SELECT o.name, o.name, arg_max(o.path, f.n), NULL, list(f.n), list(f.v)
		FROM found f JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id GROUP BY o.name`,
		c.column(), queries.Quote(c.Metric), modeBits[c.Mode], c.totals(2))
}

// matchObjects makes one item of two versions of a library, and of the two programs.
func (c *comparison) matchObjects() error {
	c.matchSame("name")
	object := c.objects(0)
	for _, g := range c.leftOver(object) {
		if len(g[0]) == 1 && len(g[1]) == 1 {
			g[1][0].take(g[0][0], "version ("+g[0][0].names[0]+")")
		}
	}
	return nil
}

// dataValues is SQL of data objects by their descriptors and scopes. Those of members begin
// with those of what they are in.
func dataValues(c *comparison) string {
	return fmt.Sprintf(` SELECT CASE WHEN kind <> 'total' THEN concat_ws(chr(10), kind, descriptor, regexp_extract(scope, '[^/]*$')) END AS identity,
		descriptor, arg_max(scope, n) AS scope, kind, NULL AS function_id, list(n) AS ns, list(value) AS vs
		FROM data_object_metrics JOIN runs USING (experiment_id)
		WHERE metric = %s AND mode = %s GROUP BY identity, descriptor, kind`, queries.Quote(c.Metric), queries.Quote(c.Mode))
}

// matchData names what has been one item from the start.
func (c *comparison) matchData() error {
	c.matchSame("descriptor")
	return nil
}

// matchSame says how items were matched that both sides have.
func (c *comparison) matchSame(how string) {
	for _, it := range c.items[1:] {
		if it.in == both {
			it.matched = how
		}
	}
}
