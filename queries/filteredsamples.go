package queries

import (
	"cmp"
	"fmt"
	"strings"

	"stackmill/schema"
)

// samples returns the statements that make the table of the samples that pass (`passed`).
func (fs *filteredSession) samples(c *predicate) (statements []string) {
	kept := []string{"experiment_id", "sample", "stack"}
	columns, joins := []string{"s.experiment_id", "s.sample", "s.stack"}, ""
	if fs.needs(schema.UsageValues) {
		kept = append(kept, "in_process", "in_thread", "named", "in_group", "on_cpu", "second")
		columns = append(columns, "s.process AS in_process", "s.thread_id AS in_thread", "s.name_no AS named", "s.cgroup AS in_group", "s.cpu AS on_cpu", "floor(s.time_ns / 1e9)::INTEGER AS second")
	}
	if c.uses("experiment", "host", "wall", "label", "during") {
		statements = append(statements, fs.create("of_experiments", fs.ofExperiments(c)))
		joins += "\nJOIN " + fs.table("of_experiments") + " e ON e.experiment_id = s.experiment_id"
	}
	for _, name := range c.columns {
		columns = append(columns, sampleColumns[name]+" AS "+name)
	}
	for i := range c.texts["label"] {
		columns = append(columns, fmt.Sprintf("e.label_%d", i))
	}
	for i := range c.texts["during"] {
		columns = append(columns, fmt.Sprintf("len(list_filter(e.during_%d, lambda m: s.time_ns >= COALESCE(m.t0, s.time_ns) AND s.time_ns < COALESCE(m.t1, s.time_ns + 1))) > 0 AS during_%d", i, i))
	}
	if c.uses("pid") {
		joins += "\nLEFT JOIN processes p ON p.experiment_id = s.experiment_id AND p.process = s.process"
	}
	if c.uses("thread_name") {
		joins += "\nLEFT JOIN thread_names a ON a.experiment_id = s.experiment_id AND a.process = s.process AND a.thread_id = s.thread_id AND a.name_no = s.name_no"
	}
	if c.uses("event") {
		joins += "\nLEFT JOIN perf_samples v ON v.experiment_id = s.experiment_id AND v.sample = s.sample"
	}
	if c.uses("state") {
		joins += "\nLEFT JOIN wait_samples w ON w.experiment_id = s.experiment_id AND w.sample = s.sample"
	}
	if fields := c.texts["field"]; fields != nil {
		joins += "\nLEFT JOIN (SELECT experiment_id, sample"
		for i, field := range fields {
			joins += fmt.Sprintf(", max(%s) FILTER (field = %s) AS field_%d", c.fields[i], quote(field), i)
			columns = append(columns, fmt.Sprintf("f.field_%d", i))
		}
		joins += " FROM event_fields_wide WHERE field IN (" + Quote(fields...) + ") GROUP BY experiment_id, sample) f ON f.experiment_id = s.experiment_id AND f.sample = s.sample"
	}
	if c.uses("leaf", "leaf_object", "stack_has", "object_has") {
		statements = append(statements, fs.create("of_stacks", fs.ofStacks(c)))
		joins += "\nLEFT JOIN " + fs.table("of_stacks") + " k ON k.experiment_id = s.experiment_id AND k.stack = s.stack"
		for _, name := range []string{"stack_has", "object_has"} {
			for i := range c.texts[name] {
				columns = append(columns, fmt.Sprintf("k.%s_%d", name, i))
			}
		}
	}
	where := ""
	if c.sql != "" {
		where = "\nWHERE " + c.sql
	}
	return append(statements, fs.create("passed", "SELECT "+strings.Join(kept, ", ")+" FROM (\nSELECT "+strings.Join(columns, ", ")+"\nFROM samples s"+joins+")"+where))
}

// hasMetric reports whether some experiment has a metric of a kind of samples. An empty name means
// any metric of the kind.
func (fs *filteredSession) hasMetric(kind schema.Kind, metric string) bool {
	return fs.metrics[[2]string{kind.String(), metric}]
}

