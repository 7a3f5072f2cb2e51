package compare

import (
	"strings"

	"stackmill/internal/lazyregexp"
)

// Names of one function in two builds differ by what compilers and linkers append.
var (
	// clone matches what distinguishes clones and parts of a function: `f [clone .constprop.0]`,
	// `f.part.1`, `f.cold`, `f.llvm.123`, `f.lto_priv.0`.
	clone = lazyregexp.New(` \[clone [^\]]*\]|\.(?:constprop|isra|part|cold|llvm|lto_priv|localalias|actor|destroy|resume|cleanup)(?:\.\d+)*$`)
	// rustHash matches the hash at the end of names in Rust's older mangling.
	rustHash = lazyregexp.New(`::h[0-9a-f]{16}$`)
	// numbers matches the counters in the names of anonymous lambdas, types, closures and bodies of
	// parallel regions. They follow the order or line in the source.
	numbers = lazyregexp.New(`(\{(?:lambda|unnamed)[^{}]*#|\{closure#|'lambda|'unnamed|\$_|__lambda|\._omp_fn\.|\.omp_outlined\.+|from line |\.func)\d+`)
	// version matches the version in a library's name, and .so.
	version = lazyregexp.New(`(?:-[0-9.]+)?\.so(?:\.[0-9.]+)?$`)
)

// plainName returns a name without the marks of clones.
func plainName(name string) string {
	if !strings.ContainsAny(name, "[.:") {
		return name
	}
	for {
		shorter := rustHash().ReplaceAllString(clone().ReplaceAllString(name, ""), "")
		if shorter == name {
			return name
		}
		name = shorter
	}
}

// looseName returns a plain name without the counters of lambdas and other anonymous entities.
func looseName(name string) string { return numbers().ReplaceAllString(plainName(name), "$1") }

// stem returns a loose name without anonymous namespaces, template arguments and parameters.
func stem(name string) string {
	name = strings.ReplaceAll(looseName(name), "(anonymous namespace)::", "")
	name = strings.NewReplacer("operator()", "operator\x01", "operator<<", "operator\x02", "operator<=>", "operator\x03", "operator<=", "operator\x04",
		"operator<", "operator\x05", "operator>>", "operator\x06", "operator>=", "operator\x07", "operator->", "operator\x08", "operator>", "operator\x0e").Replace(name)
	var b strings.Builder
	depth := 0
	for _, c := range name {
		switch c {
		case '<', '(':
			depth++
		case '>', ')':
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				b.WriteRune(c)
			}
		}
	}
	if s := strings.TrimSuffix(b.String(), " const"); s != "" {
		return s
	}
	return name
}

// plainObject returns a load object's name without the library's version.
func plainObject(name string) string { return version().ReplaceAllString(name, ".so") }

// lastPart returns a module's name without directories.
func lastPart(module string) string { return module[strings.LastIndexByte(module, '/')+1:] }
