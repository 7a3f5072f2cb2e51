package symtab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"stackmill/internal/lazyregexp"
	"stackmill/stages/loadobject/funcinfo"
)

// maxName is the binary logarithm of the maximum length of a demangled name. Because of
// substitutions, a short symbol could have a name of gigabytes.
const maxName = 16

// maxNames bounds the demangled names of one object: their total size in bytes may exceed a
// multiple of their symbols' size by this.
const maxNames = 16 << 20

// Bounds of the demangler's work. It can take years for a name of 300 characters, and a name of
// millions of `P` makes it overflow the stack, which ends the process. Real names take 1 to 10
// steps of some 60 ns for each character and are nested up to 30 levels; names of expression
// templates have up to 60 KB.
const (
	maxMangled   = 64 << 10 // maximum number of characters of a name
	maxDepth     = 2048     // maximum levels of nesting
	maxSteps     = 1 << 22  // maximum steps for one name
	moreSteps    = 1 << 24  // steps for all names of one object, in addition to stepsPerByte
	stepsPerByte = 16       // steps for each character of the names
)

// namer makes linkage names readable (gprofng-experiment 6.4).
type namer struct {
	golang  bool
	twins   map[string]bool   // Go symbols that differ from another one only by their calling convention
	budget  int               // bytes left for demangled names
	steps   int               // steps left for the demangler
	skipped map[string]bool   // names that exceeded a bound
	known   map[string]string // demangled names of the current function's symbols, needed more than once
}

func newNamer(golang bool) *namer {
	return &namer{golang: golang, budget: maxNames, steps: moreSteps, skipped: map[string]bool{}, known: map[string]string{}}
}

// name returns the readable name of a linkage name, and the kind of its function.
func (n *namer) name(linkage string) (string, funcinfo.Kind) {
	s := trimGlobalPrefix(linkage)
	if n.golang {
		if !n.twins[s] {
			s = trimABI(s)
		}
	} else {
		s = trimPromotion(s)
	}
	if name, kind, ok := n.studioName(s); ok {
		return name, kind
	}
	base, suffixes := n.suffixes(s)
	kind := suffixKind(suffixes)
	if base == "" || len(suffixes) == 0 && s[0] != '_' {
		return s, kind
	}
	if ramp, ok := coroutine(base); ok {
		base, _ = n.demangle(ramp)
	} else if s[0] == '_' {
		if d, ok := demangleD(s); ok {
			return d, kind
		}
		if d, ok := n.demangle(s); ok {
			return d, kind
		}
		base = fortranName(base)
	}
	return base + clones(suffixes), kind
}

// findTwins finds the Go symbols that must keep their calling convention, because another function
// has the same name without it: the linker adds a wrapper for a function that is called in both
// conventions.
func (n *namer) findTwins(list []symbol) {
	if !n.golang {
		return
	}
	marked := map[string]string{}
	for i := range list {
		if name := trimGlobalPrefix(list[i].name); trimABI(name) != name {
			marked[trimABI(name)] = name
		}
	}
	n.twins = map[string]bool{}
	for i := range list {
		if name, ok := marked[list[i].name]; ok {
			n.twins[name] = true
		}
	}
}

// trimABI cuts the calling convention off a Go symbol (`runtime.goexit.abi0`). The Go linker
// appends it to the symbols of assembly functions and of their wrappers; Go's own tables lack it.
func trimABI(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, ".abi0"), ".abiinternal")
}

// notes returns a note on how many names exceeded the bounds, if any.
func (n *namer) notes() []Note {
	if len(n.skipped) == 0 {
		return nil
	}
	return []Note{{Offset: -1, Text: fmt.Sprintf("%d symbol names are too long or too complicated to demangle: they are shown mangled", len(n.skipped))}}
}

// clones formats suffixes of functions in the demangler's form.
func clones(suffixes []string) string {
	var b strings.Builder
	for _, x := range suffixes {
		fmt.Fprintf(&b, " [clone %s]", x)
	}
	return b.String()
}

// CloneMarks splits a linkage name into the function's own name and the suffixes that compilers
// added, the latter in readable form (S9).
func CloneMarks(linkage string) (base, marks string) {
	base, suffixes := new(namer).suffixes(trimPromotion(linkage))
	return base, clones(suffixes)
}

// moduleProcedure matches gfortran's symbols of module procedures.
var moduleProcedure = lazyregexp.New(`(?s)^__([a-z0-9_.]+)_MOD_(.+)$`)

