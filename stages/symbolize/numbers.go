package symbolize

// LocationNo is the number of a location: its index in Program.Locations.
type LocationNo int32

// None is the number of nothing, whatever the type of the number.
const None = -1
