package types

import (
	"cmp"
	"strconv"
	"strings"
)

// Spell returns the descriptor (S28) of a data object, such as `const+pointer+int p`, without its
// braces. name is the variable's name, empty without one. For an aggregate, the descriptor ends
// with the name of the type or, if the type has no name, with name.
func (t *Table) Spell(typ TypeNo, name string) string { return t.spell(typ, name, 0) }

// SpellMember returns the descriptor of a member, like Spell, with the width of a bit field.
func (t *Table) SpellMember(member MemberNo) string {
	m := &t.Members[member]
	return t.spell(m.Type, m.Name, m.Bits)
}

// maxSpelled bounds the nesting of types in a descriptor; types in sources are nested less.
const maxSpelled = 64

func (t *Table) spell(typ TypeNo, name string, bits int32) string {
	name = cmp.Or(name, "-")
	if s := t.Strip(typ); t.Types[s].Kind.Aggregate() {
		return t.spellAggregate(s, name)
	}
	var b strings.Builder
	t.put(&b, typ, 0)
	if bits > 0 {
		b.WriteString(":" + strconv.Itoa(int(bits)))
	}
	b.WriteString(" " + name)
	return b.String()
}

// put writes a type, followed by its element type.
func (t *Table) put(b *strings.Builder, typ TypeNo, depth int) {
	x := &t.Types[typ]
	if depth == maxSpelled {
		b.WriteString("-")
		return
	}
	switch x.Kind {
	case Const, Volatile, Restrict, Atomic:
		t.put(b, t.putQualifiers(b, typ), depth+1)
	case Pointer, Reference, MemberPointer:
		b.WriteString(words[x.Kind] + "+")
		t.put(b, x.Elem, depth+1)
	case Typedef:
		t.put(b, t.putTypedef(b, typ), depth+1)
	case Array:
		b.WriteString("array[")
		if x.Count >= 0 {
			b.WriteString(strconv.FormatInt(x.Count, 10))
		}
		b.WriteString("]:")
		t.put(b, x.Elem, depth+1)
	case Structure, Class, Union:
		b.WriteString(t.spellAggregate(typ, "-"))
	case Enumeration, Unspecified:
		b.WriteString(words[x.Kind] + ":" + replaceBlanks(cmp.Or(x.Name, "-")))
	case Subroutine, Void:
		b.WriteString(words[x.Kind])
	default:
		b.WriteString(replaceBlanks(cmp.Or(x.Name, "-")))
	}
}

// putQualifiers writes the qualifiers of a type, and returns the type that they qualify. Compilers
// order qualifiers differently; here their order is fixed.
func (t *Table) putQualifiers(b *strings.Builder, typ TypeNo) TypeNo {
	var of [Atomic + 1]bool // which qualifiers the type has, by kind
	x := &t.Types[typ]
	for ; x.Kind == Const || x.Kind == Volatile || x.Kind == Restrict || x.Kind == Atomic; x = &t.Types[typ] {
		of[x.Kind] = of[x.Kind] || !t.isRepeated(x)
		typ = x.Elem
	}
	for kind := Const; kind <= Atomic; kind++ {
		if of[kind] {
			b.WriteString(words[kind] + "+")
		}
	}
	return typ
}

// putTypedef writes the name of a typedef, and returns its target. It does not write the name if
// the target is an aggregate, or an enumeration with the same name.
func (t *Table) putTypedef(b *strings.Builder, typ TypeNo) TypeNo {
	target := t.Types[typ].Elem
	for t.Types[target].Kind == Typedef {
		target = t.Types[target].Elem
	}
	name := replaceBlanks(t.Types[typ].Name)
	if to := &t.Types[t.Strip(target)]; !to.Kind.Aggregate() && (to.Kind != Enumeration || replaceBlanks(to.Name) != name) {
		b.WriteString(name + "=")
	}
	return target
}

// isRepeated reports whether type x qualifies an array whose elements have the same qualifier:
// compilers write the qualifier in both places.
func (t *Table) isRepeated(x *Type) bool {
	e := &t.Types[x.Elem]
	if e.Kind != Array {
		return false
	}
	for e.Kind == Array {
		e = &t.Types[e.Elem]
	}
	for {
		switch e.Kind {
		case x.Kind:
			return true
		case Const, Volatile, Restrict, Atomic:
			e = &t.Types[e.Elem]
		default:
			return false
		}
	}
}

func (t *Table) spellAggregate(typ TypeNo, name string) string {
	x := &t.Types[typ]
	return words[x.Kind] + ":" + replaceBlanks(cmp.Or(x.Name, name))
}

// words maps kinds to their names in descriptors.
var words = map[Kind]string{
	Const: "const", Volatile: "volatile", Restrict: "restrict", Atomic: "atomic", Pointer: "pointer", Reference: "reference",
	MemberPointer: "member+pointer", Subroutine: "function", Void: "void",
	Structure: "structure", Class: "class", Union: "union", Enumeration: "enumeration", Unspecified: "unspecified",
}

func replaceBlanks(name string) string { return strings.ReplaceAll(name, " ", "_") }
