// Package nights makes stores of nightly benchmarks with known changes: many programs, many nights,
// and several runs of each program per night. Values vary as the values of recorded programs did
// (testdata/README.md). The tests of the package judge what the digest finds in such stores.
//
// Start reading with NewFleet.
package nights

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"stackmill/queries/rank"
)

//go:embed testdata/noise.txt.gz
var noiseFile []byte

// recordedProgram has the values of a program's functions in many recorded runs.
type recordedProgram struct {
	name      string
	functions []string
	means     []float64   // by function, in ns
	runs      [][]float64 // by run, in the order of recording, and by function: the value relative to its mean
}

// readNoise reads the recorded runs of all programs. Each program begins with its name and the names
// of its functions, separated by tabs. A line for each run has the functions' exclusive times in
// units of recordedUnit.
func readNoise() ([]recordedProgram, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(noiseFile))
	if err != nil {
		return nil, err
	}
	return parseNoise(unzipped)
}

// recordedUnit is the time between two samples of the recorded runs, in ns.
const recordedUnit = 50_000

func parseNoise(from io.Reader) (programs []recordedProgram, err error) {
	lines := bufio.NewScanner(from)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Split(lines.Text(), "\t")
		if name, ok := strings.CutPrefix(fields[0], "program "); ok {
			programs = append(programs, recordedProgram{name: name, functions: fields[1:], means: make([]float64, len(fields)-1)})
			continue
		}
		if len(programs) == 0 || len(fields) != len(programs[len(programs)-1].functions) {
			return nil, fmt.Errorf("line %d of the noise has %d values, which are not those of a program's functions", number, len(fields))
		}
		p := &programs[len(programs)-1]
		run := make([]float64, len(fields))
		for i, text := range fields {
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("line %d of the noise: %w", number, err)
			}
			run[i] = float64(n) * recordedUnit
			p.means[i] += run[i]
		}
		p.runs = append(p.runs, run)
	}
	if len(programs) == 0 {
		return nil, errors.Join(lines.Err(), errors.New("the noise has no programs"))
	}
	for _, p := range programs {
		p.scale()
	}
	return programs, lines.Err()
}

// scale divides the sums in means by the number of runs, and the values of the runs by the means.
func (p *recordedProgram) scale() {
	for i := range p.means {
		p.means[i] /= float64(len(p.runs))
		for _, run := range p.runs {
			if p.means[i] > 0 {
				run[i] /= p.means[i]
			}
		}
	}
}

// between returns the standard deviation of a function between nights of consecutive runs, relative
// to its value.
func (p *recordedProgram) between(function, runs int) float64 {
	sum, squares, nights := 0.0, 0.0, len(p.runs)-runs+1
	for first := range nights {
		values := make([]float64, runs)
		for i := range values {
			values[i] = p.runs[first+i][function]
		}
		v := rank.MiddleOf(values)
		sum, squares = sum+v, squares+v*v
	}
	mean := sum / float64(nights)
	return math.Sqrt(max(0, squares/float64(nights)-mean*mean))
}
