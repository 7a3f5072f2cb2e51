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

// choose resolves the names in the request.
func (q *Question) choose(ctx context.Context) error {
	if err := q.chooseMetrics(ctx); err != nil {
		return err
	}
	if q.Sum {
		if err := q.chooseMembers(ctx); err != nil {
			return err
		}
	}
	if q.File != "" {
		if err := q.checkFile(ctx); err != nil {
			return err
		}
	}
	if q.Function != "" {
		if err := q.chooseFunctions(ctx); err != nil {
			return err
		}
	}
	if q.Sum {
		if err := q.chooseCode(ctx); err != nil {
			return err
		}
	}
	if q.Object != "" {
		known, err := q.db.Texts(ctx, "SELECT DISTINCT descriptor FROM data_objects ORDER BY descriptor")
		if err != nil {
			return err
		}
		if q.objects = NamesOf(known, q.Object); q.objects == nil {
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
		if err != nil || !q.Sum {
			return err
		}
		return q.addMembers(ctx)
	}
	metrics, err := q.db.Metrics(ctx)
	if err != nil {
		return err
	}
	var known []string
	of := map[string][]string{} // experiment ids by metric
	for _, m := range metrics {
		known, of[m.Name] = append(known, m.Name), m.Experiments
	}
	slices.Sort(known)
	chosen := known
	if q.Metric != "all" {
		if chosen, err = MetricsOf(known, q.Metric); err != nil {
			return err
		}
		q.Side = chosen
	}
	for _, name := range chosen {
		for _, id := range of[name] {
			q.metrics[id] = append(q.metrics[id], name)
		}
	}
	return nil
}

// addMembers chooses, for each experiment, all metrics that are the default of any experiment, so that
// the sum of a metric includes all experiments that have it.
func (q *Question) addMembers(ctx context.Context) error {
	var defaults []string
	for _, of := range q.metrics {
		defaults = append(defaults, of...)
	}
	found, err := q.db.Records(ctx, fmt.Sprintf("SELECT experiment_id, metric FROM metrics WHERE metric IN (%s) AND (data_objects OR NOT %t) ORDER BY experiment_id, metric",
		queries.Quote(append(defaults, "")...), q.OfData))
	clear(q.metrics)
	for _, rec := range found {
		id := rec.Text("experiment_id")
		q.metrics[id] = append(q.metrics[id], rec.Text("metric"))
	}
	return err
}

// MetricsOf splits a list of metrics at commas. Names of events may contain commas, so it looks for
// known names.
func MetricsOf(known []string, list string) (found []string, err error) {
	for rest := list; ; {
		name, after := "", ""
		for _, k := range known {
			tail, ok := strings.CutPrefix(rest, k)
			if ok && (tail == "" || tail[0] == ',') && len(k) > len(name) {
				name, after = k, strings.TrimPrefix(tail, ",")
			}
		}
		if name == "" {
			wrong, _, _ := strings.Cut(rest, ",")
			return nil, fmt.Errorf("no metric %q%s (choose one of %s)", wrong, queries.Suggest(wrong, known), strings.Join(known, ", "))
		}
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
		if rest = after; rest == "" {
			return found, nil
		}
	}
}

// NamesOf returns the known name that equals the pattern. If there is none, it returns the names
// that contain the pattern or, if none do, those that match it as a regular expression.
func NamesOf(known []string, pattern string) []string {
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

// defaultMetrics returns the default metric of each experiment: the one that the recording prefers,
// or the first by declaration, then by name. For reports of data objects, it is a metric that has
// data objects. If the filter leaves no values of a metric, another one with values replaces it.
func (q *Question) defaultMetrics(ctx context.Context) (map[string]string, error) {
	emptied, err := q.db.Emptied(ctx)
	if err != nil {
		return nil, err
	}
	known, err := q.db.Records(ctx, fmt.Sprintf("SELECT experiment_id, metric, preferred FROM metrics WHERE data_objects OR NOT %t ORDER BY metric", q.OfData))
	if err != nil {
		return nil, err
	}
	usual, first, preferred := map[string]string{}, map[string]string{}, map[[2]string]bool{}
	before := func(id, a, b string) bool {
		if of := preferred[[2]string{id, a}]; of != preferred[[2]string{id, b}] {
			return of
		}
		return schema.CompareMetrics(a, b) < 0
	}
	for _, k := range known {
		id, name := k.Text("experiment_id"), k.Text("metric")
		preferred[[2]string{id, name}] = k["preferred"] == true
		if old, ok := usual[id]; !ok || before(id, name, old) {
			usual[id] = name
		}
		if old, ok := first[id]; !emptied[[2]string{id, name}] && (!ok || before(id, name, old)) {
			first[id] = name
		}
	}
	for id, name := range usual {
		switch shown, ok := first[id]; {
		case !ok:
			first[id] = name
		case shown != name && !slices.Contains(q.Emptied, name):
			q.Emptied = append(q.Emptied, name)
		}
	}
	if q.Sum { // a metric is summed if the filter leaves values of any experiment
		kept := map[string]bool{}
		for id, name := range usual {
			kept[name] = kept[name] || first[id] == name
		}
		for id, name := range usual {
			if kept[name] {
				first[id] = name
			}
		}
		q.Emptied = slices.DeleteFunc(q.Emptied, func(name string) bool { return kept[name] })
	}
	slices.Sort(q.Emptied)
	return first, nil
}

// checkFile returns an error if no file with this name has lines with values.
func (q *Question) checkFile(ctx context.Context) error {
	known, err := q.db.Texts(ctx, "SELECT DISTINCT file FROM source_values WHERE file <> '' AND (in_user OR in_expert OR in_machine) ORDER BY ALL")
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
	return fmt.Errorf("no file %q has lines with values%s (stackmill report lines lists lines with values)", q.File, queries.Suggest(q.File, bases))
}
