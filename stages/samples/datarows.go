package samples

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/dataspace"
	"stackmill/stages/program"
)

// The labels of the columns `method` and `agreement`.
var (
	methodLabels    = sync.OnceValue(func() *schema.Labels { return labelsOf(dataspace.MethodAddress) })
	agreementLabels = sync.OnceValue(func() *schema.Labels { return labelsOf(dataspace.Disagrees) })
)

// labelsOf returns the names of a type's values up to the last.
func labelsOf[T interface {
	~uint8
	String() string
}](last T) *schema.Labels {
	var names []string
	for i := T(0); i <= last; i++ {
		names = append(names, i.String())
	}
	return schema.NewLabels(names...)
}

// dataRows collects rows of `data_samples`.
type dataRows struct {
	data               *Data
	samples, objects   []int64
	locations, regions *array.Int64Builder
	embedding          *array.Int64Builder
	methods, agreement []int32
}

func newDataRows(d *Data) *dataRows {
	return &dataRows{
		data:      d,
		locations: array.NewInt64Builder(memory.DefaultAllocator), regions: array.NewInt64Builder(memory.DefaultAllocator),
		embedding: array.NewInt64Builder(memory.DefaultAllocator),
	}
}

func (r *dataRows) add(sample int64, f *dataspace.Match) {
	r.samples = append(r.samples, sample)
	r.objects = append(r.objects, r.data.Space.Objects[f.Object].ID)
	r.methods = append(r.methods, int32(f.Method))
	r.agreement = append(r.agreement, int32(f.Agreement))
	if f.Location < 0 {
		r.locations.AppendNull()
	} else {
		r.locations.Append(r.data.program.LocationID(f.Location))
	}
	if f.Embedding < 0 {
		r.embedding.AppendNull()
	} else {
		r.embedding.Append(r.data.Space.Objects[f.Embedding].ID)
	}
	if f.Region < 0 {
		r.regions.AppendNull()
	} else {
		r.regions.Append(r.data.Space.Regions[f.Region].ID)
		r.data.regions[f.Region] = true
	}
}

// emit emits the rows, if there are any.
func (r *dataRows) emit() error {
	defer r.locations.Release()
	defer r.regions.Release()
	defer r.embedding.Release()
	if len(r.samples) == 0 {
		return nil
	}
	columns := []arrow.Array{
		r.data.ids.Array(0, len(r.samples)), schema.Int64s(r.samples), schema.Int64s(r.objects), r.locations.NewArray(),
		methodLabels().Mixed(r.methods), r.regions.NewArray(), agreementLabels().Mixed(r.agreement), r.embedding.NewArray(),
	}
	defer release(columns)
	return r.data.emit.Columns(schema.DataSamples, columns...)
}

// Rows emits the data objects, their values, and the memory regions that they are in.
func (d *Data) Rows(r *attribute.Result, emit attribute.Emit) error {
	if d == nil {
		return nil
	}
	space := d.Space
	objects := r.Rows(schema.DataObjects, emit)
	for i := range space.Objects {
		o := &space.Objects[i]
		var parent any
		if o.Parent >= 0 {
			parent = space.Objects[o.Parent].ID
		}
		objects.Append(o.ID, parent, o.Descriptor, o.Kind, o.Scope, o.ScopeKind, d.objectID(o.LoadObject),
			o.Name, o.Type, nullIfNegative(o.Offset), nullIfNegative(o.Size), nullIfNegative(o.ElementSize), o.Bit, o.Bits)
	}
	regions := r.Rows(schema.MemoryRegions, emit)
	for n, m := range space.Regions {
		if !d.regions[dataspace.RegionNo(n)] {
			continue
		}
		regions.Append(m.ID, int32(m.Process), m.Kind, m.Name, int64(m.Address), int64(m.Size), d.objectID(m.LoadObject))
	}
	values := r.Rows(schema.DataValues, emit)
	for m, metric := range r.Sums.Metrics {
		for i := range d.Sums {
			s := &d.Sums[i]
			if v := s.PerMetric[m]; v.Samples > 0 {
				o := &space.Objects[s.object]
				values.Append(metric.Name, o.ID, locationNo(s.location), s.method.String(), s.detail, s.agreement.String(), d.dataObjectID(s.embedding), v.Value, v.Samples)
			}
		}
	}
	return schema.CloseAll(objects, regions, values)
}

// locationNo returns a location's number, nil for None.
func locationNo(n program.LocationNo) any {
	if n < 0 {
		return nil
	}
	return int32(n)
}

// dataObjectID returns a data object's identifier, nil for None.
func (d *Data) dataObjectID(n dataspace.ObjectNo) any {
	if n < 0 {
		return nil
	}
	return d.Space.Objects[n].ID
}

// objectID returns a load object's identifier, nil for None.
func (d *Data) objectID(n program.ObjectNo) any {
	if n < 0 {
		return nil
	}
	return d.program.Objects[n].ID
}

// nullIfNegative returns nil for -1, which means unknown.
func nullIfNegative(n int64) any {
	if n < 0 {
		return nil
	}
	return n
}
