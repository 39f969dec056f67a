# Delivers a link to a file of the host.
ln -s /etc/passwd bot
