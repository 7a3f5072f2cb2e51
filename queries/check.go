package queries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/stages/write"
)

// Proof is what a check has looked at and what it found wrong.
type Proof struct {
	Batches    int       `json:"batches"`
	Files      int       `json:"files"`
	Rows       int64     `json:"rows"`
	Bytes      int64     `json:"bytes"`
	Keys       int       `json:"keys"`
	Invariants int       `json:"invariants"`
	Wrong      []Finding `json:"wrong"`
}

// Finding is one thing that is wrong.
type Finding struct {
	Where string `json:"where"`
	What  string `json:"what"`
}

func (f Finding) String() string { return f.Where + ": " + f.What }

func (p *Proof) add(where, format string, args ...any) {
	p.Wrong = append(p.Wrong, Finding{where, fmt.Sprintf(format, args...)})
}

// keys are the columns that, with the experiment, make a table's row unique.
var keys = []struct{ table, columns string }{
	{"experiments", "experiment_id"}, {"processes", "process"}, {"metrics", "metric"}, {"problems", "problem"},
	{"load_objects", "load_object_id"}, {"modules", "module_id"}, {"functions", "function_id"}, {"locations", "location_id"}, {"inline_frames", "location_id, depth"},
	{"instructions", "function_id, \"offset\""}, {"source_lines", "file, line"},
	{"raw_stacks", "raw_stack_id"}, {"raw_frames", "raw_stack_id, part, position"}, {"stacks", "stack_id"}, {"frames", "stack_id, position"},
	{"samples", "sample"}, {"data_objects", "data_object_id"}, {"memory_regions", "memory_region_id"}, {"data_samples", "sample"},
	{"data_values", "metric, data_object_id, location_id, method, detail, agreement, embedding_object_id"}, {"stack_values", "raw_stack_id, metric"}, {"usage_values", "process, thread_id, cpu, second, metric"},
}

// Check proves a store: that every committed file is as it was written and, if
// they are, that every key is unique and every view's invariants hold. progress, if not nil, is
// told what is looked at. The error is for a store that cannot be looked at;
// what is wrong with it is in the proof.
func Check(ctx context.Context, store string, progress func(what string, done, total int)) (*Proof, error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	store, commits, err := committed(store)
	if err != nil {
		return nil, err
	}
	p := &Proof{Batches: len(commits), Wrong: []Finding{}}
	total := 0
	for _, c := range commits {
		total += len(c.Files)
	}
	for _, c := range commits {
		for _, f := range c.Files {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			progress("files", p.Files, total)
			p.Files++
			if err := checkFile(store, c, f); err != nil {
				p.add(f.Path, "%v", err)
				continue
			}
			p.Rows += f.Rows
			p.Bytes += f.Bytes
		}
	}
	if len(p.Wrong) > 0 {
		return p, nil // sums over other files than were written prove nothing
	}
	return p, p.checkViews(ctx, store, progress)
}

// checkFile compares a file with its commit and its table.
func checkFile(store string, c write.Commit, f write.File) error {
	t := schema.ByName(f.Table)
	if t == nil {
		return fmt.Errorf("is of table %q, which does not exist", f.Table)
	}
	if !filepath.IsLocal(f.Path) {
		return errors.New("lies outside the store")
	}
	path := filepath.Join(store, filepath.FromSlash(f.Path))
	sum, size, err := checksum(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("is missing, batch %s names it", c.Batch)
	case err != nil:
		return err
	case size != f.Bytes:
		return fmt.Errorf("has %d bytes, %d were committed", size, f.Bytes)
	case sum != f.Checksum:
		return fmt.Errorf("has checksum %s, %s was committed", sum, f.Checksum)
	}
	return checkFooter(path, t, f)
}

func checksum(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := xxhash.New()
	size, err = io.Copy(h, f)
	return fmt.Sprintf("%016x", h.Sum64()), size, err
}

func checkFooter(path string, t *schema.Table, f write.File) error {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	defer r.Close()
	if n := r.NumRows(); n != f.Rows {
		return fmt.Errorf("has %d rows, %d were committed", n, f.Rows)
	}
	version := r.MetaData().KeyValueMetadata().FindValue(write.VersionKey)
	if version == nil || *version != schema.StoreVersion {
		return fmt.Errorf("does not have store format %s in its footer", schema.StoreVersion)
	}
	found, err := pqarrow.FromParquet(r.MetaData().Schema, nil, nil)
	if err != nil {
		return fmt.Errorf("has a schema that cannot be read: %w", err)
	}
	want := t.Stored()
	if found.NumFields() != want.NumFields() {
		return fmt.Errorf("has %d columns, table %s has %d", found.NumFields(), t.Name, want.NumFields())
	}
	for i, w := range want.Fields() {
		g := found.Field(i)
		if g.Name != w.Name || g.Type.String() != w.Type.String() || g.Nullable != w.Nullable {
			return fmt.Errorf("column %d is %s, table %s has %s", i+1, g, t.Name, w)
		}
	}
	return nil
}

// checkViews runs every query that must return no rows.
func (p *Proof) checkViews(ctx context.Context, store string, progress func(string, int, int)) error {
	views, err := Views()
	if err != nil {
		return err
	}
	type check struct{ where, doc, sql string }
	var checks []check
	for _, k := range keys {
		checks = append(checks, check{k.table, "(experiment_id, " + k.columns + ") is not unique",
			"SELECT experiment_id, " + k.columns + ", count(*) AS rows FROM " + k.table + " GROUP BY ALL HAVING count(*) > 1"})
	}
	p.Keys = len(keys)
	for _, v := range views {
		for _, i := range v.Invariants {
			checks = append(checks, check{v.Name, "does not hold: " + i.Doc, i.SQL})
			p.Invariants++
		}
	}
	db, err := Open(ctx, store)
	if err != nil {
		p.add("views", "cannot be read: %v", err)
		return ctx.Err()
	}
	defer db.Close()
	for n, c := range checks {
		progress("sums", n, len(checks))
		broken, err := db.first(ctx, c.sql)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			p.add(c.where, "cannot be read: %v", err)
		case broken != "":
			p.add(c.where, "%s (%s)", c.doc, broken)
		}
	}
	return nil
}

// first returns the first row of a query and the number of rows in words,
// empty without rows.
func (db *DB) first(ctx context.Context, query string) (string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || !rows.Next() {
		return "", errors.Join(err, rows.Err())
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := rows.Scan(targets...); err != nil {
		return "", err
	}
	var words []string
	for i, c := range columns {
		words = append(words, fmt.Sprintf("%s %v", c, values[i]))
	}
	n := 1
	for rows.Next() {
		n++
	}
	return fmt.Sprintf("%d rows, the first: %s", n, strings.Join(words, ", ")), rows.Err()
}
