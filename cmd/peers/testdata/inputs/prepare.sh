# Makes what is too large to keep: a text, and sources for compilers.
set -e
awk 'BEGIN {
  srand(7)
  n = split("a able about above accept across act add after again age air all alone along also am among an and animal answer any appear apple are area arm army art ask at back bad ball bank bar base be bear beat beauty bed been before began begin behind believe bell best better between big bird black blood blow blue board boat body bone book born both bottom box boy bring brother brought brown build busy but buy by call came camp can captain car card care carry case cat", w, " ")
  for (l = 0; l < 60000; l++) {
    s = w[1 + int(rand() * n)]
    for (k = 0; k < 11; k++) s = s " " w[1 + int(rand() * n)] (rand() < 0.1 ? int(rand() * 1e6) : "")
    print s
  }
}' >text
awk 'BEGIN {
  print "#include <stdio.h>\n#include <string.h>\n#include <math.h>"
  for (i = 0; i < 220; i++) {
    printf "struct s%d { int a, b[8]; double c; };\n", i
    printf "static int f%d(struct s%d *p, int n) { int r = n; for (int i = 0; i < n; i++) { switch ((i * %d) %% 7) { case 0: r += p->b[i & 7]; break; case 1: r ^= i << 2; break; case 2: r = r * 31 + p->a; break; case 3: p->c += sqrt(i); break; default: r -= i; } p->b[i & 7] = r; } return r; }\n", i, i, i + 3
    printf "int g%d(int n) { struct s%d s; memset(&s, 0, sizeof s); s.a = n; return f%d(&s, n) + (int)s.c; }\n", i, i, i
  }
}' >large.c
{
  echo '#include <map>'
  echo '#include <regex>'
  echo '#include <string>'
  for i in 1 2 3 4; do
    echo "int f$i(const std::string &s) { std::map<int, std::string> m; m[$i] = s; return std::regex_search(s, std::regex(\"a+b\")) + m.size(); }"
  done
} >regex.cpp
mkdir -p parts
for i in $(seq 12); do
  echo "#include <stdio.h>
#include <stdlib.h>
#include <math.h>
double part$i(double x) { for (int i = 0; i < 100; i++) x = sin(x) + $i; return x; }" >parts/part$i.c
done
printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\n%%.o: %%.c\n\tgcc -O2 -c $< -o $@\n' >parts/Makefile
awk 'BEGIN {
  print "create table w(id integer primary key, word text, n integer); create index wn on w(n); begin;"
  for (i = 0; i < 20000; i++) printf "insert into w(word, n) values(\"word%d\", %d);\n", i * 7919 % 4999, i * 104729 % 977
  print "commit; select count(*), max(word), sum(n) from w group by n % 13;"
  print "select a.word, count(*) from w a join w b on a.n = b.n where a.id % 9 = 0 group by a.word order by 2 desc limit 5;"
  print "select word, n from w where word like \"%9%8%\" order by n, word limit 10;"
}' >words.sql
sed -e "s/\"/'/g" words.sql | sed 's/integer primary key/serial primary key/' >postgres.sql
