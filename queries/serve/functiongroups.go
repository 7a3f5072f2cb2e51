package serve

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// groupRules are the rules by which the functions of a timeline are put into groups. With `auto`, it is the load
// object, unless one has most of the value: then it is the package.
var groupRules = []string{"auto", "load-object", "package", "module", "function"}

const (
	maxGroups     = 5   // groups that an answer names; the others are summed
	dominantShare = 0.8 // the share of one load object from which auto groups by package
	noStack       = "(no stack)"
)

// groupedFunction is a function by which samples are grouped: the leaf of their stacks.
type groupedFunction struct{ name, loadObject, module, kind string }

// functionGrouper puts functions into groups by a rule, or by the patterns of a user.
type functionGrouper struct {
	rule     string
	patterns []groupPattern
}

// groupPattern is a group that a user has defined: the functions whose name matches.
type groupPattern struct {
	name    string
	matches *regexp.Regexp
}

// parsePatterns parses the groups of a request: NAME=EXPRESSION.
func parsePatterns(texts []string) (list []groupPattern, err error) {
	for _, text := range texts {
		name, expression, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || expression == "" {
			return nil, badRequest(fmt.Errorf("groups: %q is not NAME=EXPRESSION", text))
		}
		r, err := regexp.Compile(expression)
		if err != nil {
			return nil, badRequest(fmt.Errorf("groups: %q: %w", name, err))
		}
		list = append(list, groupPattern{name, r})
	}
	return list, nil
}

// group returns the name of a function's group; "" if it matches none of the user's patterns.
func (g *functionGrouper) group(f groupedFunction) string {
	if g.patterns != nil {
		i := slices.IndexFunc(g.patterns, func(p groupPattern) bool { return p.matches.MatchString(f.name) })
		if i < 0 {
			return ""
		}
		return g.patterns[i].name
	}
	switch g.rule {
	case "package":
		return cmp.Or(packageOf(f.name), f.module, f.loadObject)
	case "module":
		return cmp.Or(f.module, f.loadObject)
	case "function":
		return f.name
	}
	return f.loadObject
}

// packageOf returns the package (Go), crate (Rust) or outermost namespace (C++) in a function's name; "" if the name
// has none, as those of C.
func packageOf(name string) string {
	if strings.HasPrefix(name, "<") { // <Type as Trait>::method
		inner, _, _ := strings.Cut(name[1:], " as ")
		return packageOf(strings.TrimLeft(inner, "&*[( "))
	}
	const anonymous = "(anonymous namespace)"
	if strings.HasPrefix(name, anonymous) {
		return anonymous
	}
	path := name
	if end := strings.IndexAny(path, "([<"); end >= 0 {
		path = path[:end]
	}
	path = path[strings.LastIndexByte(path, ' ')+1:] // behind the type of the result
	if namespace, _, ok := strings.Cut(path, "::"); ok {
		return namespace
	}
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 && !strings.ContainsAny(name, ".") {
		return ""
	}
	if dot := strings.IndexByte(path[slash+1:], '.'); dot > 0 {
		return path[:slash+1+dot]
	}
	return ""
}
