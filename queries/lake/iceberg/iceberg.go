// Package iceberg describes the tables of a lake as Iceberg does, by files alone: the layout of
// its Hadoop catalog, in version 2 of the format, which more engines read than any other.
// Sections are those of Iceberg's table specification (iceberg.apache.org/spec).
//
// The folder of a table is NAMESPACE/TABLE of the lake's:
//
//	metadata/version-hint.text        N
//	metadata/vN.metadata.json         the table: columns, snapshots
//	metadata/ID-list.avro             a snapshot: its manifests
//	metadata/ID-data.avro, -deletes   a manifest: all files of the snapshot
//
// The store's files name their columns and do not number them: the property
// schema.name-mapping.default does ("Column Projection").
package iceberg

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackmill/queries/lake"
	"stackmill/schema/storedir"
)

// Format is the name of the format.
const Format = "iceberg"

// Change is what an update did.
type Change struct {
	Tables         int // with a new snapshot
	Added, Removed int // files with rows
}

// Update brings the metadata of the tables of a lake up to date. Tables change one after the
// other.
func Update(l *lake.Lake, tables []lake.Table) (c Change, err error) {
	for _, t := range tables {
		w := &writer{Table: t, keep: l.Keep, dir: filepath.Join(l.Folder, lake.Namespace, t.Name, "metadata"), location: l.Base() + "/" + lake.Namespace + "/" + t.Name}
		if err := w.update(&c); err != nil {
			return c, fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return c, nil
}

// writer writes the metadata of a table.
type writer struct {
	lake.Table
	dir, location string
	keep          time.Duration
	version       int      // of the metadata that is there; 0 if there is none
	was           metadata // that
	now           metadata
}

// update writes a version of the table's metadata, if it differs from the last.
func (w *writer) update(c *Change) error {
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return err
	}
	if err := w.read(); err != nil {
		return err
	}
	if err := w.begin(); err != nil {
		return err
	}
	entries, err := w.entries()
	if err != nil {
		return err
	}
	expired := w.expire()
	changed := w.was.CurrentSnapshotID == 0 || slices.ContainsFunc(entries, func(e entry) bool { return e.Status != existing })
	if !changed && !expired && w.now.sameShape(&w.was) {
		return w.sweep()
	}
	if changed {
		if err := w.snapshot(entries); err != nil {
			return err
		}
		c.Tables++
		for _, e := range entries {
			switch {
			case e.DataFile.Content != rows:
			case e.Status == added:
				c.Added++
			case e.Status == deleted:
				c.Removed++
			}
		}
	}
	if err := w.commit(); err != nil {
		return err
	}
	return w.sweep()
}

// begin makes the new metadata of the last.
func (w *writer) begin() (err error) {
	w.now, err = w.was.next(w.Table, w.location)
	return err
}

// entries are the files of the new snapshot, and those of the last that it does not have.
func (w *writer) entries() (list []entry, err error) {
	last := map[string]entry{}
	if w.was.CurrentSnapshotID != 0 {
		if last, err = w.readEntries(w.was.CurrentSnapshotID); err != nil {
			return nil, err
		}
	}
	put := func(content int32, f *lake.File, of string) {
		e, there := last[f.Path]
		if there && e.DataFile.RecordCount == f.Rows && e.DataFile.FileSizeInBytes == f.Bytes {
			e.Status = existing
			delete(last, f.Path)
		} else {
			e = entry{Status: added, DataFile: dataFile{Content: content, FilePath: f.Path, FileFormat: "PARQUET", RecordCount: f.Rows, FileSizeInBytes: f.Bytes}}
			e.DataFile.refer(of)
		}
		list = append(list, e)
	}
	for i := range w.Files {
		f := &w.Files[i]
		put(rows, f, "")
		if f.Deletes != nil {
			put(positions, f.Deletes, f.Path)
		}
	}
	for _, path := range sorted(last) {
		e := last[path]
		e.Status = deleted
		list = append(list, e)
	}
	return list, nil
}

// expire drops the snapshots that have not been the current one for as long as files are kept.
func (w *writer) expire() (some bool) {
	list := w.now.Snapshots
	for len(list) > 1 && time.Since(time.UnixMilli(list[1].TimestampMS)) > w.keep {
		list, some = list[1:], true
	}
	w.now.Snapshots = slices.Clone(list)
	w.now.SnapshotLog = slices.DeleteFunc(slices.Clone(w.now.SnapshotLog), func(s logged) bool {
		return !slices.ContainsFunc(list, func(kept snapshot) bool { return kept.ID == s.SnapshotID })
	})
	return some
}

// snapshot writes the files of a snapshot and makes it the current one ("Snapshots").
func (w *writer) snapshot(entries []entry) error {
	m := &w.now
	id := rand.Int64N(1<<62) + 1
	m.LastSequenceNumber++
	s := snapshot{ID: id, Parent: m.CurrentSnapshotID, Sequence: m.LastSequenceNumber, TimestampMS: m.LastUpdatedMS, SchemaID: m.CurrentSchemaID}
	for i := range entries {
		switch e := &entries[i]; e.Status {
		case added:
			e.SnapshotID, e.SequenceNumber, e.FileSequenceNumber = &id, &s.Sequence, &s.Sequence
		case deleted:
			e.SnapshotID = &id // that removed it
		}
	}
	s.Summary = summary(entries)
	var manifests []manifest
	for content, name := range manifestNames {
		part := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.DataFile.Content != int32(content) })
		if len(part) == 0 {
			continue
		}
		made, err := w.writeManifest(fmt.Sprintf("%d-%s.avro", id, name), int32(content), s, part)
		if err != nil {
			return err
		}
		manifests = append(manifests, made)
	}
	list := fmt.Sprintf("%d-list.avro", id)
	if err := w.writeList(list, s, manifests); err != nil {
		return err
	}
	s.ManifestList = w.location + "/metadata/" + list
	m.Snapshots = append(m.Snapshots, s)
	m.SnapshotLog = append(m.SnapshotLog, logged{id, s.TimestampMS})
	m.CurrentSnapshotID = id
	m.Refs = map[string]ref{"main": {id, "branch"}}
	return nil
}

