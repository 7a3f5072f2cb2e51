<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
$count = [];
foreach (file("text") as $line)
  foreach (preg_split('/\s+/', trim($line)) as $w) $count[$w] = ($count[$w] ?? 0) + 1;
ksort($count);
$json = json_encode($count);
for ($i = 0; $i < 4; $i++) $back = json_decode($json, true);
echo count($count), " ", fib(26), " ", strlen(gzcompress($json)), " ", md5(serialize($back)), "\n";