// fortranName decodes gfortran's symbol of a module procedure as gdb does (S8):
// `__module_MOD_procedure` becomes `module::procedure`.
func fortranName(s string) string {
	if !strings.Contains(s, "_MOD_") {
		return s
	}
	return moduleProcedure().ReplaceAllString(s, "${1}::${2}")
}

// demangle demangles a name as `c++filt -i` does. It returns s and false if s is not a mangled
// name, or exceeds the bounds.
func (n *namer) demangle(s string, options ...demangle.Option) (d string, ok bool) {
	defer func() {
		if recover() != nil { // the demangler panics on some invalid names
			d, ok = s, false
		}
	}()
	if d, ok := n.known[s]; ok && len(options) == 0 {
		return d, true
	}
	if n.skipped[s] {
		return s, false
	}
	if n.budget <= 0 || len(s) > maxMangled {
		n.skipped[s] = true
		return s, false
	}
	n.steps += stepsPerByte * len(s)
	most := min(n.steps, maxSteps)
	limits := demangle.Limits{Steps: most, Depth: maxDepth}
	d, err := demangle.ToStringWithin(s, &limits, append(options, demangle.MaxLength(maxName))...)
	n.steps -= most - limits.Steps
	if err != nil {
		if errors.Is(err, demangle.ErrLimit) {
			n.skipped[s] = true
		}
		return s, false
	}
	n.budget -= max(0, len(d)-16*len(s))
	if len(options) == 0 {
		n.known[s] = d
	}
	return d, true
}

// trimGlobalPrefix cuts off the prefix with which Studio compilers make static names global:
// `$X...` or `.X...`, up to the next dot.
func trimGlobalPrefix(s string) string {
	if len(s) > 2 && (s[0] == '$' || s[0] == '.') && s[1] == 'X' {
		if i := strings.IndexByte(s[2:], '.'); i >= 0 && 2+i+1 < len(s) {
			return s[2+i+1:]
		}
	}
	return s
}

// promotions matches the suffixes with which compilers make static functions global when they
// optimize several units together: gcc's `f.lto_priv.0`, clang's `f.llvm.1234`. bareNumber matches
// the number that LLVM appends to a mangled name that several functions have (`_ZL1fv.21`); other
// compilers write a word before a number.
var (
	promotions = lazyregexp.New(`(?:\.(?:lto_priv|llvm)\.[0-9]+)+(\.|$)`)
	bareNumber = lazyregexp.New(`^(_[ZR][^.]*)\.[0-9]+(\.|$)`)
)

// trimPromotion removes what promotions and bareNumber match: the function is static in its module
// and has the name from the source (S5).
func trimPromotion(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	s = bareNumber().ReplaceAllString(s, "${1}${2}")
	return s[:1] + promotions().ReplaceAllString(s[1:], "${1}")
}

// marks maps the suffixes that compilers give to functions derived from others to the kinds of
// these functions. Any other word after a dot is part of the name (Fortran's `master.0.body_`).
var marks = map[string]funcinfo.Kind{
	"constprop": funcinfo.Clone, "isra": funcinfo.Clone, "part": funcinfo.Clone, "simdclone": funcinfo.Clone, "specialized": funcinfo.Clone,
	"default": funcinfo.Clone, "avx": funcinfo.Clone, "avx2": funcinfo.Clone, "avx512f": funcinfo.Clone, "sse2": funcinfo.Clone, "sse4_1": funcinfo.Clone, "sse4_2": funcinfo.Clone,
	"cold": funcinfo.Outline, "unlikely": funcinfo.Outline,
	"_omp_fn": funcinfo.Body, "_omp_cpyfn": funcinfo.Body, "omp_outlined": funcinfo.Body, "omp_outlined_debug__": funcinfo.Body, "omp_task_entry": funcinfo.Body,
	// These are the function itself, under another name.
	"localalias": funcinfo.Normal, "lto_priv": funcinfo.Normal, "llvm": funcinfo.Normal, "resolver": funcinfo.Normal,
}

// coroutineParts are gcc's and clang's suffixes for the functions of a C++ coroutine, except the
// ramp, which starts it.
var coroutineParts = []string{"actor", "destroy", "resume", "cleanup"}

