package schema

import "strings"

// Owner is whose code a load object has.
type Owner uint8

// The owners; 0 is none of them.
const (
	ProgramCode Owner = iota + 1
	RuntimeCode       // an OpenMP runtime
	SystemCode        // the C library, the dynamic linker, the collector
)

// The load objects that are not the program's own, by how their names begin.
var (
	runtimes = []string{"libgomp.so", "libomp.so", "libiomp5.so"}
	systems  = []string{"libc.so", "libc-", "libpthread.so", "libpthread-", "ld-", "ld64.so", "libgp-", "libcollector.so", "[vdso]"}
)

// OwnerOf returns whose code a load object has, by its base name (S17).
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
