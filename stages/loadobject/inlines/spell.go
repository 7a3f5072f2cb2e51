package inlines

import (
	"fmt"
	"path"
	"strings"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// maxSpelled bounds how deep names are nested: scopes in scopes, types in types.
const maxSpelled = 40

// maxName bounds a name, and maxParts the scopes and types in it: types are written out for
// each parameter.
const (
	maxName  = 1 << 12
	maxParts = 1 << 10
)

// spell returns the name for people of a function that has no linkage name, as the demangler
// would write it: with its scopes and, in C++, the types of its parameters.
func (r *Reader) spell(n entryNo, depth int) string {
	e := &r.entries[n]
	if r.parts--; depth > maxSpelled || r.parts < 0 {
		return "..."
	}
	last, name := r.declaration(n)
	d := &r.entries[last]
	cxx := e.unit >= 0 && isCxx(r.units[e.unit].module.Language)
	if name == "" {
		name = unnamed
	}
	outer := ""
	if r.isQualified(d) {
		if ada, ok := symtab.AdaName(name); ok {
			name = ada
		}
	} else {
		outer = r.qualifier(d.around, depth+1, strings.HasPrefix(name, "operator()"))
	}
	isC := d.flags&isExternal != 0 && !r.inAggregate(d.around) // `extern "C"`: other functions have linkage names
	if of := r.withParameters(n); cxx && !isC && of != nil {
		name += r.signature(of, depth+1)
	}
	return cut(outer + name)
}

func cut(name string) string {
	if len(name) > maxName {
		return name[:maxName] + "..."
	}
	return name
}

// display returns the name for people of a function that has no linkage name.
func (r *Reader) display(n entryNo) string {
	r.parts, r.bare = maxParts, false
	return r.spell(n, 0)
}

// declaration returns the last entry that a function's entry completes, and its name.
func (r *Reader) declaration(n entryNo) (last entryNo, name string) {
	for range dwarf.MaxHops {
		if t := r.texts[r.entries[n].name]; t != "" && name == "" {
			name = t
		}
		next := r.entries[n].next
		if next == 0 {
			break
		}
		n = next
	}
	return n, name
}

// withParameters returns the entry that has a function's parameters, of those that it
// completes: copies of declarations from units of types have none. It is nil if the unit has
// no parameters at all.
func (r *Reader) withParameters(n entryNo) (found *entry) {
	for range dwarf.MaxHops {
		e := &r.entries[n]
		if e.parameters > 0 {
			found = e
		}
		if p := r.parameters[e.parameters]; e.next == 0 || len(p.types) > 0 || p.object != 0 {
			break
		}
		n = e.next
	}
	return found
}

// inAggregate reports whether an entry is a class or the like.
func (r *Reader) inAggregate(n entryNo) bool { return n != 0 && r.entries[n].isAggregate() }

// qualifier returns what a name in a scope begins with. A class without a name that is
// called is that of a lambda expression, for whose place the name stands.
func (r *Reader) qualifier(n entryNo, depth int, called bool) string {
	e := &r.entries[n]
	if n == 0 || depth > maxSpelled {
		return ""
	}
	mark := r.separator(e)
	switch {
	case e.isFunction():
		return r.functionName(n, depth) + mark
	case e.tag == dwarf.TagNamespace || e.tag == dwarf.TagModule:
		last, name := r.declaration(n)
		if name == "" {
			name = "(anonymous namespace)"
		}
		return r.qualifier(r.entries[last].around, depth+1, false) + name + mark
	case e.isAggregate():
		return r.aggregate(n, depth, called) + mark
	}
	return r.qualifier(e.around, depth, false)
}

// isQualified reports whether names contain their scopes: GNAT's do (`pkg__outer__inner`).
func (r *Reader) isQualified(e *entry) bool {
	return e.unit >= 0 && r.units[e.unit].module.Language == "Ada"
}

// separator returns what stands between a scope and a name in it.
func (r *Reader) separator(e *entry) string {
	if e.unit >= 0 {
		switch r.units[e.unit].module.Language {
		case "Pascal", "D", "Modula-2", "Modula-3":
			return "."
		}
	}
	return "::"
}

// aggregate returns the qualified name of a class, a structure, a union or an enumeration.
func (r *Reader) aggregate(n entryNo, depth int, called bool) string {
	last, name := r.declaration(n)
	d := &r.entries[last]
	if depth > maxSpelled {
		return "..."
	}
	if name == "" || strings.HasPrefix(name, "<lambda") {
		at := r.place(n)
		switch {
		case called:
			name = "{lambda" + at + "}"
		case d.tag == dwarf.TagEnumerationType:
			name = "{enum" + at + "}"
		default:
			name = "{unnamed" + at + "}"
		}
	}
	return cut(r.qualifier(d.around, depth+1, false) + name)
}

// place says where something without a name is declared; empty if unknown.
func (r *Reader) place(n entryNo) string {
	file, line, column := r.position(n)
	if file < 0 || line == 0 {
		return ""
	}
	at := fmt.Sprintf(" at %s:%d", path.Base(r.table.Files[file]), line)
	if column > 0 {
		at += fmt.Sprintf(":%d", column)
	}
	return at
}

// position returns where something is declared: file -1 and line 0 if unknown.
func (r *Reader) position(n entryNo) (file, line, column int32) {
	file = -1
	for range dwarf.MaxHops {
		e := &r.entries[n]
		if file < 0 {
			file = e.file
		}
		if line == 0 {
			line, column = e.line, e.column
		}
		if e.next == 0 || file >= 0 && line > 0 {
			break
		}
		n = e.next
	}
	return file, line, column
}

// functionName returns the name for people of a function.
func (r *Reader) functionName(n entryNo, depth int) string {
	if linkage := r.linkage(n); linkage != 0 {
		return r.readable.Readable(r.texts[linkage])
	}
	return r.spell(n, depth)
}

// linkage returns the linkage name of a function, 0 for none.
func (r *Reader) linkage(n entryNo) textNo {
	for range dwarf.MaxHops {
		if e := &r.entries[n]; e.linkage != 0 || e.next == 0 {
			return e.linkage
		}
		n = r.entries[n].next
	}
	return 0
}

// signature returns the types of a function's parameters in parentheses, and what qualifies a
// method.
func (r *Reader) signature(e *entry, depth int) string {
	p := r.parameters[e.parameters]
	text := "(" + r.typeList(p, depth) + ")"
	if r.bare && text == "()" { // units with the least debug information have no parameters
		text = ""
	}
	if p.object != 0 {
		object := &r.entries[p.object]
		if object.tag == dwarf.TagConstType { // the pointer itself
			object = &r.entries[object.typ]
		}
		if object.tag == dwarf.TagPointerType {
			text += r.qualifiers(object.typ)
		}
	}
	switch {
	case e.flags&isLvalue != 0:
		text += " &"
	case e.flags&isRvalue != 0:
		text += " &&"
	}
	return text
}

// qualifiers returns those of an object's type.
func (r *Reader) qualifiers(n entryNo) (text string) {
	for range dwarf.MaxHops {
		e := &r.entries[n]
		switch e.tag {
		case dwarf.TagConstType:
			text = " const" + text
		case dwarf.TagVolatileType:
			text += " volatile"
		default:
			return text
		}
		n = e.typ
	}
	return text
}

func (r *Reader) typeList(p parameters, depth int) string {
	var list []string
	for _, t := range p.types {
		list = append(list, r.typeName(t, "", depth))
	}
	if p.more {
		list = append(list, "...")
	}
	return cut(strings.Join(list, ", "))
}

// integers are names of types that compilers write otherwise than the demangler.
var integers = map[string]string{
	"long int": "long", "long unsigned int": "unsigned long", "short int": "short", "short unsigned int": "unsigned short",
	"long long int": "long long", "long long unsigned int": "unsigned long long", "__int128 unsigned": "unsigned __int128",
}

// typeName returns the name of a type, of what has a declarator (`*`, `[]`).
func (r *Reader) typeName(n entryNo, declarator string, depth int) string {
	e := &r.entries[n]
	r.parts--
	switch {
	case n == 0:
		return "void" + declarator
	case depth > maxSpelled || r.parts < 0 || e.tag == 0:
		return "?" + declarator
	}
	around := func(mark string) string { return r.typeName(e.typ, mark+declarator, depth+1) }
	switch e.tag {
	case dwarf.TagPointerType:
		return around("*")
	case dwarf.TagReferenceType:
		return around("&")
	case dwarf.TagRvalueType:
		return around("&&")
	case dwarf.TagConstType:
		return around(" const")
	case dwarf.TagVolatileType:
		return around(" volatile")
	case dwarf.TagMemberPointer:
		return around(" ::*")
	case dwarf.TagRestrictType, dwarf.TagAtomicType:
		return around("")
	case dwarf.TagTypedef, dwarf.TagTemplateAlias:
		if target := &r.entries[e.typ]; e.typ != 0 && target.isAggregate() && target.name == 0 {
			return r.qualifier(e.around, depth+1, false) + r.texts[e.name] + declarator
		}
		return around("")
	case dwarf.TagSubroutineType:
		return r.typeName(e.typ, "", depth+1) + " " + inner(declarator) + "(" + r.typeList(r.parameters[e.parameters], depth+1) + ")"
	case dwarf.TagArrayType:
		return r.typeName(e.typ, " "+inner(declarator)+"[]", depth+1)
	}
	if e.isAggregate() {
		return r.aggregate(n, depth+1, false) + declarator
	}
	name := r.texts[e.name]
	if usual, ok := integers[name]; ok {
		name = usual
	}
	return name + declarator
}

// inner returns a declarator within that of a function or an array.
func inner(declarator string) string {
	if declarator == "" {
		return ""
	}
	return "(" + strings.TrimPrefix(declarator, " ") + ")"
}
