package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// Types, offsets and bits of perf's records (perf-data 6).
const (
	recordMmap, recordComm, recordExit = 1, 3, 4
	recordMmap2                        = 10
	recordKsymbol, recordBPF           = 17, 18
	recordTool, recordFinishedRound    = 64, 68
	commExec                           = 1 << 13                                  // bit of misc in COMM
	pidAt, nameAt                      = 8, 16                                    // offsets in records that are not samples
	sampleBeforeTID                    = 1<<16 | 1<<0                             // fields before the TID: IDENTIFIER, IP
	sampleTrailer                      = 1<<16 | 1<<1 | 1<<2 | 1<<6 | 1<<7 | 1<<9 // fields in the trailer of other records; TID and TIME first
	noPID                              = ^uint32(0)                               // PID of the kernel's mappings
)

// samplePool has the samples of all processes of a program, ordered by time. general are records
// for the whole machine, and begin are those with which a process of the program begins.
type samplePool struct {
	tidAt, trailer          int // offset of the TID in samples; length of the trailer of other records
	general, begin, samples [][]byte
}

// pool collects the samples of all processes of a program. In all of them, the program must be
// mapped at the same addresses.
func pool(head []byte, in iter.Seq[perfRecord], program string) (*samplePool, error) {
	attr := binary.LittleEndian.Uint64(head[attrsOffset:])
	sampleType := binary.LittleEndian.Uint64(head[attr+attrType:])
	p := &samplePool{tidAt: 8 + 8*bits.OnesCount64(sampleType&sampleBeforeTID), trailer: 8 * bits.OnesCount64(sampleType&sampleTrailer)}
	running, first := map[uint32]bool{}, noPID
	for r := range in {
		switch r.kind() {
		case recordSample:
			if running[r.u32(p.tidAt)] {
				p.samples = append(p.samples, slices.Clone(r))
			}
		case recordComm:
			if r.misc()&commExec == 0 || !bytes.HasPrefix(r[nameAt:], append([]byte(program), 0)) {
				break
			}
			if running[r.u32(pidAt)] = true; first == noPID {
				first = r.u32(pidAt)
				p.begin = append(p.begin, slices.Clone(r))
			}
		case recordExit:
			if r.u32(pidAt) == r.u32(pidAt+4) {
				delete(running, r.u32(pidAt))
			}
		case recordMmap, recordMmap2:
			if pid := r.u32(pidAt); pid == noPID {
				p.general = append(p.general, slices.Clone(r))
			} else if pid == first && running[pid] {
				p.begin = append(p.begin, slices.Clone(r))
			}
		default:
			if k := r.kind(); k == recordKsymbol || k == recordBPF || k >= recordTool && k != recordFinishedRound {
				p.general = append(p.general, slices.Clone(r))
			}
		}
	}
	if len(p.samples) == 0 {
		return nil, fmt.Errorf("no samples of %s", program)
	}
	slices.SortStableFunc(p.samples, func(a, b []byte) int {
		return int(binary.LittleEndian.Uint64(a[p.tidAt+8:]) - binary.LittleEndian.Uint64(b[p.tidAt+8:]))
	})
	return p, nil
}

// firstPID is the PID of the first process that samplePool.write makes.
const firstPID = 1_000_000

// write emits the samples, distributed over several threads: the first thread has the earliest
// ones. If split is set, each thread is a process of its own; otherwise they belong to one process.
func (p *samplePool) write(threads int, split bool, emit func([]byte)) {
	for _, r := range p.general {
		emit(r)
	}
	for i := range threads {
		if i > 0 && !split {
			break
		}
		for _, r := range p.begin {
			setTask(r[pidAt:], firstPID+i, firstPID+i)
			end := r[len(r)-p.trailer:]
			setTask(end, firstPID+i, firstPID+i)
			copy(end[8:16], p.samples[0][p.tidAt+8:]) // time of the first sample
			emit(r)
		}
	}
	for i, s := range p.samples {
		tid := firstPID + i*threads/len(p.samples)
		pid := firstPID
		if split {
			pid = tid
		}
		setTask(s[p.tidAt:], pid, tid)
		emit(s)
	}
}

func setTask(at []byte, pid, tid int) {
	binary.LittleEndian.PutUint32(at, uint32(pid))
	binary.LittleEndian.PutUint32(at[4:], uint32(tid))
}
