package dataspace

// The numbers of data objects and regions: their indices in the lists of a Space.
type (
	ObjectNo int32
	RegionNo int32
)

// symbolNo is the number of an untyped symbol: its index in object.variables.
type symbolNo int32