// valuesOfSamples is a query for the values of the samples that pass.
func (fs *filteredSession) valuesOfSamples() string {
	return "SELECT v.experiment_id, v.sample, v.metric, v.value FROM (" + sampleMetrics(fs.hasMetric) + ") v SEMI JOIN " + fs.table("passed") + " p ON p.experiment_id = v.experiment_id AND p.sample = v.sample"
}

// stackValues is a query for the sums, by stack and metric, of the samples that pass.
func (fs *filteredSession) stackValues() string { return stackSums(fs.hasMetric, fs.table("passed")) }

// ofExperiments is a query for columns of experiments that conditions use.
func (fs *filteredSession) ofExperiments(c *predicate) string {
	columns := ""
	for i, key := range c.texts["label"] {
		columns += fmt.Sprintf(",\n  (SELECT max(l.value) FROM labels l WHERE l.experiment_id = e.experiment_id AND l.label = %s) AS label_%d", quote(key), i)
	}
	for i, name := range c.texts["during"] {
		columns += fmt.Sprintf(",\n  (SELECT list({t0: m.t0_ns, t1: m.t1_ns}) FROM marks m WHERE m.experiment_id = e.experiment_id AND m.label = %s) AS during_%d", quote(name), i)
	}
	return "SELECT e.experiment_id, e.experiment, e.host, epoch_us(e.started) AS started_us" + columns + "\nFROM experiments e"
}

// ofStacks is a query for columns of recorded stacks that conditions use, in the filter's mode. It
// matches patterns once per function and load object. The subtree of a node is a range of node
// numbers, so a stack contains a matching node if, up to the stack's leaf, more ranges of matching
// nodes have begun than ended.
func (fs *filteredSession) ofStacks(c *predicate) string {
	mode := cmp.Or(fs.filter.Mode, "user")
	shown, up := mode+"_location", mode+"_up"
	own := "SELECT experiment_id, location, 0 AS level, function_id, load_object_id FROM locations_wide"
	if fs.filter.Inline {
		own += "\n  UNION ALL\n  SELECT i.experiment_id, i.location, i.depth + 1, i.function_id, l.load_object_id FROM inline_frames_wide i JOIN locations_wide l ON l.experiment_id = i.experiment_id AND l.location = i.location"
	}
	var functionHits, objectHits, hits, ends, open, named []string
	for _, has := range []struct {
		name, column string
		hits         *[]string
	}{{"stack_has", "name", &functionHits}, {"object_has", "name", &objectHits}} {
		for i, text := range c.texts[has.name] {
			column := fmt.Sprintf("%s_%d", has.name, i)
			*has.hits = append(*has.hits, fmt.Sprintf(", regexp_matches(%s, %s) AS %s", has.column, quote(text), column))
			hits = append(hits, fmt.Sprintf(", max(%s::INTEGER) AS %s", column, column))
			ends = append(ends, fmt.Sprintf(", sum(%s) AS %s", column, column))
			open = append(open, fmt.Sprintf(", sum(COALESCE(t.%s, 0) - COALESCE(n.%s, 0)) OVER before > 0 AS %s", column, column, column))
			named = append(named, ", o."+column)
		}
	}
	join := func(list []string) string { return strings.Join(list, "") }
	return `WITH levels AS (
  ` + own + `
),
of_functions AS MATERIALIZED (SELECT experiment_id, function_id, name AS leaf` + join(functionHits) + ` FROM functions),
of_objects AS MATERIALIZED (SELECT experiment_id, load_object_id, name AS leaf_object` + join(objectHits) + ` FROM load_objects),
placed AS MATERIALIZED (
  SELECT l.experiment_id, l.location, l.level, f.* EXCLUDE (experiment_id, function_id), o.* EXCLUDE (experiment_id, load_object_id)
  FROM levels l LEFT JOIN of_functions f ON f.experiment_id = l.experiment_id AND f.function_id = l.function_id
  LEFT JOIN of_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id
),
of_locations AS MATERIALIZED (
  SELECT experiment_id, location, arg_max(leaf, level) AS leaf, arg_max(leaf_object, level) AS leaf_object` + join(hits) + ` FROM placed GROUP BY ALL
),
of_frames AS MATERIALIZED (
  SELECT f.experiment_id, f.frame, l.* EXCLUDE (experiment_id, location)
  FROM tree_frames f JOIN of_locations l ON l.experiment_id = f.experiment_id AND l.location = f.` + shown + `
),
tree AS MATERIALIZED (
  SELECT t.experiment_id, t.node, t.last, f.* EXCLUDE (experiment_id, frame)
  FROM stack_tree_wide t LEFT JOIN of_frames f ON f.experiment_id = t.experiment_id AND f.frame = t.frame
),
ended AS (SELECT experiment_id, last + 1 AS node` + join(ends) + ` FROM tree GROUP BY ALL),
opened AS MATERIALIZED (
  SELECT t.experiment_id, t.node, COALESCE(t.leaf, '') AS leaf, COALESCE(t.leaf_object, '') AS leaf_object` + join(open) + `
  FROM tree t LEFT JOIN ended n ON n.experiment_id = t.experiment_id AND n.node = t.node
  WINDOW before AS (PARTITION BY t.experiment_id ORDER BY t.node ROWS UNBOUNDED PRECEDING)
)
SELECT r.experiment_id, r.stack, o.leaf, o.leaf_object` + join(named) + `
FROM recorded_stacks r JOIN opened o ON o.experiment_id = r.experiment_id AND o.node = r.node - r.` + up
}

