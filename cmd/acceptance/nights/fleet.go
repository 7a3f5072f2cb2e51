package nights

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Plan describes a fleet. If Slow, Compiler or Factor is zero, the event that it describes does not
// happen.
type Plan struct {
	Seed     uint64
	Programs int
	Nights   int
	Runs     int     // number of runs of each program in each night
	Slow     float64 // factor of all values in the week in which the machine is slow
	Compiler float64 // maximum relative change of a function's value with the new compiler
	Factor   float64 // factor of the planted function's value from its night on
	// Noise has limits of the planted function's noise: the standard deviation of its value between
	// nights, relative to the planted change.
	Noise [2]float64
}

// Benchmarks returns the plan of 200 programs in 60 nights, with a slow week, a new compiler and a
// planted change. The planted change is at least four times the standard deviation of the function
// between nights.
func Benchmarks(seed uint64) Plan {
	return Plan{Seed: seed, Programs: 200, Nights: 60, Runs: 7, Slow: 1.08, Compiler: 0.03, Factor: 1.05, Noise: [2]float64{0, 0.25}}
}

// Fleet is a group of programs that are measured every night. Its plan determines all of its values.
type Fleet struct {
	Plan
	Programs     []Program
	SlowFrom     int // first night of the slow week; Nights if there is none
	CompilerFrom int // first night with the new compiler; Nights if there is none
	Planted      PlantedChange
}

// PlantedChange is the only change that a digest should find: in one function of one program.
type PlantedChange struct {
	Program, Function int // indexes; Program is -1 if nothing is planted
	From              int // first night
}

// Program is a program of a fleet. It has the functions and the noise of a recorded program, with
// other names and sizes.
type Program struct {
	Name      string
	Functions []Function
	builds    []string // build-id in each night
	blocks    []int    // index of the first recorded run of each night
	noise     *recordedProgram
}

// Function is a function of a program.
type Function struct {
	Name    string
	Renamed string // name with the new compiler; empty if the function is inlined into another one
	Into    int    // index of that function
	size    float64
	noise   float64 // standard deviation between nights, relative to its value
	slow    float64 // factor while the machine is slow
	rebuilt float64 // factor with the new compiler
}

const (
	slowNights = 7
	// quietNights is the number of nights before the first change.
	quietNights = 30
	// window is the number of nights within which a planted change must be found.
	window = 4
	// apart is the smallest number of nights between a new compiler and the planted change, because the
	// digest must know the usual values with this compiler.
	apart = 10
	// leastShare is the smallest share of a program's time that a function with a planted change has.
	leastShare = 0.1
)

// NewFleet draws a fleet.
func NewFleet(plan Plan) (*Fleet, error) {
	noise, err := readNoise()
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(plan.Seed, 52))
	f := &Fleet{Plan: plan, SlowFrom: plan.Nights, CompilerFrom: plan.Nights, Planted: PlantedChange{Program: -1}}
	if plan.Slow != 0 {
		f.SlowFrom = 10 + random.IntN(plan.Nights-10-slowNights)
	}
	if plan.Compiler != 0 {
		f.CompilerFrom = 10 + random.IntN(plan.Nights-12)
	}
	for i := range plan.Programs {
		f.Programs = append(f.Programs, newProgram(random, plan, i, &noise[i%len(noise)]))
	}
	if plan.Factor != 0 {
		f.plant(random)
	}
	for i := range f.Programs {
		f.Programs[i].build(random, f.changesAt(i))
	}
	return f, nil
}

// newProgram draws program number i.
func newProgram(random *rand.Rand, plan Plan, i int, noise *recordedProgram) Program {
	p := Program{Name: programName(i), noise: noise, blocks: make([]int, plan.Nights), builds: make([]string, plan.Nights)}
	names := functionNames(random, len(noise.functions))
	scale := math.Exp(random.NormFloat64() / 2)
	for k, name := range names {
		f := Function{Name: name, Renamed: name, size: noise.means[k] * scale * math.Exp(random.NormFloat64()/3),
			noise: noise.between(k, plan.Runs), slow: plan.Slow * (1 + random.NormFloat64()*0.003), rebuilt: 1 + plan.Compiler*(2*random.Float64()-1)}
		switch random.IntN(20) {
		case 0:
			f.Renamed = name + "_impl"
		case 1:
			if k > 0 {
				f.Renamed, f.Into = "", random.IntN(k)
			}
		}
		p.Functions = append(p.Functions, f)
	}
	p.drawBlocks(random, plan.Runs)
	return p
}

// drawBlocks chooses the recorded runs of each night. They are consecutive runs, which resemble each
// other.
func (p *Program) drawBlocks(random *rand.Rand, runs int) {
	for n := range p.blocks {
		p.blocks[n] = random.IntN(len(p.noise.runs) - runs + 1)
	}
}

// plant chooses the function that changes, and the night. The compiler does not change within the
// nights in which the change must be found, or shortly before.
func (f *Fleet) plant(random *rand.Rand) {
	for {
		at := quietNights + random.IntN(f.Nights-quietNights-window+1)
		program := random.IntN(len(f.Programs))
		if f.CompilerFrom > at-apart && f.CompilerFrom < at+window {
			continue
		}
		if function, ok := f.Programs[program].plantable(random, f.Plan, at >= f.CompilerFrom); ok {
			f.Planted = PlantedChange{program, function, at}
			return
		}
	}
}

