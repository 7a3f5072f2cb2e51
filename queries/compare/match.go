package compare

import (
	"slices"
	"strings"

	"stackmill/internal/cachekey"
	"stackmill/internal/lazyregexp"
)

// matchFunctions matches functions that only the base has with functions that only the test has.
// (Functions with the same key are one item already.) The steps are ordered from the most certain
// to the least. Each step merges only functions without another candidate.
func (c *comparison) matchFunctions() error {
	c.matchSame("key")
	object := c.objects(1)
	c.pairEnds(withSymbol(sameName(object)), func(it *item) string { return it.names[2] },
		func(base, test *item) string { return "path, " + differences(base, test) })
	inObject := func(name func(string) string) func(*item) string {
		return func(it *item) string { return cachekey.Of(object(it), name(it.names[0])) }
	}
	inModule := func(name func(string) string) func(*item) string {
		return func(it *item) string { return cachekey.Of(object(it), lastPart(it.names[2]), name(it.names[0])) }
	}
	if !c.Inclusive {
		c.mergeClones(inModule(plainName))
	}
	if c.splitNumbered(inModule(looseName)) {
		if err := c.pairBodies(object, isNumbered); err != nil {
			return err
		}
	}
	for _, name := range []func(string) string{plainName, looseName, stem} {
		c.pairSingle(withSymbol(inModule(name)), differences)
		c.pairSingle(withSymbol(inObject(name)), differences)
	}
	if err := c.pairBodies(object, func(*item) bool { return true }); err != nil {
		return err
	}
	c.pairRest(object)
	c.items = slices.DeleteFunc(c.items, func(it *item) bool { return it.into != nil })
	return c.nameApart()
}

// splitNumbered splits items that were matched by a name with a counter, such as that of a lambda,
// if the sides have different counters with that name: the same counter may then mean different
// functions.
func (c *comparison) splitNumbered(key func(*item) string) (split bool) {
	groups := map[string][]*item{}
	for _, it := range c.items[1:] {
		if it.into == nil && isNumbered(it) {
			groups[key(it)] = append(groups[key(it)], it)
		}
	}
	for _, g := range groups {
		if !slices.ContainsFunc(g, func(it *item) bool { return it.in != both }) {
			continue
		}
		for _, it := range g {
			if it.in == both {
				it.other = c.split(it)
				c.items = append(c.items, it.other)
				split = true
			}
		}
	}
	return split
}

func isNumbered(it *item) bool { return looseName(it.names[0]) != plainName(it.names[0]) }

// split removes the test's part from an item, and returns it.
func (c *comparison) split(it *item) *item {
	test := &item{names: it.last[1].names, values: make([]float64, len(it.values)), in: inTest}
	n := len(c.Result.Base.Runs)
	copy(test.values[n:], it.values[n:])
	clear(it.values[n:])
	test.last[1], it.last[1] = it.last[1], occurrence{}
	it.in, it.matched, it.names = inBase, "", it.last[0].names
	return test
}

// objects returns a function that returns the load object of an item, from names[nth], in a form
// that is the same for all versions of a library. If each side has one program, both programs get
// the same name.
func (c *comparison) objects(nth int) func(*item) string {
	base, test := c.programNames()
	return func(it *item) string {
		name := it.names[nth]
		if base != "" && test != "" && (name == base && it.in&inBase != 0 || name == test && it.in&inTest != 0) {
			return "<program>"
		}
		return plainObject(name)
	}
}

// programNames returns the name of the program of each side; empty if a side has several programs.
func (c *comparison) programNames() (base, test string) {
	return onlyOne(c.targets[:len(c.Result.Base.Runs)]), onlyOne(c.targets[len(c.Result.Base.Runs):])
}

func onlyOne(names []string) string {
	if slices.ContainsFunc(names, func(n string) bool { return n != names[0] }) {
		return ""
	}
	return names[0]
}

