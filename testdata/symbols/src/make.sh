#!/bin/bash
# make.sh: builds what is committed of the programs in this folder. It wants gcc.
set -euo pipefail
src=$(realpath "$(dirname "$0")"); root=$src/../../..
tables=$root/stages/symbolize/symtab/testdata

gcc -Wa,-L -nostdlib -static -Wl,--eh-frame-hdr -o $tables/assembler $src/assembler.s
gcc -Wa,-L -nostdlib -shared -s -Wl,-Bsymbolic,-z,notext -o $tables/libassembler.so $src/assembler.s
