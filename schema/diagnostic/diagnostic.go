// Package diagnostic reports what is wrong or missing in a recording: content that cannot be used
// becomes a Problem instead of disappearing silently.
package diagnostic

import "fmt"

// Severity says what a problem means for the result.
type Severity uint8

// The severities. Only Error changes the exit status.
const (
	Info    Severity = iota // a remark
	Warning                 // names were not found, stacks end early, or the collector warned
	Error                   // records were lost or are unreadable
)

func (s Severity) String() string { return [...]string{"info", "warning", "error"}[s] }

// NoOffset is the offset of a problem without a location in a file.
const NoOffset = -1

// Problem is one row of the table `problems`.
type Problem struct {
	Severity Severity
	Process  int    // 0: the whole experiment
	File     string // relative to the recording, or a load object's path
	Offset   int64  // bytes, or NoOffset
	Reason   string // constant name: lower-case words with dashes
	Message  string // the reason in words
	Count    int64  // how many occurrences
}

func (p Problem) String() string {
	at := p.File
	if p.Offset >= 0 {
		at += fmt.Sprintf(" at offset %d", p.Offset)
	}
	return fmt.Sprintf("%s: %s: %s", p.Severity, at, p.Message)
}

// maxPerReason is the maximum number of rows with the same reason and file, so that garbage cannot
// flood a store. The last of these rows counts all further problems.
const maxPerReason = 100

// Log collects the problems of one experiment, in the order found. It is not
// safe for concurrent use.
type Log struct {
	Problems []Problem
	byKey    map[logKey][]int
}

type logKey struct {
	process      int
	file, reason string
}

// Add records a problem. A count of 0 counts as 1.
func (l *Log) Add(p Problem) {
	if p.Count == 0 {
		p.Count = 1
	}
	k := logKey{p.Process, p.File, p.Reason}
	if l.byKey == nil {
		l.byKey = map[logKey][]int{}
	}
	seen := l.byKey[k]
	if len(seen) >= maxPerReason {
		l.Problems[seen[len(seen)-1]].Count += p.Count
		return
	}
	l.byKey[k] = append(seen, len(l.Problems))
	l.Problems = append(l.Problems, p)
}

// Addf records a problem with a formatted message.
func (l *Log) Addf(s Severity, file string, offset int64, reason, format string, args ...any) {
	l.Add(Problem{Severity: s, File: file, Offset: offset, Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// Errors returns the number of problems of severity Error.
func (l *Log) Errors() int {
	n := 0
	for _, p := range l.Problems {
		if p.Severity == Error {
			n++
		}
	}
	return n
}
