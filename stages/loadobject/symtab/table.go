// Package symtab is the table of functions and source lines of one load
// object, keyed by offset in its file.
//
// Read makes a draft of it in the order of these files: symbols.go takes function symbols
// from symbol tables, untyped.go drops labels (with flow.go and framestart.go, by
// code and call frame information), size.go makes functions of them that do not
// overlap, names.go and alias.go name these, plt.go and trampoline.go add what has
// no symbols. kernel.go, perfmap.go and archive.go make drafts of lists instead. Source lines and
// inlined calls come from debug information, which package functions adds. functions.go
// finishes drafts; rows.go has their lines; lookup.go, namelists.go, inline.go and slots.go answer questions.
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
	Linkage string // the symbol shown: last of Aliases; empty for static regions and the PLT
	Aliases string // all symbols at this place, in byte order, separated by tabs: see Split
	Name    string // for people: demangled, readable clone suffix
	// The names for people that gprofng and perf would choose among the aliases;
	// empty when that is Name.
	GprofngName, PerfName string

	Kind   funcinfo.Kind
	Scope  funcinfo.NameScope
	Module int32 // index into Table.Modules, 0 is `(unknown)`
	Line   int32 // where the source declares it, 0 if unknown
	// Indirect says that it chooses the function that calls of its name enter
	// (STT_GNU_IFUNC), and is not called itself.
	Indirect bool
}

// Unknown is the name of the module of functions without debug information.
const Unknown = "(unknown)"

// Module is a compilation unit.
type Module struct {
	Name     string // canonical path; `(unknown)` for the first
	Language string
	// ShortPath is the part of the path that builds in other directories share. It differs
	// between the modules of a table.
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

// TLS is the block of thread-local variables that each thread has for the load
// object (PT_TLS), zero without one.
type TLS struct {
	Size, Align uint64 // bytes
}

// Table is everything that symbolizing needs of one load object. It is
// immutable and safe for concurrent use.
type Table struct {
	BuildID   string   // hex, empty without one
	Checksum  uint32   // of the dynamic segment, 0 without one
	Content   uint64   // hash of the file, 0 when it has a build-id; not in caches, whose keys have it
	Key       string   // names the contents of the files that it was made of; not in caches either
	Alone     bool     // it was also made of files that Key does not name; not in caches
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
	Notes     []Note // what could not be read, for `problems`
}

// Note says what could not be used of a load object's files.
type Note = elf.Note
