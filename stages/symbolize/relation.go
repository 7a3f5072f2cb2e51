package symbolize

import (
	"fmt"
	"iter"
	"strings"

	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// relate sets the Relation of a clone, outline function or body to the function from which it was
// made (S9, S11, S12), and names bodies after that function.
func (r *Resolver) relate(n program.FunctionNo, f symtab.Function) {
	p := r.Program
	o := &r.loadObjects[p.Functions[n].Object]
	module := p.Modules[p.Functions[n].Module].Name
	var main symtab.Function
	var ok bool
	switch f.Kind {
	case funcinfo.Outline:
		main, ok = o.findNamed(mainName(f.Linkage), module)
	case funcinfo.Clone:
		main, ok = o.findOriginal(f.Linkage, module)
	case funcinfo.Body:
		r.relateBody(n, f)
		return
	}
	if !ok || main.Offset == f.Offset { // two names of one function
		return
	}
	p.Relations[n] = program.Relation{Main: r.tableFunction(p.Functions[n].Object, main)}
}

// kindOf returns the kind of a function in a symbol table. Auxiliary functions that clang makes for
// a parallel region are bodies, too, but only their names show it.
func kindOf(f symtab.Function) funcinfo.Kind {
	if f.Kind == funcinfo.Normal && (strings.HasPrefix(f.Linkage, ".omp") || strings.Contains(f.Linkage, ".omp.")) {
		return funcinfo.Body
	}
	return f.Kind
}

// findOriginal finds the function after which a clone or body is named. Its symbol is the linkage
// name without one or more suffixes (gcc's `f.isra.0`, `f._omp_fn.0`), the name after Studio's mark
// (`_$p1A12.f`), or that of a coroutine's ramp function. The result is never a body.
func (o *loadObject) findOriginal(linkage, module string) (symtab.Function, bool) {
	if strings.HasPrefix(linkage, "_$") {
		_, name, _ := strings.Cut(linkage, ".")
		return o.findNamed(name, module)
	}
	if ramp, ok := symtab.Ramp(linkage); ok {
		return o.findNamed(ramp, module)
	}
	for i := strings.LastIndexByte(linkage, '.'); i > 0; i = strings.LastIndexByte(linkage[:i], '.') {
		if main, ok := o.findNamed(linkage[:i], module); ok && kindOf(main) != funcinfo.Body {
			return main, true
		}
	}
	return symtab.Function{}, false
}

// functionAround finds the function in whose source lines the body was written, among functions of
// the same module. Its line table has the body's first line, or else lines before and after it. If
// several functions match, it returns the one with the fewest lines, which was inlined into the
// others.
func functionAround(t *symtab.Table, body symtab.Function, among iter.Seq[symtab.Function]) (found symtab.Function, ok bool) {
	at := t.Lines.Before(body.Offset)
	if body.Module == 0 || at < 0 || t.Lines.At(at).File < 0 {
		return found, false
	}
	file, line := t.Lines.At(at).File, t.Lines.At(at).Line
	bestExact, bestSpan := false, int32(0)
	for f := range among {
		if f.Module != body.Module || kindOf(f) != funcinfo.Normal && f.Kind != funcinfo.Clone {
			continue
		}
		first, last, exact := lineRange(t, f, file, line)
		if first > line || line > last {
			continue
		}
		if !ok || exact && !bestExact || exact == bestExact && last-first < bestSpan {
			found, ok, bestExact, bestSpan = f, true, exact, last-first
		}
	}
	return found, ok
}

// lineRange returns the first and last line of a file that a function's instructions have, and
// whether an instruction has the given line. first is greater than last if no instruction has a
// line of the file.
func lineRange(t *symtab.Table, f symtab.Function, file, line int32) (first, last int32, exact bool) {
	first, last = 1, 0
	for row := range t.Lines.From(max(t.Lines.Before(f.Offset), 0)) {
		if row.Offset >= f.Offset+f.Size {
			break
		}
		n := row.Line
		if row.File != file || n == 0 {
			continue
		}
		if first > last {
			first, last = n, n
		}
		first, last, exact = min(first, n), max(last, n), exact || n == line
	}
	return first, last, exact
}

// constructs lists the OpenMP constructs whose bodies have a suffix with some part in it; others
// are parallel regions.
var constructs = []struct{ part, words string }{
	{"task", "OMP task"}, {"cpyfn", "OMP task"},
	{"reduction", "OMP reduction"}, {"combiner", "OMP reduction"},
}

// bodyName returns the name that the manual gives to a body: the function that contains the region,
// the construct and its line, and the compiler's name. Studio's bodies have such names already.
func bodyName(main string, body symtab.Function, line int32) string {
	if strings.HasPrefix(body.Linkage, "_$") {
		return body.Name
	}
	words, suffix := "OMP parallel region", body.Linkage[max(strings.LastIndex(body.Linkage, "omp"), 0):]
	for _, c := range constructs {
		if strings.Contains(suffix, c.part) {
			words = c.words
			break
		}
	}
	if line > 0 {
		words += fmt.Sprintf(" from line %d", line)
	}
	return fmt.Sprintf("%s -- %s [%s]", main, words, body.Linkage)
}

// MainOf returns the start of the function from which an outline function or a part (gcc's
// `f.part.0`) was made (S12). It returns false for other functions, or if that function is unknown.
func (r *Resolver) MainOf(function program.FunctionNo) (location program.LocationNo, ok bool) {
	p := r.Program
	relation, ok := p.Relations[function]
	if f := &p.Functions[function]; !ok || f.Kind != funcinfo.Outline && !strings.Contains(f.Linkage, ".part.") {
		return 0, false
	}
	return r.LocationAt(relation.Main, p.Functions[relation.Main].Offset), true
}

// Fold returns the location that user mode shows for a location in a body: it is in the function
// that contains the region, at the same line (S11). It returns false if the location is not in a
// body, or if that function is unknown.
func (r *Resolver) Fold(location program.LocationNo) (folded program.LocationNo, ok bool) {
	p := r.Program
	l := p.Location(location)
	main, ok := p.BodyOf(l.Function)
	if !ok {
		return location, false
	}
	return p.InternLocation(main, l.Offset, l.Reason, func() funcinfo.Place { return l.Place }), true
}
