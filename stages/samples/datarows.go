package samples

import (
	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/dataspace"
	"stackmill/stages/program"
)

// namesOf returns the names of a type's values up to the last.
func namesOf[T interface {
	~uint8
	String() string
}](last T) (names []string) {
	for i := T(0); i <= last; i++ {
		names = append(names, i.String())
	}
	return names
}

// The labels of the columns `method` and `agreement`.
var methodNames, agreementNames = namesOf(dataspace.MethodAddress), namesOf(dataspace.Disagrees)

// newRows returns a builder of rows of `data_samples`.
func (d *Data) newRows() *schema.Rows {
	return schema.NewRows(schema.DataSamples, d.experimentID, d.emit).Labels("method", methodNames...).Labels("agreement", agreementNames...)
}

// appendRow appends the row of a sample.
func (d *Data) appendRow(rows *schema.Rows, sample int64, f *dataspace.Match) {
	var location, region, embedding int64
	if f.Location >= 0 {
		location = d.program.LocationID(f.Location)
	}
	if f.Region >= 0 {
		region = d.Space.Regions[f.Region].ID
		d.regions[f.Region] = true
	}
	if f.Embedding >= 0 {
		embedding = d.Space.Objects[f.Embedding].ID
	}
	rows.Int64(sample).Int64(d.Space.Objects[f.Object].ID).Int64If(f.Location >= 0, location).Label(int(f.Method))
	rows.Int64If(f.Region >= 0, region).Label(int(f.Agreement)).Int64If(f.Embedding >= 0, embedding)
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
