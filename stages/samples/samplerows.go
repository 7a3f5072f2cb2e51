package samples

import (
	"errors"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// SampleRows emits the rows of samples: in the table `samples`, and in the table of their kind.
type SampleRows struct {
	ids     *schema.Labels // the experiment's id
	groups  *schema.Labels // names of control groups
	emit    attribute.Emit
	process []int32 // the column `process` of the latest batch, kept for the next one
}

// NewSampleRows returns the sink of an experiment's samples, given the names of its control
// groups.
func NewSampleRows(experimentID string, cgroups []string, emit attribute.Emit) *SampleRows {
	return &SampleRows{ids: schema.NewLabels(experimentID), groups: schema.NewLabels(cgroups...), emit: emit}
}

// kindLabels are the labels of the column samples.kind.
var kindLabels = sync.OnceValue(func() *schema.Labels { return schema.NewLabels(schema.KindNames()...) })

// Add implements Sink.
func (r *SampleRows) Add(b *Batch) error {
	n := b.Len()
	numbers, stacks := make([]int64, n), make([]int32, n)
	for i := range numbers {
		numbers[i], stacks[i] = b.First+int64(i), int32(b.Stacks[i])
	}
	if n > 0 && (len(r.process) < n || r.process[0] != int32(b.Process)) {
		r.process = slices.Repeat([]int32{int32(b.Process)}, n)
	}
	id, sample, kind := r.ids.Array(0, n), schema.Int64s(numbers), kindLabels().Array(int(b.Kind), n)
	process, stack := schema.Int32s(r.process[:n]), schema.Int32s(stacks)
	group := r.groups.Sparse(b.CGroups)
	defer release([]arrow.Array{id, sample, kind, process, stack, group})
	e := b.Events
	return errors.Join(
		r.emit.Columns(schema.Samples, id, sample, kind, process, e.Column("thread_id"), e.Column("cpu"), e.Column("time_ns"), stack, e.Column("name_no"), group),
		r.emit.Columns(b.Kind.Traits().Table, append([]arrow.Array{id, sample}, b.Payload...)...),
	)
}

// Segments appends a row for each mapping of a load object in a process.
func Segments(rows *schema.Rows, process int, p *symbolize.Process) {
	p.Segments(func(m *image.Mapping, object int64) {
		var unloaded any
		if m.Unloaded != image.Never {
			unloaded = m.Unloaded
		}
		rows.Append(int32(process), object, int64(m.Address), int64(m.Size), int64(m.FileOffset),
			int32(m.Modes), m.Loaded, unloaded)
	})
}