// usage is a query for the rows of usage_values, from the samples that pass.
func (fs *filteredSession) usage() string {
	return `SELECT p.experiment_id, p.in_process AS process, p.in_thread AS thread_id, p.named AS name_no, p.in_group AS cgroup, p.on_cpu AS cpu, p.second, v.metric, sum(v.value)::BIGINT AS value, count(*) AS samples
FROM ` + fs.table(sampleValues) + ` v JOIN ` + fs.table("passed") + ` p ON p.experiment_id = v.experiment_id AND p.sample = v.sample
GROUP BY ALL`
}

// data is a query for the rows of data_values, from the samples that pass. Samples lack the column
// detail, which the other columns determine.
func (fs *filteredSession) data() string {
	return `WITH details AS MATERIALIZED (
  SELECT experiment_id, data_object_id, location, method, agreement, embedding_object_id, string_agg(DISTINCT detail, ' or ' ORDER BY detail) AS detail
  FROM data_values_wide GROUP BY ALL
),
samples_of AS MATERIALIZED (
  SELECT d.experiment_id, v.metric, d.data_object_id, d.location_id, d.method, d.agreement, d.embedding_object_id, sum(v.value)::BIGINT AS value, count(*) AS samples
  FROM data_samples d JOIN ` + fs.table(sampleValues) + ` v ON v.experiment_id = d.experiment_id AND v.sample = d.sample
  GROUP BY ALL
),
placed AS MATERIALIZED (
  SELECT s.*, l.location FROM samples_of s LEFT JOIN locations_wide l ON l.experiment_id = s.experiment_id AND l.location_id = s.location_id
)
SELECT p.experiment_id, p.metric, p.data_object_id, p.location, p.method, COALESCE(d.detail, '') AS detail, p.agreement, p.embedding_object_id, p.value, p.samples
FROM placed p LEFT JOIN details d ON d.experiment_id = p.experiment_id AND d.data_object_id = p.data_object_id AND d.location IS NOT DISTINCT FROM p.location
  AND d.method = p.method AND d.agreement = p.agreement AND d.embedding_object_id IS NOT DISTINCT FROM p.embedding_object_id`
}
