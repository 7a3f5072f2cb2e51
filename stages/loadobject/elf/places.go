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
