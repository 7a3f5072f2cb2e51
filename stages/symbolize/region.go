package symbolize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/lazyregexp"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// relateBody sets the Relation of a body to the function that contains its region, and names the
// body after that function (S11).
func (r *Resolver) relateBody(n program.FunctionNo, body symtab.Function) {
	p := r.Program
	object := p.Functions[n].Object
	main, ok := r.holder(object, body)
	if !ok || main == n {
		return
	}
	_, line, _ := r.loadObjects[object].table.Line(body.Offset)
	p.Functions[n].Name = bodyName(p.Functions[main].Name, body, line)
	p.Relations[n] = program.Relation{Main: main, Line: line}
}

// holder returns the function that contains the region of a body, as findHolder finds it. While it
// searches, the body has no holder: this ends cycles in damaged objects.
func (r *Resolver) holder(object program.ObjectNo, body symtab.Function) (program.FunctionNo, bool) {
	holders := r.loadObjects[object].regionHolders
	if holders == nil {
		holders = map[uint64]program.FunctionNo{}
		r.loadObjects[object].regionHolders = holders
	}
	n, known := holders[body.Offset]
	if !known {
		holders[body.Offset] = program.None
		var ok bool
		if n, ok = r.findHolder(object, body); !ok {
			n = program.None
		}
		holders[body.Offset] = n
	}
	return n, n != program.None
}

// findHolder finds the function that contains the region of a body: the function that the body's
// symbol names, or the only one that passes the body to the runtime. If the region was inlined into
// several functions, it belongs to the function in which it was written. If that has no code of its
// own, gcc's debug information names it, and clang's has the inlined calls.
func (r *Resolver) findHolder(object program.ObjectNo, body symtab.Function) (program.FunctionNo, bool) {
	o := &r.loadObjects[object]
	if main, ok := o.findOriginal(body.Linkage, o.table.Modules[body.Module].Name); ok {
		return r.tableFunction(object, main), main.Offset != body.Offset
	}
	passing := r.holders(object, body)
	if f, ok := o.table.RegionHolder(body.Offset); ok && len(passing) != 1 {
		return r.internInlined(object, &f), true
	}
	var main symtab.Function
	ok := false
	switch len(passing) {
	case 0:
		main, ok = functionAround(o.table, body, o.table.Functions.All())
	case 1:
		main, ok = passing[0], true
	default:
		if n, found := r.writtenIn(object, body); found {
			return n, true
		}
		if symbolBase(body) == "" {
			main, ok = functionAround(o.table, body, slices.Values(passing))
		}
	}
	if !ok {
		return r.namedHolder(object, body, passing)
	}
	return r.tableFunction(object, main), true
}

// writtenIn finds the function in which a region was written, if that function was inlined into
// several others. All instructions that refer to the body are in code of the function, inlined or
// not.
func (r *Resolver) writtenIn(object program.ObjectNo, body symtab.Function) (program.FunctionNo, bool) {
	var lists [][]program.FunctionNo // instruction that refers to the body -> the functions whose code contains the instruction
	known, base := false, symbolBase(body)
	for _, x := range r.referrers(object)[body.Offset] {
		list, some := r.functionsAt(object, x)
		named := slices.DeleteFunc(slices.Clone(list), func(n program.FunctionNo) bool { return !r.isNamed(n, base) })
		if len(named) > 0 {
			list, some = named, true
		}
		lists = append(lists, list)
		known = known || some
	}
	if base != "" && !known { // only the symbol shows the function
		return 0, false
	}
	if n, ok := r.declaredBefore(object, body, lists); ok {
		return n, true
	}
	for _, n := range lists[0] {
		if !slices.ContainsFunc(lists, func(list []program.FunctionNo) bool { return !slices.Contains(list, n) }) {
			return n, true
		}
	}
	return 0, false
}

