// Package increment exports views of a store as a folder of Parquet files, and updates the folder when the store
// changes. A file set has one file per view, for the experiments of one commit. Its files never change: when its
// experiments do, another file set replaces it. A program that reads all files of a view gets each row once.
package increment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/queries"
	"stackmill/queries/exportfolder"
	"stackmill/schema/storedir"
)

// ListFile is the file of a folder that lists its file sets.
const ListFile = "feed.json"

// DefaultViews are the views that are exported by default: those with summaries of experiments.
var DefaultViews = []string{"experiments", "labels", "metric_totals", "function_trends", "problems"}

// Folder is a folder of exported views. Only one process at a time may have it open.
type Folder struct {
	*exportfolder.Folder
	views    []string
	manifest manifest

	saved bool // ListFile exists
}

// manifest is the content of ListFile.
type manifest struct {
	Program string         `json:"program"` // version of stackmill: another one may write other columns
	Views   []string       `json:"views"`
	Parts   []fileSet      `json:"parts"`
	Used    map[string]int `json:"used"` // by stem of a file set's name: highest number in a name so far
}

// safeName matches names that cannot lead out of the folder.
var safeName = lazyregexp.New(`^[a-z0-9_][a-z0-9_.-]*$`)

// read parses a manifest. It checks the names, because files with these names will be deleted.
func (l *manifest) read(text []byte) error {
	if err := json.Unmarshal(text, l); err != nil {
		return err
	}
	names := slices.Clone(l.Views)
	for _, p := range l.Parts {
		names = append(names, p.Name)
	}
	for _, name := range names {
		if !safeName().MatchString(name) {
			return fmt.Errorf("%q is not a valid name of a view or a file set", name)
		}
	}
	if l.Program == "" {
		return errors.New("it was not written by stackmill")
	}
	return nil
}

// fileSet is one file per view, all with the same name, for some experiments. Experiments maps their ids to a hash of
// the state in which they were exported.
type fileSet struct {
	Name        string            `json:"name"`
	Experiments map[string]string `json:"experiments"`
}

// Change counts what an update did.
type Change struct {
	Added, Changed, Removed int // numbers of experiments
	Written, Deleted        int // numbers of file sets
}

// Open locks a folder for exporting these views, and creates it if it does not exist. An existing folder must be
// empty or have been exported before. program is the version of stackmill.
func Open(folder string, views []string, program string) (*Folder, error) {
	at, text, err := exportfolder.Open(folder, ListFile)
	if err != nil {
		return nil, err
	}
	f := &Folder{Folder: at, views: slices.Compact(slices.Sorted(slices.Values(views))), saved: text != nil}
	if f.saved {
		if err := f.manifest.read(text); err != nil {
			err = fmt.Errorf("%s: %w (choose another folder, or empty this one to export everything again)", filepath.Join(folder, ListFile), err)
			return nil, errors.Join(err, f.Close())
		}
	}
	if f.manifest.Program != program || !slices.Equal(f.manifest.Views, f.views) {
		for _, p := range f.manifest.Parts {
			for id := range p.Experiments {
				p.Experiments[id] = "" // no state equals "": Update exports it anew
			}
		}
		f.manifest.Program = program
	}
	if f.manifest.Used == nil {
		f.manifest.Used = map[string]int{}
	}
	return f, nil
}

// Update makes the folder equal to an open store. After an error, the next call continues.
func (f *Folder) Update(ctx context.Context, db *queries.DB) (c Change, err error) {
	for _, view := range f.views {
		if err := exportfolder.CheckView(ctx, db, view); err != nil {
			return c, err
		}
	}
	if err := f.claim(); err != nil {
		return c, err
	}
	if err := f.removeStrays(); err != nil {
		return c, err
	}
	now := map[string]string{}
	for _, e := range db.Experiments() {
		now[e.ExperimentID] = e.State()
	}
	known := map[string]bool{}
	for _, p := range slices.Clone(f.manifest.Parts) {
		for id := range p.Experiments {
			known[id] = true
		}
		if err := f.refresh(ctx, db, p, now, &c); err != nil {
			return c, err
		}
	}
	for _, b := range db.Batches() {
		fresh := map[string]string{}
		for e := range b.Visible {
			if state, ok := now[e.ExperimentID]; ok && !known[e.ExperimentID] {
				fresh[e.ExperimentID] = state
			}
		}
		if len(fresh) == 0 {
			continue
		}
		if err := f.replace(ctx, db, "", fileSet{f.newName(b.Batch), fresh}, &c); err != nil {
			return c, err
		}
		c.Added += len(fresh)
	}
	if !slices.Equal(f.manifest.Views, f.views) {
		f.manifest.Views = f.views
		return c, f.Save(f.manifest)
	}
	return c, nil
}

