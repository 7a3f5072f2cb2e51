package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The recording of a compilation: nearly every sample has a stack of its own, of
// some twenty frames in a program of thirty megabytes. It is as long as dumpsFile.
const (
	compilationFile = "compilation.data"
	compiledParts   = 60
	compilationHz   = 6400
)

// errNoCompilation says why there is no recording of a compilation.
var errNoCompilation = errors.New("not recorded")

// compilation returns the path of a recording of g++, with the number of its
// samples. It makes it when it is not there, for which perf must be permitted.
func compilation(dir string) (path string, samples int, err error) {
	path = filepath.Join(dir, compilationFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := recordCompilation(dir, path); err != nil {
			return "", 0, err
		}
	}
	f, _, data, err := openRecording(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	for r := range perfRecords(data) {
		if r.isSample() {
			samples++
		}
	}
	return path, samples, nil
}

// openRecording opens a recording and returns what stands in front of its
// records, and them. It is not read whole: that would be this process's memory,
// which counts for the programs that it starts.
func openRecording(path string) (f *os.File, head []byte, data *io.SectionReader, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, nil, nil, err
	}
	head = make([]byte, dataSize+8)
	if _, err = f.ReadAt(head, 0); err == nil {
		start, size := binary.LittleEndian.Uint64(head[dataOffset:]), binary.LittleEndian.Uint64(head[dataSize:])
		head = make([]byte, start)
		_, err = f.ReadAt(head, 0)
		data = io.NewSectionReader(f, int64(start), int64(size))
	}
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, head, data, nil
}

// recordCompilation records g++ and keeps the first samples, as many as are wanted.
func recordCompilation(dir, path string) error {
	perf, err := exec.LookPath("perf")
	if err != nil {
		return fmt.Errorf("%w: there is no perf", errNoCompilation)
	}
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return fmt.Errorf("%w: there is no g++", errNoCompilation)
	}
	fmt.Println("making", path)
	temp, err := os.MkdirTemp(dir, "unfinished.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	source, data := filepath.Join(temp, "large.cpp"), filepath.Join(temp, "perf.data")
	if err := os.WriteFile(source, []byte(largeSource()), 0o666); err != nil {
		return err
	}
	cmd := exec.Command(perf, "record", "-e", "cpu-clock", "-F", fmt.Sprint(compilationHz), "--call-graph", fmt.Sprint("dwarf,", dumpBytes), "-m", "4096",
		"-o", data, "--", compiler, "-O2", "-c", source, "-o", filepath.Join(temp, "large.o"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: perf: %w: %s", errNoCompilation, err, bytes.TrimSpace(out))
	}
	short := filepath.Join(temp, compilationFile)
	if err := shorten(data, short, dumpSamples); err != nil {
		return err
	}
	return os.Rename(short, path)
}

// largeSource is a program that takes a compiler some seconds.
func largeSource() string {
	var b strings.Builder
	b.WriteString("#include <map>\n#include <regex>\n#include <string>\n#include <vector>\n")
	for i := range compiledParts {
		fmt.Fprintf(&b, `template <int N> struct part%[1]d { std::map<std::string, std::vector<int>> values; int sum(const std::string &s) {
  values[s].push_back(N); int n = 0;
  for (auto &v : values) for (int x : v.second) n += x * part%[1]d<N - 1>().sum(v.first);
  return n; } };
template <> struct part%[1]d<0> { int sum(const std::string &s) { return std::regex_search(s, std::regex("a+b")); } };
int f%[1]d(const std::string &s) { return part%[1]d<4>().sum(s); }
`, i)
	}
	return b.String()
}

// shorten writes a recording with only the first n samples of another.
func shorten(from, to string, n int) error {
	f, head, data, err := openRecording(from)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out) // Flush returns its errors
	w.Write(head)
	size := uint64(0)
	for r := range perfRecords(data) {
		if r.isSample() {
			if n--; n < 0 {
				continue
			}
		}
		w.Write(r)
		size += uint64(len(r))
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, out.Close())
	}
	_, at, old := data.Outer()
	rest := make([]byte, info.Size()-at-old) // the features
	_, err = f.ReadAt(rest, at+old)
	if err == nil { // the last sample is another now
		forgetTimes(head, rest, uint64(at+old))
	}
	moveFeatures(head, rest, size-uint64(old))
	w.Write(rest)
	binary.LittleEndian.PutUint64(head[dataSize:], size)
	err = errors.Join(err, w.Flush())
	_, werr := out.WriteAt(head, 0)
	return errors.Join(err, werr, out.Close())
}
