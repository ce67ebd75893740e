-- ARGV device and end of the password of each. Answers with a text for each: '-' when the password
-- is denied, else ''.
local answers = {}
for i = 1, #ARGV, 2 do answers[#answers + 1] = denied(ARGV[i], ARGV[i + 1]) and '-' or '' end
return answers
