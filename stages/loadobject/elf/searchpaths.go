package elf

import (
	"path/filepath"
	"slices"
	"strings"
)

// SearchPaths say where, besides the object's own folder, to look for files that belong to the
// object.
type SearchPaths struct {
	// Recorded is the object's path in the recording, empty if unknown. The opened file may be a
	// copy.
	Recorded string
	Root     string   // folder that replaces the recorded machine's root; empty: this machine's root
	Dirs     []string // roots of separate debug files
}

// paths returns the paths next to which gdb looks for related files: the file's path, the recorded
// path, and both with symbolic links resolved.
func (f *File) paths() []string {
	var list []string
	recorded := ""
	if filepath.IsAbs(f.Search.Recorded) {
		recorded = f.Search.inRoot(f.Search.Recorded)
	}
	for _, path := range []string{f.Path, recorded} {
		if path == "" {
			continue
		}
		list = append(list, path)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			list = append(list, real)
		} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			list = append(list, filepath.Join(dir, filepath.Base(path)))
		}
	}
	return distinct(list)
}

// distinct removes repeated paths.
func distinct(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(path string) bool {
		repeated := seen[path]
		seen[path] = true
		return repeated
	})
}

// Folders returns the folders of paths.
func (f *File) Folders() []string {
	list := f.paths()
	for i, path := range list {
		list[i] = filepath.Dir(path)
	}
	return list
}

// pathsWith returns paths, each with a suffix appended.
func (f *File) pathsWith(suffix string) []string {
	list := f.paths()
	for i := range list {
		list[i] += suffix
	}
	return list
}

// DWOPaths returns the candidate paths of a `.dwo` file, given its name in the debug information
// and the compilation directory. The first is the name in that directory. Then follow, for each of
// the object's folders and of the roots of debug files, this path below it and the name in it.
func (f *File) DWOPaths(compDir, name string) []string {
	var list []string
	full := name
	if !filepath.IsAbs(name) {
		full = filepath.Join(compDir, name)
	}
	if filepath.IsAbs(full) {
		list = f.rooted(full)
	}
	in := func(dir string) {
		if !filepath.IsAbs(name) {
			list = append(list, filepath.Join(dir, name))
		}
		list = append(list, filepath.Join(dir, filepath.Base(name)))
	}
	for _, dir := range f.Folders() {
		if !filepath.IsAbs(full) {
			list = append(list, filepath.Join(dir, full))
		}
		in(dir)
	}
	for _, dir := range f.Search.Dirs {
		list = append(list, filepath.Join(dir, full))
		in(dir)
	}
	return distinct(list)
}

// DWPPaths returns the candidate paths of the object's package of split debug information
// (`OBJECT.dwp`): next to the object or its debug file, which may be nil, and below the roots of debug
// files by the object's path, name or build-id.
func (f *File) DWPPaths(debug *File) []string {
	paths := f.pathsWith(".dwp")
	list := slices.Clone(paths)
	if debug != nil && debug != f {
		for _, path := range debug.pathsWith(".dwp") {
			list = append(list, path, filepath.Join(filepath.Dir(path), filepath.Base(paths[0])))
		}
	}
	id := f.BuildID()
	for _, dir := range f.Search.Dirs {
		for _, path := range paths {
			if abs, err := filepath.Abs(path); err == nil {
				list = append(list, filepath.Join(dir, f.Search.outOfRoot(abs)))
			}
			list = append(list, filepath.Join(dir, filepath.Base(path)))
		}
		if len(id) > 2 {
			list = append(list, filepath.Join(dir, ".build-id", id[:2], id[2:]+".dwp"))
		}
	}
	return distinct(list)
}

// rooted returns where a path of the recorded machine may be: below the search root, then at the
// same path of this machine.
func (f *File) rooted(path string) []string {
	if f.Search.Root == "" || !filepath.IsAbs(path) {
		return []string{path}
	}
	return []string{f.Search.inRoot(path), path}
}

// inRoot returns the path below the search root for a path of the recorded machine. The result is
// never outside the root.
func (p *SearchPaths) inRoot(path string) string {
	if p.Root == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(p.Root, filepath.Clean("/"+path))
}

// outOfRoot is the inverse of inRoot. It does not change a path outside of the root.
func (p *SearchPaths) outOfRoot(path string) string {
	if p.Root == "" {
		return path
	}
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return path
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/")+"/"); ok {
		return "/" + rest
	}
	return path
}

// debugLinkPaths returns the candidate paths of the debug file that a debug link names, in gdb's
// order: next to the object, in the folder .debug there, and below each root of debug files at the
// path of the object's folder. An experiment's archive appends a suffix to the name of an object
// and of its debug file: so it also tries the name with the object's suffix.
func (f *File) debugLinkPaths(name string) []string {
	if filepath.IsAbs(name) {
		return f.rooted(name)
	}
	var list []string
	paths := f.paths()
	for _, path := range paths {
		dir := filepath.Dir(path)
		list = append(list, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
		if suffix, ok := strings.CutPrefix(filepath.Base(path), filepath.Base(f.Search.Recorded)); ok && suffix != "" {
			list = append(list, filepath.Join(dir, name+suffix))
		}
	}
	for _, path := range paths {
		abs, err := filepath.Abs(filepath.Dir(path))
		if err != nil {
			continue
		}
		for _, dir := range f.Search.Dirs {
			list = append(list, filepath.Join(dir, f.Search.outOfRoot(abs), name), filepath.Join(dir, abs, name))
		}
	}
	return distinct(list)
}
