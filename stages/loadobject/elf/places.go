package elf

import (
	"path/filepath"
	"slices"
	"strings"
)

// Places say where, besides its folder, an object stood, and where files that
// belong to it may be.
type Places struct {
	// Recorded is the object's path in the recording, of which the file may be a
	// copy; empty if unknown.
	Recorded string
	Root     string   // folder that stands for the recorded machine's root; empty: this machine's
	Dirs     []string // roots of separate debug files
}

// paths are those by which the object was known: where it is, where it was
// recorded, and both without symbolic links, as gdb looks beside each of them.
func (f *File) paths() []string {
	var list []string
	add := func(path string) {
		if path != "" && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	recorded := ""
	if filepath.IsAbs(f.Places.Recorded) {
		recorded = f.Places.moved(f.Places.Recorded)
	}
	for _, path := range []string{f.Path, recorded} {
		add(path)
		if path == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			add(real)
		} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			add(filepath.Join(dir, filepath.Base(path)))
		}
	}
	return list
}

// Folders returns those in which the object is or stood.
func (f *File) Folders() []string {
	list := f.paths()
	for i, path := range list {
		list[i] = filepath.Dir(path)
	}
	return list
}

// With returns the object's paths with a suffix.
func (f *File) With(suffix string) []string {
	list := f.paths()
	for i := range list {
		list[i] += suffix
	}
	return list
}

// Splits returns where a `.dwo` file may be that debug information of the object names, with
// the folder of the compilation: at that path, below the folders in which the object is or stood
// and those of debug files, or in one of them itself.
func (f *File) Splits(compiled, name string) []string {
	var list []string
	add := func(path string) {
		if !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	full := name
	if !filepath.IsAbs(name) {
		full = filepath.Join(compiled, name)
	}
	if filepath.IsAbs(full) {
		for _, path := range f.Moved(full) {
			add(path)
		}
	}
	for _, dir := range f.Folders() {
		if !filepath.IsAbs(full) {
			add(filepath.Join(dir, full))
		}
		if !filepath.IsAbs(name) {
			add(filepath.Join(dir, name))
		}
		add(filepath.Join(dir, filepath.Base(name)))
	}
	for _, dir := range f.Places.Dirs {
		add(filepath.Join(dir, full))
		if !filepath.IsAbs(name) {
			add(filepath.Join(dir, name))
		}
		add(filepath.Join(dir, filepath.Base(name)))
	}
	return list
}

// Packages returns where the package of the object's split debug information may be
// (`OBJECT.dwp`): beside the object or its debug file, which may be nil, and in the folders of debug
// files, by the object's path, name or build-id.
func (f *File) Packages(debug *File) []string {
	var list []string
	add := func(path string) {
		if !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	paths := f.With(".dwp")
	for _, path := range paths {
		add(path)
	}
	if debug != nil && debug != f {
		for _, path := range debug.With(".dwp") {
			add(path)
			add(filepath.Join(filepath.Dir(path), filepath.Base(paths[0])))
		}
	}
	id := f.BuildID()
	for _, dir := range f.Places.Dirs {
		for _, path := range paths {
			if abs, err := filepath.Abs(path); err == nil {
				add(filepath.Join(dir, f.Places.stayed(abs)))
			}
			add(filepath.Join(dir, filepath.Base(path)))
		}
		if len(id) > 2 {
			add(filepath.Join(dir, ".build-id", id[:2], id[2:]+".dwp"))
		}
	}
	return list
}

// Moved returns where a path of the recorded machine may be: below the root that
// stands for it, and on this machine.
func (f *File) Moved(path string) []string {
	if f.Places.Root == "" || !filepath.IsAbs(path) {
		return []string{path}
	}
	return []string{f.Places.moved(path), path}
}

// moved returns where the recorded machine's file is: never outside the root.
func (p *Places) moved(path string) string {
	if p.Root == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(p.Root, filepath.Clean("/"+path))
}

// stayed undoes moved for a path below the root.
func (p *Places) stayed(path string) string {
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

// linked returns where the file that a debug link names may be, in gdb's order:
// beside the object, in the folder .debug there, and below each root of debug
// files at the path of the object's folder. A copy in an experiment's archive has
// its debug file beside it under a name with the same suffix.
func (f *File) linked(name string) []string {
	if filepath.IsAbs(name) {
		return f.Moved(name)
	}
	var list []string
	add := func(path string) {
		if !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	paths := f.paths()
	for _, path := range paths {
		dir := filepath.Dir(path)
		add(filepath.Join(dir, name))
		add(filepath.Join(dir, ".debug", name))
		if suffix, ok := strings.CutPrefix(filepath.Base(path), filepath.Base(f.Places.Recorded)); ok && suffix != "" {
			add(filepath.Join(dir, name+suffix)) // both are in an experiment's archive
		}
	}
	for _, path := range paths {
		abs, err := filepath.Abs(filepath.Dir(path))
		if err != nil {
			continue
		}
		for _, dir := range f.Places.Dirs {
			add(filepath.Join(dir, f.Places.stayed(abs), name))
			add(filepath.Join(dir, abs, name))
		}
	}
	return list
}
