// Reads a device without end that every box has.
#include "/dev/urandom"