// plantable returns one of the functions in which a change may be planted.
func (p *Program) plantable(random *rand.Rand, plan Plan, rebuilt bool) (function int, ok bool) {
	total := 0.0
	for _, fn := range p.Functions {
		total += fn.size
	}
	var candidates []int
	for i, fn := range p.Functions {
		noise := fn.noise / (plan.Factor - 1)
		if fn.size >= leastShare*total && noise >= plan.Noise[0] && noise < plan.Noise[1] && !(rebuilt && fn.Renamed == "") {
			candidates = append(candidates, i)
		}
	}
	if len(candidates) == 0 {
		return 0, false
	}
	return candidates[random.IntN(len(candidates))], true
}

// changesAt returns the nights in which a program has a new build because something changes.
func (f *Fleet) changesAt(program int) []int {
	nights := []int{0, f.CompilerFrom}
	if program == f.Planted.Program {
		nights = append(nights, f.Planted.From)
	}
	return nights
}

// build draws the builds of a program. On average, every fourth night has a new build even though
// nothing changes.
func (p *Program) build(random *rand.Rand, changes []int) {
	for n := range p.builds {
		if n > 0 && !slices.Contains(changes, n) && random.IntN(4) > 0 {
			p.builds[n] = p.builds[n-1]
			continue
		}
		p.builds[n] = fmt.Sprintf("%016x%016x%08x", random.Uint64(), random.Uint64(), random.Uint32())
	}
}

// Build returns the build-id of a program in a night.
func (f *Fleet) Build(program, night int) string { return f.Programs[program].builds[night] }

// CompilerOf returns the compiler of a night.
func (f *Fleet) CompilerOf(night int) string {
	if night >= f.CompilerFrom {
		return "gcc-15"
	}
	return "gcc-14"
}

// Slowed reports whether the machine is slow in a night.
func (f *Fleet) Slowed(night int) bool { return night >= f.SlowFrom && night < f.SlowFrom+slowNights }

// FunctionName returns the name of a function in a night, or "" if it is inlined.
func (f *Fleet) FunctionName(program, function, night int) string {
	fn := f.Programs[program].Functions[function]
	if night >= f.CompilerFrom {
		return fn.Renamed
	}
	return fn.Name
}

// Values returns the exclusive time of each function in a run, in ns; 0 for inlined ones.
func (f *Fleet) Values(program, night, run int) []float64 {
	p := &f.Programs[program]
	noise := p.noise.runs[p.blocks[night]+run]
	values := make([]float64, len(p.Functions))
	for i, fn := range p.Functions {
		v := fn.size * noise[i]
		if f.Slowed(night) {
			v *= fn.slow
		}
		if night >= f.CompilerFrom {
			v *= fn.rebuilt
		}
		values[i] = v
	}
	if night >= f.CompilerFrom {
		for i := len(values) - 1; i > 0; i-- { // add it to a function before it, which may be inlined, too
			if fn := p.Functions[i]; fn.Renamed == "" {
				values[fn.Into] += values[i]
				values[i] = 0
			}
		}
	}
	if program == f.Planted.Program && night >= f.Planted.From {
		values[f.Planted.Function] *= f.Factor
	}
	return values
}

// Means returns the mean exclusive time of each function over the runs of a night, in ns.
func (f *Fleet) Means(program, night int) []float64 {
	means := make([]float64, len(f.Programs[program].Functions))
	for run := range f.Runs {
		for i, v := range f.Values(program, night, run) {
			means[i] += v / float64(f.Runs)
		}
	}
	return means
}

// firstNight is when the first run of the first night started.
var firstNight = time.Date(2026, 9, 1, 2, 0, 0, 0, time.UTC)

// Started returns when a run started: the programs run in turn, each Runs times.
func (f *Fleet) Started(program, night, run int) time.Time {
	return firstNight.AddDate(0, 0, night).Add(time.Duration(run*f.Plan.Programs+program) * 10 * time.Second)
}

var (
	fields = strings.Fields("index parser mail image audio graph route query cache video font chart order price stock trade fleet sensor chat search")
	kinds  = strings.Fields("server reader worker merger loader encoder checker planner scanner sorter")
	verbs  = strings.Fields("read parse hash sort merge copy scan match fill decode encode flush visit find insert remove update compare split join")
	nouns  = strings.Fields("header block table row key value page node edge list buffer record field token chunk line word group range index")
)

// programName returns the name of program number i.
func programName(i int) string {
	name := fields[i%len(fields)] + "-" + kinds[i/len(fields)%len(kinds)]
	if more := i / len(fields) / len(kinds); more > 0 {
		name += fmt.Sprint("-", more)
	}
	return name
}

// functionNames draws n different names.
func functionNames(random *rand.Rand, n int) (names []string) {
	for len(names) < n {
		name := verbs[random.IntN(len(verbs))] + "_" + nouns[random.IntN(len(nouns))]
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
