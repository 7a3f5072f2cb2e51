package schema

import "strings"

// Owner is the owner of a load object's code.
type Owner uint8

// The owners. OwnerOf never returns 0.
const (
	ProgramCode Owner = iota + 1
	RuntimeCode       // an OpenMP runtime
	SystemCode        // the C library, the dynamic linker, the collector
)

// The prefixes of names of load objects that are not the program's own code.
var (
	runtimes = []string{"libgomp.so", "libomp.so", "libiomp5.so"}
	systems  = []string{"libc.so", "libc-", "libpthread.so", "libpthread-", "ld-", "ld64.so", "libgp-", "libcollector.so", "[vdso]"}
)

// OwnerOf returns the owner of a load object's code by its base name (S17).
func OwnerOf(object string) Owner {
	switch {
	case hasAny(object, systems):
		return SystemCode
	case hasAny(object, runtimes):
		return RuntimeCode
	}
	return ProgramCode
}

func hasAny(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
