package symtab

import (
	"maps"
	"slices"
	"strings"
)

// Builds of one program may have sources and results in different directories, but equal relative
// paths between sources. So a unit's short path is relative to the common directory of the units
// that were compiled together, in one directory or below it. Units of static libraries that were
// compiled elsewhere have a common directory of their own, and so have sources outside of the
// directory in which the compiler ran.

// Shorten sets the modules' short paths. units maps units to their compilation directories. files
// are source files that became modules because they declare inlined functions. Other modules, such
// as Go's packages, keep their names.
func (d *Draft) Shorten(units map[string]string, files []string) {
	short := shortPaths(units, files)
	for i := range d.Modules {
		m := &d.Modules[i]
		if m.ShortPath = short[m.Name]; m.ShortPath == "" {
			m.ShortPath = m.Name
		}
	}
}

// compilation identifies a set of units that were compiled together. Their sources have a common
// directory.
type compilation struct {
	directory string // the highest directory at or above the unit's in which the compiler ran
	outside   bool   // the sources are not below it
}

// shortPaths returns the short paths of units and of files, by full path. units maps units to their
// compilation directories. Equal short paths are lengthened until they differ. Files do not change
// a unit's short path, because it must not depend on inlining.
func shortPaths(units map[string]string, files []string) map[string]string {
	directories := map[string]bool{}
	for _, d := range units {
		directories[d] = true
	}
	of, common := map[string]compilation{}, map[compilation]string{}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		top := topmost(units[unit], directories)
		c := compilation{top, !strings.HasPrefix(unit, strings.TrimSuffix(top, "/")+"/")}
		of[unit] = c
		folder := unit[:strings.LastIndexByte(unit, '/')+1]
		if known, some := common[c]; some {
			folder = commonFolder(known, folder)
		}
		common[c] = folder
	}
	short := map[string]string{}
	for unit, c := range of {
		short[unit] = unit[len(common[c]):]
	}
	lengthen(short, nil)
	fixed := maps.Clone(short)
	for _, file := range files {
		if _, unit := short[file]; !unit {
			short[file] = belowCommon(file, common)
		}
	}
	lengthen(short, fixed)
	return short
}

// belowCommon returns a file's path relative to the deepest common directory that contains it. If
// none does, it returns the base name, because other machines have system and library headers in
// other directories.
func belowCommon(file string, common map[compilation]string) string {
	in := file[:strings.LastIndexByte(file, '/')+1]
	deepest := ""
	for _, folder := range common {
		if folder != "/" && len(folder) > len(deepest) && strings.HasPrefix(in, folder) {
			deepest = folder
		}
	}
	if deepest == "" {
		deepest = in
	}
	return file[len(deepest):]
}

// topmost returns the highest directory in which the compiler ran among the given one and those
// above it, except the root of the file system.
func topmost(directory string, ran map[string]bool) string {
	for i := 1; i < len(directory); i++ {
		if directory[i] == '/' && ran[directory[:i]] {
			return directory[:i]
		}
	}
	return directory
}

// commonFolder returns the longest common folder of a and b. Folders end in a slash or are empty.
func commonFolder(a, b string) string {
	n := 0
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n = i + 1
		}
	}
	return a[:n]
}

// lengthen prepends directories to equal short paths until they differ. It does not change the
// paths in fixed.
func lengthen(short, fixed map[string]string) {
	for again := true; again; {
		count := map[string]int{}
		for _, s := range short {
			count[s]++
		}
		again = false
		for path, s := range short {
			if _, stays := fixed[path]; !stays && count[s] > 1 && len(s) < len(path) {
				rest := strings.TrimSuffix(path[:len(path)-len(s)], "/")
				short[path] = path[strings.LastIndexByte(rest, '/')+1:]
				again = true
			}
		}
	}
}
