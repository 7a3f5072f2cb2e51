package compare

import (
	"slices"
	"strings"

	"stackmill/internal/cachekey"
)

// matchFunctions finds which functions of the base that the test does not have are which
// of the test's that the base does not have. Those with one key have been one item from
// the start. Each step is surer than the next, and takes only what is the only one of its
// kind on both sides.
func (c *comparison) matchFunctions() error {
	c.matchSame("key")
	object := c.objects(1)
	c.pairPaths(sameName(object))
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
		c.pair(inModule(name))
		c.pair(inObject(name))
	}
	if err := c.pairBodies(object, func(*item) bool { return true }); err != nil {
		return err
	}
	c.settleRest(object)
	c.items = slices.DeleteFunc(c.items, func(it *item) bool { return it.into != nil })
	return c.nameApart()
}

// splitNumbered takes apart what was found by its name on both sides, where the name has a
// number (of a lambda, say) and the sides do not have the same ones: another number may
// mean the same then, and the same number something else.
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

// split takes the test's part out of an item, and returns it.
func (c *comparison) split(it *item) *item {
	test := &item{names: it.last[1].names, values: make([]float64, len(it.values)), in: inTest}
	n := len(c.Result.Base.Runs)
	copy(test.values[n:], it.values[n:])
	clear(it.values[n:])
	test.last[1], it.last[1] = it.last[1], sight{}
	it.in, it.matched, it.names = inBase, "", it.last[0].names
	return test
}

// objects returns a function that names an item's load object, the one of its names, the same for versions of a
// library, and for the programs of both sides where each has one.
func (c *comparison) objects(nth int) func(*item) string {
	base, test := onlyOne(c.targets[:len(c.Result.Base.Runs)]), onlyOne(c.targets[len(c.Result.Base.Runs):])
	return func(it *item) string {
		name := it.names[nth]
		if base != "" && test != "" && (name == base && it.in&inBase != 0 || name == test && it.in&inTest != 0) {
			return "<program>"
		}
		return plainObject(name)
	}
}

func onlyOne(names []string) string {
	if slices.ContainsFunc(names, func(n string) bool { return n != names[0] }) {
		return ""
	}
	return names[0]
}

// leftOver groups the items that one side lacks by a key.
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

// pair makes one item of two that share a key, if each is the only one on its side.
func (c *comparison) pair(key func(*item) string) {
	for _, g := range c.leftOver(key) {
		if len(g[0]) == 1 && len(g[1]) == 1 && !isStatic(g[0][0]) && !isStatic(g[1][0]) {
			g[1][0].take(g[0][0], differences(g[0][0].names, g[1][0].names))
		}
	}
}

// differences says what of a function's names differs.
func differences(base, test []string) string {
	var parts []string
	if base[0] != test[0] {
		parts = append(parts, "name ("+base[0]+")")
	}
	if base[1] != test[1] {
		parts = append(parts, "load object ("+base[1]+")")
	}
	if lastPart(base[2]) != lastPart(test[2]) {
		parts = append(parts, "module ("+base[2]+")")
	}
	if parts == nil {
		return "name"
	}
	return strings.Join(parts, ", ")
}

// areApart reports whether some of a family are functions of one name, which are not clones
// of each other. Generated code is: a run-time compiler makes several versions of a function.
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

// mergeClones makes one item of a function with its clones and parts, or of the versions of
// generated code, where the two sides do not have the same of them: code moves between them.
// Inclusive values cannot be added.
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
			family[0].take(it, "clones together")
		}
	}
}
