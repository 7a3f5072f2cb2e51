package dwarf

import "fmt"

// languages are the names of DW_LANG codes (DWARF 5 section 7.12, and later
// additions).
var languages = map[uint64]string{
	0x01: "C", 0x02: "C", 0x03: "Ada", 0x04: "C++", 0x05: "COBOL", 0x06: "COBOL",
	0x07: "Fortran", 0x08: "Fortran", 0x09: "Pascal", 0x0a: "Modula-2", 0x0b: "Java",
	0x0c: "C", 0x0d: "Ada", 0x0e: "Fortran", 0x0f: "PL/I", 0x10: "Objective-C", 0x11: "Objective-C++",
	0x12: "UPC", 0x13: "D", 0x14: "Python", 0x15: "OpenCL", 0x16: "Go", 0x17: "Modula-3", 0x18: "Haskell",
	0x19: "C++", 0x1a: "C++", 0x1b: "OCaml", 0x1c: "Rust", 0x1d: "C", 0x1e: "Swift", 0x1f: "Julia",
	0x20: "Dylan", 0x21: "C++", 0x22: "Fortran", 0x23: "Fortran", 0x24: "RenderScript", 0x25: "BLISS",
	0x26: "Kotlin", 0x27: "Zig", 0x28: "Crystal", 0x2a: "C++", 0x2b: "C++", 0x2c: "C", 0x2d: "Fortran",
	0x2e: "Ada", 0x2f: "Ada", 0x8001: "assembler",
}

// Language returns the name of a language code, empty for an unknown one.
func Language(code uint64) string {
	if name, ok := languages[code]; ok || code == 0 {
		return name
	}
	return fmt.Sprintf("language %#x", code)
}
