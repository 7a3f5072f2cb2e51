// Package funcinfo has the vocabulary for functions of load objects: their kinds, the scopes of
// their names, and places in their source. It needs none of what reads load objects.
package funcinfo

// Kind is the kind of a function (`functions.kind`).
type Kind string

// The kinds that follow from a load object's own tables.
const (
	Normal  Kind = "normal"
	Static  Kind = "static"  // a text region that no symbol covers (S6)
	PLT     Kind = "plt"     // a procedure linkage table section
	Outline Kind = "outline" // `.cold` part
	Clone   Kind = "clone"   // `.constprop`, `.isra`, `.part`, ...
	Body    Kind = "body"    // body of a parallel region
	Kernel  Kind = "kernel"  // of the operating system
	Dynamic Kind = "dynamic" // made at run time
)

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

// Place is a place in the source.
type Place struct {
	File          string // empty if unknown
	Line          int32  // 0 if unknown
	Discriminator int32  // tells the parts of a line apart
}
