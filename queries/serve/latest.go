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

// mostSeries bounds the series of the values of experiments, of functions and of all else
// each: a label of which each experiment has another value makes as many as there are.
const mostSeries = 1000

// latest are the values that Prometheus is told of: those of the newest experiment of each
// group, which has the same values of some keys.
type latest struct {
	keys      []string // labels of experiments or columns of `experiments`
	names     []string // of Prometheus' labels, for each key
	functions int      // how many of each experiment and metric, those with the highest exclusive values
	most      int      // series of each kind
}

// notOfNames are the characters that names of Prometheus' labels do not have.
var notOfNames = lazyregexp.New(`^[^a-zA-Z_]|[^a-zA-Z0-9_]`)

// newLatest returns what is told, or an error if keys cannot be told apart.
func newLatest(keys []string, functions int) (*latest, error) {
	l := &latest{keys: keys, functions: functions, most: mostSeries}
	for _, key := range keys {
		name := notOfNames().ReplaceAllString(key, "_")
		switch {
		case strings.Trim(name, "_") == "":
			return nil, fmt.Errorf("%q is no name of a label", key)
		case slices.Contains([]string{"metric", "function", "load_object", "store", "unit"}, name) || strings.HasPrefix(name, "__") || slices.Contains(l.names, name):
			return nil, fmt.Errorf("%q: the series have another label %s", key, name)
		}
		l.names = append(l.names, name)
	}
	return l, nil
}

// CheckLatest reports why labels cannot be those of series.
func CheckLatest(keys []string) error {
	_, err := newLatest(keys, 0)
	return err
}

// newest is the start of a query: the newest experiment of each group and metric, with what
// its keys say as k0 and on.
func (l *latest) newest() string {
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

// series are those of one query.
type series struct {
	what, help string // the name is stackmill_WHAT, _seconds or _bytes where that is the unit
	labels     []string
	query      string // the labels' values, the unit and the value, those to be left out last
}

// all returns what is told. Values of metrics are in seconds, bytes or counts.
func (l *latest) all() []series {
	by := make([]string, len(l.keys))
	for i := range by {
		by[i] = fmt.Sprintf("k%d", i)
	}
	columns := strings.Join(append(slices.Clone(by), "n.metric"), ", ")
	labels := append(slices.Clone(l.names), "metric")
	list := []series{
		{"value", "The value of <Total> of the newest experiment of its group.", labels,
			"SELECT " + columns + ", n.unit, t.inclusive FROM newest n JOIN function_trends t ON t.experiment_id = n.experiment_id AND t.metric = n.metric" +
				" AND t.mode = 'user' AND t.function = '<Total>' AND t.kind = 'artificial' ORDER BY n.started DESC NULLS LAST, " + columns},
		{"started_timestamp", "When the newest experiment of its group started.", l.names,
			"SELECT " + strings.Join(append(slices.Clone(by), "'s' AS unit", "max(epoch(started)) AS value"), ", ") + " FROM newest WHERE started IS NOT NULL GROUP BY ALL ORDER BY value DESC"},
	}
	if l.functions > 0 {
		list = append(list, series{"function_exclusive", "The exclusive value of a function in the newest experiment of its group.", append(slices.Clone(labels), "function", "load_object"),
			"SELECT " + columns + ", t.function, t.load_object, n.unit, sum(t.exclusive) AS value FROM newest n JOIN function_trends t ON t.experiment_id = n.experiment_id AND t.metric = n.metric" +
				" AND t.mode = 'user' AND NOT (t.function = '<Total>' AND t.kind = 'artificial') AND t.exclusive <> 0 GROUP BY " + columns + ", t.function, t.load_object, n.unit" +
				fmt.Sprintf(" QUALIFY row_number() OVER (PARTITION BY %s ORDER BY value DESC, t.function, t.load_object) <= %d", columns, l.functions) +
				" ORDER BY value DESC, " + columns})
	}
	return list
}

// baseUnits are what Prometheus calls units, and how many of ours they are.
var baseUnits = map[string]struct {
	name string
	of   float64
}{"ns": {"seconds", 1e9}, "s": {"seconds", 1}, "bytes": {"bytes", 1}, "count": {"", 1}}

// text returns the values in Prometheus' text format.
func (l *latest) text(ctx context.Context, db *queries.DB) ([]byte, error) {
	var out bytes.Buffer
	left := 0
	for _, s := range l.all() {
		n, err := s.write(ctx, db, l.newest(), l.most, &out)
		if err != nil {
			return nil, err
		}
		left += n
	}
	gauge(&out, "stackmill_series_left_out", "Series of values of experiments beyond the number that is told.", left)
	return out.Bytes(), nil
}

// write writes series, ordered by their names, and returns how many there are besides.
func (s *series) write(ctx context.Context, db *queries.DB, newest string, most int, out *bytes.Buffer) (left int, err error) {
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
		name := strings.TrimSuffix("stackmill_"+s.what+"_"+as.name, "_")
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

// labelEscapes are those of a label's value.
var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// values returns what Prometheus is told of the experiments; it is made once for each state of
// the store, when it is its turn.
func (s *Server) values(ctx context.Context) ([]byte, error) {
	store, err := s.shelf.pin(ctx, false)
	if err != nil {
		return nil, err
	}
	defer store.release()
	a, err := s.known.get(ctx, cachekey.Of("values", store.state()), func() (*reply, error) {
		turn, err := s.turns.take(ctx)
		if err != nil {
			return nil, err
		}
		defer turn()
		ctx, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		text, err := s.latest.text(ctx, store.whole.db)
		return &reply{body: sandbox.NewBody(text)}, inTime(ctx, s.Timeout, err)
	})
	if err != nil {
		return nil, err
	}
	defer a.body.Release()
	return a.body.Bytes()
}