// claim saves the list with all views that may get files, before any is written: if this process is killed, the next
// one knows in which folders to delete files.
func (f *Folder) claim() error {
	views := slices.Compact(slices.Sorted(slices.Values(slices.Concat(f.manifest.Views, f.views))))
	if f.saved && slices.Equal(f.manifest.Views, views) {
		return nil
	}
	f.manifest.Views, f.saved = views, true
	return f.Save(f.manifest)
}

// refresh replaces a file set if its experiments have changed or are gone, or if files are missing.
func (f *Folder) refresh(ctx context.Context, db *queries.DB, p fileSet, now map[string]string, c *Change) error {
	left := fileSet{Experiments: map[string]string{}}
	changed, removed := 0, 0
	for id, state := range p.Experiments {
		switch is, ok := now[id]; {
		case !ok:
			removed++
		default:
			left.Experiments[id] = is
			if is != state {
				changed++
			}
		}
	}
	if changed+removed == 0 && f.isComplete(p.Name) {
		return nil
	}
	if len(left.Experiments) > 0 {
		left.Name = f.newName(p.Name)
	}
	err := f.replace(ctx, db, p.Name, left, c)
	if err == nil {
		c.Changed += changed
		c.Removed += removed
	}
	return err
}

// replace writes the file set p, unless it has no experiments, and deletes the one named old, if any.
func (f *Folder) replace(ctx context.Context, db *queries.DB, old string, p fileSet, c *Change) error {
	var temps []string
	defer func() {
		for _, t := range temps {
			_ = os.Remove(t) // does nothing for files that were moved into place
		}
	}()
	if len(p.Experiments) > 0 {
		for _, view := range f.views {
			t := filepath.Join(f.Path, view, "."+p.Name+".tmp")
			temps = append(temps, t)
			if err := f.write(ctx, db, view, p, t); err != nil {
				return fmt.Errorf("%s: %w", view, err)
			}
		}
	}
	// From here on, little can fail. For a moment, rows are missing, but none is there twice.
	if old != "" {
		if err := f.remove(old); err != nil {
			return err
		}
		f.manifest.Parts = slices.DeleteFunc(f.manifest.Parts, func(p fileSet) bool { return p.Name == old })
		c.Deleted++
	}
	for i, t := range temps {
		if err := storedir.ReplaceFile(t, f.path(f.views[i], p.Name)); err != nil {
			return err
		}
	}
	if len(p.Experiments) > 0 {
		f.manifest.Parts = append(f.manifest.Parts, p)
		c.Written++
	}
	return f.Save(f.manifest)
}

// write writes the rows of a view for the experiments of a file set to a file.
func (f *Folder) write(ctx context.Context, db *queries.DB, view string, p fileSet, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ids := "'" + strings.Join(slices.Sorted(maps.Keys(p.Experiments)), "', '") + "'" // ids are hexadecimal
	return db.CopyParquet(ctx, conn, fmt.Sprintf(`SELECT * FROM "%s" WHERE experiment_id IN (%s) ORDER BY ALL`, view, ids), 0, to)
}

// removeStrays deletes files that belong to no file set. A killed process has left them, or their view is no longer
// exported.
func (f *Folder) removeStrays() error {
	parts := map[string]bool{}
	for _, p := range f.manifest.Parts {
		parts[p.Name+suffix] = true
	}
	for _, view := range slices.Concat(f.views, f.manifest.Views) {
		entries, err := os.ReadDir(filepath.Join(f.Path, view))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if parts[e.Name()] && slices.Contains(f.views, view) || !strings.HasSuffix(e.Name(), suffix) && !strings.HasSuffix(e.Name(), ".tmp") {
				continue
			}
			if err := os.Remove(filepath.Join(f.Path, view, e.Name())); err != nil {
				return err
			}
		}
		if !slices.Contains(f.views, view) {
			_ = os.Remove(filepath.Join(f.Path, view)) // fails if there are other files in it
		}
	}
	return nil
}

const suffix = ".parquet"

// path returns the path of the file of a view in a file set.
func (f *Folder) path(view, part string) string { return filepath.Join(f.Path, view, part+suffix) }

// isComplete reports whether a file set has the files of all views.
func (f *Folder) isComplete(part string) bool {
	return !slices.ContainsFunc(f.views, func(view string) bool {
		_, err := os.Stat(f.path(view, part))
		return err != nil
	})
}

// remove deletes the files of a file set.
func (f *Folder) remove(part string) error {
	for _, view := range f.views {
		if err := os.Remove(f.path(view, part)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// newName returns an unused name for a file set, made from the name of a batch or of another file set.
func (f *Folder) newName(of string) string {
	stem, _, _ := strings.Cut(of, "-")
	f.manifest.Used[stem]++
	if n := f.manifest.Used[stem]; n > 1 {
		return fmt.Sprintf("%s-%d", stem, n)
	}
	return stem
}
