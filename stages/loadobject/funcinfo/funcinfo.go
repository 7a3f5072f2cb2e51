// Package funcinfo defines kinds of functions, the scopes of their names, and source positions. It
// does not depend on the readers of load objects.
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
	Dynamic Kind = "dynamic" // generated at run time
)

// NameScope is the scope in which a function's symbol, or else its readable name, is unique, so that
// it identifies the function in other builds.
type NameScope uint8

// The scopes of names, from the widest.
const (
	ObjectScope NameScope = iota // the load object: the linker allows one global symbol of a name
	ModuleScope                  // the module: a static function
	BuildScope                   // none: only the address distinguishes the function
)

// String returns the scope as in `functions.name_scope`.
func (s NameScope) String() string { return [...]string{"object", "module", "build"}[s] }

// Place is a position in the source.
type Place struct {
	File          string // empty if unknown
	Line          int32  // 0 if unknown
	Discriminator int32  // distinguishes the parts of a line
}
