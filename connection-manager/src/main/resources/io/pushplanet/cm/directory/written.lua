-- The epoch under which a session was written: the last part of `qos,identifier,epoch`.
local function written(held) return held and tonumber(string.match(held, '^%d+,%d+,(%d+)$')) end
