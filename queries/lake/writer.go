package lake

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/file"

	"stackmill/internal/cachekey"
	"stackmill/queries"
	"stackmill/queries/exportfolder"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// defaultViews are views that every lake has as tables.
var defaultViews = []string{"labels"}

// writer makes the tables of a lake from one state of a store.
type writer struct {
	*Lake
	db       *queries.DB
	sources  []source
	session  *batchSession // session with the batch that is being exported
	store    string        // absolute path
	storeURI string        // URI under which readers find the store
	states   map[string]*queries.Experiment
	batches  []storedir.Batch
}

func (l *Lake) writer(ctx context.Context, db *queries.DB) (*writer, error) {
	w := &writer{Lake: l, db: db, states: map[string]*queries.Experiment{}, batches: db.Batches()}
	var err error
	if w.store, err = filepath.Abs(db.Store); err != nil {
		return nil, err
	}
	w.storeURI = readerURI(cmp.Or(w.Options.Store, storedir.RemoteAddress(w.store)), w.store)
	experiments := db.Experiments()
	for i := range experiments {
		w.states[experiments[i].ExperimentID] = &experiments[i]
	}
	w.sources, err = w.listSources(ctx)
	return w, err
}

// checkFiles returns an error if a file of the store is missing or must not be opened: other engines will read them
// all.
func (w *writer) checkFiles() error {
	var files []storedir.File
	for i := range w.batches {
		files = append(files, w.batches[i].Files...)
	}
	unfit, err := storedir.UnreadableFiles(w.store, slices.Values(files))
	for _, f := range files {
		if unfit[f.Path] != nil {
			return fmt.Errorf("the store's file %s: %w (run stackmill check to list missing and damaged files)", f.Path, unfit[f.Path])
		}
	}
	return err
}

// batchSession is a session with only the experiments of a batch, so that its views read only files of that batch. It
// is opened when the first file must be written.
type batchSession struct {
	ids  []string
	db   *queries.DB
	conn *sql.Conn
}

func (p *batchSession) open(ctx context.Context, db *queries.DB) (err error) {
	if p.conn != nil {
		return nil
	}
	if p.db, err = db.Subset(ctx, p.ids...); err == nil {
		p.conn, err = p.db.Conn(ctx)
	}
	return err
}

func (p *batchSession) close() (err error) {
	if p.conn != nil {
		err = p.conn.Close()
	}
	if p.db != nil {
		err = errors.Join(err, p.db.Close())
	}
	return err
}

// batch adds the files of a batch to the tables; tables[i] is the table of w.sources[i].
func (w *writer) batch(ctx context.Context, b *storedir.Batch, tables []Table) (err error) {
	w.session = &batchSession{}
	for e := range b.Visible {
		w.session.ids = append(w.session.ids, e.ExperimentID)
	}
	defer func() { err = errors.Join(err, w.session.close()) }()
	for i, s := range w.sources {
		f, err := w.file(ctx, s, b)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if f != nil {
			tables[i].Files = append(tables[i].Files, *f)
		}
	}
	return nil
}

// source is a table of the lake without its files, and where its rows come from.
type source struct {
	Table
	stored *schema.Table // the table whose files are used; nil if a view is copied
	view   bool          // rows of the copied view depend on the state of experiments, such as their labels
}

// AsStored reports whether a table's files have exactly the rows that the view of the same name shows.
func AsStored(t *schema.Table) bool {
	return t != schema.Experiments // the view adds data from commits
}

// listSources returns the tables of a lake. It omits the table with sums over all experiments of a batch, because
// function_rollup has the sums of each experiment.
func (w *writer) listSources(ctx context.Context) (list []source, err error) {
	for _, t := range schema.Tables {
		switch {
		case t == schema.FunctionSums:
		case AsStored(t):
			s := source{Table: Table{Name: t.Name, Doc: t.Row}, stored: t}
			for _, c := range t.Columns { // all columns: some readers refuse files that have more
				s.Columns = append(s.Columns, Column{c.Name, c.Type.SQL(), c.Doc})
				s.Delta = s.Delta || c.Encoding == schema.Delta || c.Encoding == schema.DictOrDelta || c.Encoding == schema.PlainOrDelta
			}
			list = append(list, s)
		default:
			s, err := w.describeCopy(ctx, t.Name, t.Row, t == schema.Experiments)
			if err != nil {
				return nil, err
			}
			list = append(list, s)
		}
	}
	docs := map[string]string{}
	views, err := queries.Views()
	if err != nil {
		return nil, err
	}
	for _, v := range views {
		docs[v.Name] = v.Row
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(defaultViews, w.Views)))) {
		if slices.ContainsFunc(list, func(s source) bool { return s.Name == name }) {
			continue
		}
		s, err := w.describeCopy(ctx, name, docs[name], true)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// describeCopy returns the table that is a copy of the view or table with this name.
func (w *writer) describeCopy(ctx context.Context, name, doc string, view bool) (s source, err error) {
	s = source{Table: Table{Name: name, Doc: doc}, view: view}
	rows, err := w.db.QueryContext(ctx, "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_catalog() AND table_name = ? ORDER BY column_index", name)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Column
		if err := rows.Scan(&c.Name, &c.Type); err != nil {
			return s, err
		}
		if !slices.Contains(Types, c.Type) {
			return s, fmt.Errorf("view %s: its column %s has the type %s, which data lakes do not support", name, c.Name, c.Type)
		}
		c.Doc = docOf(name, c.Name)
		s.Columns = append(s.Columns, c)
	}
	if err := rows.Err(); err != nil {
		return s, err
	}
	return s, exportfolder.CheckView(ctx, w.db, name)
}

