package main

import "fmt"

// residentSlack is how many MiB a process may have in memory beyond --memory.
const residentSlack = 150

// resident measures the highest resident size of ingest, with several values of --memory. One run
// is enough, because the size hardly varies.
func (b *bench) resident() error {
	inputs, err := b.inputs("peak resident size")
	if err != nil {
		return err
	}
	in, err := manyPackages.recording(b.dir)
	if skip, err := b.unrecorded(manyPackages.name, err); err != nil {
		return err
	} else if !skip {
		inputs = append(inputs, in)
	}
	for _, in := range inputs {
		for _, allowed := range []int{256, 512, 1024} {
			for i, part := range []*input{in, in.long} {
				if part == nil {
					continue
				}
				c := b.ingest("", part.path, "--memory", fmt.Sprint(allowed, "M"))
				if err := c.run(); err != nil {
					return err
				}
				b.figures.add(figure{
					work:    fmt.Sprintf("peak resident size, %s, %d×", in.name, []int{1, lengthened}[i]),
					against: fmt.Sprintf("--memory %dM", allowed),
					value:   float64(c.runs.memory() >> 20), unit: "MiB", target: float64(allowed + residentSlack),
				})
			}
		}
	}
	return nil
}
