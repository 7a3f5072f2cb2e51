// Package iceberg describes the tables of a lake in version 2 of Iceberg's format, with the file layout of its Hadoop
// catalog, which most engines can read. Quoted section names are from Iceberg's table specification
// (iceberg.apache.org/spec).
//
// The folder of a table is NAMESPACE/TABLE in the lake's folder:
//
//	metadata/version-hint.text        N
//	metadata/vN.metadata.json         the table: columns, snapshots
//	metadata/ID-list.avro             a snapshot: its manifests
//	metadata/ID-data.avro, -deletes   a manifest: all files of the snapshot
//
// The store's files have no field ids: the property schema.name-mapping.default maps column names to ids ("Column
// Projection").
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

	"stackmill/queries/exportfolder"
	"stackmill/queries/lake"
)

// Format is the name of the format.
const Format = "iceberg"

// Change counts what an update did.
type Change struct {
	Tables         int // tables that got a new snapshot
	Added, Removed int // numbers of data files
}

// Update updates the metadata of the tables of a lake, one table after the other.
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
	version       int      // number of the current metadata file; 0 if there is none
	previous      metadata // content of the current metadata file
	next          metadata
}

// update writes a new version of the table's metadata if the table has changed since the current one.
func (w *writer) update(c *Change) error {
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return err
	}
	if err := w.read(); err != nil {
		return err
	}
	if err := w.prepare(); err != nil {
		return err
	}
	entries, err := w.entries()
	if err != nil {
		return err
	}
	expired := w.expire()
	changed := w.previous.CurrentSnapshotID == 0 || slices.ContainsFunc(entries, func(e entry) bool { return e.Status != existing })
	if !changed && !expired && w.next.equalShape(&w.previous) {
		return w.removeExpired()
	}
	if changed {
		if err := w.snapshot(entries); err != nil {
			return err
		}
		c.Tables++
		for _, e := range entries {
			switch {
			case e.DataFile.Content != dataRows:
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
	return w.removeExpired()
}

// prepare derives the new metadata from the previous one.
func (w *writer) prepare() (err error) {
	w.next, err = w.previous.successor(w.Table, w.location)
	return err
}

// entries returns the files of the new snapshot, and those of the previous snapshot that the table no longer has.
func (w *writer) entries() (list []entry, err error) {
	last := map[string]entry{}
	if w.previous.CurrentSnapshotID != 0 {
		if last, err = w.readEntries(w.previous.CurrentSnapshotID); err != nil {
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
			e.DataFile.setReferencedFile(of)
		}
		list = append(list, e)
	}
	for i := range w.Files {
		f := &w.Files[i]
		put(dataRows, f, "")
		if f.Deletes != nil {
			put(deletedPositions, f.Deletes, f.Path)
		}
	}
	for _, path := range sortedKeys(last) {
		e := last[path]
		e.Status = deleted
		list = append(list, e)
	}
	return list, nil
}

// expire drops snapshots that were replaced more than keep ago. It reports whether there were any.
func (w *writer) expire() (some bool) {
	list := w.next.Snapshots
	for len(list) > 1 && time.Since(time.UnixMilli(list[1].TimestampMS)) > w.keep {
		list, some = list[1:], true
	}
	w.next.Snapshots = slices.Clone(list)
	w.next.SnapshotLog = slices.DeleteFunc(slices.Clone(w.next.SnapshotLog), func(s snapshotLogEntry) bool {
		return !slices.ContainsFunc(list, func(kept snapshot) bool { return kept.ID == s.SnapshotID })
	})
	return some
}

// snapshot writes the manifests of a new snapshot and makes it the current one ("Snapshots").
func (w *writer) snapshot(entries []entry) error {
	m := &w.next
	id := rand.Int64N(1<<62) + 1
	m.LastSequenceNumber++
	s := snapshot{ID: id, Parent: m.CurrentSnapshotID, Sequence: m.LastSequenceNumber, TimestampMS: m.LastUpdatedMS, SchemaID: m.CurrentSchemaID}
	for i := range entries {
		switch e := &entries[i]; e.Status {
		case added:
			e.SnapshotID, e.SequenceNumber, e.FileSequenceNumber = &id, &s.Sequence, &s.Sequence
		case deleted:
			e.SnapshotID = &id // the snapshot in which the file is deleted
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
	m.SnapshotLog = append(m.SnapshotLog, snapshotLogEntry{id, s.TimestampMS})
	m.CurrentSnapshotID = id
	m.Refs = map[string]snapshotRef{"main": {id, "branch"}}
	return nil
}

// commit writes the new metadata, and then the hint with its version.
func (w *writer) commit() error {
	w.version++
	text, err := w.next.encode()
	if err != nil {
		return err
	}
	if err := w.replaceFile(versionName(w.version), text); err != nil {
		return err
	}
	return w.replaceFile(hintName, []byte(strconv.Itoa(w.version)))
}

const (
	hintName   = "version-hint.text"
	metaSuffix = ".metadata.json"
)

func versionName(n int) string { return "v" + strconv.Itoa(n) + metaSuffix }

// replaceFile writes a file in the metadata folder atomically.
func (w *writer) replaceFile(name string, data []byte) error {
	return exportfolder.WriteFile(filepath.Join(w.dir, name), data)
}

// read reads the latest metadata. If a program was killed before it wrote the hint, read corrects the hint.
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
		err = w.previous.decode(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w (empty the lake's folder to export everything again)", path, err)
	}
	hint, err := os.ReadFile(filepath.Join(w.dir, hintName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(hint) != strconv.Itoa(w.version) {
		return w.replaceFile(hintName, []byte(strconv.Itoa(w.version)))
	}
	return nil
}

// versionOf returns the version in the name of a metadata file.
func versionOf(name string) (n int, is bool) {
	number, isMeta := strings.CutSuffix(name, metaSuffix)
	number, isVersion := strings.CutPrefix(number, "v")
	if !isMeta || !isVersion {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0
}

// removeExpired deletes the manifests of snapshots that the metadata no longer lists, and metadata of versions that
// were replaced more than keep ago.
func (w *writer) removeExpired() error {
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
			stays = stays || slices.ContainsFunc(w.next.Snapshots, func(s snapshot) bool { return strconv.FormatInt(s.ID, 10) == id })
		}
		if !stays {
			if err := os.Remove(filepath.Join(w.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
