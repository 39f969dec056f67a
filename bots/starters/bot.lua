-- Plays a random legal move: choose is where it thinks.

local function choose(legal)
  return legal[math.random(#legal)]
end

io.stdout:setvbuf("line") -- a line leaves at once
local legal = {}

for line in io.lines() do
  local verb = line:match("^%S+")
  if verb == "hello" then
    print("ready example-lua want=legal")
  elseif verb == "newgame" then
    math.randomseed(tonumber(line:match(" seed=(%d+)")) or 0)
    print("ok")
  elseif verb == "legal" then
    legal = {}
    for move in line:gmatch("%S+", #verb + 1) do
      legal[#legal + 1] = move
    end
  elseif verb == "go" then
    print("move " .. choose(legal))
  elseif verb == "quit" then
    break
  end
end