// Ramp returns the symbol of a coroutine's ramp, given the symbol of another part of the coroutine
// (S9). clang names a part `_Z1fi.destroy`. gcc names it `_Z1fPZ1fiE11_Z1fi.Frame.actor`: the
// parameter's type is the frame, which is named after the ramp.
func Ramp(linkage string) (string, bool) {
	for _, part := range coroutineParts {
		base, ok := strings.CutSuffix(linkage, "."+part)
		if !ok || !strings.HasPrefix(base, "_Z") {
			continue
		}
		if ramp, ok := coroutine(base); ok {
			return ramp, true
		}
		return base, !strings.Contains(base, ".")
	}
	return "", false
}

// coroutine returns the symbol of the ramp, given the symbol of another part that gcc named. base
// is that symbol without its suffix.
func coroutine(base string) (ramp string, ok bool) {
	if !strings.HasSuffix(base, ".Frame") {
		return "", false
	}
	for i := 2; i < len(base); i++ {
		if strings.HasPrefix(base[i:], "_Z") && strings.HasSuffix(base[:i], strconv.Itoa(len(base)-i)) {
			return strings.TrimSuffix(base[i:], ".Frame"), true
		}
	}
	return "", false
}

// suffixes splits `f.isra.0.cold` into f and [.isra.0 .cold]. In a Go object it recognizes few
// suffixes, because there `p.cold` is function cold of package p.
func (n *namer) suffixes(s string) (base string, list []string) {
	for i := 0; i < len(s); i++ {
		if s[i] != '.' {
			continue
		}
		word, _, _ := strings.Cut(s[i+1:], ".")
		_, ok := marks[word]
		if strings.HasPrefix(s, "_Z") {
			ok = ok || slices.Contains(coroutineParts, word)
		} else if n.golang {
			ok = word == "constprop" || word == "isra"
		}
		if ok || strings.HasPrefix(word, "arch_") && !n.golang {
			return s[:i], splitSuffixes(s[i:])
		}
	}
	return s, nil
}

// splitSuffixes splits before each dot that a letter follows. A number belongs to the word before
// it.
func splitSuffixes(s string) []string {
	var list []string
	start := 0
	for i := 1; i < len(s); i++ {
		if s[i] == '.' && i+1 < len(s) && s[i+1] != '.' && (s[i+1] < '0' || s[i+1] > '9') {
			list = append(list, s[start:i])
			start = i
		}
	}
	return append(list, s[start:])
}

// suffixKind returns the kind of a function with these suffixes. If they mean several kinds, a cold
// part (Outline) comes first, then the body of a region, then a clone.
func suffixKind(list []string) funcinfo.Kind {
	kind := funcinfo.Normal
	for _, x := range list {
		word, _, _ := strings.Cut(x[1:], ".")
		k, ok := marks[word]
		switch {
		case !ok:
			k = funcinfo.Clone
		case k == funcinfo.Outline:
			return funcinfo.Outline
		}
		if kind == funcinfo.Normal || k == funcinfo.Body {
			kind = k
		}
	}
	return kind
}

// studioBodies maps the two letters after `_$` in Studio's symbols to the kinds of functions that
// the compilers generate, and to the text for them.
var studioBodies = map[string]struct {
	text string
	kind funcinfo.Kind
}{
	"d1": {"Parallel loop from line %d", funcinfo.Body},
	"l1": {"Parallel loop from line %d", funcinfo.Body},
	"p1": {"OMP parallel region from line %d", funcinfo.Body},
	"s1": {"OMP sections from line %d", funcinfo.Body},
	"t1": {"OMP task from line %d", funcinfo.Body},
	"o1": {"outline code from line %d", funcinfo.Outline},
	"c1": {"cloned version", funcinfo.Clone},
}

// studioSymbol matches Studio's symbols of generated functions: the two letters of the kind, a
// number in base-26 letters, the line, and the original symbol.
var studioSymbol = lazyregexp.New(`(?s)^_\$(..)[A-Z]+([0-9]+)\.(.+)$`)

// studioName decodes a Studio symbol of a generated function, such as `_$p1A12.base`.
func (n *namer) studioName(s string) (string, funcinfo.Kind, bool) {
	if !strings.HasPrefix(s, "_$") {
		return "", "", false
	}
	parts := studioSymbol().FindStringSubmatch(s)
	if parts == nil {
		return "", "", false
	}
	body, ok := studioBodies[parts[1]]
	line, err := strconv.ParseUint(parts[2], 10, 31)
	if !ok || err != nil {
		return "", "", false
	}
	text := body.text
	if strings.Contains(text, "%d") {
		text = fmt.Sprintf(text, line)
	}
	base, _ := n.demangle(parts[3])
	return fmt.Sprintf("%s -- %s [%s]", base, text, s), body.kind, true
}