// functionsAt returns the functions that contain an instruction, the innermost first: those inlined
// there, then the function that has the code or, if that is a body, the function that contains the
// body's region. inlined says that at least one is inlined.
func (r *Resolver) functionsAt(object program.ObjectNo, x bodyReference) (list []program.FunctionNo, inlined bool) {
	o := &r.loadObjects[object]
	t := o.table
	chain := t.Inlined(x.instruction)
	for i := range slices.Backward(chain) {
		if !chain[i].Function.Deeper {
			list = append(list, r.internInlined(object, &chain[i]))
		}
	}
	inlined = len(list) > 0
	f, _ := t.Function(x.function)
	if f.Kind == funcinfo.Outline {
		if main, ok := o.findNamed(mainName(f.Linkage), t.Modules[f.Module].Name); ok {
			f = main
		}
	}
	if kindOf(f) == funcinfo.Body {
		if n, ok := r.holder(object, f); ok {
			list = append(list, n)
		}
		return list, inlined
	}
	if original, ok := o.findOriginal(f.Linkage, t.Modules[f.Module].Name); ok && f.Kind == funcinfo.Clone {
		f = original
	}
	return append(list, r.tableFunction(object, f)), inlined
}

// declaredBefore returns, of the functions in lists, the last one that is declared before a body's
// first line in the same file.
func (r *Resolver) declaredBefore(object program.ObjectNo, body symtab.Function, lists [][]program.FunctionNo) (found program.FunctionNo, ok bool) {
	file, line, known := r.loadObjects[object].table.Line(body.Offset)
	if !known {
		return 0, false
	}
	last := int32(0)
	for _, list := range lists {
		for _, n := range list {
			if f, at := r.declaration(n); f == file && last < at && at <= line {
				found, last, ok = n, at, true
			}
		}
	}
	return found, ok
}

// declaration returns the file and line of a function's declaration, line 0 if unknown.
func (r *Resolver) declaration(n program.FunctionNo) (file string, line int32) {
	p := r.Program
	f := &p.Functions[n]
	if f.Kind == program.Inlined {
		return p.Modules[f.Module].Name, f.Line
	}
	file, _, _ = r.loadObjects[f.Object].table.Line(f.Offset)
	return file, f.Line
}

// namedHolder adds a function without code: the one that a body's symbol names, if neither machine
// code nor debug information shows it. Static functions with equal names are distinguished by the
// functions that inlined them.
func (r *Resolver) namedHolder(object program.ObjectNo, body symtab.Function, passing []symtab.Function) (program.FunctionNo, bool) {
	base := symbolBase(body)
	if base == "" {
		return 0, false
	}
	p := r.Program
	m := r.loadObjects[object].table.Modules[body.Module]
	f := program.Function{
		Object: object, Module: r.tableModule(object, m), Name: symtab.ReadableName(base), Linkage: base, Aliases: base, Kind: program.Inlined, Scope: funcinfo.ModuleScope,
	}
	variant := xxhash.New()
	if m.Name == unknownModule && !isShared(base) {
		f.Scope = funcinfo.BuildScope
		for _, g := range passing {
			fmt.Fprintf(variant, "%x,", g.Offset)
		}
	}
	return p.InternFunction(f, variant.Sum64()), true
}

// isNamed reports whether a function, or the function from which it was cloned, has a symbol.
func (r *Resolver) isNamed(n program.FunctionNo, symbol string) bool {
	f := &r.Program.Functions[n]
	if f.Linkage == "" {
		return f.Name == symbol
	}
	base, _ := symtab.CloneMarks(f.Linkage)
	return base == symbol || slices.Contains(symtab.Split(f.Aliases), symbol)
}

// symbolBase returns the symbol of the function from which a body was made, as the body's symbol
// has it (gcc: `f` in `f._omp_fn.0`), "" if it has none.
func symbolBase(body symtab.Function) string {
	base, marks := symtab.CloneMarks(body.Linkage)
	if strings.HasPrefix(base, ".") || marks == "" {
		return ""
	}
	return base
}

// staticName matches symbols of C++ functions that are static, or within static ones.
var staticName = lazyregexp.New(`L[0-9]`)

// isShared reports whether all compilation units use the same function for a symbol: if a C++
// function is not static, the linker keeps only one copy.
func isShared(symbol string) bool {
	return strings.HasPrefix(symbol, "_Z") && !strings.Contains(symbol, "_GLOBAL__N_") && !staticName().MatchString(symbol)
}
