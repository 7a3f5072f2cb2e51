package serve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// answer makes the answer of what was read.
func (t *timelineReader) answer() (*timelineAnswer, error) {
	a := &timelineAnswer{Metric: t.metric, Unit: t.unit, Mode: t.mode, Start: t.start, End: t.end, From: t.from, Until: t.until, Width: t.width, Timed: t.timed, Rows: []*timelineRow{}}
	for _, p := range t.parents {
		a.Value, a.Whole, a.Marked = a.Value+p.Value, a.Whole+p.Whole, a.Marked+p.Marked
		a.Threads += p.Threads
	}
	if a.Kind = timelineRows[0]; !t.cpus {
		a.Processes = len(t.parents)
	} else {
		a.Kind = timelineRows[1]
		for _, p := range t.parents {
			if p.CPU != unrecordedCPU {
				a.CPUs++
			}
		}
	}
	t.choose(a)
	if intervals := int((t.until - t.from) / t.width); len(a.Rows)*intervals > maxTimelineCells {
		return nil, badRequest(fmt.Errorf("%d rows of %d intervals are too many: ask for at most %d", len(a.Rows), intervals, maxTimelineCells/intervals))
	}
	t.sum(a, t.group(a))
	t.findTops()
	return a, nil
}

// choose chooses the rows of an answer: pinned ones, then those found by the search, in order.
func (t *timelineReader) choose(a *timelineAnswer) {
	order(t.parents, t.order)
	var pinned, found []*timelineRow
	byThreads := map[*timelineRow][]*timelineRow{} // the threads that the search finds in processes that it does not find
	for _, p := range t.parents {
		if slices.Contains(t.pin, p.Key) {
			p.Pinned = true
			pinned = append(pinned, p)
		}
		for _, thread := range p.threads {
			if slices.Contains(t.pin, thread.Key) {
				thread.Pinned = true
				pinned = append(pinned, thread)
			}
		}
		switch {
		case t.matches == nil || t.finds(p):
			found = append(found, p)
		default:
			for _, thread := range p.threads {
				if t.finds(thread) {
					byThreads[p] = append(byThreads[p], thread)
				}
			}
			if byThreads[p] != nil {
				found = append(found, p)
			}
		}
	}
	a.Found = len(found)
	for _, r := range pinned {
		t.show(a, r)
	}
	shown := 0
	for _, p := range found {
		if p.Pinned {
			continue
		}
		if shown == t.limit {
			a.Rest.add(p, p.Threads)
			continue
		}
		shown++
		t.show(a, p)
		threads := byThreads[p]
		if slices.Contains(t.unfold, p.Key) || shown == 1 && slices.Contains(t.unfold, firstProcess) {
			threads = p.threads
		}
		t.unfoldRow(a, p, threads)
	}
}

// unfoldRow adds the rows of some threads of a process.
func (t *timelineReader) unfoldRow(a *timelineAnswer, p *timelineRow, threads []*timelineRow) {
	if p.Open = threads != nil; !p.Open {
		return
	}
	order(threads, t.order)
	for n, thread := range threads {
		switch {
		case thread.Pinned:
		case n < maxThreads:
			t.show(a, thread)
		default:
			p.Rest.add(thread, 1)
		}
	}
}

// show gives a row the next place in the answer.
func (t *timelineReader) show(a *timelineAnswer, r *timelineRow) {
	r.number = int32(len(a.Rows))
	a.Rows = append(a.Rows, r)
}

func (s *timelineRest) add(r *timelineRow, threads int) {
	s.Rows, s.Threads, s.Value, s.Whole = s.Rows+1, s.Threads+threads, s.Value+r.Value, s.Whole+r.Whole
}

// finds reports whether the search finds a row by its names, numbers or command.
func (t *timelineReader) finds(r *timelineRow) bool {
	texts := []string{r.Name, r.Command}
	switch r.Kind {
	case "process":
		texts = append(texts, strconv.FormatInt(r.PID, 10), r.Name+" "+strconv.FormatInt(r.PID, 10))
	case "thread":
		texts = append(append(texts, strconv.FormatInt(r.Thread, 10), r.Name+" "+strconv.FormatInt(r.Thread, 10)), r.Names...)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return text != "" && t.matches(text) })
}

