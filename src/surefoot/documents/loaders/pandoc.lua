-- Reads requests, "FORMAT LENGTH" and so many bytes, and writes "ok LENGTH" and the document as XML, or "no LENGTH" and
-- the reason. The empty environment makes the reader see no file and no address.

local function xml(content, format)
  return pandoc.write(pandoc.read(content, format, {}, {}), "xml")
end

while true do
  local head = io.read("l")
  if not head then break end
  local format, length = head:match("^(%S+) (%d+)$")
  local ok, result = pcall(xml, io.read(tonumber(length)) or "", format)
  if not ok then result = tostring(result) end
  io.write(ok and "ok " or "no ", #result, "\n", result)
  io.flush()
end
