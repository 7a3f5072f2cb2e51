package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// scalar is a scalar type: its name in C, and in descriptors of data objects.
type scalar struct {
	c, descriptor string
	number        kind
}

// kind says which operations a type has.
type kind int

const (
	integer kind = iota
	floating
	boolean
	pointer
	vector // vectors and complex numbers, which are only copied
)

// field is a member of a structure or union.
type field struct {
	name  string // "" for anonymous members and base classes
	typ   scalar
	bits  int
	in    *aggregate // its type, if that is a structure or union; else nil
	dims  []int
	base  bool
	named bool // its type has a name and is declared separately
}

// aggregate is a structure or union.
type aggregate struct {
	union  bool
	name   string // "" if it has none
	packed bool
	fields []field
}

func (a *aggregate) word() string {
	if a.union {
		return "union"
	}
	return "struct"
}

// leaf is a member without members of its own: a scalar, or an array of scalars.
type leaf struct {
	member     string // the text after p-> that accesses it, without indexes into the leaf itself
	descriptor string // its descriptor, after the structure's
	field      *field
	dims       []int
	union      bool
	inners     []inner // the named structures around it, the outermost first
}

// inner is a named structure around a leaf that is not in an array.
type inner struct {
	typ        *aggregate
	path       string // path to the inner structure
	rest       string // path from the inner structure to the leaf
	descriptor string
}

type generator struct {
	*rand.Rand
	cpp   bool
	text  strings.Builder // declarations and functions written so far
	calls strings.Builder
	next  int
	plain []*aggregate // named structures without base classes: others can have them as members
}

var scalars = []scalar{
	{"char", "char", integer}, {"signed char", "signed_char", integer}, {"unsigned char", "unsigned_char", integer},
	{"short", "short", integer}, {"unsigned short", "unsigned_short", integer}, {"int", "int", integer}, {"int", "int", integer},
	{"unsigned", "unsigned_int", integer}, {"long", "long", integer}, {"long", "long", integer}, {"unsigned long", "unsigned_long", integer},
	{"float", "float", floating}, {"float", "float", floating}, {"double", "double", floating}, {"double", "double", floating}, {"long double", "long_double", floating},
	{"bool", "*ool", boolean}, {"char *", "pointer+char", pointer}, {"void *", "pointer+void", pointer}, {"struct some *", "pointer+structure:some", pointer},
	{"double _Complex", "*complex*double*", vector}, {"v4", "v4=array[4]:float", vector}, {"u32", "u32=unsigned_int", integer}, {"real", "real=double", floating},
}

var bitTypes = []scalar{
	{"unsigned", "unsigned_int", integer}, {"unsigned", "unsigned_int", integer}, {"int", "int", integer}, {"unsigned long", "unsigned_long", integer},
	{"long", "long", integer}, {"unsigned char", "unsigned_char", integer}, {"short", "short", integer}, {"bool", "*ool", boolean}, {"u32", "u32=unsigned_int", integer},
}

var widths = map[string]int{"unsigned": 32, "int": 32, "unsigned long": 64, "long": 64, "unsigned char": 8, "short": 16, "bool": 1, "u32": 32}

func (g *generator) id(prefix string) string {
	g.next++
	return fmt.Sprintf("%s%d", prefix, g.next)
}

func (g *generator) scalar() scalar { return scalars[g.IntN(len(scalars))] }

// aggregate returns a structure or union with random fields.
func (g *generator) aggregate(union bool, depth, most int) *aggregate {
	a := &aggregate{union: union}
	for n := 2 + g.IntN(most-1); len(a.fields) < n; {
		switch g.IntN(12) {
		case 0, 1, 2:
			if union {
				a.fields = append(a.fields, field{name: g.id("m"), typ: g.scalar()})
				continue
			}
			a.fields = append(a.fields, g.bitFields()...)
		case 3:
			a.fields = append(a.fields, field{name: g.id("m"), typ: g.scalar(), dims: []int{1 + g.IntN(6)}})
		case 4:
			a.fields = append(a.fields, field{name: g.id("m"), typ: g.scalar(), dims: []int{1 + g.IntN(3), 2 + g.IntN(3)}})
		case 5:
			if depth > 0 {
				a.fields = append(a.fields, g.nested(!union && g.IntN(2) == 0, depth))
			}
		case 6:
			if depth > 0 && len(g.plain) > 0 {
				a.fields = append(a.fields, field{name: g.id("m"), in: g.plain[g.IntN(len(g.plain))], named: true, dims: g.some()})
			}
		default:
			a.fields = append(a.fields, field{name: g.id("m"), typ: g.scalar()})
		}
	}
	return a
}

