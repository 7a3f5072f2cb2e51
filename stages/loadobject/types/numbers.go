package types

// TypeNo is the number of a type: its index in Table.Types.
type TypeNo int32
