package nights

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"
)

// PathLabels is the regular expression for `--label-from` that labels the profiles of WriteNight.
const PathLabels = `/(?P<night>\d{4}-\d\d-\d\d)/(?P<machine>bench\d+)/(?P<compiler>gcc-\d+)/`

// WriteNight writes a profile for each run of a night into folders below dir, and returns the folder
// of the night.
func (f *Fleet) WriteNight(dir string, night int) (string, error) {
	folder := filepath.Join(dir, f.Started(0, night, 0).Format("2006-01-02"))
	of := filepath.Join(folder, "bench1", f.CompilerOf(night))
	if err := os.MkdirAll(of, 0o777); err != nil {
		return "", err
	}
	for i, p := range f.Programs {
		shape := f.profile(i, night)
		for run := range f.Runs {
			file, err := os.Create(filepath.Join(of, fmt.Sprintf("%s-%d.pb.gz", p.Name, run)))
			if err != nil {
				return "", err
			}
			if err := shape.write(file, f, i, night, run); err != nil {
				return "", err
			}
			if err := file.Close(); err != nil {
				return "", err
			}
		}
	}
	return folder, nil
}

// programProfile is a profile of a program's build. Only its values and times differ between runs.
type programProfile struct {
	profile.Profile
	function []int // index of the function of each sample
}

// samplePeriod is the time between two samples, in ns.
const samplePeriod = 1_000_000

// profile returns the profile of a program in a night, without values. A function is called by one
// of four others, which main calls.
func (f *Fleet) profile(program, night int) *programProfile {
	p := f.Programs[program]
	m := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x800000, File: "/usr/bin/" + p.Name, BuildID: f.Build(program, night), HasFunctions: true}
	types := []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
	s := &programProfile{Profile: profile.Profile{SampleType: types, DefaultSampleType: "cpu", PeriodType: types[1], Period: samplePeriod, Mapping: []*profile.Mapping{m}}}
	add := func(name string) *profile.Location {
		id := uint64(len(s.Function) + 1)
		fn := &profile.Function{ID: id, Name: name, SystemName: name, Filename: p.Name + ".c", StartLine: int64(id) * 100}
		l := &profile.Location{ID: id, Mapping: m, Address: m.Start + id*0x400, Line: []profile.Line{{Function: fn, Line: int64(id)*100 + 7}}}
		s.Function, s.Location = append(s.Function, fn), append(s.Location, l)
		return l
	}
	main := add("main")
	var callers []*profile.Location
	for i := range 4 {
		callers = append(callers, add(fmt.Sprintf("run_phase%d", i+1)))
	}
	for i := range p.Functions {
		if name := f.FunctionName(program, i, night); name != "" {
			s.function = append(s.function, i)
			s.Sample = append(s.Sample, &profile.Sample{Location: []*profile.Location{add(name), callers[i%len(callers)], main}, Value: []int64{0, 0}})
		}
	}
	return s
}

// write writes the profile of a run.
func (s *programProfile) write(to io.Writer, f *Fleet, program, night, run int) error {
	values := f.Values(program, night, run)
	s.DurationNanos = 0
	for i, sample := range s.Sample {
		v := int64(values[s.function[i]])
		sample.Value[0], sample.Value[1] = v/samplePeriod, v
		s.DurationNanos += v
	}
	s.TimeNanos = f.Started(program, night, run).UnixNano()
	return s.Write(to)
}
