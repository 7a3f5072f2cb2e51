package queries

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// StateFile maps a hash of the commits to the fingerprint of the catalog built from them. It is
// a hint: a reader that finds other commits, or another catalog, ignores it.
const StateFile = CatalogFile + ".state"

// hash is a hash of everything that determines the catalog; empty if the commits are unknown.
func (s *commitState) hash() string {
	if s.glance == nil {
		return ""
	}
	h := xxhash.New()
	note(h, "nothing is left out", s.store, s.glance.State, schema.StoreVersion, fmt.Sprint(same()))
	for _, t := range storeTables {
		note(h, t.name, t.columns(columnForm{}))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// fingerprint returns the fingerprint of the catalog of these commits, empty if no hint has it.
func (s *commitState) fingerprint() string {
	hash := s.hash()
	fingerprint, found := strings.CutPrefix(string(storedir.ReadHint(s.store, StateFile)), hash+" ")
	if hash == "" || !found {
		return ""
	}
	return fingerprint
}

// remember writes the hint that the catalog of these commits has these definitions. In a store
// that cannot be written, readers only take longer. Where commits are left out there is no hint,
// so that each reader parses them and reports what is left out.
func (s *commitState) remember(d *definitions) {
	if c, err := s.contents(); err != nil || len(c.Damaged)+len(c.ToReingest) > 0 {
		return
	}
	if hash := s.hash(); hash != "" && s.fingerprint() != d.fingerprint {
		_ = storedir.WriteHint(s.store, StateFile, hash+" "+d.fingerprint)
	}
}

// openByHint opens the catalog if the hint says that it is the commits' one, and takes the
// experiments from it, so that the commits need not be parsed. It reports whether it did;
// otherwise nothing is open.
func (db *DB) openByHint(ctx context.Context, o Options) bool {
	fingerprint := db.commits.fingerprint()
	path := filepath.Join(db.Store, CatalogFile)
	if fingerprint == "" || !db.commits.glance.Intact || storedir.IsRegular(path) != nil {
		return false
	}
	scope := &catalogScope{}
	config := engineConfig{Limits: o.Limits, locked: !o.Unsafe, findFiles: func(conn connection) ([]string, error) {
		found, err := queryRows(conn, "SELECT fingerprint FROM "+catalogName+".catalog_fingerprint")
		if err != nil || len(found) != 1 || found[0][0] != fingerprint {
			return nil, errors.Join(errOtherCatalog, err)
		}
		if len(o.Only) > 0 {
			return db.openSelected(conn, o.Only, scope)
		}
		return db.openAll(conn)
	}}
	engine, err := connect(config, []string{"ATTACH " + quote(path) + " AS " + catalogName + " (READ_ONLY)"}, scope.use)
	if err != nil {
		return false
	}
	if err := engine.PingContext(ctx); err != nil {
		_ = engine.Close() // it was only read
		return false
	}
	db.DB = engine
	return true
}

// errOtherCatalog means that a catalog lacks what the reader needs.
var errOtherCatalog = errors.New("not the catalog of these commits, or no name of an experiment")

// openAll opens all experiments and returns the paths of their files.
func (db *DB) openAll(conn connection) ([]string, error) {
	rows, err := queryRows(conn, "SELECT count(*), min(experiment) FROM "+catalogName+".experiment_names")
	if err != nil {
		return nil, err
	}
	if db.Count = int(rows[0][0].(int64)); db.Count == 1 {
		db.Single = rows[0][1].(string)
	}
	files, err := catalogFiles(conn, "")
	if err != nil {
		return nil, err
	}
	return readablePaths(db.Store, slices.Values(files), db.unsafe)
}

// catalogFiles returns the files of batches that a catalog names, given what follows FROM batch_files.
// Their paths are checked: another program may have written the catalog.
func catalogFiles(conn connection, clauses string) ([]storedir.File, error) {
	rows, err := queryRows(conn, fmt.Sprintf("SELECT stored, path, footer, batch FROM %s.batch_files %s", catalogName, clauses))
	files := make([]storedir.File, len(rows))
	for i, r := range rows {
		files[i] = storedir.File{Table: r[0].(string), Path: r[1].(string), Footer: r[2].(string)}
		if !storedir.IsFile(files[i], r[3].(string)) {
			return nil, errOtherCatalog
		}
	}
	return files, err
}

// openSelected opens a few experiments whose names or ids the selectors are, and returns the paths
// of their files. Any other selector is an error.
func (db *DB) openSelected(conn connection, selectors []string, scope *catalogScope) ([]string, error) {
	d := &definitions{store: db.Store}
	seen, portions := map[string]bool{}, map[string]*portion{}
	for _, s := range selectors {
		rows, err := queryRows(conn, fmt.Sprintf("SELECT experiment_id, experiment, path, ingested, summary, batch FROM %s.experiment_names WHERE experiment = %[2]s OR experiment_id = %[2]s", catalogName, quote(s)))
		if err != nil || len(rows) == 0 {
			return nil, errors.Join(errOtherCatalog, err)
		}
		for _, r := range rows {
			e := Experiment{Entry: storedir.Entry{ExperimentID: r[0].(string), Path: r[2].(string)}, Name: r[1].(string), Ingested: r[3].(time.Time), batch: r[5].(string)}
			if seen[e.ExperimentID] {
				continue
			}
			seen[e.ExperimentID] = true
			counts := everything
			if r[4].(bool) {
				e.Status, counts = storedir.Summary, summary
			}
			p := portions[e.batch]
			if p == nil {
				p = &portion{number: len(portions) + 1, counts: map[string]visibility{}, batches: []*storedir.Batch{{Commit: storedir.Commit{Batch: e.batch}}}}
				portions[e.batch] = p
				d.portions = append(d.portions, p)
			}
			p.counts[e.ExperimentID] = counts
			d.experiments = append(d.experiments, e)
		}
	}
	if len(seen) > few {
		return nil, errOtherCatalog
	}
	slices.SortFunc(d.experiments, func(a, b Experiment) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
	files, err := d.complete(conn)
	if err != nil {
		return nil, err
	}
	db.sees, scope.subset, db.commits.only = d, d, seen
	db.setCount(d.experiments)
	return readablePaths(db.Store, slices.Values(files), db.unsafe)
}

// complete reads the experiments' labels and the batches' files from a catalog, and returns the files.
func (d *definitions) complete(conn connection) (all []storedir.File, err error) {
	for _, p := range d.portions {
		b := p.batches[0]
		if b.Files, err = catalogFiles(conn, "WHERE batch = "+quote(b.Batch)+" ORDER BY ALL"); err != nil {
			return nil, err
		}
		all = append(all, b.Files...)
	}
	for i := range d.experiments {
		e := &d.experiments[i]
		rows, err := queryRows(conn, fmt.Sprintf("SELECT label, value FROM %s.experiment_labels WHERE experiment_id = %s", catalogName, quote(e.ExperimentID)))
		if err != nil {
			return nil, err
		}
		e.Labels = map[string]string{}
		for _, r := range rows {
			e.Labels[r[0].(string)] = r[1].(string)
		}
	}
	return all, nil
}

// queryRows returns the rows of a query.
func queryRows(conn connection, query string) (list [][]driver.Value, err error) {
	rows, err := conn.QueryContext(context.Background(), query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		values := make([]driver.Value, len(rows.Columns()))
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		list = append(list, values)
	}
}
