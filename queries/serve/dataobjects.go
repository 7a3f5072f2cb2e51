package serve

import (
	"context"
	"fmt"

	"stackmill/queries"
)

// dataObjectsAnswer has the data objects of the selection, summed over the experiments.
type dataObjectsAnswer struct {
	Metric      string          `json:"metric"`
	Unit        string          `json:"unit"`
	Experiments int64           `json:"experiments"` // with the metric
	Without     int64           `json:"without"`     // selected experiments that lack it
	Total       int64           `json:"total"`
	Samples     int64           `json:"samples"`
	Types       []dataType      `json:"types"`
	Variables   []dataVariable  `json:"variables"`
	Unknown     []unknownObject `json:"unknown"`
}

// dataType is a type of data objects: all aggregates, or all scalars, of that type.
type dataType struct {
	Type        string `json:"type"` // as descriptors spell it, in braces
	Kind        string `json:"kind"` // aggregate or scalar
	Value       int64  `json:"value"`
	Samples     int64  `json:"samples"`
	Size        *int64 `json:"size"`    // of the largest
	Objects     int64  `json:"objects"` // how many there are, by name and scope
	Members     int64  `json:"members"` // how many members have a value
	Experiments int64  `json:"experiments"`
}

// dataVariable is a variable with a name, in its scope.
type dataVariable struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Kind        string `json:"kind"`
	Scope       string `json:"scope"`
	ScopeKind   string `json:"scope_kind"`
	Value       int64  `json:"value"`
	Samples     int64  `json:"samples"`
	Size        *int64 `json:"size"`
	Experiments int64  `json:"experiments"`
}

// unknownObject is a reason why the data object of an access is unknown.
type unknownObject struct {
	Reason      string `json:"reason"`
	Value       int64  `json:"value"`
	Samples     int64  `json:"samples"`
	Experiments int64  `json:"experiments"`
	Help        string `json:"help"`
	Command     string `json:"command"`
}

// typeOf is SQL for the type in the descriptor of an object: without the name, or the dash in its place, at its end.
const typeOf = `CASE WHEN name <> '' AND ends_with(descriptor, ' ' || name || '}') THEN left(descriptor, length(descriptor) - length(name) - 2) || '}'
  WHEN ends_with(descriptor, ' -}') THEN left(descriptor, length(descriptor) - 3) || '}' ELSE descriptor END`

// chooseDataMetric returns the requested metric and its unit; without a request, the metric of data objects that is
// the default of most experiments. Metrics without data objects are refused; empty: no experiment has one.
func chooseDataMetric(ctx context.Context, db *queries.DB, asked string) (metric, unit string, err error) {
	type found struct {
		Metric string `json:"metric"`
		Unit   string `json:"unit"`
	}
	rows, err := readRows[found](ctx, db, `SELECT m.metric, any_value(m.unit) AS unit FROM metrics m LEFT JOIN default_metrics d USING (experiment_id)
WHERE m.data_objects GROUP BY m.metric ORDER BY count(*) FILTER (m.metric = d.data_metric) DESC, count(*) DESC, m.metric`)
	if err != nil {
		return "", "", err
	}
	for _, m := range rows {
		if asked == "" || m.Metric == asked {
			return m.Metric, m.Unit, nil
		}
	}
	if asked != "" {
		if _, _, err := chooseMetric(ctx, db, asked); err != nil {
			return "", "", err
		}
	}
	return "", "", nil
}

