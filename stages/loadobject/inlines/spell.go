package inlines

import (
	"cmp"
	debugdwarf "debug/dwarf"
	"fmt"
	"iter"
	"path"
	"strings"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// maxSpelled bounds the nesting of scopes and types in names.
const maxSpelled = 40

// maxName bounds the length of a name. maxParts bounds the scopes and types in it, since names
// contain the types of parameters.
const (
	maxName  = 1 << 12
	maxParts = 1 << 10
)

// spell returns the readable name of a function without a linkage name, in the demangler's form:
// qualified with its scopes and, in C++, followed by its parameters' types.
func (r *Reader) spell(n entryNo, depth int) string {
	e := &r.entries[n]
	if r.partsLeft--; depth > maxSpelled || r.partsLeft < 0 {
		return "..."
	}
	last, name := r.declaration(n)
	d := &r.entries[last]
	name = cmp.Or(name, unnamed)
	cxx := e.unit >= 0 && isCxx(r.units[e.unit].module.Language)
	outer := ""
	if r.isQualified(d) {
		if ada, ok := symtab.AdaName(name); ok {
			name = ada
		}
	} else {
		outer = r.qualifier(d.around, depth+1, strings.HasPrefix(name, "operator()"))
	}
	isC := d.flags&isExternal != 0 && !r.inAggregate(d.around) // `extern "C"`: other external functions have linkage names
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

// chain iterates over an entry, its abstract origin or specification, the origin of that, and so
// on.
func (r *Reader) chain(n entryNo) iter.Seq2[entryNo, *entry] {
	return func(yield func(entryNo, *entry) bool) {
		for range dwarf.MaxHops {
			e := &r.entries[n]
			if !yield(n, e) || e.next == 0 {
				return
			}
			n = e.next
		}
	}
}

// declaration returns the last entry of an entry's chain, and the first name that the chain has.
func (r *Reader) declaration(n entryNo) (last entryNo, name string) {
	for at, e := range r.chain(n) {
		last, name = at, cmp.Or(name, r.texts[e.name])
	}
	return last, name
}

// withParameters returns the entry of a function's chain that has its parameters: declarations that
// compilers copy from type units have none. It returns nil if no parameters were read.
func (r *Reader) withParameters(n entryNo) (found *entry) {
	for _, e := range r.chain(n) {
		if e.parameters > 0 {
			found = e
		}
		if p := r.parameters[e.parameters]; len(p.types) > 0 || p.object != 0 {
			break
		}
	}
	return found
}

// inAggregate reports whether a scope is a class, a structure, a union or an enumeration.
func (r *Reader) inAggregate(n entryNo) bool { return n != 0 && r.entries[n].isAggregate() }

// qualifier returns the text that scope n puts before names in it. called means that the name is a
// call operator: an unnamed class with one is a lambda expression, and is named after its position.
func (r *Reader) qualifier(n entryNo, depth int, called bool) string {
	e := &r.entries[n]
	if n == 0 || depth > maxSpelled {
		return ""
	}
	mark := r.separator(e)
	switch {
	case e.isFunction():
		return r.functionName(n, depth) + mark
	case e.tag == debugdwarf.TagNamespace || e.tag == debugdwarf.TagModule:
		last, name := r.declaration(n)
		return r.qualifier(r.entries[last].around, depth+1, false) + cmp.Or(name, "(anonymous namespace)") + mark
	case e.isAggregate():
		return r.aggregate(n, depth, called) + mark
	}
	return r.qualifier(e.around, depth, false)
}

// isQualified reports whether an entry's name already contains its scopes, as GNAT's names for Ada
// do (`pkg__outer__inner`).
func (r *Reader) isQualified(e *entry) bool {
	return e.unit >= 0 && r.units[e.unit].module.Language == "Ada"
}

// separator returns the text between a scope and a name in it.
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
		at := r.positionText(n)
		switch {
		case called:
			name = "{lambda" + at + "}"
		case d.tag == debugdwarf.TagEnumerationType:
			name = "{enum" + at + "}"
		default:
			name = "{unnamed" + at + "}"
		}
	}
	return cut(r.qualifier(d.around, depth+1, false) + name)
}

