-- Carries out commands. ARGV node, now in ms, longest life of a session in ms, and the commands, a
-- line for each: its name, the writer's epoch, the end of the password of the writer's session, the
-- device, and an argument. Answers with a text for each. A device has two keys: the owner, and the
-- subscription (`qos,identifier,epoch`). A third one is beside the subscription where the last
-- connection left messages unacknowledged (`epoch,id,id…`).
--
-- All commands are one argument, because each argument costs the client time. Only a cluster needs
-- the keys' names beforehand, and there no script can use the keys of many devices anyway.
local node, now, longest = ARGV[1], ARGV[2], ARGV[3]

-- The epoch of a claim is above that of the session that it resumes, even if that session ended on
-- a node whose clock is ahead.
local function not_before(kept)
  local by = written(text(kept))
  return by and by >= tonumber(now) and string.format('%.0f', by + 1) or now
end

-- The remembered session, as the connecting device wants it: 'forget', 'resume' or 'once'. "No
-- subscription" is remembered only until here.
local function take_up(kept, wish, epoch)
  local held = text(kept)
  if not held then return '' end
  if wish == 'resume' and string.sub(held, 1, 1) ~= '3' then
    redis.call('SET', kept, string.match(held, '^%d+,%d+') .. ',' .. epoch, 'PX', longest)
    return held
  end
  redis.call('DEL', kept)
  return wish == 'forget' and '' or held
end

-- The messages that the connection which left the session `held` had not acknowledged. Those of
-- another connection are not meant: they are from before the session was forgotten, or resumed by a
-- node of an earlier version.
local function unacknowledged(kept, held)
  local beside = kept .. '|unacknowledged'
  local left = text(beside)
  if not left then return '' end
  redis.call('DEL', beside)
  local epoch, ids = string.match(left, '^(%d+),(.+)$')
  return epoch and tonumber(epoch) == written(held) and '\n' .. ids or ''
end

-- Whether no newer owner has written.
local function may_write(key, kept, epoch)
  local owner = tonumber(string.match(text(key) or '', '^%d+'))
  if owner and owner > tonumber(epoch) then return false end
  local by = written(text(kept))
  return not by or by <= tonumber(epoch)
end

-- "No subscription" is remembered only from the end of the owner's connection to the next
-- connection: if Redis loses a SUBSCRIBE, the device must not be told "session present". The end of
-- a connection does not restore a session that Redis has lost, because the connection may be an old
-- one, whose window of unacknowledged packets would be taken for the last one.
local function keep_after_end(kept, millis, left, ids, epoch, ours)
  local unsubscribed = string.sub(left, 1, 1) == '3'
  if millis == '0' or unsubscribed and not ours then
    redis.call('DEL', kept)
  elseif ours and (unsubscribed or text(kept)) then
    redis.call('SET', kept, left .. ',' .. epoch, 'PX', millis)
    if ids ~= '' then
      redis.call('SET', kept .. '|unacknowledged', epoch .. ',' .. ids, 'PX', millis)
    end
  else
    redis.call('PEXPIRE', kept, millis)
  end
end

-- Nodes of an earlier version ignore the longer form.
local function leave(device, epoch, owner, session, ids)
  local channel, said = 'takeover:' .. owner, 'left|' .. epoch .. '|' .. session .. '|'
  if ids ~= '' then redis.call('PUBLISH', channel, said .. ids .. '|' .. device) end
  redis.call('PUBLISH', channel, said .. device)
end

-- A node that lost a session before it heard of the claim describes the session to the present
-- owner if Redis remembers nothing, so that this owner need not guess whether there was a session.
local function describe_to_owner(device, key, kept, millis, left, ids, epoch)
  local newer, owner = string.match(text(key) or '', '^(%d+)|(.+)$')
  if owner and owner ~= node and tonumber(newer) > tonumber(epoch) and not text(kept) then
    leave(device, epoch, owner, millis == '0' and '' or left, ids)
  end
end

local function carry_out(device, what, epoch, ends, more)
  local key, kept = 'session:' .. device, 'mqtt-session:' .. device
  if what == 'confirm' then
    -- Each claim that was heard is answered to the node that made it, under the epoch before the
    -- claim, once the device is released.
    leave(device, epoch, string.match(more, '^(%S+) (%S*) ?(.*)$'))
    return ''
  end
  if what == 'claim' then
    -- A claim with a denied password changes nothing.
    if denied(device, ends) then return '-' end
    local owner, former, heard = claim(key, node, not_before(kept))
    seen(device, now)
    local ok, held = pcall(take_up, kept, more, string.match(owner, '^%d+'))
    if not ok then held = '' end
    if held ~= '' then held = held .. unacknowledged(kept, held) end
    return owner .. '\n' .. former .. '\n' .. (heard and '1' or '0') .. held
  end
  local ours = text(key) == epoch .. '|' .. node
  if what == 'release' or what == 'end' then release(key, node, epoch) end
  -- A session that came by a denied password while its node could not ask Redis changes nothing but
  -- its own owner's entry: its epoch was made up by the node, and may be above that of the device
  -- as it was registered anew.
  if what ~= 'release' and not ours and denied(device, ends) then return '' end
  local millis, left, ids = string.match(more, '^(%d+) (%S+) ?(.*)$')
  if what == 'end' and not ours then
    describe_to_owner(device, key, kept, millis, left, ids, epoch)
  end
  if what == 'release' or not may_write(key, kept, epoch) then return '' end
  if what == 'remember' then
    redis.call('SET', kept, more .. ',' .. epoch, 'PX', longest)
  elseif what == 'end' then
    keep_after_end(kept, millis, left, ids, epoch, ours)
  else
    redis.call('DEL', kept)
  end
  return ''
end

-- A command that fails (a key holds something else) fails alone, unless a replica refuses it, which
-- the client leaves when it is answered so.
local answers = {}
local line = '(%l+) (%d+) (%d+) (%S+) ([^\n]*)\n'
for what, epoch, ends, device, more in string.gmatch(ARGV[4], line) do
  local ok, answer = pcall(carry_out, device, what, epoch, ends, more)
  if not ok then
    local why = type(answer) == 'table' and answer.err or tostring(answer)
    if string.find(why, 'READONLY', 1, true) then return redis.error_reply(why) end
    answer = '!' .. why
  end
  answers[#answers + 1] = answer
end
return answers
