// Package increment keeps a folder of Parquet files that have the rows of some views of a store: a
// part, which is a file in the folder of each view, for the experiments that came with one
// commit. A part's files are never changed: when its experiments change, another part takes its
// place. Whatever program reads all files of a view has each row once.
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
	"syscall"

	"stackmill/internal/lazyregexp"
	"stackmill/queries"
	"stackmill/schema/storedir"
)

// ListFile is the file of a folder that says what its parts have.
const ListFile = "feed.json"

// Usual are the views that a folder has without a wish: summaries of experiments.
var Usual = []string{"experiments", "labels", "metric_totals", "function_trends", "problems"}

// Feed is a folder. One process has it at a time.
type Feed struct {
	folder string
	views  []string
	lock   *os.File
	list   list

	claimed bool // whether the list is in the folder
}

// list is the content of ListFile.
type list struct {
	Program string         `json:"program"` // that wrote the parts: columns of another may differ
	Views   []string       `json:"views"`
	Parts   []part         `json:"parts"`
	Used    map[string]int `json:"used"` // the highest number of the names that were used
}

// plain are names that lead to no other folder.
var plain = lazyregexp.New(`^[a-z0-9_][a-z0-9_.-]*$`)

// read reads a list. Its names become those of files that are removed.
func (l *list) read(text []byte) error {
	if err := json.Unmarshal(text, l); err != nil {
		return err
	}
	names := slices.Clone(l.Views)
	for _, p := range l.Parts {
		names = append(names, p.Name)
	}
	for _, name := range names {
		if !plain().MatchString(name) {
			return fmt.Errorf("%q is no name of a view or a part", name)
		}
	}
	if l.Program == "" {
		return errors.New("stackmill has not written it")
	}
	return nil
}

// mostList bounds the bytes of ListFile.
const mostList = 1 << 30

// part is the name of files, and the experiments that they have, with a hash of what the store
// says of each.
type part struct {
	Name        string            `json:"name"`
	Experiments map[string]string `json:"experiments"`
}

// Change is what an update did.
type Change struct {
	Added, Changed, Removed int // experiments
	Written, Deleted        int // parts
}

// Open takes a folder, which is made if it is not there, and empty if it is none of these yet.
// program is the version of the program.
func Open(folder string, views []string, program string) (_ *Feed, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	f := &Feed{folder: folder, views: slices.Compact(slices.Sorted(slices.Values(views)))}
	if _, err := os.Stat(filepath.Join(folder, ListFile)); errors.Is(err, fs.ErrNotExist) {
		if err := isEmpty(folder); err != nil {
			return nil, err
		}
	}
	if f.lock, err = os.OpenFile(filepath.Join(folder, lockFile), os.O_CREATE|os.O_RDWR, 0o666); err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.lock.Close()
		return nil, fmt.Errorf("%s: another process writes to it", folder)
	}
	defer func() {
		if err != nil {
			_ = f.lock.Close()
		}
	}()
	// Read under the lock: another process may just have written it.
	text, err := storedir.ReadFile(filepath.Join(folder, ListFile), mostList)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if f.claimed = err == nil; f.claimed {
		if err := f.list.read(text); err != nil {
			return nil, fmt.Errorf("%s: %w (name another folder, or empty this one: all is written again)", filepath.Join(folder, ListFile), err)
		}
	}
	if f.list.Program != program || !slices.Equal(f.list.Views, f.views) {
		for _, p := range f.list.Parts {
			for id := range p.Experiments {
				p.Experiments[id] = "" // to be written again
			}
		}
		f.list.Program = program
	}
	if f.list.Used == nil {
		f.list.Used = map[string]int{}
	}
	return f, nil
}

const (
	lockFile = ".lock"
	tempList = "." + ListFile + ".tmp"
)

// isEmpty returns an error if a folder has something of others.
func isEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if e.Name() != lockFile && e.Name() != tempList {
			return fmt.Errorf("%s has files, but no %s: it is not what was exported before (name an empty folder)", folder, ListFile)
		}
	}
	return err
}

// Folder is where it is.
func (f *Feed) Folder() string { return f.folder }

// Close lets others take the folder.
func (f *Feed) Close() error { return f.lock.Close() }

