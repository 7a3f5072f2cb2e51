package flametree

import (
	"cmp"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/internal/terminal"
)

// Groupings are what functions can be grouped by: their load object, their module, their package or namespace (from
// their names), or their source file. Functions without a package, a namespace or a known module or file count as a
// group of their load object, artificial functions as a group of their own.
var Groupings = []string{"load-object", "module", "package", "namespace", "file"}

// dominant is the share of the exclusive values above which one load object is no reason to color frames by load
// object.
const dominant = 0.8

// mostGroups limits the groups in an answer: those with the highest exclusive values.
const mostGroups = 200

// FunctionGroups is a division of a tree's functions into groups with their values, the highest exclusive value first.
type FunctionGroups struct {
	By                   string
	Names                []string
	Exclusive, Inclusive []int64
	Of                   []int32 // by function: index into Names, or -1

	More          int   // number of groups that are left out
	MoreExclusive int64 // their exclusive values
}

// groupName returns the group of a function. file returns a function's source file; it may be nil.
func groupName(f Function, by string, file func(Function) string) string {
	if f.Kind == "artificial" || f.Kind == "unknown" {
		return f.Name
	}
	name := ""
	switch by {
	case "module":
		name = f.Module
	case "package":
		name = Package(f)
	case "namespace":
		name = Namespace(f.Name)
	case "file":
		name = file(f)
	}
	if name == "" || name == "(unknown)" {
		return f.LoadObject
	}
	return name
}

// GroupBy groups the functions of a tree, and sums the values of the groups. file is needed for the files only.
func GroupBy(l *Layout[int64], by string, file func(Function) string) *FunctionGroups {
	g := &FunctionGroups{By: by, Of: make([]int32, len(l.Functions))}
	numbers := map[string]int32{}
	var names []string
	root := int32(-1)
	if len(l.Frames) > 0 {
		root = l.Frames[0].Function
	}
	for i, f := range l.Functions {
		if int32(i) == root && f.Kind == "artificial" {
			g.Of[i] = -1
			continue
		}
		name := groupName(f, by, file)
		number, ok := numbers[name]
		if !ok {
			number = int32(len(names))
			numbers[name] = number
			names = append(names, name)
		}
		g.Of[i] = number
	}
	exclusive, inclusive := l.GroupSums(g.Of, len(names))
	order := make([]int32, len(names))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(exclusive[b], exclusive[a]), cmp.Compare(inclusive[b], inclusive[a]), cmp.Compare(names[a], names[b]))
	})
	rank := make([]int32, len(names))
	for i, n := range order {
		rank[n] = -1
		if i >= mostGroups {
			g.More, g.MoreExclusive = g.More+1, g.MoreExclusive+exclusive[n]
			continue
		}
		rank[n] = int32(i)
		g.Names, g.Exclusive, g.Inclusive = append(g.Names, names[n]), append(g.Exclusive, exclusive[n]), append(g.Inclusive, inclusive[n])
	}
	for i, n := range g.Of {
		if n >= 0 {
			g.Of[i] = rank[n]
		}
	}
	return g
}

// Choose groups the functions of a tree by load object; if one load object has most of the exclusive values, by the
// first of package, namespace and file of which no group has.
func Choose(l *Layout[int64], file func(Function) string) *FunctionGroups {
	byObject := GroupBy(l, "load-object", nil)
	if !byObject.dominated(l) {
		return byObject
	}
	for _, by := range []string{"package", "namespace", "file"} {
		if g := GroupBy(l, by, file); !g.dominated(l) {
			return g
		}
	}
	return byObject
}

// dominated reports whether one group has most of the exclusive values.
func (g *FunctionGroups) dominated(l *Layout[int64]) bool {
	return len(g.Exclusive) > 0 && float64(g.Exclusive[0]) > dominant*float64(l.Total())
}

// of returns the group of a function; -1 without groups.
func (g *FunctionGroups) of(function int32) int32 {
	if g == nil || function < 0 {
		return -1
	}
	return g.Of[function]
}

// appendJSON appends the groups with a comma.
func (g *FunctionGroups) appendJSON(out []byte) []byte {
	out = append(out, `"groups":{"by":"`+g.By+`",`...)
	out = appendList(out, "name", len(g.Names), func(out []byte, i int) []byte { return append(out, terminal.MarshalJSON(g.Names[i])...) })
	out = appendList(append(out, ','), "exclusive", len(g.Names), func(out []byte, i int) []byte { return appendValue(out, g.Exclusive[i]) })
	out = appendList(append(out, ','), "inclusive", len(g.Names), func(out []byte, i int) []byte { return appendValue(out, g.Inclusive[i]) })
	out = appendValue(append(out, `,"more":`...), int64(g.More))
	out = appendValue(append(out, `,"more_exclusive":`...), g.MoreExclusive)
	return append(out, `},`...)
}

// cloneSuffix matches what follows the dot in names that compilers make: f.part.0, f.cold, f.17.
var cloneSuffix = lazyregexp.New(`^([0-9]+|part|constprop|isra|cold|llvm|lto_priv|localalias|_?omp_fn|clone|plt|str)\b`)

// Package returns the package of a function whose name begins with one, as in Go (cmd/go/internal/work.f), Java
// (java.util.Map.get) and Python; "" if it has none.
func Package(f Function) string {
	name := f.Name
	if f.Kind == "java" {
		name, _, _ = strings.Cut(name, "(")
		parts := strings.Split(name, ".")
		return strings.Join(parts[:max(len(parts)-2, 0)], ".")
	}
	if strings.Contains(name, "::") {
		return ""
	}
	if at := strings.IndexAny(name, "([<{ "); at >= 0 {
		name = name[:at]
	}
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot <= 0 || slash+dot+1 > len(name) || cloneSuffix().MatchString(name[slash+dot+1:]) {
		return ""
	}
	return name[:slash+dot]
}

// Namespace returns the namespaces and classes of a function in C++ or Rust; "" if it has none.
func Namespace(name string) string {
	if inner, ok := strings.CutPrefix(name, "<"); ok { // Rust: <alloc::vec::Vec<T> as core::ops::Drop>::drop
		if at := strings.Index(inner, " as "); at >= 0 {
			inner = inner[:at] + "::"
		}
		name = strings.TrimLeft(inner, "&*[")
	}
	// Positions outside of <>, () and {}: of the last blank, which ends the type of a template's result, and of the
	// last :: before the arguments.
	depth, begin, end := 0, 0, 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case strings.HasPrefix(name[i:], "operator") && depth == 0 && end > 0:
			return scope(name[begin:end])
		case strings.HasPrefix(name[i:], "(anonymous namespace)"):
			i += len("(anonymous namespace)") - 1
		case c == '(' && depth == 0:
			if end > begin {
				return scope(name[begin:end])
			}
			return ""
		case c == '<' || c == '(' || c == '{' || c == '[':
			depth++
		case (c == '>' || c == ')' || c == '}' || c == ']') && depth > 0:
			depth--
		case c == ' ' && depth == 0:
			begin, end = i+1, 0
		case c == ':' && depth == 0 && i > begin && strings.HasPrefix(name[i:], "::"):
			end = i
			i++
		}
	}
	if end <= begin {
		return ""
	}
	return scope(name[begin:end])
}

// scope returns a scope without the arguments of templates.
func scope(text string) string {
	var out strings.Builder
	depth := 0
	for _, c := range strings.TrimLeft(text, "*&") {
		switch {
		case c == '<':
			depth++
		case c == '>' && depth > 0:
			depth--
		case depth == 0:
			out.WriteRune(c)
		}
	}
	return out.String()
}
