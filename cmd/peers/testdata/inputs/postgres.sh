# The server refuses to run as root.
as=
[ "$(id -u)" = 0 ] && as='setpriv --reuid=65534 --regid=65534 --clear-groups'
$as postgres --single -D "$PWD/postgres" postgres <postgres.sql >/dev/null