// listDataObjects answers with types, variables and unknown objects, largest first.
func listDataObjects(w *job) error {
	db, done, err := w.openData("data_object_metrics", "metrics", "default_metrics")
	if err != nil {
		return err
	}
	defer done()
	a := dataObjectsAnswer{Types: []dataType{}, Variables: []dataVariable{}, Unknown: []unknownObject{}, Without: int64(db.Count)}
	if a.Metric, a.Unit, err = chooseDataMetric(w.ctx, db, w.values.Get("metric")); err != nil || a.Metric == "" {
		if err != nil {
			return err
		}
		return w.writeExact(a)
	}
	const objects = `WITH objects AS (SELECT *, ` + typeOf + ` AS type FROM data_object_metrics WHERE mode = 'user' AND metric = $1) `
	type sums struct {
		Experiments int64 `json:"experiments"`
		Total       int64 `json:"total"`
		Samples     int64 `json:"samples"`
	}
	s, err := readRow[sums](w.ctx, db, objects+`SELECT (SELECT count(*) FROM metrics WHERE metric = $1) AS experiments,
  coalesce(sum(value), 0)::BIGINT AS total, coalesce(sum(samples), 0)::BIGINT AS samples FROM objects WHERE kind = 'total'`, a.Metric)
	if err != nil {
		return err
	}
	a.Experiments, a.Without, a.Total, a.Samples = s.Experiments, int64(db.Count)-s.Experiments, s.Total, s.Samples
	if a.Types, err = readRows[dataType](w.ctx, db, objects+`, members AS (
  SELECT p.type, p.kind, count(DISTINCT m.descriptor) AS members FROM objects m JOIN objects p ON p.experiment_id = m.experiment_id AND p.data_object_id = m.parent_id
  WHERE m.kind = 'element' AND p.kind = 'aggregate' GROUP BY ALL
)
SELECT o.type, o.kind, sum(o.value)::BIGINT AS value, sum(o.samples)::BIGINT AS samples, max(o.size) AS size, count(DISTINCT (o.name, o.scope)) AS objects,
  coalesce(any_value(m.members), 0) AS members, count(DISTINCT o.experiment_id) AS experiments
FROM objects o LEFT JOIN members m USING (type, kind) WHERE o.kind IN ('aggregate', 'scalar') GROUP BY o.type, o.kind ORDER BY value DESC, o.type, o.kind`, a.Metric); err != nil {
		return err
	}
	if a.Variables, err = readRows[dataVariable](w.ctx, db, objects+`SELECT name, type, kind, scope, scope_kind, sum(value)::BIGINT AS value, sum(samples)::BIGINT AS samples,
  max(size) AS size, count(DISTINCT experiment_id) AS experiments
FROM objects WHERE kind IN ('aggregate', 'scalar') AND name <> '' GROUP BY ALL ORDER BY value DESC, name, scope, type`, a.Metric); err != nil {
		return err
	}
	if a.Unknown, err = readRows[unknownObject](w.ctx, db, objects+`SELECT descriptor AS reason, sum(value)::BIGINT AS value, sum(samples)::BIGINT AS samples,
  count(DISTINCT experiment_id) AS experiments, '' AS help, '' AS command
FROM objects WHERE kind = 'unknown_element' GROUP BY ALL HAVING sum(value) <> 0 ORDER BY value DESC, reason`, a.Metric); err != nil {
		return err
	}
	for i := range a.Unknown {
		u := &a.Unknown[i]
		u.Help, u.Command = whatHelps(u.Reason, "")
	}
	return w.writeExact(a)
}

// openData opens the selection for answers about data objects, whose values are the same in all modes.
func (w *job) openData(reads ...string) (*queries.DB, func(), error) {
	f, err := w.filter("user", false)
	if err != nil {
		return nil, nil, err
	}
	return w.open(f, reads, w.values["experiment"]...)
}

// layoutAnswer has the layouts of the aggregates of a type: one, unless builds lay it out in several ways.
type layoutAnswer struct {
	Type    string       `json:"type"`
	Metric  string       `json:"metric"`
	Unit    string       `json:"unit"`
	Layouts []dataLayout `json:"layouts"`
}

// dataLayout is one layout, with the sums over the objects that have it.
type dataLayout struct {
	Size        *int64         `json:"size"`
	LineSize    int64          `json:"line_size"`
	Assumed     bool           `json:"assumed"` // whether the size of cache lines is not recorded but assumed
	Value       int64          `json:"value"`
	Experiments int64          `json:"experiments"`
	Objects     int64          `json:"objects"` // by name and scope
	Members     []layoutMember `json:"members"`
	Code        []memberCode   `json:"code"`
}

// layoutMember is a member, bit field or hole, as in the view data_layout.
type layoutMember struct {
	Shape     string `json:"shape"` // which layout it belongs to
	Position  int64  `json:"position"`
	Kind      string `json:"kind"`
	Member    string `json:"member"`
	Name      string `json:"name"`
	Offset    int64  `json:"offset"`
	Size      *int64 `json:"size"`
	BitOffset int64  `json:"bit_offset"`
	BitSize   int64  `json:"bit_size"`
	CacheLine int64  `json:"cache_line"`
	Value     int64  `json:"value"`
	Samples   int64  `json:"samples"`
}

// memberCode is a line of code that accesses a member.
type memberCode struct {
	Shape      string `json:"shape"`
	Position   int64  `json:"position"` // of the member; 0: only the aggregate is known
	Function   string `json:"function"`
	LoadObject string `json:"load_object"`
	File       string `json:"file"`
	Line       int64  `json:"line"`
	Value      int64  `json:"value"`
	Samples    int64  `json:"samples"`
}

