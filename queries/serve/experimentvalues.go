package serve

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/internal/cachekey"
	"stackmill/internal/lazyregexp"
	"stackmill/queries"
	"stackmill/queries/sandbox"
)

// maxSeries limits the number of series of each kind: a label whose value differs in every experiment makes one
// series per experiment.
const maxSeries = 1000

// latestValues says which values of experiments GET /metrics has: those of the newest experiment of each group. A
// group is all experiments with the same values of the keys.
type latestValues struct {
	keys      []string // labels of experiments or columns of `experiments`
	names     []string // names of the Prometheus labels; parallel to keys
	functions int      // functions with a series, per experiment and metric: the highest exclusive values
	maxSeries int      // limit for each kind
}

// invalidInName matches characters that Prometheus does not allow in the name of a label.
var invalidInName = lazyregexp.New(`^[^a-zA-Z_]|[^a-zA-Z0-9_]`)

// newLatestValues returns an error if a key cannot be the name of a label, or if two keys have the same label.
func newLatestValues(keys []string, functions int) (*latestValues, error) {
	l := &latestValues{keys: keys, functions: functions, maxSeries: maxSeries}
	for _, key := range keys {
		name := invalidInName().ReplaceAllString(key, "_")
		switch {
		case strings.Trim(name, "_") == "":
			return nil, fmt.Errorf("%q is not a valid label", key)
		case slices.Contains([]string{"metric", "function", "load_object", "store", "unit"}, name) || strings.HasPrefix(name, "__") || slices.Contains(l.names, name):
			return nil, fmt.Errorf("%q: the series already have a label %s", key, name)
		}
		l.names = append(l.names, name)
	}
	return l, nil
}

// CheckLatest returns an error if keys cannot be labels of the series in GET /metrics.
func CheckLatest(keys []string) error {
	_, err := newLatestValues(keys, 0)
	return err
}

// newestQuery returns a WITH clause: `newest` has the newest experiment of each group for each metric, with the
// values of the keys in the columns k0, k1, ...
func (l *latestValues) newestQuery() string {
	var keys, names strings.Builder
	for i, key := range l.keys {
		column := "NULL"
		if queries.IsColumn(key) {
			column = `e."` + key + `"::VARCHAR`
		}
		fmt.Fprintf(&keys, ", coalesce((SELECT l.value FROM experiment_labels l WHERE l.experiment_id = e.experiment_id AND l.label = '%s'), %s, '') AS k%d",
			strings.ReplaceAll(key, "'", "''"), column, i)
		fmt.Fprintf(&names, ", k%d", i)
	}
	return `WITH keyed AS (SELECT e.experiment_id, e.started` + keys.String() + ` FROM experiments e), newest AS (
  SELECT k.*, m.metric, m.unit FROM metrics m JOIN keyed k USING (experiment_id)
  QUALIFY row_number() OVER (PARTITION BY m.metric, m.unit` + names.String() + ` ORDER BY k.started DESC NULLS LAST, k.experiment_id) = 1)
`
}

// valueSeries is one kind of series.
type valueSeries struct {
	name, help string // the series are named stackmill_NAME, with a suffix _seconds or _bytes by their unit
	labels     []string
	query      string // has a row for each series: the labels' values, the unit and the value; the most important rows first
}

