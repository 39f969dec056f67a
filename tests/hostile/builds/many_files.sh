# Makes files without content, without end.
python3 -S -c '
number = 0
while True:
    open(str(number), "w").close()
    number += 1
'
