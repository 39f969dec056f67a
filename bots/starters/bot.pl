# Plays a random legal move: choose is where it thinks.
use strict;
use warnings;

$| = 1;    # a line leaves at once

sub choose {
    my @legal = @_;
    return $legal[rand @legal];
}

my @legal;
while (my $line = <STDIN>) {
    my ($verb, @words) = split ' ', $line;
    next unless defined $verb;
    if ($verb eq 'hello') {
        print "ready example-pl want=legal\n";
    }
    elsif ($verb eq 'newgame') {
        srand($line =~ / seed=(\d+)/ ? $1 % 2**32 : 0);
        print "ok\n";
    }
    elsif ($verb eq 'legal') {
        @legal = @words;
    }
    elsif ($verb eq 'go') {
        print 'move ', choose(@legal), "\n";
    }
    elsif ($verb eq 'quit') {
        last;
    }
}
