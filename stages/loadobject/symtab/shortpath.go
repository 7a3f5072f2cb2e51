package symtab

import (
	"maps"
	"slices"
	"strings"
)

// Builds of one program have their sources and their results in other directories. What they
// share is where sources are relative to each other. So a unit's short path is relative to
// the common directory of the units that were compiled together: in one directory or in
// directories below it. Units of static libraries from elsewhere thus do not matter, nor do
// sources that lie outside of the directory in which the compiler ran, which have a common
// directory of their own.

// Shorten gives the modules their short paths. Files are modules that are no units: they declare
// inlined functions. Other modules, such as Go's packages, keep their names.
func (d *Draft) Shorten(units map[string]string, files []string) {
	short := shortPaths(units, files)
	for i := range d.Modules {
		m := &d.Modules[i]
		if m.ShortPath = short[m.Name]; m.ShortPath == "" {
			m.ShortPath = m.Name
		}
	}
}

// compilation is a set of units with one common directory.
type compilation struct {
	directory string // in which the compiler ran, or one above it where it also ran
	outside   bool   // the sources are not below it
}

// shortPaths returns the short path of each unit, given by unit the directory in which it was
// compiled, and of other files. No two are equal: those that would be get more of their paths.
// Files change no unit's short path: an inlined function more or less must not matter.
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

// belowCommon returns a file's path below the deepest common directory of units that it is in,
// or else its base name: headers of systems and libraries are elsewhere on other machines.
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

// topmost returns the highest directory at or above one in which the compiler ran, too.
// The root of the file system says nothing.
func topmost(directory string, ran map[string]bool) string {
	for i := 1; i < len(directory); i++ {
		if directory[i] == '/' && ran[directory[:i]] {
			return directory[:i]
		}
	}
	return directory
}

// commonFolder returns the folder that two have in common. Folders end in a slash or are empty.
func commonFolder(a, b string) string {
	n := 0
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			n = i + 1
		}
	}
	return a[:n]
}

// lengthen gives paths with the same end more of what is before it, until they differ. Those that
// are fixed stay.
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