// positionText returns the position of an unnamed entry's declaration, empty if unknown.
func (r *Reader) positionText(n entryNo) string {
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

// position returns the position of a declaration: file -1 and line 0 if unknown.
func (r *Reader) position(n entryNo) (file, line, column int32) {
	file = -1
	for _, e := range r.chain(n) {
		if file < 0 {
			file = e.file
		}
		if line == 0 {
			line, column = e.line, e.column
		}
	}
	return file, line, column
}

func (r *Reader) functionName(n entryNo, depth int) string {
	if linkage := r.linkage(n); linkage != 0 {
		return r.readable.Readable(r.texts[linkage])
	}
	return r.spell(n, depth)
}

// linkage returns the linkage name of a function; 0 for none.
func (r *Reader) linkage(n entryNo) textNo {
	for _, e := range r.chain(n) {
		if e.linkage != 0 {
			return e.linkage
		}
	}
	return 0
}

// signature returns the types of a function's parameters in parentheses and, for a method, its
// qualifiers.
func (r *Reader) signature(e *entry, depth int) string {
	p := r.parameters[e.parameters]
	text := "(" + r.typeList(p, depth) + ")"
	if r.omitEmpty && text == "()" { // with -g1, units have no parameters
		text = ""
	}
	if p.object != 0 {
		object := &r.entries[p.object]
		if object.tag == debugdwarf.TagConstType { // a const pointer
			object = &r.entries[object.typ]
		}
		if object.tag == debugdwarf.TagPointerType {
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

// qualifiers returns the qualifiers (const, volatile) of a method: those of its object's type n.
func (r *Reader) qualifiers(n entryNo) (text string) {
	for range dwarf.MaxHops {
		e := &r.entries[n]
		switch e.tag {
		case debugdwarf.TagConstType:
			text = " const" + text
		case debugdwarf.TagVolatileType:
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

// integers maps compilers' names of integer types to the names that the demangler uses.
var integers = map[string]string{
	"long int": "long", "long unsigned int": "unsigned long", "short int": "short", "short unsigned int": "unsigned short",
	"long long int": "long long", "long long unsigned int": "unsigned long long", "__int128 unsigned": "unsigned __int128",
}

// declarators maps the tags of derived types to the text that follows the original type.
var declarators = map[debugdwarf.Tag]string{
	debugdwarf.TagPointerType: "*", debugdwarf.TagReferenceType: "&", debugdwarf.TagRvalueReferenceType: "&&",
	debugdwarf.TagConstType: " const", debugdwarf.TagVolatileType: " volatile", debugdwarf.TagPtrToMemberType: " ::*",
	debugdwarf.TagRestrictType: "", debugdwarf.TagAtomicType: "", debugdwarf.TagTypedef: "", debugdwarf.TagTemplateAlias: "",
}

// typeName returns the name of a type, with the declarator (`*`, `[]`) of the types derived from
// it.
func (r *Reader) typeName(n entryNo, declarator string, depth int) string {
	e := &r.entries[n]
	r.partsLeft--
	switch {
	case n == 0:
		return "void" + declarator
	case depth > maxSpelled || r.partsLeft < 0 || e.tag == 0:
		return "?" + declarator
	}
	switch e.tag {
	case debugdwarf.TagTypedef, debugdwarf.TagTemplateAlias:
		if target := &r.entries[e.typ]; e.typ != 0 && target.isAggregate() && target.name == 0 {
			return r.qualifier(e.around, depth+1, false) + r.texts[e.name] + declarator
		}
	case debugdwarf.TagSubroutineType:
		return r.typeName(e.typ, "", depth+1) + " " + inner(declarator) + "(" + r.typeList(r.parameters[e.parameters], depth+1) + ")"
	case debugdwarf.TagArrayType:
		return r.typeName(e.typ, " "+inner(declarator)+"[]", depth+1)
	}
	if mark, ok := declarators[e.tag]; ok {
		return r.typeName(e.typ, mark+declarator, depth+1)
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

// inner parenthesizes a declarator for use in a function or array type, as in `int (*)(char)`.
func inner(declarator string) string {
	if declarator == "" {
		return ""
	}
	return "(" + strings.TrimPrefix(declarator, " ") + ")"
}
