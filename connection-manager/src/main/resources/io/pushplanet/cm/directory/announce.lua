-- Registers sessions. KEYS two for each session: the owner, and the subscription. ARGV this node,
-- the owner to answer for a newer session that has ended, then the epoch and the end of the
-- password of each session. Answers with a text for each: its owner, or '-' when its password is
-- denied.
local owners = {}
for i = 1, #KEYS / 2 do
  local key, kept, epoch, ends = KEYS[2 * i - 1], KEYS[2 * i], ARGV[2 * i + 1], ARGV[2 * i + 2]
  local by = written(text(kept))
  if denied(string.sub(key, 9), ends) then
    owners[i] = '-'
  elseif by and by > tonumber(epoch) then
    -- The session was resumed on another node since.
    local owner = text(key)
    local held = owner and tonumber(string.match(owner, '^%d+'))
    owners[i] = held and held >= by and owner or string.format('%.0f', by) .. '|' .. ARGV[2]
  else
    owners[i] = announce(key, ARGV[1], epoch)
    -- A remembered session that is older than the announced one is deleted: its device was not told
    -- of it.
    if by and by < tonumber(epoch) and owners[i] == epoch .. '|' .. ARGV[1] then
      redis.call('DEL', kept)
    end
  end
end
return owners
