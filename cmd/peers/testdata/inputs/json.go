package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"sync"
)

type item struct {
	Name  string         `json:"name"`
	Count int            `json:"count"`
	More  map[string]int `json:"more"`
}

func main() {
	text, err := os.ReadFile("text")
	if err != nil {
		panic(err)
	}
	var group sync.WaitGroup
	results := make(chan int, 8)
	for i := range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			count := map[string]int{}
			for _, w := range strings.Fields(string(text[i*len(text)/4 : (i+1)*len(text)/4])) {
				count[w]++
			}
			b, err := json.Marshal(item{"x", len(count), count})
			var back item
			if err != nil || json.Unmarshal(b, &back) != nil {
				panic("json")
			}
			results <- len(regexp.MustCompile(`b[aeiou]+[lr]`).FindAllIndex(text[:200000], -1)) + len(back.More)
		}()
	}
	group.Wait()
	close(results)
	var all []int
	for r := range results {
		all = append(all, r)
	}
	sort.Ints(all)
	fmt.Println(all)
}
