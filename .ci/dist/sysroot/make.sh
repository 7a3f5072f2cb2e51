#!/bin/sh
# make.sh FOLDER: makes the folder that `make dist` links against: the C library and the C and C++
# runtime of Debian 11, whose symbols every newer system has.
set -e
to=$1
rm -rf "$to"
mkdir -p "$to"
while read -r sum path; do
  for mirror in deb.debian.org archive.debian.org; do
    curl -fsS --retry 3 -o "$to/deb" "http://$mirror/debian/pool/main/$path" && break
  done
  echo "$sum  $to/deb" | sha256sum -c --quiet
  ar p "$to/deb" data.tar.xz | tar -xJ -C "$to"
done <<END
05f7264da867b37f4c5ce49266b558ea1e81e05a9464f623152fca70f3550282 g/glibc/libc6_2.31-13+deb11u11_amd64.deb
e7f7b45d9c5cfcf37609f0b6efd3c645272c812144703af89dfd32218fcb0fd3 g/glibc/libc6-dev_2.31-13+deb11u11_amd64.deb
3b711374092b84e732c4e73cf33e02cff02e34a5f105eb6467de8d9038e4cd9d g/gcc-10/libgcc-10-dev_10.2.1-6_amd64.deb
20b1f56863dcc5f187d6cb53b2aa6149bd013be4ec67e10c2c31a22fda619a01 g/gcc-10/libstdc++-10-dev_10.2.1-6_amd64.deb
e3be603bd12377bb90fcfb0f2048ca3a81c886e49d6f09945b82159d1c54f7b2 l/linux/linux-libc-dev_5.10.223-1_amd64.deb
END
rm "$to/deb"
# Links to absolute paths would lead to the libraries of this machine.
find "$to" -type l -lname '/*' | while read -r link; do ln -sfr "$to$(readlink "$link")" "$link"; done
rm "$to/usr/lib/gcc/x86_64-linux-gnu/10/libstdc++.so" # the archive becomes part of the program
gcc --sysroot="$to" -O2 -fno-builtin -c -o "$to/compat.o" "$(dirname "$0")/compat.c"
