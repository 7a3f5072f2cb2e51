package gprofng

import (
	"math"

	"stackmill/stages/decode"
)

// javaThread is a Java thread as the log tells: on an OS thread from a time on.
type javaThread struct {
	thread      int64 // the id that packets have as THRID
	env         string
	name, group string
	from, until int64 // 0: until the end
}

// endThread ends the thread with the same environment; one that nobody saw
// start began with the process (gprofng-experiment 2.4).
func (r *logReader) endThread(t *tag, time int64) {
	env := t.get("jenv")
	for i := len(r.threads) - 1; i >= 0; i-- {
		if j := &r.threads[i]; j.env == env && j.until == 0 {
			j.until = time
			return
		}
	}
	r.threads = append(r.threads, javaThread{thread: r.int(t, "tid"), env: env, until: time})
}

// javaThreads returns the threads with times from the founder's start.
func (l *recordedLog) javaThreads(shift int64) []decode.JavaThread {
	var threads []decode.JavaThread
	for _, t := range l.threads {
		j := decode.JavaThread{ThreadID: t.thread, Name: t.name, Group: t.group, FromNS: t.from + shift, UntilNS: math.MaxInt64}
		if t.until != 0 {
			j.UntilNS = t.until + shift
		}
		threads = append(threads, j)
	}
	return threads
}
