total=0
declare -A seen
for ((i = 0; i < 30000; i++)); do
  key="k$((i * 7919 % 1009))"
  seen[$key]=$((${seen[$key]:-0} + 1))
  case $key in *7) total=$((total + i)) ;; esac
  [[ $key =~ ^k1(.*)$ ]] && name=${BASH_REMATCH[1]}
done
for i in $(seq 60); do x=$(echo "$i" | cat); done
echo "$total ${#seen[@]} $name $x"
