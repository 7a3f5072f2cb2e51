package decode

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
)

// KernelPath names the kernel's image, whose file offsets are addresses.
const KernelPath = "[kernel.kallsyms]"

// perfMap is how a run-time compiler's list of functions is named.
var perfMap = lazyregexp.New(`^/tmp/perf-\d+\.map$`)

// PerfMap is the path of the list of functions that a run-time compiler writes
// for a process (perf-data 18.1). It is the image of code without a file, in
// which file offsets are addresses.
func PerfMap(pid int64) string { return fmt.Sprintf("/tmp/perf-%d.map", pid) }

// IsPerfMap reports whether a path is one of PerfMap.
func IsPerfMap(path string) bool { return perfMap().MatchString(path) }

// deleted is how the kernel marks the name of a deleted file.
const deleted = " (deleted)"

// memory are the names, or how they begin, that kernels give to mappings without
// a file (perf-data 9).
var memory = []string{"//anon", "/anon_hugepage", "[anon", "[heap]", "[stack", "/dev/zero", "/dev/ashmem", "/SYSV"}

// memoryFile is how the names of files in memory begin. Run-time compilers map code twice
// by them; programs that are executed from one have a build-id.
const memoryFile = "/memfd:"

// IsGenerated reports whether the code at a path was made at run time, so that no file
// has it. A deleted file or one in memory with a build-id may have a copy.
func IsGenerated(path string, hasBuildID bool) bool {
	begins := func(name string) bool { return strings.HasPrefix(path, name) }
	return path == "" || slices.ContainsFunc(memory, begins) || !hasBuildID && (strings.HasSuffix(path, deleted) || begins(memoryFile))
}

// Undeleted is the path that a deleted file had.
func Undeleted(path string) string { return strings.TrimSuffix(path, deleted) }

// Generated makes an executable mapping one of the process's list of functions,
// because nothing else can say what its code is.
func (m *MapEvent) Generated(pid int64) {
	m.Path, m.FileOffset, m.File, m.Checksum = PerfMap(pid), m.Address, FileID{}, 0
}

// GeneratedCode is the path of a function that a run-time compiler announced.
const GeneratedCode = "<DYNAMIC_FUNCTIONS>"

// Never is the time of what does not end.
const Never = math.MaxInt64

// jitDump is how the file is named in which a run-time compiler describes what it
// makes while it runs (perf-data 18.2).
var jitDump = lazyregexp.New(`^jit-\d+\.dump$`)

// IsJITDump reports whether a path is named like such a file.
func IsJITDump(path string) bool { return jitDump().MatchString(filepath.Base(path)) }

// jitted is how perf inject names the files that it makes of such a file.
var jitted = lazyregexp.New(`^jitted-\d+-\d+\.so$`)

// IsJITted reports whether a path is named like one of them. Such a file is newer than
// the recording.
func IsJITted(path string) bool { return jitted().MatchString(filepath.Base(path)) }

// JITDump is such a file, which a process mapped to announce it.
type JITDump struct {
	Path string
	// Mapped is when that was, 0 if unknown; ns from the founder's start.
	Mapped int64
	// From is Mapped, or when a fork inherited what was compiled so far; Until
	// is when the process executed another program.
	From, Until int64
	Attached    bool // what it has is in the process's image
}

// MapEvent is one change of an address space, as recorded.
type MapEvent struct {
	Unmap      bool   // ends the mapping that starts at Address
	Time       int64  // ns from the founder's start
	Address    uint64 // first address
	Size       uint64 // bytes
	FileOffset uint64
	Modes      int // sum of 1 read, 2 write, 4 execute, 8 shared
	Checksum   uint32
	BuildID    string // hex, empty if not recorded
	// ByPath says that the build-id was read at Path when the recording ended, whichever
	// file was there, and Ambiguous that Path named several files at once, as in containers.
	ByPath, Ambiguous bool
	File              FileID
	Path              string // the file, or a pseudo object such as `[vdso]`
	Code              *Code  // not nil for code that is in no file
}

// FileID identifies a file for the kernel; zero if not recorded.
type FileID struct {
	Device, Inode, Generation uint64
}

// Same reports whether two mappings may be of one file: lists of mappings that are read
// from /proc have no generation.
func (f FileID) Same(other FileID) bool {
	if f.Generation == 0 || other.Generation == 0 {
		f.Generation, other.Generation = 0, 0
	}
	return f == other
}

// Code describes code that is in no file: the vdso, or what a run-time compiler made.
type Code struct {
	// Function is the name when the whole mapping is one function;
	// otherwise Functions lists those inside it.
	Function  string
	Functions []CodeFunction
	Reason    string // why nothing is known of it, empty if something is
	Method    uint64 // Java method id of compiled code, 0 for none
	Bytes     []byte // the instructions, if recorded
	File      string // source file, if recorded
	Lines     []CodeLine
	Named     *Named `json:",omitempty"`
	// Unwinding is the call frame information that a run-time compiler recorded, a
	// `.eh_frame` that lies behind the code at a multiple of 8 bytes; nil if there is none,
	// or once stacks are unwound.
	Unwinding []byte `json:"-"`
}

// Named is what a profile says of a load object's code. The offsets of a mapping are the
// numbers of places; one without places says where the load object was in memory.
type Named struct {
	Functions []NamedFunction
	Places    []NamedPlace
}

// NamedFunction is a function as a profile names it. Linkage is its name for the linker,
// Line the first one of its source; what is not known is empty or 0.
type NamedFunction struct {
	Name, Linkage, File string
	Line                int32
}

// NamedPlace is a place in code.
type NamedPlace struct {
	Offset uint64       // in the load object's file, or at least NoFileOffset; of a function, no two places have the same one
	Levels []NamedLevel // at least one: the function, then what was inlined there, the outermost first
}

// NamedLevel is a function, by its place in a list, and the line reached in it, 0 if unknown.
type NamedLevel struct{ Function, Line int32 }

// CodeFunction is a function inside a Code mapping.
type CodeFunction struct {
	Name    string
	Address uint64
	Size    uint64
}

// CodeLine says that instructions from Offset (relative to the mapping) belong to Line.
type CodeLine struct {
	Offset uint32
	Line   int32
	File   string // empty: the code's
}
