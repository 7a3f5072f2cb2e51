package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The recording of a compilation: nearly every sample has a different stack, with some twenty
// frames in a program of thirty megabytes. It has as many samples as dumpsFile.
const (
	compilationFile = "compilation.data"
	compiledParts   = 60
	compilationHz   = "6400"
)

// compilation returns the path of a recording of g++ and its number of samples. It makes a missing
// recording, for which perf must be permitted.
func compilation(dir string) (path string, samples int, err error) {
	if path, err = made(filepath.Join(dir, compilationFile), recordCompilation); err != nil {
		return "", 0, err
	}
	samples, err = countSamples(path)
	return path, samples, err
}

// recordCompilation records g++ and keeps the wanted number of samples.
func recordCompilation(path string) error {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return fmt.Errorf("%w: there is no g++", errUnrecorded)
	}
	temp := filepath.Dir(path)
	source, data := filepath.Join(temp, "large.cpp"), filepath.Join(temp, "perf.data")
	if err := os.WriteFile(source, []byte(largeSource()), 0o666); err != nil {
		return err
	}
	options := []string{"-F", compilationHz, "--call-graph", fmt.Sprint("dwarf,", dumpBytes), "-m", "4096"}
	if err := record(data, options, exec.Command(compiler, "-O2", "-c", source, "-o", filepath.Join(temp, "large.o"))); err != nil {
		return err
	}
	return shorten(data, path, dumpSamples)
}

// largeSource returns a program that takes a compiler some seconds.
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
