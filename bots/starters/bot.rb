# Plays a random legal move: choose is where it thinks.

def choose(legal, dice)
  legal.sample(random: dice)
end

$stdout.sync = true # a line leaves at once
dice = Random.new(0)
legal = []

while (line = gets)
  verb, *words = line.split
  case verb
  when "hello"
    puts "ready example-rb want=legal"
  when "newgame"
    dice = Random.new(line[/ seed=(\d+)/, 1].to_i)
    puts "ok"
  when "legal"
    legal = words
  when "go"
    puts "move #{choose(legal, dice)}"
  when "quit"
    break
  end
end