// docOf returns the description of a table's column.
func docOf(table, column string) string {
	for _, r := range queries.Relations() {
		for _, c := range r.Columns {
			if r.Name == table && c.Name == column {
				return c.Doc
			}
		}
	}
	return ""
}

// file returns a batch's file for a table, or nil if the batch has no rows of it.
func (w *writer) file(ctx context.Context, s source, b *storedir.Batch) (*File, error) {
	if s.stored == nil {
		return w.copy(ctx, s, b)
	}
	at := slices.IndexFunc(b.Files, func(f storedir.File) bool { return f.Table == s.Name })
	if at < 0 {
		return nil, nil
	}
	stored := b.Files[at]
	f := &File{Path: w.storeURI + "/" + stored.Path, Local: filepath.Join(w.store, filepath.FromSlash(stored.Path)), Rows: stored.Rows, Bytes: stored.Bytes}
	hidden, attempt := hiddenExperiments(s.stored, b), storedir.AttemptOf(stored.Path)
	if len(hidden) == 0 || s.stored.Links != nil { // rows of shared lists belong to no single experiment: they stay
		return f, nil
	}
	// Names and ids of these columns are from Iceberg's specification ("Position Delete Files"); DuckLake uses the
	// same.
	query := fmt.Sprintf("SELECT %s AS file_path, file_row_number AS pos FROM %s WHERE experiment_id IN (%s) ORDER BY pos",
		queries.Quote(f.Path), queries.ReadParquet([]string{f.Local}, "file_row_number = true"), queries.Quote(hidden...))
	var err error
	f.Deletes, err = w.write(ctx, s.Name, fmt.Sprintf("%s-%s-deletes.parquet", attempt, nameHash(append(hidden, f.Path)...)), query, "FIELD_IDS {file_path: 2147483546, pos: 2147483545}")
	return f, err
}

// hiddenExperiments returns the experiments of a batch whose rows in the file of a table are deleted. These are deleted
// experiments and, in tables that summaries do not keep, also summaries.
func hiddenExperiments(t *schema.Table, b *storedir.Batch) []string {
	if t.Summary {
		return slices.Clone(b.Hidden)
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(b.Hidden, b.Summaries))))
}

// copy returns a file with the rows of a view for the experiments of a batch. The file's name depends on the version
// of stackmill and the state of the experiments, so that a change of either makes a new file.
func (w *writer) copy(ctx context.Context, s source, b *storedir.Batch) (*File, error) {
	parts := []string{w.Program}
	for e := range b.Visible {
		parts = append(parts, e.ExperimentID, e.Status)
		if s.view {
			parts = append(parts, w.states[e.ExperimentID].State())
		}
	}
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = `"` + c.Name + `"`
	}
	query := fmt.Sprintf(`SELECT %s FROM "%s" ORDER BY ALL`, strings.Join(names, ", "), s.Name)
	return w.write(ctx, s.Name, fmt.Sprintf("%s-%s.parquet", b.Batch, nameHash(parts...)), query)
}

// write returns a data file of the folder with the rows of a query, or nil if there are none. If a file with the name
// exists, it returns that.
func (w *writer) write(ctx context.Context, table, name, query string, options ...string) (*File, error) {
	relative := path.Join(Namespace, table, dataDir, name)
	f := &File{Path: w.Base() + "/" + relative, Local: filepath.Join(w.Folder, filepath.FromSlash(relative))}
	w.used[filepath.FromSlash(relative)] = true
	info, err := os.Stat(f.Local)
	if errors.Is(err, os.ErrNotExist) {
		if err = w.create(ctx, f.Local, query, options); err == nil {
			info, err = os.Stat(f.Local)
		}
	}
	if err != nil {
		return nil, err
	}
	f.Bytes = info.Size()
	r, err := file.OpenParquetFile(f.Local, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Local, err)
	}
	f.Rows = r.NumRows()
	if err := r.Close(); err != nil || f.Rows == 0 {
		return nil, err
	}
	return f, nil
}

// create writes the rows of a query to a file.
func (w *writer) create(ctx context.Context, path, query string, options []string) error {
	if err := w.session.open(ctx, w.db); err != nil {
		return err
	}
	temp := path + tempSuffix
	to, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // fails after the rename, as it should
	if err := errors.Join(w.session.db.CopyParquet(ctx, w.session.conn, query, 0, to, options...), to.Close()); err != nil {
		return err
	}
	return storedir.ReplaceFile(temp, path)
}

func nameHash(parts ...string) string {
	return cachekey.Hash(parts)
}
