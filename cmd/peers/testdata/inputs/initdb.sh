rm -rf postgres
mkdir postgres
as=
[ "$(id -u)" = 0 ] && as='setpriv --reuid=65534 --regid=65534 --clear-groups' && chown 65534:65534 postgres
$as "$(dirname "$(realpath "$(command -v postgres)")")/initdb" -D "$PWD/postgres" --no-sync -A trust >/dev/null
