package samples

import (
	"maps"
	"slices"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/attribute"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// SyncObjects collects the synchronization objects for which threads waited, to name the variables
// at their addresses.
type SyncObjects struct {
	experimentID string
	processes    []*SyncProcess
}

// NewSyncObjects returns the SyncObjects of an experiment.
func NewSyncObjects(experimentID string) *SyncObjects {
	return &SyncObjects{experimentID: experimentID}
}

// SyncProcess is the sink for the samples of one process.
type SyncProcess struct {
	recorded *decode.Process
	resolved *symbolize.Process
	first    map[int64]int64 // address of an object -> time of the first wait
}

// maxSyncObjects bounds how many objects of a process are named.
const maxSyncObjects = 1 << 20

// Process returns the sink for a process.
func (s *SyncObjects) Process(p *decode.Process, resolved *symbolize.Process) *SyncProcess {
	own := &SyncProcess{p, resolved, map[int64]int64{}}
	s.processes = append(s.processes, own)
	return own
}

// Add implements Sink.
func (p *SyncProcess) Add(b *Batch) error {
	if b.Kind != schema.Sync {
		return nil
	}
	for i, object := range b.Events.Int64s("object") {
		if _, known := p.first[object]; !known && len(p.first) < maxSyncObjects {
			p.first[object] = b.Times[i]
		}
	}
	return nil
}

// Rows emits the rows of sync_variables. What is wrong with debug information is reported by the
// stages that need it more.
func (s *SyncObjects) Rows(resolver *symbolize.Resolver, tables dataspace.Tables, emit attribute.Emit) error {
	rows := schema.NewRows(schema.SyncVariables, s.experimentID, emit)
	space := dataspace.New(resolver, tables, &diagnostic.Log{})
	for _, p := range s.processes {
		var finder *dataspace.Process
		for _, object := range slices.Sorted(maps.Keys(p.first)) {
			if finder == nil {
				finder = space.Process(p.recorded, p.resolved, nil)
			}
			if name := finder.VariableAt(uint64(object), p.first[object]); name != "" {
				rows.Append(int32(p.recorded.Number), object, name)
			}
		}
	}
	return rows.Close()
}
