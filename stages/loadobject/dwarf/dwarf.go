// Package dwarf reads the DWARF debug information (versions 2 to 5) of a load object:
// units, abbreviations, entries, lists of ranges and locations, strings, split units
// (`.dwo` files, `.dwp` packages) and what dwz moved to another file. DWPPaths lines,
// inlines, functions and types/build use it.
//
// The standard library's debug/dwarf does not do. It reads neither split units nor
// what dwz moved: of a program built with -gsplit-dwarf it shows one entry per unit,
// of one that dwz shrank no name at all. It refuses the whole object for one damaged
// unit, where this package leaves out that unit. It allocates each entry: for the 1.2
// million entries of CPython (.debug_info of 16 MB) it needs 320 ms of CPU time and
// allocates 340 MB, this package's walk 50 ms and 0.2 MB. And it sets no bounds to
// units of hostile files that share abbreviations, lists and line number programs.
package dwarf
