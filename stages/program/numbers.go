package program

// The numbers by which the parts of a Program are referred to: their indices in its
// lists.
type (
	ObjectNo   int32
	ModuleNo   int32
	FunctionNo int32
	LocationNo int32
)

// None is the number of nothing, whatever the type of the number.
const None = -1
