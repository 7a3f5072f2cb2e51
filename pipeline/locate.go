package pipeline

import (
	"path/filepath"
	"slices"
	"strings"

	"stackmill/stages/decode"
	"stackmill/stages/infile"
	"stackmill/stages/loadobject/cache"
)

// locate says where the files are that a recording names, and which it tells by
// build-id only. The result tells the recorded path of such a file; of one that
// has several it is the first that was asked for.
func locate(o *Options, rec *decode.Recording) (recorded func(file string) string) {
	paths := map[string]string{}
	from := func(path string, list []decode.Candidate) []decode.Candidate {
		for _, c := range list {
			if _, known := paths[c.Path]; !known {
				paths[c.Path] = path
			}
		}
		return list
	}
	at := listsAt(o, below(o.SymFS, rec.Locate))
	rec.Locate = func(path string) []decode.Candidate { return from(path, at(path)) }
	dirs := o.debugDirs()
	rec.Stored = func(path, buildID string) (list []decode.Candidate) {
		for _, file := range cache.Stored(dirs, buildID) {
			list = append(list, decode.Candidate{Path: file, Origin: "cache"})
		}
		if v := vdsoHere(); path == vdsoPath && buildID != "" && v.buildID == buildID {
			list = append(list, decode.Candidate{Path: v.file, Origin: "cache"})
		}
		if path == decode.KernelPath {
			for _, file := range kernels(o.SymFS, dirs, rec, buildID) {
				list = append(list, decode.Candidate{Path: file, Origin: "cache"})
			}
		}
		return from(path, list)
	}
	return func(file string) string { return paths[file] }
}

// kernels returns where the symbols of the recorded kernel may be: with the
// kernel that runs if it is the same, and in the images that distributions
// install, by the release (perf-data 10.3).
func kernels(symfs string, dirs []string, rec *decode.Recording, buildID string) (found []string) {
	if here.recorded(rec, buildID, symfs == "") {
		found = append(found, here.symbols)
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
		if _, err := infile.Stat(file); err == nil {
			found = append(found, file)
		}
	}
	return found
}

// debugDirs are the roots of debug files and of perf's cache.
func (o *Options) debugDirs() []string {
	dirs := o.DebugDirs
	if dirs == nil {
		dirs = cache.DefaultDebugDirs()
	}
	if o.SymFS != "" {
		dirs = append(slices.Clip(dirs), filepath.Join(o.SymFS, "usr/lib/debug"))
	}
	return dirs
}

// below looks for files outside the recording below root, whether or not they
// are at their recorded paths as well.
func below(root string, locate func(string) []decode.Candidate) func(string) []decode.Candidate {
	if root == "" {
		return locate
	}
	return func(path string) []decode.Candidate {
		candidates := slices.DeleteFunc(locate(path), func(c decode.Candidate) bool { return c.Origin == "path" })
		if filepath.IsAbs(path) {
			moved := filepath.Join(root, filepath.Clean(path)) // `/..` is the root
			if _, err := infile.Stat(moved); err == nil {
				candidates = append(candidates, decode.Candidate{Path: moved, Origin: "path"})
			}
		}
		return candidates
	}
}

// given returns the files that the user named.
func given(files ...string) (list []decode.Candidate) {
	for _, file := range files {
		if file != "" {
			list = append(list, decode.Candidate{Path: file, Origin: "path"})
		}
	}
	return list
}

// listsAt locates lists of symbols, which are no part of a recording: the
// kernel's, and those of generated code.
func listsAt(o *Options, locate func(string) []decode.Candidate) func(string) []decode.Candidate {
	return func(path string) []decode.Candidate {
		switch {
		case path == decode.KernelPath:
			return given(o.Vmlinux, o.Kallsyms)
		case decode.IsPerfMap(path):
			if o.PerfMaps != "" {
				path = filepath.Join(o.PerfMaps, filepath.Base(path))
			}
		case decode.IsJITDump(path) && o.PerfMaps != "":
			beside := decode.Candidate{Path: filepath.Join(o.PerfMaps, filepath.Base(path)), Origin: "path"}
			return append([]decode.Candidate{beside}, locate(path)...)
		default:
			return locate(path)
		}
		return []decode.Candidate{{Path: path, Origin: "path"}}
	}
}
