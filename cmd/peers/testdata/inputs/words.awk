{ for (i = 1; i <= NF; i++) { count[$i]++; if ($i ~ /^b.*e$/) n += length($i) } gsub(/[aeiou]+/, "-"); s = substr($0, 3, 9) }
END { for (w in count) total += count[w]; print total, n, s, sqrt(total) }
