package types

// The numbers of a Table's parts: their indexes in its lists.
type (
	TypeNo     int32 // 0 is void, or unknown
	MemberNo   int32
	VariableNo int32
	ScopeNo    int32 // 0 for what is outside of functions
	UnitNo     int32 // 0 if unknown
)

// None is the number of nothing where 0 is something, whatever the type of the number.
const None = -1
