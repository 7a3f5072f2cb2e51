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

// StateFile says of which state of the commits the catalog with which fingerprint is. It is
// a hint: whoever finds other commits, or another catalog, does without.
const StateFile = CatalogFile + ".state"

// state is a hash of all that a catalog is made from; empty if that is not known.
func (s *said) state() string {
	if s.glance == nil {
		return ""
	}
	h := xxhash.New()
	note(h, "nothing is left out", s.store, s.glance.State, schema.StoreVersion, fmt.Sprint(same()))
	for _, t := range storeTables {
		note(h, t.name, t.columns(form{}))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// fingerprint returns that of the catalog of these commits, if somebody has seen it.
func (s *said) fingerprint() string {
	state := s.state()
	hint := storedir.ReadHint(s.store, StateFile)
	if n := len(state) + 1; n > 1 && len(hint) > n && string(hint[:n]) == state+" " {
		return string(hint[n:])
	}
	return ""
}

// remember notes that the catalog of these commits is that with these definitions. A store
// that cannot be written costs time only. Where commits are left out, each reader has to see it.
func (s *said) remember(d *definitions) {
	if c, err := s.contents(); err != nil || len(c.Damaged)+len(c.Again) > 0 {
		return
	}
	if state := s.state(); state != "" && s.fingerprint() != d.fingerprint {
		_ = storedir.WriteHint(s.store, StateFile, state+" "+d.fingerprint)
	}
}

// openKnown opens the catalog if it is known to be that of the commits, and says itself
// what they say of the experiments. It reports whether it has: else nothing is open.
func (db *DB) openKnown(ctx context.Context, o Options) bool {
	fingerprint := db.said.fingerprint()
	if fingerprint == "" || !db.said.glance.Intact || storedir.IsRegular(filepath.Join(db.Store, CatalogFile)) != nil { // what is left out has to be told
		return false
	}
	see := &sight{}
	may := access{Limits: o.Limits, locked: !o.Unsafe, decide: func(conn connection) ([]string, error) {
		found, err := answers(conn, "SELECT fingerprint FROM "+catalogName+".catalog_fingerprint")
		if err != nil || len(found) != 1 || found[0][0] != fingerprint {
			return nil, errors.Join(errOther, err)
		}
		if len(o.Only) > 0 {
			return db.choose(conn, o.Only, see)
		}
		return db.all(conn)
	}}
	engine, err := connect(may, []string{"ATTACH " + quote(filepath.Join(db.Store, CatalogFile)) + " AS " + catalogName + " (READ_ONLY)"}, see.use)
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

// errOther says that a catalog does not have what was looked for.
var errOther = errors.New("not the catalog of these commits, or no name of an experiment")

// all opens all experiments. It returns their files.
func (db *DB) all(conn connection) (files []string, err error) {
	rows, err := answers(conn, fmt.Sprintf("SELECT count(*), min(experiment) FROM %s.experiment_names", catalogName))
	if err != nil {
		return nil, err
	}
	db.Count = int(rows[0][0].(int64))
	if db.Count == 1 {
		db.Single = rows[0][1].(string)
	}
	if rows, err = answers(conn, fmt.Sprintf("SELECT stored, path, footer, batch FROM %s.batch_files", catalogName)); err != nil {
		return nil, err
	}
	list := make([]storedir.File, len(rows))
	for i, r := range rows {
		if list[i], err = catalogFile(r[0], r[1], r[2], r[3]); err != nil {
			return nil, err
		}
	}
	return readablePaths(db.Store, slices.Values(list), db.unsafe)
}

// catalogFile returns a file of a batch that a catalog names. Others may have written that.
func catalogFile(table, path, footer, batch any) (storedir.File, error) {
	f := storedir.File{Table: table.(string), Path: path.(string), Footer: footer.(string)}
	if !storedir.IsFile(f, batch.(string)) {
		return f, errOther
	}
	return f, nil
}

// choose opens those experiments alone that selectors name as they are, if they are few. It
// returns their files. Other selectors are an error.
func (db *DB) choose(conn connection, selectors []string, see *sight) (files []string, err error) {
	d := &definitions{store: db.Store}
	seen := map[string]bool{}
	portions := map[string]*portion{}
	for _, s := range selectors {
		rows, err := answers(conn, fmt.Sprintf("SELECT experiment_id, experiment, path, ingested, summary, batch FROM %s.experiment_names WHERE experiment = %[2]s OR experiment_id = %[2]s", catalogName, quote(s)))
		if err != nil || len(rows) == 0 {
			return nil, errors.Join(errOther, err)
		}
		for _, r := range rows {
			e := Experiment{Entry: storedir.Entry{ExperimentID: r[0].(string), Path: r[2].(string), Labels: map[string]string{}}, Name: r[1].(string), Ingested: r[3].(time.Time), batch: r[5].(string)}
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
				p = &portion{number: len(portions) + 1, counted: map[string]extent{}, batches: []*storedir.Batch{{Commit: storedir.Commit{Batch: e.batch}}}}
				portions[e.batch] = p
				d.portions = append(d.portions, p)
			}
			p.counted[e.ExperimentID] = counts
			d.experiments = append(d.experiments, e)
		}
	}
	if len(seen) > few {
		return nil, errOther
	}
	slices.SortFunc(d.experiments, func(a, b Experiment) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
	if err := d.complete(conn); err != nil {
		return nil, err
	}
	var list []storedir.File
	for _, p := range d.portions {
		list = append(list, p.batches[0].Files...)
	}
	if files, err = readablePaths(db.Store, slices.Values(list), db.unsafe); err != nil {
		return nil, err
	}
	db.sees, see.part, db.said.only = d, d, seen
	db.counted(d.experiments)
	return files, nil
}

// complete gives experiments their labels, and batches their files.
func (d *definitions) complete(conn connection) error {
	for _, p := range d.portions {
		b := p.batches[0]
		rows, err := answers(conn, fmt.Sprintf("SELECT stored, path, footer FROM %s.batch_files WHERE batch = %s ORDER BY ALL", catalogName, quote(b.Batch)))
		if err != nil {
			return err
		}
		for _, r := range rows {
			f, err := catalogFile(r[0], r[1], r[2], b.Batch)
			if err != nil {
				return err
			}
			b.Files = append(b.Files, f)
		}
	}
	for _, e := range d.experiments {
		rows, err := answers(conn, fmt.Sprintf("SELECT label, value FROM %s.experiment_labels WHERE experiment_id = %s", catalogName, quote(e.ExperimentID)))
		if err != nil {
			return err
		}
		for _, r := range rows {
			e.Labels[r[0].(string)] = r[1].(string)
		}
	}
	return nil
}

// answers returns the rows of a query.
func answers(conn connection, query string) (list [][]driver.Value, err error) {
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
