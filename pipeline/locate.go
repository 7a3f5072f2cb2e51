package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"stackmill/internal/safefile"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/symbolize/source"
)

// lookup says where to look for load objects, symbol lists and debug files: see Options.
type lookup struct {
	symFS, kallsyms, vmlinux, perfMaps string
	debugDirs                          []string // also those below symFS
	onlyGiven                          bool     // do not look for symbol lists of generated code in /tmp
}

func lookupOf(o *Options) lookup {
	w := lookup{o.SymFS, o.Kallsyms, o.Vmlinux, o.PerfMaps, o.DebugDirs, false}
	if w.debugDirs == nil {
		w.debugDirs = cache.DefaultDebugDirs()
	}
	if w.symFS != "" {
		w.debugDirs = append(slices.Clip(w.debugDirs), filepath.Join(w.symFS, "usr/lib/debug"))
	}
	return w
}

// recordingFiles finds the files that a recording refers to, for the stages.
type recordingFiles struct {
	locator *fileLocator
	tables  *cache.Recording // symbol tables of the load objects
}

// locate finds the files of a recording.
func (in *ingest) locate(rec *decode.Recording) recordingFiles {
	files := in.lookup.locate(rec)
	return recordingFiles{files, in.caches.loader.Of(in.lookup.symFS, files.recorded)}
}

// sourceFinder returns the finder of a recording's source files. stored, if not nil, returns the
// texts that the store has.
func (in *ingest) sourceFinder(files *fileLocator, stored func(string) *source.Text) source.Finder {
	return source.Finder{Rules: in.options.Sources, NoRecorded: in.options.NoRecordedSources, Locate: files.ByPath, Stored: stored, Cache: in.caches.texts}
}

// fileLocator finds the files that a recording refers to, where the options say. It records which
// recorded path each found file belongs to, and the state of every path that it tried.
type fileLocator struct {
	where  *lookup
	rec    *decode.Recording
	named  func(path string) []decode.Candidate
	states *fileStates

	mu    sync.Mutex
	paths map[string]string // by file: the recorded path, the first one asked for
}

func (w *lookup) locate(rec *decode.Recording) *fileLocator {
	return &fileLocator{
		where: w, rec: rec, named: w.lists(below(w.symFS, rec.Locate)),
		states: &fileStates{files: map[string]string{}}, paths: map[string]string{},
	}
}

// ByPath implements decode.Locator.
func (l *fileLocator) ByPath(path string) []decode.Candidate {
	list := l.found(path, l.named(path))
	l.states.add(path)
	return list
}

// ByBuildID implements decode.Locator.
func (l *fileLocator) ByBuildID(path, buildID string) (list []decode.Candidate) {
	if decode.IsPerfMap(path) {
		return l.found(path, l.otherLists())
	}
	cached := func(file string) { list = append(list, decode.Candidate{Path: file, Origin: "cache"}) }
	dirs := l.where.debugDirs
	for _, file := range cache.Stored(dirs, buildID) {
		cached(file)
	}
	if path == vdsoPath && buildID != "" {
		v, err := ownVDSO()
		l.rec.KeepHostError(err)
		if v.buildID == buildID {
			cached(v.file)
		}
	}
	if path == decode.KernelPath {
		for _, file := range kernels(l.where.symFS, dirs, l.rec, buildID) {
			cached(file)
		}
	}
	return l.found(path, list)
}

// SameBoot reports whether this machine runs the recording's kernel, and has not been restarted
// since.
func (l *fileLocator) SameBoot() bool { return thisKernel.recorded(l.rec, "", true) }

// maxLists bounds the symbol lists of generated code that are searched.
const maxLists = 256

// otherLists returns all perf-PID.map files, whatever the process; none if there are too many.
func (l *fileLocator) otherLists() (list []decode.Candidate) {
	dir := l.where.perfMaps
	if dir == "" {
		if l.where.onlyGiven {
			return nil
		}
		dir = "/tmp"
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if decode.IsPerfMap("/tmp/" + e.Name()) {
			list = append(list, decode.Candidate{Path: filepath.Join(dir, e.Name()), Origin: "path"})
		}
	}
	if len(list) > maxLists {
		return nil
	}
	return list
}

// found records that the files in list were found for a recorded path, and returns list.
func (l *fileLocator) found(path string, list []decode.Candidate) []decode.Candidate {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range list {
		if _, known := l.paths[c.Path]; !known {
			l.paths[c.Path] = path
		}
		l.states.add(c.Path)
	}
	return list
}

// recorded returns the recorded path for which a file was found.
func (l *fileLocator) recorded(file string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paths[file]
}

// kernels returns files that may have the symbols of the recorded kernel: those of the running
// kernel if it is the same, and the images that distributions install, by release (perf-data 10.3).
func kernels(symfs string, dirs []string, rec *decode.Recording, buildID string) (found []string) {
	if thisKernel.recorded(rec, buildID, symfs == "") {
		found = append(found, thisKernel.symbols)
	}
	_, release, _ := strings.Cut(rec.OS, " ")
	if buildID == "" || release == "" || strings.ContainsRune(release, '/') {
		return found
	}
	places := []string{filepath.Join(symfs, "/boot/vmlinux-"+release)}
	for _, dir := range dirs {
		places = append(places, filepath.Join(dir, "boot/vmlinux-"+release), filepath.Join(dir, "lib/modules", release, "vmlinux"))
	}
	places = append(places, filepath.Join(symfs, "/lib/modules", release, "build/vmlinux"))
	for _, file := range places {
		if _, err := safefile.Stat(file); err == nil {
			found = append(found, file)
		}
	}
	return found
}

// below returns a function like locate, but with recorded paths taken below root (--symfs), and
// only there. Files that are part of the recording are found as before.
func below(root string, locate func(string) []decode.Candidate) func(string) []decode.Candidate {
	if root == "" {
		return locate
	}
	return func(path string) []decode.Candidate {
		candidates := slices.DeleteFunc(locate(path), func(c decode.Candidate) bool { return c.Origin == "path" })
		if filepath.IsAbs(path) {
			moved := filepath.Join(root, filepath.Clean(path)) // `/..` is the root
			if _, err := safefile.Stat(moved); err == nil {
				candidates = append(candidates, decode.Candidate{Path: moved, Origin: "path"})
			}
		}
		return candidates
	}
}

// given returns the candidates for files that the user named.
func given(files ...string) (list []decode.Candidate) {
	for _, file := range files {
		if file != "" {
			list = append(list, decode.Candidate{Path: file, Origin: "path"})
		}
	}
	return list
}

// lists returns a function like locate that also finds symbol lists, which are not part of a
// recording: the kernel's, and the ones for generated code.
func (w *lookup) lists(locate func(string) []decode.Candidate) func(string) []decode.Candidate {
	return func(path string) []decode.Candidate {
		switch {
		case path == decode.KernelPath:
			return given(w.vmlinux, w.kallsyms)
		case decode.IsPerfMap(path):
			if w.perfMaps == "" && w.onlyGiven {
				return nil
			}
			if w.perfMaps != "" {
				path = filepath.Join(w.perfMaps, filepath.Base(path))
			}
		case decode.IsJITDump(path) && w.perfMaps != "":
			beside := decode.Candidate{Path: filepath.Join(w.perfMaps, filepath.Base(path)), Origin: "path"}
			return append([]decode.Candidate{beside}, locate(path)...)
		default:
			return locate(path)
		}
		return []decode.Candidate{{Path: path, Origin: "path"}}
	}
}
