package gprofng

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stackmill/schema/diagnostic"
)

// Before gprofng, the collectors of Oracle Developer Studio wrote the same kind of experiment.
// docs/formats/studio-experiment.md lists the differences.

// namedStudio reports whether the log names a collector of Studio (studio-experiment 1).
func (l *recordedLog) namedStudio() bool {
	return l.collector != "" && !isDigit(l.collector[0])
}

// isOld reports whether the format is older than 12.4, such as that of Studio 12.3.
func (l *recordedLog) isOld() bool {
	major, minor, _ := strings.Cut(l.version, ".")
	n, err := strconv.Atoi(minor)
	return major == strconv.Itoa(minVersion) && err == nil && n < 4
}

// blocks returns the structure of the collector's binary files (studio-experiment 3). In the old
// format, all threads share one flow of smaller blocks.
func (e *experiment) blocks() blockLayout {
	if e.log.isOld() {
		return blockLayout{size: oldBlockSize, flows: 1}
	}
	return blockLayout{size: blockSize, flows: int64(max(minFlows, e.log.cpus))}
}

// The bits of the modes of a mapping, as in mmap.
const (
	modeRead    = 1
	modeWrite   = 2
	modeExecute = 4
	modeAccess  = modeRead | modeWrite | modeExecute
)

// settleModes converts all modes to mmap's protection bits. It makes mappings of the experiment's
// own files not executable: the collector maps these while it runs (studio-experiment 2).
func (m *mapReader) settleModes() {
	studio := m.hasStudioModes()
	for i := range m.events {
		ev := &m.events[i]
		if ev.Unmap || ev.Code != nil {
			continue
		}
		if studio {
			ev.Modes = ev.Modes&^(modeRead|modeExecute) | ev.Modes&modeRead<<2 | ev.Modes&modeExecute>>2
		}
		if isOwnFile(ev.Path) {
			ev.Modes &^= modeExecute
		}
	}
}

// hasStudioModes reports whether modes are Studio's, in which bit 1 is execute and bit 4 is read.
// Every process has memory that can be read and not executed; hardly any has memory that can be
// executed and not read. So mappings with only one of the two bits decide. If these contradict each
// other, or if there are none, the collector's name decides.
func (m *mapReader) hasStudioModes() bool {
	gprofng, studio := 0, 0
	for i := range m.events {
		if ev := &m.events[i]; !ev.Unmap && ev.Code == nil {
			switch ev.Modes & modeAccess {
			case modeRead, modeRead | modeWrite:
				gprofng++
			case modeExecute, modeExecute | modeWrite:
				studio++
			}
		}
	}
	named := m.e.log.namedStudio()
	switch confirmed := named && studio > 0 || !named && gprofng > 0; {
	case studio == gprofng || confirmed && m.e.log.collector != "":
		return named
	case m.e.log.collector != "":
		m.e.report(diagnostic.Warning, mapFile, diagnostic.NoOffset, "contradicting-modes",
			"the log names the collector %q, but the modes of all mappings are another collector's: stackmill reads the modes as that collector writes them", m.e.log.collector)
	}
	return studio > gprofng
}

// ownFiles are the files of an experiment that the collector maps in order to write them.
var ownFiles = append([]string{logFile, warningsFile, mapFile, framesFile, overviewFile, dyntextFile, classesFile}, eventFiles[:]...)

// isOwnFile reports whether a mapped file is part of an experiment.
func isOwnFile(path string) bool {
	dir, file := filepath.Split(path)
	return isExperimentName(filepath.Base(dir)) && slices.Contains(ownFiles, file)
}

// addressIDs is more than any thread id of Linux (PID_MAX_LIMIT): larger ids are addresses.
const addressIDs = 1 << 22

// judgeThreads reports thread ids that are not the kernel's (studio-experiment 3).
func (e *experiment) judgeThreads() {
	if !strings.HasPrefix(e.log.os, "Linux") {
		return
	}
	ids := map[int64]struct{}{}
	for _, f := range e.events {
		if f == nil {
			continue
		}
		for id := range f.threads {
			if id > addressIDs {
				ids[id] = struct{}{}
			}
		}
	}
	if len(ids) > 0 {
		e.reporter(logFile)(diagnostic.Info, diagnostic.NoOffset, "thread-addresses",
			"thread ids are addresses of thread descriptors, not the kernel's ids: threads that lived at different times may share an id", int64(len(ids)))
	}
}