// some returns the dimensions of an array, at most one; none for a scalar.
func (g *generator) some() []int {
	if g.IntN(3) == 0 {
		return []int{2 + g.IntN(3)}
	}
	return nil
}

func (g *generator) nested(union bool, depth int) field {
	f := field{in: g.aggregate(union, depth-1, 4)}
	if g.IntN(2) == 0 {
		f.name, f.dims = g.id("m"), g.some()
	}
	return f
}

func (g *generator) bitFields() (list []field) {
	t := bitTypes[g.IntN(len(bitTypes))]
	for range 1 + g.IntN(5) {
		if g.IntN(4) == 0 {
			t = bitTypes[g.IntN(len(bitTypes))]
		}
		width := 1 + g.IntN(widths[t.c])
		if g.IntN(2) == 0 && widths[t.c] > 8 {
			width = []int{8, 16, 1, 7, 9, 24, 5, 3}[g.IntN(8)]
		}
		if g.IntN(12) == 0 {
			list = append(list, field{typ: t, bits: g.IntN(2) * min(width, widths[t.c]-1)})
		}
		list = append(list, field{name: g.id("b"), typ: t, bits: min(width, widths[t.c])})
	}
	return list
}

// declare writes the declarations of the fields.
func (a *aggregate) declare(b *strings.Builder, indent string) {
	for i := range a.fields {
		f := &a.fields[i]
		if f.base {
			continue
		}
		dims := ""
		for _, n := range f.dims {
			dims += fmt.Sprintf("[%d]", n)
		}
		switch {
		case f.named:
			fmt.Fprintf(b, "%s%s %s %s%s;\n", indent, f.in.word(), f.in.name, f.name, dims)
		case f.in != nil:
			fmt.Fprintf(b, "%s%s {\n", indent, f.in.word())
			f.in.declare(b, indent+"\t")
			fmt.Fprintf(b, "%s} %s%s;\n", indent, f.name, dims)
		case f.bits > 0 || f.name == "":
			fmt.Fprintf(b, "%s%s %s : %d;\n", indent, f.typ.c, f.name, f.bits)
		default:
			fmt.Fprintf(b, "%s%s %s%s;\n", indent, f.typ.c, f.name, dims)
		}
	}
}

// leaves returns all leaves of a structure. For an array of structures, it returns the leaves of
// one element.
func (g *generator) leaves(a *aggregate, at leaf) (list []leaf) {
	for i := range a.fields {
		f := &a.fields[i]
		l := at
		l.inners = append([]inner(nil), at.inners...)
		l.union = at.union || a.union
		l.field = f
		if f.name != "" {
			l.member = strings.TrimPrefix(at.member+"."+f.name, ".")
			for k := range l.inners {
				l.inners[k].rest = strings.TrimPrefix(l.inners[k].rest+"."+f.name, ".")
			}
		}
		if f.in == nil {
			if f.name == "" {
				continue
			}
			l.dims = f.dims
			for _, n := range f.dims {
				l.descriptor += fmt.Sprintf("array[%d]:", n)
			}
			l.descriptor = at.descriptor + ".{" + l.descriptor[len(at.descriptor):] + f.typ.descriptor
			if f.bits > 0 { // not the type's full width: compilers differ for such bit fields
				l.descriptor += map[bool]string{true: "*", false: fmt.Sprintf(":%d", f.bits)}[f.bits == widths[f.typ.c]]
			}
			l.descriptor += " " + f.name + "}"
			list = append(list, l)
			continue
		}
		index := ""
		for _, n := range f.dims {
			index += fmt.Sprintf("[%d]", g.IntN(n))
		}
		l.member += index
		for k := range l.inners {
			l.inners[k].rest += index
		}
		name := f.in.name
		if name == "" {
			name = f.name
		}
		if name == "" {
			name = "-"
		}
		l.descriptor = at.descriptor + ".{" + map[bool]string{true: "union:", false: "structure:"}[f.in.union] + name + "}"
		if f.named {
			l.inners = append(l.inners, inner{typ: f.in, path: l.member, descriptor: "{structure:" + name + "}"})
		}
		list = append(list, g.leaves(f.in, l)...)
	}
	return list
}
