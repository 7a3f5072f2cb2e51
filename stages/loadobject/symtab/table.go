// Package symtab builds the table of functions and source lines of one load
// object, keyed by offset in its file.
//
// Start reading with Read (read.go). It builds a draft in the order of these files: symbols.go
// reads function symbols, untyped.go drops labels (flow.go decodes code for it, framestart.go
// reads call frame information), size.go makes functions that do not overlap, names.go and
// alias.go name them, plt.go and trampoline.go add code without symbols. kernel.go, perfmap.go
// and archive.go read lists of symbols instead. Package functions adds source lines and
// inlined calls from debug information. functions.go finishes drafts, rows.go stores lines,
// and lookup.go, namelists.go, inline.go and slots.go look things up.
package symtab

import (
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/isa"
)

// Function is one function of a load object.
type Function struct {
	Offset  uint64 // in the file
	Address uint64 // link-time virtual address
	Size    uint64 // bytes
	Linkage string // the symbol shown: the last of Aliases; empty for static regions and the PLT
	Aliases string // all symbols at this offset, in byte order, separated by tabs: see Split
	Name    string // readable: demangled, with readable clone suffixes
	// GprofngName and PerfName are the readable names of the aliases that gprofng and perf show;
	// empty if equal to Name.
	GprofngName, PerfName string

	Kind     funcinfo.Kind
	Scope    funcinfo.NameScope
	Module   int32 // index into Table.Modules, 0 is `(unknown)`
	Line     int32 // of the declaration, 0 if unknown
	Indirect bool  // a resolver (STT_GNU_IFUNC): it chooses the function that calls by this name reach
}

// Unknown is the module of functions without debug information.
const Unknown = "(unknown)"

// Module is a compilation unit.
type Module struct {
	Name     string // canonical path; `(unknown)` for the first
	Language string
	// ShortPath is the end of the path, which does not depend on the build directory. It is unique
	// in the table.
	ShortPath string
}

// Region is an executable section, or an executable segment of a file without sections.
type Region struct {
	Name                  string
	Offset, Address, Size uint64
}

// Segment is a PT_LOAD program header.
type Segment struct {
	Offset, Address, FileSize, MemSize uint64
	Flags                              uint32 // PF_X 1, PF_W 2, PF_R 4
}

// TLS is the load object's block of thread-local variables (PT_TLS), zero without one.
type TLS struct {
	Size, Align uint64 // bytes
}

// Table is the symbol table of one load object. It is immutable and safe for concurrent use.
// Content, Key and Alone are not stored in cache files.
type Table struct {
	BuildID   string   // hex, empty without one
	Checksum  uint32   // DT_CHECKSUM in the dynamic segment, 0 without one
	Content   uint64   // hash of the file, 0 if it has a build-id
	Key       string   // hash of the contents of the files from which it was built
	Alone     bool     // files that Key does not cover were also used
	Arch      isa.Arch // 0 if its instructions cannot be decoded
	Segments  []Segment
	TLS       TLS
	Regions   []Region // sorted by offset
	Functions Functions
	Slots     []Slot // sorted by address, distinct
	Modules   []Module
	Files     []string // source files, full paths
	Lines     Rows
	Inlines   Inlines
	Notes     []Note // diagnostics
}

// Note is a diagnostic about a load object's files.
type Note = elf.Note
