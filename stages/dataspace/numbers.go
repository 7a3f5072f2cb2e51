package dataspace

// ObjectNo and RegionNo are indices in the lists of a Space.
type (
	ObjectNo int32
	RegionNo int32
)

// symbolNo is the index of an untyped symbol in loadObject.variables.
type symbolNo int32
