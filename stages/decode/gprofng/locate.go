package gprofng

import (
	"io"
	"os"
	"path/filepath"
	"sync"

	"stackmill/internal/safefile"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/archive"
)

// Locator returns the Recording.Locate of an experiment, which may be gone.
func Locator(path string) func(string) []decode.Candidate {
	if f, err := folderOf(path); err == nil {
		return locator(path, f)
	}
	return decode.AtPath
}

// locator returns a function that finds the files of load objects: in the archives by hashed
// name, as copies or as symbol tables, then at the recorded path (gprofng-experiment 1.4).
func locator(path string, f folder) func(string) []decode.Candidate {
	archives := archivesOf(path)
	tables := sync.OnceValue(func() map[string]string { return f.symbolTables(archives) })
	return func(object string) []decode.Candidate {
		if object == "" || object[0] == '<' || object[0] == '[' {
			return nil
		}
		var found []decode.Candidate
		for _, name := range []string{archive.Name(object), archive.SymbolTable(object)} {
			if archived, err := f.resolveArchived(filepath.Join(archives, name)); err == nil && isFile(archived) {
				found = append(found, decode.Candidate{Path: archived, Origin: "archive"})
			}
		}
		if table := tables()[object]; len(found) == 0 && table != "" {
			found = append(found, decode.Candidate{Path: table, Origin: "archive"})
		}
		// A relative path belongs to an unknown directory.
		if filepath.IsAbs(object) && isFile(object) {
			found = append(found, decode.Candidate{Path: object, Origin: "path"})
		}
		return found
	}
}

// symbolTables returns the archived symbol tables by the load object's path in them
// (studio-experiment 6): their names may belong to other paths if an experiment was edited.
func (f folder) symbolTables(archives string) map[string]string {
	tables := map[string]string{}
	entries, _ := os.ReadDir(archives) // no folder, no tables
	for _, e := range entries {
		if !e.Type().IsRegular() || !archive.IsSymbolTable(e.Name()) {
			continue
		}
		real, err := f.resolve(filepath.Join(archives, e.Name()))
		if err != nil {
			continue
		}
		if object := objectOf(real); object != "" {
			tables[object] = real
		}
	}
	return tables
}

// objectOf returns the path of a symbol table's load object.
func objectOf(table string) string {
	f, _, err := safefile.Open(table, safefile.SymbolList)
	if err != nil {
		return "" // its reader reports the error
	}
	defer f.Close()
	head := make([]byte, maxPath+64)
	n, _ := io.ReadFull(f, head) // short tables are read too
	return archive.ObjectOf(head[:n])
}

func isFile(path string) bool {
	_, err := safefile.Stat(path)
	return err == nil
}

// archivesOf returns the folder of an experiment's archives. A descendant that is opened by
// itself uses the founder's.
func archivesOf(path string) string {
	archives := filepath.Join(path, archive.Dir)
	if !exists(archives) && isDescendant(path) {
		return filepath.Join(path, "..", archive.Dir)
	}
	return archives
}
