# A bot in ten lines: it plays the first legal move.
while read -r verb first rest; do
  case $verb in
    hello) echo "ready first want=legal" ;;
    newgame) echo ok ;;
    legal) move=$first ;;
    go) echo "move $move" ;;
    quit) exit ;;
  esac
done
