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

// restrictScopes gives the functions that share symbol, scope and module the scope
// BuildScope. All functions of the load object count, not only those that were recorded, so
// that the scope is the same in every recording.
func (d *Draft) restrictScopes() {
	type name struct {
		module int32 // 0 in ObjectScope
		scope  NameScope
		text   string
	}
	first := make(map[name]int, len(d.Functions))
	for i := range d.Functions {
		f := &d.Functions[i]
		if f.Scope == BuildScope || f.Kind == PLT { // the PLT's sections are one function
			continue
		}
		n := name{scope: f.Scope, text: f.SymbolOrName()}
		if f.Scope == ModuleScope {
			n.module = f.Module
		}
		other, known := first[n]
		if !known {
			first[n] = i
		} else if o := &d.Functions[other]; o.Address != f.Address { // not a part of the same function
			o.Scope, f.Scope = BuildScope, BuildScope
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
