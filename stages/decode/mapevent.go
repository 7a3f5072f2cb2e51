package decode

// MapEvent is one change of an address space, as recorded.
type MapEvent struct {
	Unmap      bool   // ends the mapping that starts at Address
	Time       int64  // ns from the founder's start
	Address    uint64 // first address
	Size       uint64 // bytes
	FileOffset uint64
	Modes      int // sum of 1 read, 2 write, 4 execute, 8 shared
	Checksum   uint32
	Path       string // the file, or a pseudo object such as `[vdso]`
	Code       *Code  // not nil for code that is in no file
}

// Code describes code that is in no file: the vdso, or what a run-time compiler made.
type Code struct {
	// Function is the name when the whole mapping is one function;
	// otherwise Functions lists those inside it.
	Function  string
	Functions []CodeFunction
	Method    uint64 // Java method id of compiled code, 0 for none
	Bytes     []byte // the instructions, if recorded
	File      string // source file, if recorded
	Lines     []CodeLine
}

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
}
