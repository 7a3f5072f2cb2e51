package acceptance

import (
	"database/sql"
	"strings"
	"testing"
)

// function is a function in the store.
type function struct {
	id                     int64
	name, linkage, aliases string
	gprofng                string // name of the alias that gprofng should show
	kind, object, module   string // object is the load object's path
	offset, size           int64
}

// pair is the exclusive and the inclusive value of something.
type pair struct{ exclusive, inclusive int64 }

// place identifies an instruction by its offset in a load object. For code outside of files, the
// offset is in the function, whose name is part of object.
type place struct {
	object string
	offset int64
}

// inObject is SQL for the two columns of a place.
const inObject = `CASE WHEN o.kind = 'elf' THEN o.path ELSE o.path || ':' || f.name END, l."offset" - CASE WHEN o.kind = 'elf' THEN 0 ELSE f."offset" END`

// line is a source line in a function. Line 0 has the instructions without line numbers.
type line struct {
	function int64
	file     string // base name
	line     int
}

// edge is a function and one of its callers or callees.
type edge struct {
	function int64
	relation string
	other    int64
}

// model is what the store has of one experiment in one mode; values are by metric.
type model struct {
	recording string
	total     int64   // id of the function <Total>
	tick      float64 // ns per clock sample; 0: there are none
	units     map[string]string
	functions map[int64]*function
	owners    map[place]int64
	values    map[string]map[int64]pair
	edges     map[string]map[edge]int64
	lines     map[string]map[line]pair
	places    map[string]map[place]pair
}

// load reads the experiment's values to compare with the golden.
func load(t *testing.T, db *sql.DB, experiment string) *model {
	t.Helper()
	return loadMode(t, db, experiment, goldenMode(experiment))
}

// models caches the shared store's models by experiment and mode. Tests do not change them.
var models = map[[2]string]*model{}

func loadMode(t *testing.T, db *sql.DB, experiment, mode string) *model {
	t.Helper()
	if db != shared.DB {
		return readModel(t, db, experiment, mode)
	}
	key := [2]string{experiment, mode}
	if models[key] == nil {
		models[key] = readModel(t, db, experiment, mode)
	}
	return models[key]
}

func readModel(t *testing.T, db *sql.DB, experiment, mode string) *model {
	t.Helper()
	m := &model{
		recording: strings.TrimSuffix(experiment, ".er"),
		tick: float64(number(t, db, `SELECT min(c.duration_ns) FROM clock_samples c JOIN experiments USING (experiment_id)
			WHERE experiment = ?`, experiment)),
		units: map[string]string{}, functions: map[int64]*function{}, owners: map[place]int64{},
		values: map[string]map[int64]pair{}, edges: map[string]map[edge]int64{},
		lines: map[string]map[line]pair{}, places: map[string]map[place]pair{},
	}
	query(t, db, func(r row) error {
		f := &function{}
		err := r.Scan(&f.id, &f.name, &f.gprofng, &f.linkage, &f.aliases, &f.kind, &f.object, &f.module, &f.offset, &f.size)
		if m.functions[f.id] = f; f.name == "<Total>" {
			m.total = f.id
		}
		return err
	}, `SELECT function_id, f.name, gprofng_name, linkage_name, aliases, f.kind, o.path, u.name, f."offset", size
		FROM functions_wide f JOIN load_objects o USING (experiment_id, load_object_id) JOIN experiments USING (experiment_id)
		JOIN modules u ON u.experiment_id = f.experiment_id AND u.module_id = f.module_id
		WHERE experiment = ?`, experiment)
	query(t, db, func(r row) error {
		var p place
		var f int64
		err := r.Scan(&p.object, &p.offset, &f)
		m.owners[p] = f
		return err
	}, "SELECT "+inObject+`, function_id
		FROM locations_wide l JOIN functions f USING (experiment_id, function_id) JOIN experiments USING (experiment_id)
		JOIN load_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id
		WHERE experiment = ? ORDER BY (f.kind = 'body') = (? = 'machine')`, experiment, mode) // instructions in bodies have two owners
	query(t, db, func(r row) error {
		var metric, unit string
		var f int64
		var v pair
		err := r.Scan(&metric, &unit, &f, &v.exclusive, &v.inclusive)
		m.units[metric] = unit
		put(m.values, metric, f, v)
		return err
	}, `SELECT metric, unit, function_id, exclusive, inclusive FROM function_metrics
		WHERE experiment = ? AND mode = ?`, experiment, mode)
	query(t, db, func(r row) error {
		var metric string
		var e edge
		var v int64
		err := r.Scan(&metric, &e.function, &e.relation, &e.other, &v)
		put(m.edges, metric, e, v)
		return err
	}, `SELECT metric, function_id, relation, other_id, attributed FROM callers_callees
		WHERE experiment = ? AND mode = ?`, experiment, mode)
	query(t, db, func(r row) error {
		var metric string
		var l line
		var v pair
		err := r.Scan(&metric, &l.function, &l.file, &l.line, &v.exclusive, &v.inclusive)
		put(m.lines, metric, l, v)
		return err
	}, `SELECT metric, function_id, parse_filename(file), line, exclusive, inclusive FROM line_metrics
		WHERE experiment = ? AND mode = ?`, experiment, mode)
	query(t, db, func(r row) error {
		var metric string
		var p place
		var v pair
		err := r.Scan(&metric, &p.object, &p.offset, &v.exclusive, &v.inclusive)
		put(m.places, metric, p, v)
		return err
	}, "SELECT metric, "+inObject+`, exclusive, inclusive
		FROM (SELECT *, code_offset AS "offset" FROM pc_metrics) l JOIN functions f USING (experiment_id, function_id) JOIN load_objects o USING (experiment_id, load_object_id)
		WHERE experiment = ? AND mode = ?`, experiment, mode)
	return m
}

func put[K comparable, V any](m map[string]map[K]V, metric string, key K, value V) {
	if m[metric] == nil {
		m[metric] = map[K]V{}
	}
	m[metric][key] = value
}