// order sorts rows: the busiest over the whole time first, or by the time of the first sample, or by name.
func order(rows []*timelineRow, by string) {
	slices.SortFunc(rows, func(a, b *timelineRow) int {
		first := cmp.Compare(b.Whole, a.Whole)
		switch by {
		case "start":
			first = cmp.Compare(a.First, b.First)
		case "name":
			first = cmp.Compare(a.Name, b.Name)
		}
		return cmp.Or(first, cmp.Compare(a.Experiment, b.Experiment), cmp.Compare(a.PID, b.PID), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.Process, b.Process))
	})
}

// group chooses the groups of functions that the answer names, and returns the number of each function's group.
func (t *timelineReader) group(a *timelineAnswer) []int32 {
	values := make([]int64, len(t.functions)) // in the shown time
	for i := range t.cells {
		if c := &t.cells[i]; c.interval >= 0 {
			values[c.function] += c.value
		}
	}
	if t.auto {
		t.grouper.rule = t.suitableRule(values, a.Value)
	}
	a.Rule = t.grouper.rule
	if t.grouper.patterns != nil {
		a.Rule = "groups"
	}
	sums, names := map[string]int64{}, make([]string, len(t.functions))
	for i, f := range t.functions {
		names[i] = t.grouper.group(f)
		sums[names[i]] += values[i]
	}
	list := slices.SortedFunc(maps.Keys(sums), func(x, y string) int { return cmp.Or(cmp.Compare(sums[y], sums[x]), cmp.Compare(x, y)) })
	numbers := map[string]int32{}
	var others timelineGroup
	for _, name := range list {
		if name == "" && t.grouper.patterns != nil || len(a.Groups) == maxGroups && len(list) > maxGroups+1 {
			others.Value += sums[name]
			others.Others++
			numbers[name] = -1
			continue
		}
		numbers[name] = int32(len(a.Groups))
		a.Groups = append(a.Groups, timelineGroup{Name: name, Value: sums[name]})
	}
	if others.Others > 0 {
		a.Groups = append(a.Groups, others)
	}
	if a.Groups == nil {
		a.Groups = []timelineGroup{}
	}
	of := make([]int32, len(names))
	for i, name := range names {
		if of[i] = numbers[name]; of[i] < 0 {
			of[i] = int32(len(a.Groups)) - 1
		}
	}
	return of
}

// suitableRule returns `load-object`, unless one load object has most of the value: then `package`.
func (t *timelineReader) suitableRule(values []int64, total int64) string {
	sums := map[string]int64{}
	for i, f := range t.functions {
		if sums[f.loadObject] += values[i]; float64(sums[f.loadObject]) > dominantShare*float64(total) {
			return "package"
		}
	}
	return "load-object"
}

// sum sums the bars of the rows in the answer, and of all rows.
func (t *timelineReader) sum(a *timelineAnswer, groups []int32) {
	parents := make([]int32, len(t.rows)) // by row: that of its process
	for i := range parents {
		parents[i] = -1
	}
	if !t.cpus {
		at := make(map[*timelineRow]int, len(t.rows))
		for i, r := range t.rows {
			at[r] = i
		}
		for _, p := range t.parents {
			for _, thread := range p.threads {
				parents[at[thread]] = p.number
			}
		}
	}
	intervals, count := int((t.until-t.from)/t.width), len(a.Groups)
	sums := make([]int64, (len(a.Rows)+1)*intervals*count)
	for i := range t.cells {
		c := &t.cells[i]
		if c.interval < 0 {
			continue
		}
		place := int(c.interval)*count + int(groups[c.function])
		sums[place] += c.value
		for _, row := range []int32{t.rows[c.row].number, parents[c.row]} {
			if row >= 0 {
				sums[(int(row)+1)*intervals*count+place] += c.value
			}
		}
	}
	for i, v := range sums {
		if v != 0 {
			a.Bars = append(a.Bars, timelineBar{int32(i/(intervals*count)) - 1, int32(i / count % intervals), int32(i % count), v})
		}
	}
}

// findTops finds the function with the highest value of each thread in the answer.
func (t *timelineReader) findTops() {
	values := map[*timelineRow]map[int32]int64{}
	for i := range t.cells {
		c := &t.cells[i]
		row := t.rows[c.row]
		if row.Kind != "thread" || row.number < 0 || c.interval < 0 {
			continue
		}
		if values[row] == nil {
			values[row] = map[int32]int64{}
		}
		values[row][c.function] += c.value
	}
	for row, of := range values {
		for _, n := range slices.Sorted(maps.Keys(of)) {
			if f := &t.functions[n]; row.Top == nil || of[n] > row.Top.Value {
				row.Top = &topFunction{f.name, f.loadObject, f.module, of[n]}
			}
		}
	}
}