// Update brings the folder up to date with an open store. What was done before an error stays,
// and the next update goes on.
func (f *Feed) Update(ctx context.Context, db *queries.DB) (c Change, err error) {
	if err := f.check(ctx, db); err != nil {
		return c, err
	}
	if err := f.claim(); err != nil {
		return c, err
	}
	if err := f.sweep(); err != nil {
		return c, err
	}
	now := map[string]string{}
	for _, e := range db.Experiments() {
		now[e.ExperimentID] = e.State()
	}
	known := map[string]bool{}
	for _, p := range slices.Clone(f.list.Parts) {
		for id := range p.Experiments {
			known[id] = true
		}
		if err := f.renew(ctx, db, p, now, &c); err != nil {
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
		if err := f.put(ctx, db, "", part{f.name(b.Batch), fresh}, &c); err != nil {
			return c, err
		}
		c.Added += len(fresh)
	}
	if !slices.Equal(f.list.Views, f.views) {
		f.list.Views = f.views
		return c, f.save()
	}
	return c, nil
}

// claim says in the folder that it is a feed's and which views may have files there, before any
// has: whenever this process is killed, the next knows what to remove.
func (f *Feed) claim() error {
	views := slices.Compact(slices.Sorted(slices.Values(slices.Concat(f.list.Views, f.views))))
	if f.claimed && slices.Equal(f.list.Views, views) {
		return nil
	}
	f.list.Views, f.claimed = views, true
	return f.save()
}

// renew replaces a part of which experiments have changed or are gone.
func (f *Feed) renew(ctx context.Context, db *queries.DB, p part, now map[string]string, c *Change) error {
	left := part{Experiments: map[string]string{}}
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
	if changed+removed == 0 && f.complete(p.Name) {
		return nil
	}
	if len(left.Experiments) > 0 {
		left.Name = f.name(p.Name)
	}
	err := f.put(ctx, db, p.Name, left, c)
	if err == nil {
		c.Changed += changed
		c.Removed += removed
	}
	return err
}

// put writes a part in the place of another; of none, if old is empty. The new one may have no
// experiments, and is not written then.
func (f *Feed) put(ctx context.Context, db *queries.DB, old string, p part, c *Change) error {
	var temps []string
	defer func() {
		for _, t := range temps {
			_ = os.Remove(t) // those that are not in place
		}
	}()
	if len(p.Experiments) > 0 {
		for _, view := range f.views {
			t := filepath.Join(f.folder, view, "."+p.Name+".tmp")
			temps = append(temps, t)
			if err := f.write(ctx, db, view, p, t); err != nil {
				return fmt.Errorf("%s: %w", view, err)
			}
		}
	}
	// From here on little can fail: rows are missing for this moment, and never there twice.
	if old != "" {
		if err := f.remove(old); err != nil {
			return err
		}
		f.list.Parts = slices.DeleteFunc(f.list.Parts, func(p part) bool { return p.Name == old })
		c.Deleted++
	}
	for i, t := range temps {
		if err := storedir.ReplaceFile(t, f.path(f.views[i], p.Name)); err != nil {
			return err
		}
	}
	if len(p.Experiments) > 0 {
		f.list.Parts = append(f.list.Parts, p)
		c.Written++
	}
	return f.save()
}

// write writes a part's file of a view.
func (f *Feed) write(ctx context.Context, db *queries.DB, view string, p part, path string) (err error) {
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
	ids := "'" + strings.Join(slices.Sorted(maps.Keys(p.Experiments)), "', '") + "'" // of 16 hexadecimal digits
	return db.CopyParquet(ctx, conn, fmt.Sprintf(`SELECT * FROM "%s" WHERE experiment_id IN (%s) ORDER BY ALL`, view, ids), 0, to)
}

// save writes the list.
func (f *Feed) save() error {
	text, err := json.MarshalIndent(f.list, "", " ")
	if err != nil {
		return err
	}
	temp := filepath.Join(f.folder, tempList)
	if err := os.WriteFile(temp, append(text, '\n'), 0o666); err != nil {
		return err
	}
	return storedir.ReplaceFile(temp, filepath.Join(f.folder, ListFile))
}

// check returns an error if a view is none with rows of experiments.
func (f *Feed) check(ctx context.Context, db *queries.DB) error {
	all, err := db.Texts(ctx, "SELECT table_name FROM duckdb_columns() WHERE database_name = current_catalog() AND column_name = 'experiment_id' ORDER BY ALL")
	if err != nil {
		return err
	}
	for _, view := range f.views {
		if !slices.Contains(all, view) {
			return fmt.Errorf("there is no view %q with the column experiment_id%s", view, queries.Suggest(view, all))
		}
	}
	return nil
}

// sweep removes files of views that are in no part: what a killed process left, and views that
// are not wanted any more.
func (f *Feed) sweep() error {
	parts := map[string]bool{}
	for _, p := range f.list.Parts {
		parts[p.Name+suffix] = true
	}
	for _, view := range slices.Concat(f.views, f.list.Views) {
		entries, err := os.ReadDir(filepath.Join(f.folder, view))
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
			if err := os.Remove(filepath.Join(f.folder, view, e.Name())); err != nil {
				return err
			}
		}
		if !slices.Contains(f.views, view) {
			_ = os.Remove(filepath.Join(f.folder, view)) // unless others have put something there
		}
	}
	return nil
}

const suffix = ".parquet"

// path is where a part's file of a view is.
func (f *Feed) path(view, part string) string { return filepath.Join(f.folder, view, part+suffix) }

// complete reports whether a part has all of its files.
func (f *Feed) complete(part string) bool {
	return !slices.ContainsFunc(f.views, func(view string) bool {
		_, err := os.Stat(f.path(view, part))
		return err != nil
	})
}

// remove removes the files of a part.
func (f *Feed) remove(part string) error {
	for _, view := range f.views {
		if err := os.Remove(f.path(view, part)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// name returns a name after a commit's, or a part's, that no part has had.
func (f *Feed) name(of string) string {
	stem, _, _ := strings.Cut(of, "-")
	f.list.Used[stem]++
	if n := f.list.Used[stem]; n > 1 {
		return fmt.Sprintf("%s-%d", stem, n)
	}
	return stem
}
