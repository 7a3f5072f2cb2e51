use strict;
my (%count, @lines);
while (<>) {
    for my $word (split /\s+/) { $count{lc $word}++; }
    push @lines, $_ if /b[aeiou](l|r)+/;
}
my $n = 0;
for my $line (sort { length($a) <=> length($b) || $a cmp $b } @lines) { $line =~ s/(\w+) (\w+)/$2 $1/g; $n += length $line; }
printf "%d %d %s\n", scalar(keys %count), $n, join(",", (sort keys %count)[0 .. 3]);
