package gprofng

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"stackmill/internal/safefile"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/archive"
)

// The files of an experiment (gprofng-experiment 1.1).
const (
	logFile      = "log.xml"
	warningsFile = "warnings.xml"
	mapFile      = "map.xml"
	framesFile   = "data.frameinfo"
	overviewFile = "overview"
	dyntextFile  = "dyntext"
	classesFile  = "jclasses"
)

// archiveLogs are the logs of gprofng's and Studio's archivers.
var archiveLogs = []string{"archive.log", "er_archive.log"}

// kinds is the number of event kinds that gprofng records. They are the first kinds in schema.Kind.
const kinds = schema.Perf

// eventFiles are the files with the events of each kind.
var eventFiles = func() (files [kinds]string) {
	for k := range files {
		files[k] = schema.Kind(k).Traits().File
	}
	return files
}()

// Files returns all regular files of the experiment, its descendants and its archives. It omits
// links out of the experiment and the archivers' logs, which say nothing about the program.
func (d *Decoder) Files(path string) ([]string, error) {
	root, err := resolveLink(path)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	in := sync.OnceValues(func() (folder, error) { return folderOf(path) }) // only needed for links, which few recordings have
	var files []string
	err = filepath.WalkDir(root, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || slices.Contains(archiveLogs, entry.Name()) {
			return nil
		}
		if !entry.Type().IsRegular() {
			in, err := in()
			if err != nil || !in.linksTo(p) {
				return err
			}
		}
		rel, err := filepath.Rel(root, p)
		files = append(files, rel)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	slices.Sort(files)
	return files, nil
}

// resolveLink returns the target of a link, or path itself if it is not a link. It does not resolve
// links in the folders of path: for thousands of recordings, this takes too long.
func resolveLink(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, err
	}
	return filepath.EvalSymlinks(path)
}

// linksTo reports whether a link leads to a file of the recording.
func (f folder) linksTo(path string) bool {
	resolve := f.resolve
	if filepath.Base(filepath.Dir(path)) == archive.Dir {
		resolve = f.resolveArchived
	}
	real, err := resolve(path)
	return err == nil && isFile(real)
}

// descendants returns the names of the descendant experiments in load order.
func descendants(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	var names []string
	for _, e := range entries {
		if n := e.Name(); strings.HasPrefix(n, "_") && isExperimentName(n) {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, naturalCompare)
	return names, err
}

// Finished reports whether the logs of an experiment and its descendants say that each process
// ended.
func (d *Decoder) Finished(path string) bool {
	names, err := descendants(path)
	if err != nil {
		return false
	}
	for _, name := range append(names, "") {
		f, info, err := safefile.Open(filepath.Join(path, name, logFile), safefile.Log)
		if err != nil {
			return false
		}
		closed := isClosedLog(f)
		f.Close()
		if info.Size() == 0 || !closed {
			return false
		}
	}
	return true
}

// isClosedLog reports whether a log is complete: it says that the process ended or executed another
// program.
func isClosedLog(log io.Reader) (closed bool) {
	x := newXMLReader(log, func(int64, string) {})
	for t, ok := x.next(); ok; t, ok = x.next() {
		if t.name != "event" || t.closes {
			continue
		}
		switch t.get("kind") {
		case "exit", "exec_start":
			closed = true
		case "run", "exec_error":
			closed = false
		}
	}
	return closed
}

// naturalCompare compares numbers inside names by value. If values are equal, the number with more
// digits comes first (gprofng-experiment 1.2).
func naturalCompare(a, b string) int {
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		switch {
		case i == len(a) || j == len(b):
			return (len(a) - i) - (len(b) - j)
		case isDigit(a[i]) && isDigit(b[j]):
			m, n := digits(a[i:]), digits(b[j:])
			if c := compareNumbers(a[i:i+m], b[j:j+n]); c != 0 {
				return c
			}
			if m != n {
				return n - m
			}
			i, j = i+m-1, j+n-1
		case a[i] != b[j]:
			return int(a[i]) - int(b[j])
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// groupHeader starts a group file (gprofng-experiment 1.3).
const groupHeader = "#analyzer experiment group"

// maxGroup is the maximum size of a group file.
const maxGroup = 16 << 20

// Members returns path, or the experiments that a group file names. The names are relative to the
// current directory or, if nothing is there, to the group file's directory.
func (d *Decoder) Members(path string) ([]string, error) {
	if !isGroup(path) {
		return []string{path}, nil
	}
	text, err := safefile.Read(path, maxGroup)
	if err != nil {
		return nil, fmt.Errorf("experiment group: %w", err)
	}
	var members []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		members = append(members, member(filepath.Clean(words[0]), filepath.Dir(path)))
	}
	return members, nil
}

func member(name, groupDir string) string {
	if _, err := os.Stat(name); err == nil || filepath.IsAbs(name) {
		return name
	}
	if beside := filepath.Join(groupDir, name); exists(beside) {
		return beside
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
