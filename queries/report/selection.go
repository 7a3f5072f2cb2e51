package report

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/schema"
)

// choose resolves the names of the request.
func (q *Question) choose(ctx context.Context) error {
	if err := q.chooseMetrics(ctx); err != nil {
		return err
	}
	if q.File != "" {
		if err := q.checkFile(ctx); err != nil {
			return err
		}
	}
	if q.Function != "" {
		known, err := q.db.Texts(ctx, fmt.Sprintf(`SELECT DISTINCT unnest([name, gprofng_name, perf_name]) AS name FROM functions
			WHERE kind <> 'inlined' OR %t ORDER BY name`, q.Inline))
		if err != nil {
			return err
		}
		if q.functions = namesOf(known, q.Function); q.functions == nil {
			return fmt.Errorf("no function %q%s (stackmill report functions lists them)", q.Function, queries.Suggest(q.Function, known))
		}
	}
	if q.Object != "" {
		known, err := q.db.Texts(ctx, "SELECT DISTINCT descriptor FROM data_objects ORDER BY descriptor")
		if err != nil {
			return err
		}
		if q.objects = namesOf(known, q.Object); q.objects == nil {
			return fmt.Errorf("no data object %q%s (stackmill report data-objects lists them)", q.Object, queries.Suggest(q.Object, known))
		}
	}
	return nil
}

func (q *Question) chooseMetrics(ctx context.Context) error {
	if q.Metric == "" {
		first, err := q.defaultMetrics(ctx)
		for id, m := range first {
			q.metrics[id] = []string{m}
		}
		return err
	}
	rows, err := q.db.QueryContext(ctx, "SELECT experiment_id, metric FROM metrics ORDER BY metric")
	if err != nil {
		return err
	}
	defer rows.Close()
	var known []string
	for rows.Next() {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return err
		}
		if q.Metric == "all" || q.Metric == name {
			q.metrics[id] = append(q.metrics[id], name)
		}
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	if len(q.metrics) == 0 && q.Metric != "all" {
		return fmt.Errorf("no metric %q%s (there are %s)", q.Metric, queries.Suggest(q.Metric, known), strings.Join(known, ", "))
	}
	return rows.Err()
}

// namesOf returns the names that are pattern, else those that contain it,
// else those that match it as a regular expression.
func namesOf(known []string, pattern string) []string {
	if slices.Contains(known, pattern) {
		return []string{pattern}
	}
	re, err := regexp.Compile(pattern)
	for _, matches := range []func(string) bool{
		func(s string) bool { return strings.Contains(s, pattern) },
		func(s string) bool { return err == nil && re.MatchString(s) },
	} {
		var found []string
		for _, name := range known {
			if matches(name) {
				found = append(found, name)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// defaultMetrics returns the metrics to show, one of each experiment: the
// first in the order of the declaration, of counters by name. Reports of data
// objects show those that have any.
func (q *Question) defaultMetrics(ctx context.Context) (map[string]string, error) {
	rows, err := q.db.QueryContext(ctx, fmt.Sprintf("SELECT experiment_id, metric FROM metrics WHERE data_objects OR NOT %t ORDER BY metric", q.OfData))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	first := map[string]string{}
	for rows.Next() {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return nil, err
		}
		if old, ok := first[id]; !ok || schema.CompareMetrics(name, old) < 0 {
			first[id] = name
		}
	}
	return first, rows.Err()
}

// checkFile makes sure that a file of the name has lines with values.
func (q *Question) checkFile(ctx context.Context) error {
	known, err := q.db.Texts(ctx, "SELECT DISTINCT file FROM source_values WHERE file <> '' AND modes & 7 <> 0 ORDER BY ALL")
	if err != nil {
		return err
	}
	bases := make([]string, len(known))
	for i, k := range known {
		if k == q.File || strings.HasSuffix(k, "/"+q.File) {
			return nil
		}
		bases[i] = k[strings.LastIndex(k, "/")+1:]
	}
	return fmt.Errorf("no line of a file %q has a value%s (stackmill report lines shows those that have)", q.File, queries.Suggest(q.File, bases))
}
