package symtab

// NameScope is where a function's symbol, or else its name for people, is the only one of
// its kind: what it takes to find the function in another build.
type NameScope uint8

// The scopes of names, from the widest.
const (
	ObjectScope NameScope = iota // the load object: the linker allows one global symbol of a name
	ModuleScope                  // the module: a static function
	BuildScope                   // nowhere: only the address distinguishes the function
)

// String returns the scope as `functions.name_scope` has it.
func (s NameScope) String() string { return [...]string{"object", "module", "build"}[s] }

// scopedName is a name in its scope.
type scopedName struct {
	module int32 // 0 in ObjectScope
	scope  NameScope
	text   string
}

func newScopedName(module int32, scope NameScope, text string) scopedName {
	if scope != ModuleScope {
		module = 0
	}
	return scopedName{module, scope, text}
}

// restrictScopes gives the functions that share symbol, scope and module the scope
// BuildScope. All functions of the load object count, not only those that were recorded, so
// that the scope is the same in every recording.
func (d *Draft) restrictScopes() {
	first := make(map[scopedName]int, len(d.Functions))
	for i := range d.Functions {
		f := &d.Functions[i]
		if f.Scope == BuildScope || f.Kind == PLT { // the PLT's sections are one function
			continue
		}
		n := newScopedName(f.Module, f.Scope, f.SymbolOrName())
		other, known := first[n]
		if !known {
			first[n] = i
		} else if o := &d.Functions[other]; o.Address != f.Address { // not a part of the same function
			o.Scope, f.Scope = BuildScope, BuildScope
		}
	}
	d.restrictInlined(first)
}

// restrictInlined does the same for functions that are nowhere but inlined, given those that have
// symbols, which keep their scopes.
func (d *Draft) restrictInlined(symbols map[scopedName]int) {
	list := d.Inlines.Functions
	first := make(map[scopedName]int, len(list))
	for i := range list {
		f := &list[i]
		if f.Own != 0 || f.Deeper {
			continue
		}
		text := f.Linkage
		if text == "" {
			text = f.Name
		}
		n := newScopedName(f.Module, f.Scope, text)
		_, symbol := symbols[n]
		other, known := first[n]
		switch {
		case known:
			list[other].Scope, f.Scope = BuildScope, BuildScope
		case symbol:
			f.Scope = BuildScope
		default:
			first[n] = i
		}
	}
}

// SymbolOrName returns the linkage name, or the name for people of a function without one.
func (f *Function) SymbolOrName() string {
	if f.Linkage != "" {
		return f.Linkage
	}
	return f.Name
}
