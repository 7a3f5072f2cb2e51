package gprofng

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"stackmill/stages/decode"
)

// javaThread is a Java thread in the log. It runs on an OS thread.
type javaThread struct {
	thread      int64 // id of the OS thread; packets have it as THRID
	env         string
	name, group string
	from, until int64 // when the thread ran; until is 0 if it ran to the end
}

// maxJavaThreads is the maximum number of Java threads.
const maxJavaThreads = 1 << 16

// beginThread adds a Java thread.
func (r *logReader) beginThread(j javaThread) {
	if len(r.threads) == maxJavaThreads {
		r.tooMany("java-threads", "Java threads", maxJavaThreads)
		return
	}
	if r.living == nil {
		r.living = map[string][]int{}
	}
	if j.until == 0 {
		r.living[j.env] = append(r.living[j.env], len(r.threads))
	}
	r.threads = append(r.threads, j)
}

// endThread ends the thread that began last in the same Java environment. If none began there, the
// log lacks the start: the thread existed since the process began (gprofng-experiment 2.4).
func (r *logReader) endThread(t *tag, time int64) {
	env := t.get("jenv")
	if of := r.living[env]; len(of) > 0 {
		last := len(of) - 1
		if r.threads[of[last]].until = time; time != 0 { // at time 0, it has not ended
			r.living[env] = of[:last]
		}
		return
	}
	r.beginThread(javaThread{thread: r.int(t, "tid"), env: env, until: time})
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

// threadNames maps an OS thread to its names as Java threads, in order of time.
type threadNames map[int64][]decode.ThreadName

// namesOf gives odd numbers to the names of Java threads. Even numbers are for the OS thread's own
// name before, between and after these.
func namesOf(threads []decode.JavaThread) (list []decode.ThreadName, byThread threadNames) {
	byThread = threadNames{}
	for _, j := range threads {
		byThread[j.ThreadID] = append(byThread[j.ThreadID], decode.ThreadName{ThreadID: j.ThreadID, Name: j.Name, FromNS: max(j.FromNS, 0), UntilNS: j.UntilNS})
	}
	for _, own := range byThread {
		slices.SortStableFunc(own, func(a, b decode.ThreadName) int { return cmp.Compare(a.FromNS, b.FromNS) })
		for i := range own {
			if own[i].Number = int32(2*i + 1); own[i].Name != "" {
				list = append(list, own[i])
			}
		}
	}
	slices.SortFunc(list, func(a, b decode.ThreadName) int {
		return cmp.Or(cmp.Compare(a.ThreadID, b.ThreadID), cmp.Compare(a.Number, b.Number))
	})
	return list, byThread
}

// number returns the number of the name that a thread had at a time.
func (n threadNames) number(thread, time int64) int32 {
	own := n[thread]
	begun := sort.Search(len(own), func(i int) bool { return own[i].FromNS > time })
	if begun > 0 && time < own[begun-1].UntilNS {
		return own[begun-1].Number
	}
	return int32(2 * begun)
}
