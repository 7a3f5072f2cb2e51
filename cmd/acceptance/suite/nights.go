package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// nightly is a program that takes about 0.2 s. SEARCH is the work of one of its functions, 100 in
// the first build.
const nightly = `
volatile unsigned long sink;
#define WORK(name) \
__attribute__((noinline)) void name(unsigned long n) { \
	unsigned long x = n | 1; \
	for (unsigned long i = 0; i < n; i++) x = x * 6364136223846793005ul + 1 + (x >> 7); \
	sink += x; \
}
WORK(parse)
WORK(search)
WORK(encode)
__attribute__((noinline)) void round(void) {
	parse(400000);
	search(4000ul * SEARCH);
	encode(200000);
}
int main(void) {
	for (int i = 0; i < 100; i++) round();
	return 0;
}
`

// FirstNight is when the first recording of RecordNights ended.
var FirstNight = time.Date(2026, 10, 20, 2, 0, 0, 0, time.UTC)

// RecordNights records n nights of a program with plain perf record -g, as files night-00.data, ...
// in dir. Only the times of these files show when they were recorded: on n consecutive days from
// FirstNight on. search returns the work of the function search in a night, in percent of its work in
// the first build; each value is a build of its own. RecordNights needs gcc and perf.
func RecordNights(ctx context.Context, dir string, n int, search func(night int) int) (recordings []string, err error) {
	run := func(in, program string, args ...string) error {
		c := exec.CommandContext(ctx, program, args...)
		c.Dir = in
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", c, err, out)
		}
		return nil
	}
	source := filepath.Join(dir, "nightly.c")
	if err := os.WriteFile(source, []byte(nightly), 0o666); err != nil {
		return nil, err
	}
	for night := range n {
		build := filepath.Join(dir, fmt.Sprintf("build-%d", search(night)))
		if _, err := os.Stat(build); err != nil {
			if err := os.Mkdir(build, 0o777); err != nil {
				return nil, err
			}
			if err := run(build, "gcc", "-O1", "-g", "-fno-omit-frame-pointer", fmt.Sprintf("-DSEARCH=%d", search(night)), "-o", "nightly", source); err != nil {
				return nil, err
			}
		}
		recording := filepath.Join(dir, fmt.Sprintf("night-%02d.data", night))
		if err := run(build, "perf", "record", "-q", "-g", "-o", recording, "./nightly"); err != nil {
			return nil, err
		}
		ended := FirstNight.AddDate(0, 0, night).Add(time.Duration(night*7%50) * time.Second)
		if err := os.Chtimes(recording, ended, ended); err != nil {
			return nil, err
		}
		recordings = append(recordings, recording)
	}
	return recordings, nil
}
