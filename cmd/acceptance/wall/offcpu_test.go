package wall

import (
	"database/sql"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The parts of perf's format that offCPURecording reads and writes.
const (
	recordSample    = 9
	recordSwitch    = 14
	recordAttr      = 64
	recordRound     = 68
	recordUpdate    = 78
	switchOut       = 1 << 13
	stillRunnable   = 1 << 14
	contextUser     = ^uint64(511)
	offCPUSums      = 0xffffffff << 32
	offCPUID        = 77
	sampleTypeSums  = 0x1 | 0x2 | 0x4 | 0x20 | 0x40 | 0x80 | 0x100 | 0x10000 | 0x200000 // ip, tid, time, callchain, id, cpu, period, identifier, cgroup
	sampleTypeNewer = sampleTypeSums&^0x60 | 0x400                                      // raw instead of callchain and id
)

// offCPURecording makes of a recording with switches what `perf record --off-cpu` would have written
// of the same run: the switches are left out, and each thread's time off the CPU is a sample of
// offcpu-time. Waits of at least threshold ns are samples of their own, which newer versions of perf
// write; the others are summed up by thread and stack. It returns the sum of the times.
func offCPURecording(path string, threshold uint64) (content []byte, total uint64, err error) {
	from, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	order := binary.LittleEndian
	word := func(b []byte, i int) uint64 { return order.Uint64(b[8*i:]) }
	newer := threshold != math.MaxUint64
	record := func(typ uint32, misc uint16, words ...uint64) {
		content = order.AppendUint32(content, typ)
		content = order.AppendUint16(content, misc)
		content = order.AppendUint16(content, uint16(8+8*len(words)))
		for _, w := range words {
			content = order.AppendUint64(content, w)
		}
	}
	content = append(content, "PERFILE2"...)
	content = order.AppendUint64(content, 16)
	entry, attrs := int(word(from, 2)), int(word(from, 3))
	for i := range 2 {
		attr := from[attrs+i*entry : attrs+i*entry+entry-16]
		words := make([]uint64, len(attr)/8)
		for n := range words {
			words[n] = word(attr, n)
		}
		ids := int(word(from, (attrs+i*entry+entry-16)/8))
		if i == 0 {
			words = append(words, word(from, ids/8), word(from, ids/8+1))
		} else {
			words[0], words[1], words[2], words[3] = words[0]>>32<<32|1, 10, 1, sampleTypeSums
			if newer {
				words[3] = sampleTypeNewer
			}
			words = append(words, offCPUID)
		}
		record(recordAttr, 0, words...)
	}
	record(recordUpdate, 0, 2, offCPUID, order.Uint64([]byte("offcpu-t")), uint64(order.Uint32([]byte("ime\x00"))))

	type wait struct {
		from  uint64
		chain []uint64
	}
	type key struct {
		tid  uint32
		leaf uint64
	}
	waiting, sums, stacks := map[uint32]wait{}, map[key]uint64{}, map[key][]uint64{}
	var keys []key
	sample := func(pid, tid uint32, time, ns uint64, cpu uint64, chain []uint64) {
		words := []uint64{offCPUID, chain[1], uint64(tid)<<32 | uint64(pid), time, offCPUID, cpu, ns}
		list := append([]uint64{uint64(len(chain))}, chain...)
		if !newer {
			record(recordSample, 2, append(append(words, list...), 0)...)
			return
		}
		raw := append(append([]uint64{uint64(tid)<<32 | uint64(pid), ns}, list...), 0)
		// The other fields are of another thread, or 0. The size of the data is 4 bytes.
		words = []uint64{offCPUID, 0, 0, time, cpu, 0}
		shifted, carry := make([]uint64, 0, len(raw)+1), uint64(8*len(raw)+4)
		for _, w := range raw {
			shifted, carry = append(shifted, carry|w<<32), w>>32
		}
		record(recordSample, 1, append(append(words, append(shifted, carry)...), 0)...)
	}
	start, size := int(word(from, 5)), int(word(from, 6))
	pids := map[uint32]uint32{}
	for at := start; at < start+size; {
		typ, misc, n := order.Uint32(from[at:]), order.Uint16(from[at+4:]), int(order.Uint16(from[at+6:]))
		body := from[at+8 : at+n]
		switch {
		case typ == recordSample && word(body, 0) >= 38340: // sched_switch: identifier, ip, pid and tid, time, cpu, period, chain
			tid := order.Uint32(body[20:])
			w := wait{from: word(body, 3)}
			user := false
			for i := range int(word(body, 6)) {
				if a := word(body, 7+i); a == contextUser {
					user, w.chain = true, append(w.chain, a)
				} else if user && len(w.chain) <= 32 {
					w.chain = append(w.chain, a)
				}
			}
			pids[tid] = order.Uint32(body[16:])
			if len(w.chain) > 1 {
				waiting[tid] = w
			}
		case typ == recordSwitch: // the trailer: pid and tid, time, identifier
			tid, time := order.Uint32(body[4:]), word(body, 1)
			w, known := waiting[tid]
			switch {
			case !known:
			case misc&switchOut == 0:
				delete(waiting, tid)
				ns := time - w.from
				total += ns
				if ns >= threshold {
					sample(pids[tid], tid, time, ns, 1, w.chain)
					break
				}
				k := key{tid, w.chain[1] + uint64(len(w.chain))<<48}
				if sums[k] == 0 {
					keys = append(keys, k)
				}
				sums[k], stacks[k] = sums[k]+ns, w.chain
			case misc&stillRunnable != 0:
				delete(waiting, tid)
			}
		default:
			content = append(content, from[at:at+n]...)
		}
		at += n
	}
	for i, k := range keys {
		sample(pids[k.tid], k.tid, offCPUSums+uint64(i), sums[k], 0, stacks[k])
	}
	record(recordRound, 0)
	return content, total, nil
}

// offCPU maps the names of recordings that TestMain composes to the sums of their waits.
var offCPU = map[string]uint64{}

// composeOffCPU writes recordings of `perf record --off-cpu`, as older and newer versions of perf
// write them.
func composeOffCPU(from, folder string) error {
	for name, threshold := range map[string]uint64{"off_cpu_sums.data": math.MaxUint64, "off_cpu_direct.data": 10e6} {
		content, total, err := offCPURecording(from, threshold)
		if err != nil {
			return err
		}
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
		offCPU[name], recordings = total, append(recordings, path)
	}
	return nil
}

// Samples of `perf record --off-cpu` are waits with their stacks: the metric offcpu sums them, and the
// times in functions are what the program measured. There are no thread states and no wall-clock time.
func TestOffCPU(t *testing.T) {
	for name, total := range offCPU {
		number := func(query string) (n sql.NullInt64) {
			t.Helper()
			if err := db.QueryRow(query, name).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		for _, metric := range []string{"offcpu", "offcpu.blocked"} {
			n := number(`SELECT inclusive FROM function_metrics WHERE experiment = ? AND mode = 'user' AND function = '<Total>' AND kind = 'artificial' AND metric = '` + metric + `'`)
			if uint64(n.Int64) != total {
				t.Errorf("%s: %s is %d, perf's samples are %d in all", name, metric, n.Int64, total)
			}
		}
		for _, truth := range []struct {
			function string
			ms       float64
			waits    int64
		}{{"idlewait", 243.323, 2}, {"nap", 163.491, 8}} {
			ns := number(`SELECT sum(wait_ns) FROM waits WHERE experiment = ? AND mode = 'user' AND state = 'blocked' AND function = '` + truth.function + `'`)
			if ms := float64(ns.Int64) / 1e6; math.Abs(ms-truth.ms) > max(0.01*truth.ms, 0.1*float64(truth.waits)) {
				t.Errorf("%s: %s waited for %.3f ms, the program measured %.3f", name, truth.function, ms, truth.ms)
			}
			waits := number(`SELECT sum(waits) FROM waits WHERE experiment = ? AND mode = 'user' AND function = '` + truth.function + `'`)
			if sums := name == "off_cpu_sums.data"; waits.Valid == sums || !sums && waits.Int64 != truth.waits {
				t.Errorf("%s: %s waited %v times", name, truth.function, waits)
			}
		}
		if n := number(`SELECT count(*) FROM metrics JOIN experiments USING (experiment_id) WHERE experiment = ? AND (metric = 'wall' OR metric LIKE 'offcpu-time%')`); n.Int64 != 0 {
			t.Errorf("%s: it has the metric wall, or offcpu-time", name)
		}
		if n := number(`SELECT count(*) FROM thread_states JOIN experiments USING (experiment_id) WHERE experiment = ?`); n.Int64 != 0 {
			t.Errorf("%s: %d states of threads", name, n.Int64)
		}
		var problems string
		if err := db.QueryRow(`SELECT COALESCE(string_agg(reason || ': ' || message, '; '), '') FROM problems JOIN experiments USING (experiment_id)
			WHERE experiment = ? AND severity <> 'info' AND reason NOT IN ('kernel-symbols', 'missing-load-object')`, name).Scan(&problems); err != nil || problems != "" {
			t.Errorf("%s: %v %s", name, err, problems)
		}
	}
}
