// Package dwarf reads the DWARF debug information (versions 2 to 5) of a load object:
// units, abbreviations, entries, lists of ranges and locations, strings, split units
// (`.dwo` files, `.dwp` packages) and the supplementary files that dwz makes. Packages
// lines, inlines, functions and types/build use it.
//
// It takes the names of tags and attributes from the standard library's debug/dwarf, but does not
// read with it. debug/dwarf reads neither split units nor supplementary files: from a program built
// with -gsplit-dwarf it returns one entry per unit, from one that dwz shrank no name. It rejects an
// object for one damaged unit, where this package omits the unit. It allocates each entry: for the
// 1.2 million entries of CPython (.debug_info of 16 MB) it needs 320 ms of CPU time and 340 MB, this
// package's walk 50 ms and 0.2 MB. And it does not bound the work for hostile files, whose units
// share abbreviations, lists and line number programs.
//
// Start reading with Sections.Units (unit.go), then Walk (walk.go).
package dwarf