// commit puts the new metadata in place, then the hint of it.
func (w *writer) commit() error {
	w.version++
	text, err := w.now.encode()
	if err != nil {
		return err
	}
	if err := w.put(versionName(w.version), text); err != nil {
		return err
	}
	return w.put(hintName, []byte(strconv.Itoa(w.version)))
}

const (
	hintName   = "version-hint.text"
	tempSuffix = ".tmp"
	metaSuffix = ".metadata.json"
)

func versionName(n int) string { return "v" + strconv.Itoa(n) + metaSuffix }

// put puts a file of the metadata in its place, complete.
func (w *writer) put(name string, data []byte) error {
	temp := filepath.Join(w.dir, name+tempSuffix)
	if err := os.WriteFile(temp, data, 0o666); err != nil {
		return err
	}
	return storedir.ReplaceFile(temp, filepath.Join(w.dir, name))
}

// read reads the last version of the metadata. The hint may be that of the one before: a
// program may have been killed between them.
func (w *writer) read() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n, is := versionOf(e.Name()); is {
			w.version = max(w.version, n)
		}
	}
	if w.version == 0 {
		return nil
	}
	path := filepath.Join(w.dir, versionName(w.version))
	text, err := os.ReadFile(path)
	if err == nil {
		err = w.was.decode(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w (empty the lake's folder: all is written again)", path, err)
	}
	hint, err := os.ReadFile(filepath.Join(w.dir, hintName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(hint) != strconv.Itoa(w.version) {
		return w.put(hintName, []byte(strconv.Itoa(w.version)))
	}
	return nil
}

// versionOf returns the number of a version of the metadata by its file's name.
func versionOf(name string) (n int, is bool) {
	number, isMeta := strings.CutSuffix(name, metaSuffix)
	number, isVersion := strings.CutPrefix(number, "v")
	if !isMeta || !isVersion {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0
}

// sweep removes what no snapshot of the last version has, and the versions before that readers
// have had the time to leave.
func (w *writer) sweep() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, _, made := strings.Cut(e.Name(), "-")
		n, version := versionOf(e.Name())
		stays := e.Name() == hintName || n == w.version
		switch {
		case version && !stays:
			info, err := e.Info()
			if err != nil {
				return err
			}
			stays = time.Since(info.ModTime()) <= w.keep
		case made:
			stays = stays || slices.ContainsFunc(w.now.Snapshots, func(s snapshot) bool { return strconv.FormatInt(s.ID, 10) == id })
		}
		if !stays {
			if err := os.Remove(filepath.Join(w.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
