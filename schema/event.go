package schema

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// EventCommon are the first columns of every event batch of a decoder; the kind's own columns
// (Traits.Columns) follow.
//
// time_ns counts from the founder's start. raw_stack is an index into the process's raw stacks; -1
// means no stack, and smaller values number stack dumps (decode.StackOfDump) that are not unwound
// yet. name_no is the number of the thread's name (decode.ThreadName), cgroup an index into
// decode.Recording.CGroups, -1 for none.
var EventCommon = []arrow.Field{
	{Name: "time_ns", Type: arrow.PrimitiveTypes.Int64},
	{Name: "thread_id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "cpu", Type: arrow.PrimitiveTypes.Int32},
	{Name: "raw_stack", Type: arrow.PrimitiveTypes.Int32},
	{Name: "name_no", Type: arrow.PrimitiveTypes.Int32},
	{Name: "cgroup", Type: arrow.PrimitiveTypes.Int32},
}

// The positions of the common columns.
const (
	EventTime = iota
	EventThread
	EventCPU
	EventStack
	EventName
	EventCGroup
	EventPayloadStart
)

var eventSchemas = func() (s [Kinds]*arrow.Schema) {
	for k := range s {
		s[k] = arrow.NewSchema(append(append([]arrow.Field{}, EventCommon...), kinds[k].Columns...), nil)
	}
	return s
}()

// EventSchema returns the Arrow schema of a kind's event batches. The column requested_ns counts
// from the founder's start; 0 means not recorded. In samples of hardware counters, value is as
// recorded: -1 means invalid.
func EventSchema(k Kind) *arrow.Schema { return eventSchemas[k] }

// EventColumn returns the position of a column in the kind's event batches. It panics on an
// unknown name: that is a bug in the program.
func EventColumn(k Kind, name string) int { return position(eventSchemas[k], name) }

func position(s *arrow.Schema, name string) int {
	found := s.FieldIndices(name)
	if len(found) != 1 {
		panic(fmt.Sprintf("schema: events have no column %s", name))
	}
	return found[0]
}

// Events gives access to the columns of an event batch by name. Look up each column once per
// batch.
type Events struct{ arrow.RecordBatch }

// Column returns a column, which belongs to the batch.
func (e Events) Column(name string) arrow.Array {
	return e.RecordBatch.Column(position(e.Schema(), name))
}

// Has reports whether the batch has a column of that name.
func (e Events) Has(name string) bool { return e.Schema().HasField(name) }

// Int64s returns the values of a column.
func (e Events) Int64s(name string) []int64 { return e.Column(name).(*array.Int64).Int64Values() }

// Int32s returns the values of a column.
func (e Events) Int32s(name string) []int32 { return e.Column(name).(*array.Int32).Int32Values() }

// Texts returns a column of strings.
func (e Events) Texts(name string) *array.String { return e.Column(name).(*array.String) }
