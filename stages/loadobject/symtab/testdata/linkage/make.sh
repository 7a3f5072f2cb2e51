#!/bin/bash
# Links the program of call.c in every form of procedure linkage table, for x86-64 and
# A64, to OUT. In each, one calls tiny and two calls tiny2. It needs bfd, gold, lld,
# mold, clang and gcc-aarch64-linux-gnu.
set -eu
out=$(mkdir -p "${1:?usage: make.sh OUT}" && cd "$1" && pwd)
src=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
cd "$work"
pages="-z max-page-size=4096 -z common-page-size=4096"
form() { # NAME LINKER COMPILER-FLAGS LINKER-FLAGS
	local name=$1 linker=$2 flags=$3 options=$4
	case $name in arm64.*) set -- aarch64-linux-gnu-gcc ;; *) set -- gcc ;; esac
	"$1" -O1 -fPIC $flags -DLIBRARY -c "$src/call.c" -o tiny.o
	"$1" -O1 -fPIE $flags -c "$src/call.c" -o call.o
	$linker -shared $pages tiny.o -o libtiny.so
	$linker -pie $pages $options call.o libtiny.so -o "$out/$name"
}
bti="-mbranch-protection=bti"
pac="-mbranch-protection=standard"
armbfd=aarch64-linux-gnu-ld.bfd armgold=aarch64-linux-gnu-ld.gold
form arm64.bfd $armbfd "" ""
form arm64.bfd.bti $armbfd "$bti" "-z force-bti"
form arm64.bfd.pac $armbfd "$pac" "-z pac-plt"
form arm64.gold $armgold "" ""
form arm64.lld "ld.lld -m aarch64linux" "" ""
form arm64.lld.bti "ld.lld -m aarch64linux" "$bti" "-z force-bti"
form arm64.lld.pac "ld.lld -m aarch64linux" "$pac" "-z force-bti -z pac-plt"
form arm64.mold "mold -m aarch64linux" "" ""
form arm64.mold.bti "mold -m aarch64linux" "$bti" ""
for linker in ld.bfd ld.gold ld.lld mold; do
	form "x86.${linker#ld.}" $linker "-fcf-protection=none" "-z lazy"
	form "x86.${linker#ld.}.now" $linker "-fcf-protection=none" "-z now"
	gcc -O1 -fno-pie -DCHOSEN -c "$src/call.c" -o chosen.o
	$linker -static $pages chosen.o -o "$out/x86.${linker#ld.}.static"
done
form x86.bfd.ibt ld.bfd "-fcf-protection" "-z lazy -z ibtplt"
form x86.lld.ibt ld.lld "-fcf-protection" "-z lazy -z force-ibt"
form x86.mold.ibt mold "-fcf-protection" "-z lazy"
form x86.lld.retpoline ld.lld "-fcf-protection=none" "-z lazy -z retpolineplt"
form x86.lld.retpolinenow ld.lld "-fcf-protection=none" "-z now -z retpolineplt"
rm -rf "$work"
