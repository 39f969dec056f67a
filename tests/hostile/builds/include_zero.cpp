// Reads a device without end.
#include "/dev/zero"
