# What configure scripts do: many small programs.
for h in stdio stdlib string math time errno ctype signal; do
  echo "#include <$h.h>
int main(void) { return 0; }" >conftest.c
  if gcc -c conftest.c -o conftest.o 2>/dev/null; then echo "$h yes"; fi
  x=`expr "$h" : 's\(.*\)'`
  y=`echo "$h" | sed 's/s/S/g' | tr a-z A-Z`
  cat conftest.c | grep -c include
  test -f "$h.h" || ls conftest* | wc -l
  (exit 3) || : "$x $y"
done >configure.out
rm -f conftest*
