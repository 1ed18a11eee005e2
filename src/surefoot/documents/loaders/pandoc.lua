-- Reads requests, "FORMAT LENGTH" and so many bytes, and writes "ok LENGTH" and pandoc's tree in JSON, or "no LENGTH" and
-- the reason. The empty environment makes the reader see no file and no address.
while true do
  local head = io.read("l")
  if not head then break end
  local format, length = head:match("^(%S+) (%d+)$")
  local content = io.read(tonumber(length)) or ""
  local ok, result = pcall(function() return pandoc.write(pandoc.read(content, format, {}, {}), "json") end)
  result = ok and result or tostring(result)
  io.write(ok and "ok " or "no ", #result, "\n", result)
  io.flush()
end