// layoutRows is SQL for common table expressions: `aggregates` has the objects of the type $2 with their shapes, and
// `placed` their members. A shape is a hash of the places of all members, so it is the same in all experiments.
const layoutRows = `WITH rows AS MATERIALIZED (
  SELECT experiment_id, data_object_id, position, kind, member_id, member, name, member_offset, size, bit_offset, bit_size, cache_line, value, samples,
    aggregate_value, aggregate_size, scope, aggregate_name, line_size, line_size_source
  FROM data_layout SEMI JOIN (SELECT experiment_id, data_object_id FROM data_objects WHERE kind = 'aggregate' AND ` + typeOf + ` = $2) USING (experiment_id, data_object_id)
  WHERE mode = 'user' AND metric = $1
),
aggregates AS (
  SELECT experiment_id, data_object_id, md5(string_agg(concat_ws('|', position, kind, member, name, member_offset, size, bit_offset, bit_size, cache_line), chr(10) ORDER BY position)
      FILTER (position > 0) || concat_ws('|', any_value(aggregate_size), any_value(line_size))) AS shape,
    any_value(aggregate_value) AS value, any_value(aggregate_size) AS size, any_value(line_size) AS line_size, any_value(line_size_source) AS source,
    any_value(aggregate_name) AS name, any_value(scope) AS scope
  FROM rows GROUP BY ALL
)
`

// showLayout answers with the members of a type in memory, and with the code that accesses each.
func showLayout(w *job) error {
	db, done, err := w.openData("data_layout", "data_objects", "data_object_functions", "metrics", "default_metrics")
	if err != nil {
		return err
	}
	defer done()
	a := layoutAnswer{Type: w.values.Get("type"), Layouts: []dataLayout{}}
	if a.Metric, a.Unit, err = chooseDataMetric(w.ctx, db, w.values.Get("metric")); err != nil {
		return err
	}
	if a.Metric == "" {
		return w.writeExact(a)
	}
	type layoutRow struct {
		Shape       string `json:"shape"`
		Size        *int64 `json:"size"`
		LineSize    int64  `json:"line_size"`
		Assumed     bool   `json:"assumed"`
		Value       int64  `json:"value"`
		Experiments int64  `json:"experiments"`
		Objects     int64  `json:"objects"`
	}
	layouts, err := readRows[layoutRow](w.ctx, db, layoutRows+`SELECT shape, any_value(size) AS size, any_value(line_size) AS line_size, bool_or(source = 'assumed') AS assumed,
  sum(value)::BIGINT AS value, count(DISTINCT experiment_id) AS experiments, count(DISTINCT (name, scope)) AS objects
FROM aggregates GROUP BY shape ORDER BY value DESC, shape`, a.Metric, a.Type)
	if err != nil {
		return err
	}
	members, err := readRows[layoutMember](w.ctx, db, layoutRows+`SELECT shape, position, kind, any_value(member) AS member, any_value(r.name) AS name, any_value(member_offset) AS "offset", any_value(r.size) AS size,
  any_value(bit_offset) AS bit_offset, any_value(bit_size) AS bit_size, any_value(cache_line) AS cache_line, sum(r.value)::BIGINT AS value, sum(samples)::BIGINT AS samples
FROM rows r JOIN aggregates a USING (experiment_id, data_object_id) GROUP BY shape, position, kind ORDER BY shape, position`, a.Metric, a.Type)
	if err != nil {
		return err
	}
	code, err := readRows[memberCode](w.ctx, db, codeOfMembers, a.Metric, a.Type)
	if err != nil {
		return err
	}
	for _, l := range layouts {
		d := dataLayout{l.Size, l.LineSize, l.Assumed, l.Value, l.Experiments, l.Objects, []layoutMember{}, []memberCode{}}
		for _, m := range members {
			if m.Shape == l.Shape {
				d.Members = append(d.Members, m)
			}
		}
		for _, c := range code {
			if c.Shape == l.Shape {
				d.Code = append(d.Code, c)
			}
		}
		a.Layouts = append(a.Layouts, d)
	}
	return w.writeExact(a)
}

// codeOfMembers is SQL for the code that accesses the members of a type. An access inside of a member counts for it.
var codeOfMembers = fmt.Sprintf(`WITH RECURSIVE %s, inside AS (
  SELECT r.experiment_id, a.shape, r.position, r.member_id AS data_object_id FROM rows r JOIN aggregates a USING (experiment_id, data_object_id) WHERE r.member_id IS NOT NULL
  UNION ALL
  SELECT i.experiment_id, i.shape, i.position, o.data_object_id FROM inside i JOIN data_objects o ON o.experiment_id = i.experiment_id AND o.parent_id = i.data_object_id
),
of_objects AS (
  FROM inside UNION ALL SELECT experiment_id, shape, 0, data_object_id FROM aggregates
)
SELECT i.shape, i.position, f."function", f.load_object, f.file, f.line, sum(f.value)::BIGINT AS value, sum(f.samples)::BIGINT AS samples
FROM data_object_functions f JOIN of_objects i ON i.experiment_id = f.experiment_id AND i.data_object_id = f.data_object_id
WHERE f.mode = 'user' AND f.metric = $1
GROUP BY ALL ORDER BY value DESC, i.shape, i.position, f."function", f.file, f.line`, layoutRows[len("WITH "):])
