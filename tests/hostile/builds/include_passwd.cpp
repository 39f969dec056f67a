// Reads a file of the host into the compiler's complaints.
#include "/etc/passwd"
