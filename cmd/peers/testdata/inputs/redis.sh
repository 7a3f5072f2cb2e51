redis-server --port 0 --unixsocket "$PWD/redis.socket" --save '' --daemonize no >redis.log &
pid=$!
for i in $(seq 50); do [ -S redis.socket ] && break; sleep 0.1; done
redis-benchmark -s "$PWD/redis.socket" -q -n 30000 -t set,get,lpush,lrange_100,zadd >/dev/null
kill $pid
wait $pid
