def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
count = Hash.new(0)
File.foreach("text") { |line| line.split.each { |w| count[w.sub(/\d+/, "n")] += 1 } }
sorted = count.sort_by { |w, n| [-n, w] }
100.times { begin; raise ArgumentError, "x"; rescue ArgumentError; end }
puts [count.size, sorted.first.inspect, fib(24), [1, 2, 3].pack("C*").inspect].join(" ")
