package gprofng

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"stackmill/internal/safefile"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/archive"
)

// folder is the founder's directory. The decoder does not follow links that lead out of it.
type folder struct {
	root      string // real and absolute
	givenPath string // root as the caller wrote it: resolve checks only the parts of a path below it; empty if unknown
	missing   *missingPaths
}

// missingPaths caches which directories a recording lacks. Each load object and source file is
// looked up in archives, and most recordings have no archives.
type missingPaths struct{ paths sync.Map }

var errLeadsOut = errors.New("it is a link that leads out of the recording, which is not followed")

// folderOf returns the folder of the experiment at path. A descendant that is opened by itself
// belongs to the founder's folder.
func folderOf(path string) (folder, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return folder{}, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return folder{}, err
	}
	if isDescendant(path) && isExperimentName(filepath.Base(filepath.Dir(real))) {
		real = filepath.Dir(real)
	}
	f := folder{root: real, missing: &missingPaths{}}
	if !isDescendant(path) {
		f.givenPath = filepath.Clean(path)
	}
	return f, nil
}

func isDescendant(path string) bool {
	return strings.HasPrefix(filepath.Base(filepath.Clean(path)), "_")
}

// resolve returns the real path of a file or folder of the recording.
func (f folder) resolve(path string) (string, error) {
	below, ok := strings.CutPrefix(filepath.Clean(path), f.givenPath+"/")
	if ok && f.givenPath != "" {
		path = filepath.Join(f.root, below)
		if real, err := f.plain(path); real || err != nil {
			return path, err
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if real, err = filepath.Abs(real); err != nil {
		return "", err
	}
	if !f.contains(real) {
		return "", errLeadsOut
	}
	return real, nil
}

// plain reports whether a path contains no links below the root. It does not check the parts of the
// root itself: on a network file system, each check is a request.
func (f folder) plain(path string) (bool, error) {
	for at := len(f.root) + 1; at <= len(path); at++ {
		if at < len(path) && path[at] != filepath.Separator {
			continue
		}
		part := path[:at]
		if _, known := f.missing.paths.Load(part); known {
			return false, &fs.PathError{Op: "lstat", Path: part, Err: syscall.ENOENT}
		}
		info, err := os.Lstat(part)
		if errors.Is(err, fs.ErrNotExist) && at < len(path) {
			f.missing.paths.Store(part, nil)
		}
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return false, err
		}
	}
	return true, nil
}

// contains reports whether a real path lies in the folder.
func (f folder) contains(real string) bool {
	return strings.HasPrefix(real, strings.TrimSuffix(f.root, "/")+"/") || real == f.root
}

// resolveArchived resolves the path of an archived file. Unlike resolve, it also allows links to a
// common archive (gprofng-experiment 1.4).
func (f folder) resolveArchived(path string) (string, error) {
	real, err := f.resolve(path)
	if !errors.Is(err, errLeadsOut) {
		return real, err
	}
	if real, err = filepath.EvalSymlinks(path); err == nil && !archive.IsCommon(filepath.Base(path), filepath.Base(real)) {
		err = errLeadsOut
	}
	return real, err
}

// size returns the size of a regular file of the recording.
func (f folder) size(path string) (int64, error) {
	real, err := f.resolve(path)
	if err != nil {
		return 0, err
	}
	info, err := safefile.Stat(real)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// strays returns the names of the links in a folder of archives that lead out of the recording and
// are not followed.
func (f folder) strays(archives string) (names []string, err error) {
	entries, err := os.ReadDir(archives)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := f.resolveArchived(filepath.Join(archives, e.Name())); errors.Is(err, errLeadsOut) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// cause returns an error without its path, because the path would show where the recording was
// read.
func cause(err error) error {
	for _, known := range []error{safefile.ErrNotRegular, safefile.ErrTooLarge} {
		if errors.Is(err, known) {
			return known
		}
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Locator returns the Recording.Locate function of an experiment. The experiment need not exist any
// more.
func Locator(path string) func(string) []decode.Candidate {
	if f, err := folderOf(path); err == nil {
		return locator(path, f)
	}
	return decode.AtPath
}

// locator returns a function that finds the files of load objects: in the archives (copies or
// symbol tables, by hashed name), then at the recorded path (gprofng-experiment 1.4).
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
		// A relative path cannot be looked up: its directory is unknown.
		if filepath.IsAbs(object) && isFile(object) {
			found = append(found, decode.Candidate{Path: object, Origin: "path"})
		}
		return found
	}
}

// symbolTables maps the paths of load objects to their archived symbol tables (studio-experiment
// 6). It reads the paths from the tables, since the tables' names may be wrong in an edited
// experiment.
func (f folder) symbolTables(archives string) map[string]string {
	tables := map[string]string{}
	entries, _ := os.ReadDir(archives) // without the folder there are no tables
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

// archivesOf returns the folder of an experiment's archives. A descendant that is opened by itself
// uses the founder's archives.
func archivesOf(path string) string {
	archives := filepath.Join(path, archive.Dir)
	if !exists(archives) && isDescendant(path) {
		return filepath.Join(path, "..", archive.Dir)
	}
	return archives
}
