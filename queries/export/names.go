package export

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// scan runs a query. For each row, it reads the values into targets and calls each.
func scan(ctx context.Context, on Querier, query string, each func() error, targets ...any) error {
	rows, err := on.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// experiments returns the experiments, sorted by id.
func (s *selection) experiments(ctx context.Context) (list []*experiment, err error) {
	var e experiment
	var started sql.NullTime
	var labels, status, format string
	err = scan(ctx, s.on, `WITH named AS MATERIALIZED (
  SELECT experiment_id, json_group_object(label, value)::VARCHAR AS labels FROM labels GROUP BY ALL
)
SELECT e.experiment_id, e.experiment, e.host, e.command, e.started, e.duration_ns, e.samples, e.status, e.format, COALESCE(n.labels, '{}')
FROM experiments e LEFT JOIN named n USING (experiment_id) ORDER BY e.experiment_id`, func() error {
		next := e
		next.started, next.summary, next.labeled = started.Time, status == "summary", format == "pprof"
		given := map[string]string{}
		if err := json.Unmarshal([]byte(labels), &given); err != nil {
			return fmt.Errorf("labels of %s: %w", e.name, err)
		}
		for k, v := range given {
			next.labels = append(next.labels, [2]string{k, v})
		}
		slices.SortFunc(next.labels, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		list = append(list, &next)
		return nil
	}, &e.id, &e.name, &e.host, &e.command, &started, &e.duration, &e.samples, &status, &format, &labels)
	for _, e := range list {
		if e.summary {
			return nil, fmt.Errorf("%s has no stacks: only its sums by function are kept (choose others with --experiment)", e.name)
		}
	}
	return list, err
}

// groupSamples and groupSize limit how many samples and experiments are read together. One query for each of
// thousands of small experiments would be slow, and reading the names of all at once would take too much memory.
const groupSamples, groupSize = 1 << 20, 256

func groupExperiments(list []*experiment) (all [][]*experiment) {
	var samples int64
	for i, e := range list {
		if last := len(all) - 1; i == 0 || samples+e.samples > groupSamples || len(all[last]) == groupSize {
			all, samples = append(all, nil), 0
		}
		last := len(all) - 1
		all[last] = append(all[last], e)
		samples += e.samples
	}
	return all
}

// experimentGroup is a group of experiments that are read together.
type experimentGroup struct {
	byID    map[string]*experiment
	cond    string // SQL condition on experiment_id that selects the group
	labeled bool   // some samples of the group may have labels of their own
}

func newExperimentGroup(list []*experiment) *experimentGroup {
	p := &experimentGroup{byID: map[string]*experiment{}}
	var ids []string
	for _, e := range list {
		p.byID[e.id] = e
		ids = append(ids, e.id)
		p.labeled = p.labeled || e.labeled
		e.processes, e.objects, e.functions = map[int32]process{}, map[int64]*object{}, map[int64]*function{}
	}
	p.cond = "experiment_id IN (" + queries.Quote(ids...) + ")"
	return p
}

// release frees what read has read.
func (p *experimentGroup) release() {
	for _, e := range p.byID {
		e.processes, e.objects, e.functions, e.locations = nil, nil, nil, nil
	}
}

// read reads everything that samples of the experiments refer to.
func (p *experimentGroup) read(ctx context.Context, on Querier) error {
	for _, read := range []func(context.Context, Querier) error{p.readProcesses, p.readObjects, p.readSegments, p.readFunctions, p.readLocations, p.readInlined} {
		if err := read(ctx, on); err != nil {
			return err
		}
	}
	return nil
}

func (p *experimentGroup) readProcesses(ctx context.Context, on Querier) error {
	var id string
	var n int32
	var of process
	return scan(ctx, on, "SELECT experiment_id, process, pid, target, samples FROM processes WHERE "+p.cond, func() error {
		p.byID[id].processes[n] = of
		return nil
	}, &id, &n, &of.pid, &of.program, &of.samples)
}

func (p *experimentGroup) readObjects(ctx context.Context, on Querier) error {
	var id string
	var o object
	return scan(ctx, on, "SELECT experiment_id, load_object_id, name, path, short_path, build_id, kind FROM load_objects WHERE "+p.cond, func() error {
		next := o
		p.byID[id].objects[o.id] = &next
		return nil
	}, &id, &o.id, &o.name, &o.path, &o.short, &o.buildID, &o.kind)
}

// readSegments reads where load objects were mapped: first mappings of code, then of data; within these, by process.
func (p *experimentGroup) readSegments(ctx context.Context, on Querier) error {
	var id string
	var of, address, size, offset int64
	type extent struct {
		object       *object
		size, offset uint64
	}
	known := map[extent]bool{}
	return scan(ctx, on, "SELECT experiment_id, load_object_id, address, size, file_offset FROM segments WHERE "+p.cond+`
ORDER BY permissions & 4 = 0, process, loaded_ns, address`, func() error {
		o := p.byID[id].objects[of]
		if o == nil {
			return nil
		}
		next := segment{uint64(address), uint64(size), uint64(offset)}
		if key := (extent{o, next.size, next.offset}); !known[key] { // another process may map it elsewhere
			known[key] = true
			o.segments = append(o.segments, next)
		}
		return nil
	}, &id, &of, &address, &size, &offset)
}

func (p *experimentGroup) readFunctions(ctx context.Context, on Querier) error {
	var id, module, short string
	var f function
	var of int64
	return scan(ctx, on, `SELECT f.experiment_id, f.function_id, f.name, f.linkage_name, f.load_object_id, f.address, f.start_line, f.kind, COALESCE(m.name, ''), COALESCE(m.short_path, '')
FROM (FROM functions_wide WHERE `+p.cond+`) f LEFT JOIN modules m ON m.experiment_id = f.experiment_id AND m.module_id = f.module_id`, func() error {
		next := f
		next.object, next.module, next.shortModule = p.byID[id].objects[of], module, short
		p.byID[id].functions[f.id] = &next
		return nil
	}, &id, &f.id, &f.name, &f.linkage, &of, &f.address, &f.start, &f.kind, &module, &short)
}

func (p *experimentGroup) readLocations(ctx context.Context, on Querier) error {
	var id, file string
	var n int32
	var l location
	var object, function, line, discriminator int64
	return scan(ctx, on, "SELECT experiment_id, location, location_id, load_object_id, \"offset\", function_id, file, line, discriminator FROM locations_wide WHERE "+p.cond+`
ORDER BY experiment_id, location`, func() error {
		e := p.byID[id]
		if int(n) != len(e.locations) {
			return fmt.Errorf("location %d of %s is missing (run stackmill check)", len(e.locations), e.name)
		}
		l.object, l.levels = e.objects[object], []level{{e.functions[function], file, line, discriminator}}
		if l.object == nil || l.levels[0].function == nil {
			return fmt.Errorf("location %d of %s has no function (run stackmill check)", n, e.name)
		}
		l.levels[0].function.noteFile(file)
		e.locations = append(e.locations, l)
		return nil
	}, &id, &n, &l.id, &object, &l.offset, &function, &file, &line, &discriminator)
}

func (p *experimentGroup) readInlined(ctx context.Context, on Querier) error {
	var id, file string
	var n int32
	var function, line, discriminator int64
	return scan(ctx, on, "SELECT experiment_id, location, function_id, file, line, discriminator FROM inline_frames_wide WHERE "+p.cond+`
ORDER BY experiment_id, location, depth`, func() error {
		e := p.byID[id]
		f := e.functions[function]
		if int(n) >= len(e.locations) || f == nil {
			return fmt.Errorf("location %d of %s has no inlined function (run stackmill check)", n, e.name)
		}
		f.noteFile(file)
		l := &e.locations[n]
		l.levels = append(l.levels, level{f, file, line, discriminator})
		return nil
	}, &id, &n, &function, &file, &line, &discriminator)
}
