// Package funcinfo defines kinds of functions, scopes of their names, and source positions. It is
// separate so that its users need not import the readers of load objects.
package funcinfo

// Kind is the kind of a function (`functions.kind`).
type Kind string

// The kinds that a load object's own tables determine.
const (
	Normal  Kind = "normal"
	Static  Kind = "static"  // a text region that no symbol covers (S6)
	PLT     Kind = "plt"     // a section of the procedure linkage table
	Outline Kind = "outline" // `.cold` part
	Clone   Kind = "clone"   // `.constprop`, `.isra`, `.part`, ...
	Body    Kind = "body"    // the body of a parallel region
	Kernel  Kind = "kernel"  // a function of the operating system's kernel
	Dynamic Kind = "dynamic" // generated at run time
)

// NameScope is the scope in which a function's symbol (its readable name if it has none) is unique,
// so that the name identifies the function in other builds.
type NameScope uint8

// The scopes of names, from the widest.
const (
	ObjectScope NameScope = iota // the load object: linkers allow one global symbol per name
	ModuleScope                  // the module: a static function
	BuildScope                   // no scope: only the address distinguishes the function
)

// String returns the scope as in `functions.name_scope`.
func (s NameScope) String() string { return [...]string{"object", "module", "build"}[s] }

// Place is a position in the source.
type Place struct {
	File          string // empty if unknown
	Line          int32  // 0 if unknown
	Discriminator int32  // distinguishes the parts of a line
}
