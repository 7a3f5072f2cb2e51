package program

// Load objects, modules, functions and locations are referred to by their index in the lists of
// a Program.
type (
	ObjectNo   int32
	ModuleNo   int32
	FunctionNo int32
	LocationNo int32
)

// None is a number of any type that refers to nothing.
const None = -1
