local count, list = {}, {}
for line in io.lines("text") do
  for w in line:gmatch("%a+") do
    if not count[w] then list[#list + 1] = w end
    count[w] = (count[w] or 0) + 1
  end
end
table.sort(list, function(a, b) return count[a] > count[b] or count[a] == count[b] and a < b end)
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local co = coroutine.wrap(function() for i = 1, 200000 do coroutine.yield(i) end end)
for _ = 1, 200000 do co() end
print(#list, list[1], fib(27), select(2, pcall(error, "x")))