// leftOver groups the items that only one side has by a key, and by side.
func (c *comparison) leftOver(key func(*item) string) map[string]*[2][]*item {
	groups := map[string]*[2][]*item{}
	for _, it := range c.items[1:] {
		if it.in == both || it.into != nil {
			continue
		}
		k := key(it)
		if groups[k] == nil {
			groups[k] = &[2][]*item{}
		}
		side := int(it.in) - 1
		groups[k][side] = append(groups[k][side], it)
	}
	return groups
}

// pairSingle merges two items that share a key, if each is the only one with that key on its side.
// how returns a description of the match.
func (c *comparison) pairSingle(key func(*item) string, how func(base, test *item) string) {
	for _, g := range c.leftOver(key) {
		if len(g[0]) == 1 && len(g[1]) == 1 {
			g[1][0].merge(g[0][0], how(g[0][0], g[1][0]))
		}
	}
}

// differences lists the differences between the names of two functions.
func differences(base, test *item) string {
	var parts []string
	b, t := base.names, test.names
	if b[0] != t[0] {
		parts = append(parts, "name ("+b[0]+")")
	}
	if b[1] != t[1] {
		parts = append(parts, "load object ("+b[1]+")")
	}
	if lastPart(b[2]) != lastPart(t[2]) {
		parts = append(parts, "module ("+b[2]+")")
	}
	if parts == nil {
		return "name"
	}
	return strings.Join(parts, ", ")
}

// areApart reports whether items of a family have the same name on one side, or no symbol: then
// they are not clones of each other. Generated code is an exception, because a run-time compiler
// makes several versions of a function.
func areApart(family []*item) bool {
	seen := map[string]presence{}
	for _, it := range family {
		if isStatic(it) || seen[it.names[0]]&it.in != 0 && it.names[3] != "dynamic" && it.names[3] != "java" {
			return true
		}
		seen[it.names[0]] |= it.in
	}
	return false
}

// mergeClones merges a function with its clones and parts, or the versions of generated code, if
// the sides have different ones, because code moves between these. It must not be used for
// inclusive values, which cannot be added up.
func (c *comparison) mergeClones(key func(*item) string) {
	families := map[string][]*item{}
	for _, it := range c.items[1:] {
		k := key(it)
		families[k] = append(families[k], it)
	}
	for _, family := range families {
		var in presence
		differ := false
		for _, it := range family {
			in |= it.in
			differ = differ || it.in != both
		}
		if len(family) < 3 && !slices.ContainsFunc(family, func(it *item) bool { return it.in == both }) || in != both || !differ || areApart(family) {
			continue // a pair, or the same on both sides
		}
		slices.SortFunc(family, func(a, b *item) int {
			if len(a.names[0]) != len(b.names[0]) {
				return len(a.names[0]) - len(b.names[0])
			}
			return slices.Compare(a.names, b.names)
		})
		for _, it := range family[1:] {
			family[0].merge(it, "clones together")
		}
	}
}

// What compilers and linkers add to names, so that the names of a function differ between builds.
var (
	// clone matches the part of a name that distinguishes clones and parts of a function: `f [clone
	// .constprop.0]`, `f.part.1`, `f.cold`, `f.llvm.123`, `f.lto_priv.0`.
	clone = lazyregexp.New(` \[clone [^\]]*\]|\.(?:constprop|isra|part|cold|llvm|lto_priv|localalias|actor|destroy|resume|cleanup)(?:\.\d+)*$`)
	// rustHash matches the hash at the end of names in Rust's older mangling.
	rustHash = lazyregexp.New(`::h[0-9a-f]{16}$`)
	// numbers matches the counters in names of lambdas, anonymous types, closures and bodies of
	// parallel regions. Compilers number these by their order or line in the source.
	numbers = lazyregexp.New(`(\{(?:lambda|unnamed)[^{}]*#|\{closure#|'lambda|'unnamed|\$_|__lambda|\._omp_fn\.|\.omp_outlined\.+|from line |\.func)\d+`)
	// version matches the end of a library's name, from .so or the version before it.
	version = lazyregexp.New(`(?:-[0-9.]+)?\.so(?:\.[0-9.]+)?$`)
)

// plainName returns a name without what distinguishes clones, and without Rust's hash.
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

// looseName returns a plain name without the counters that numbers matches.
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