// series returns the kinds of series.
func (l *latestValues) series() []valueSeries {
	by := make([]string, len(l.keys))
	for i := range by {
		by[i] = fmt.Sprintf("k%d", i)
	}
	columns := strings.Join(append(slices.Clone(by), "n.metric"), ", ")
	labels := append(slices.Clone(l.names), "metric")
	list := []valueSeries{
		{"value", "The value of <Total> of the newest experiment of its group.", labels,
			"SELECT " + columns + ", n.unit, t.inclusive FROM newest n JOIN function_trends t ON t.experiment_id = n.experiment_id AND t.metric = n.metric" +
				" AND t.mode = 'user' AND t.function = '<Total>' AND t.kind = 'artificial' ORDER BY n.started DESC NULLS LAST, " + columns},
		{"started_timestamp", "When the newest experiment of its group started.", l.names,
			"SELECT " + strings.Join(append(slices.Clone(by), "'s' AS unit", "max(epoch(started)) AS value"), ", ") + " FROM newest WHERE started IS NOT NULL GROUP BY ALL ORDER BY value DESC"},
	}
	if l.functions > 0 {
		list = append(list, valueSeries{"function_exclusive", "The exclusive value of a function in the newest experiment of its group.", append(slices.Clone(labels), "function", "load_object"),
			"SELECT " + columns + ", t.function, t.load_object, n.unit, sum(t.exclusive) AS value FROM newest n JOIN function_trends t ON t.experiment_id = n.experiment_id AND t.metric = n.metric" +
				" AND t.mode = 'user' AND NOT (t.function = '<Total>' AND t.kind = 'artificial') AND t.exclusive <> 0 GROUP BY " + columns + ", t.function, t.load_object, n.unit" +
				fmt.Sprintf(" QUALIFY row_number() OVER (PARTITION BY %s ORDER BY value DESC, t.function, t.load_object) <= %d", columns, l.functions) +
				" ORDER BY value DESC, " + columns})
	}
	return list
}

// baseUnits maps a unit to Prometheus' base unit, and to the number of units in one base unit.
var baseUnits = map[string]struct {
	name string
	of   float64
}{"ns": {"seconds", 1e9}, "s": {"seconds", 1}, "bytes": {"bytes", 1}, "count": {"", 1}}

// format returns the values in Prometheus' text format.
func (l *latestValues) format(ctx context.Context, db *queries.DB) ([]byte, error) {
	var out bytes.Buffer
	left := 0
	for _, s := range l.series() {
		n, err := s.write(ctx, db, l.newestQuery(), l.maxSeries, &out)
		if err != nil {
			return nil, err
		}
		left += n
	}
	gauge(&out, "stackmill_series_left_out", "Series of values of experiments beyond the maximum, which are left out.", left)
	return out.Bytes(), nil
}

// write writes at most `most` series, sorted by name, and returns how many it left out.
func (s *valueSeries) write(ctx context.Context, db *queries.DB, newest string, most int, out *bytes.Buffer) (left int, err error) {
	rows, err := db.QueryContext(ctx, newest+s.query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	lines := map[string][]string{} // by name
	for n := 0; rows.Next(); n++ {
		if n >= most {
			left++
			continue
		}
		values := make([]sql.NullString, len(s.labels))
		var unit string
		var value float64
		to := []any{}
		for i := range values {
			to = append(to, &values[i])
		}
		if err := rows.Scan(append(to, &unit, &value)...); err != nil {
			return 0, err
		}
		as, known := baseUnits[unit]
		if !known {
			return 0, fmt.Errorf("the unit %q has no name in Prometheus", unit)
		}
		var labels []string
		for i, v := range values {
			labels = append(labels, s.labels[i]+`="`+labelEscapes.Replace(strings.ToValidUTF8(v.String, "\uFFFD"))+`"`)
		}
		name := strings.TrimSuffix("stackmill_"+s.name+"_"+as.name, "_")
		lines[name] = append(lines[name], fmt.Sprintf("%s{%s} %v", name, strings.Join(labels, ","), value/as.of))
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		head(out, name, s.help, "gauge")
		slices.Sort(lines[name])
		fmt.Fprintln(out, strings.Join(lines[name], "\n"))
	}
	return left, nil
}

// labelEscapes escapes the value of a Prometheus label.
var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// experimentValues returns the values of experiments in Prometheus' text format. They are computed once for each
// state of the store, under the limit of concurrent requests.
func (s *Server) experimentValues(ctx context.Context) ([]byte, error) {
	store, err := s.store.pin(ctx, false)
	if err != nil {
		return nil, err
	}
	defer store.release()
	a, err := s.cache.get(ctx, cachekey.Of("values", store.state()), func() (*reply, error) {
		turn, err := s.limiter.acquire(ctx)
		if err != nil {
			return nil, err
		}
		defer turn()
		ctx, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		text, err := s.latest.format(ctx, store.whole.db)
		return &reply{body: sandbox.NewBody(text)}, timeoutError(ctx, s.Timeout, err)
	})
	if err != nil {
		return nil, err
	}
	defer a.body.Release()
	return a.body.Bytes()
}
