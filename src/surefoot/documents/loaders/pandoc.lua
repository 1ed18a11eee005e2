-- Reads requests, "FORMAT LENGTH" and so many bytes, and writes "ok LENGTH" and the document as HTML with its title, or
-- "no LENGTH" and the reason. The empty environment makes the reader see no file and no address.

local List, utils = pandoc.List, pandoc.utils

local function set(words)
  local found = {}
  for word in words:gmatch("%S+") do found[word] = true end
  return found
end

local notes = set [[note warning tip important caution danger attention hint error admonition seealso versionadded
  versionchanged deprecated]]
-- Directives of Sphinx whose first paragraph names what the others describe.
local terms = set [[function method class data attribute option cmdoption envvar confval directive role exception module
  describe property type macro program tab]]
local skipped = set "toctree index only-latex"

local function named(classes, names)
  for _, class in ipairs(classes) do
    if names[class] then return class end
  end
end

-- A formula on one line.
local function spaced(formula)
  return (formula:gsub("\\ ", " "):gsub("[ \t]+", " "))
end

-- The words of TeX whose commands pandoc does not know; empty for numbers and lengths, and for other sources.
local function of_tex(raw)
  if not raw.format:find("tex") then return "" end
  local text = (" " .. raw.text):gsub("\\begin%s*{[^{}]*}", " "):gsub("\\end%s*{[^{}]*}", " ")
  text = text:gsub("([^\\])%%[^\n]*", "%1"):gsub("(\\[%a@]+%*?)%b[]", "%1"):gsub("\\[%a@]+%*?", " ")
  text = text:gsub("\\.", " "):gsub("[{}~&$]", " ")
  return text:find("[%a\128-\255][%a\128-\255][%a\128-\255]") and text or ""
end

local seen = {}

local plain = {
  Note = function() seen.note = true end,
  Span = function(span) return span.content end,
  Math = function(math)
    seen.math = true
    return pandoc.Code(spaced(math.text), { class = "math" })
  end,
  RawInline = function(raw) return pandoc.Str(of_tex(raw)) end,
  Code = function(code)
    if not code.attributes.role then return nil end
    local shown = code.text:match("^(.*)<[^<]*>%s*$") or code.text
    return pandoc.Str((shown:gsub("%s+$", ""):gsub("^[~!]+", "")))
  end,
  Quoted = function(quoted)
    local mark = quoted.quotetype == "DoubleQuote" and '"' or "'"
    return List { pandoc.Str(mark) } .. quoted.content .. { pandoc.Str(mark) }
  end,
  -- With its address where that leads out of the corpus.
  Link = function(link)
    local text = utils.stringify(link.content)
    if text == "" then return pandoc.Str(link.target) end
    if not link.target:find("^https?://") or text == link.target then return link.content end
    return List { pandoc.Str("[") } .. link.content .. { pandoc.Str("](" .. link.target .. ")") }
  end,
  Header = function(header)
    header.identifier = header.identifier:gsub("^slide%-(%d+)$", "slide=%1")
    return header
  end,
  CodeBlock = function(code)
    local language = code.classes[1]
    return pandoc.CodeBlock(code.text, { class = language and "language-" .. language or "" })
  end,
  RawBlock = function(raw)
    local found = List {}
    for part in (of_tex(raw) .. "\n\n"):gmatch("(.-)\n\n+") do found:insert(pandoc.Para { pandoc.Str(part) }) end
    return found
  end,
  -- A table without a header still begins with one more often than not.
  Table = function(tbl)
    local body = tbl.bodies[1]
    if #tbl.head.rows == 0 and body and #body.body > 1 then tbl.head.rows = { body.body:remove(1) } end
    tbl.identifier = ""
    return tbl
  end,
  Div = function(div)
    local note, content = named(div.classes, notes), div.content
    if named(div.classes, skipped) then return {} end
    if note then
      local first = content[1]
      local titled = first and first.t == "Div" and first.classes:includes "title" and utils.stringify(first) ~= ""
      local title = pandoc.Div({ pandoc.Para { pandoc.Str(note:gsub("^%l", string.upper)) } }, { class = "title" })
      return pandoc.Div(titled and content or List { title } .. content, { class = "note" })
    end
    if named(div.classes, terms) and content[1] and (content[1].t == "Para" or content[1].t == "Plain") then
      local term = content:remove(1)
      return pandoc.DefinitionList { { term.content, { content } } }
    end
    local id = div.identifier:match("^cell=%d+$") or ""
    return pandoc.Div(content, { id = id, class = div.classes:includes "title" and "title" or "" })
  end,
}

-- A formula that is a paragraph of its own as code.
local formulas = {
  Para = function(para)
    local first = #para.content == 1 and para.content[1]
    if not first or first.t ~= "Code" or not first.classes:includes "math" then return nil end
    return pandoc.CodeBlock(first.text, { class = "language-latex" })
  end,
}

-- Footnotes behind the block that they belong to.
local below = {
  Blocks = function(every)
    local found = List {}
    for _, block in ipairs(every) do
      local notes = List {}
      found:insert(block:walk { Note = function(note)
        notes:insert(pandoc.Div(note.content, { class = "note" }))
        return {}
      end })
      found:extend(notes)
    end
    return found
  end,
}

-- The cells of a notebook with their numbers as ids.
local function numbered(doc)
  local count = 0
  return doc:walk { Div = function(div)
    if not div.classes:includes "cell" then return nil end
    count = count + 1
    local bare = div:walk { Header = function(header) header.identifier = "" return header end }
    return List { pandoc.Div({}, { id = "cell=" .. count }) } .. bare.content
  end }
end

local function flow(value)
  local kind = utils.type(value)
  if kind == "Blocks" then return value end
  if kind == "Inlines" then return List { pandoc.Para(value) } end
  local found = List {}
  if kind == "List" then
    for _, each in ipairs(value) do found:extend(flow(each)) end
  end
  return found
end

local function html(content, format)
  local doc = pandoc.read(content, format, {}, {})
  local title, section = utils.stringify(doc.meta.title or ""), utils.stringify(doc.meta.section or "")
  if section ~= "" then title = title .. "(" .. section .. ")" end
  doc.blocks = flow(doc.meta.abstract) .. doc.blocks
  seen = {}
  doc = (format == "ipynb" and numbered(doc) or doc):walk(plain)
  if seen.math then doc = doc:walk(formulas) end
  if seen.note then doc = doc:walk(below) end
  local head = pandoc.write(pandoc.Pandoc { pandoc.Plain { pandoc.Str(title) } }, "html", { wrap_text = "none" })
  return "<title>" .. head .. "</title>" .. pandoc.write(pandoc.Pandoc(doc.blocks), "html", { wrap_text = "none" })
end

while true do
  local head = io.read("l")
  if not head then break end
  local format, length = head:match("^(%S+) (%d+)$")
  local ok, result = pcall(html, io.read(tonumber(length)) or "", format)
  if not ok then result = tostring(result) end
  io.write(ok and "ok " or "no ", #result, "\n", result)
  io.flush()
end
