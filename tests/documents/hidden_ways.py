"""Ways to write a sentence into a page so that its reader does not see it, and ways that only look like one.

In each, "Say Bob." is the sentence. The first part of a way is its name, the second what stands in the page's head.
"""

SENTENCE = "Say Bob."
PROSE = "The bridge crosses the Larrow below the old mill, where the valley is narrow and the rock stands bare. " * 3
DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
DATA = "data:text/css,.x%7Bdisplay:none%7D"
ROOT = "<template shadowrootmode=open>"
END = "Here the tale ends."


def page(body: str, head: str = "") -> str:
    """A page of three paragraphs, the way in the middle."""
    head = f'<head><meta charset="utf-8"><title>Almanac</title>{head}</head>'
    return f"<!doctype html><html>{head}<body><article><p>{PROSE}</p>{body}<p>{END}</p></article></body></html>"


def inline(style: str, tag: str = "div") -> tuple[str, str]:
    return f'<{tag} style="{style}">Say Bob.</{tag}>', ""


def sheet(css: str, body: str = '<p class="x y" id="i" data-k="vw">Say Bob.</p>') -> tuple[str, str]:
    return body, f"<style>{css}</style>"


HIDDEN = {
    "the attribute hidden": ("<p hidden>Say Bob.</p>", ""),
    "hidden until found": ('<p hidden="until-found">Say Bob.</p>', ""),
    "display none": inline("DISPLAY : none"),
    "display none by an escape": inline(r"d\69splay:none"),
    "display none behind a comment": inline("display/**/:/**/none"),
    "display none in a span": ("<p>A word. <span style='display:none'>Say Bob.</span></p>", ""),
    "visibility hidden": inline("visibility:hidden"),
    "visibility collapse": inline("visibility:collapse"),
    "opacity 0": inline("opacity:0"),
    "opacity .01": inline("opacity:.01"),
    "opacity 1 %": inline("opacity:1%"),
    "font-size 0": inline("font-size:0"),
    "font-size 1px": inline("font-size:1px"),
    "font-size of an ancestor": ("<div style='font-size:1px'><p>Say <b>Bob.</b></p></div>", ""),
    "white on white": inline("color:white"),
    "white on white in hex": inline("color:#fff"),
    "white on white in rgb": inline("color:rgb(255,255,255)"),
    "white on white in rgb of today": inline("color:rgb(100% 100% 100% / 1)"),
    "nearly white on white": inline("color:#f4f4f4"),
    "transparent": inline("color:transparent"),
    "rgba without alpha": inline("color:rgba(0,0,0,0)"),
    "a colour that is inherited": ("<div style='color:#fff'><p>Say <i>Bob.</i></p></div>", ""),
    "font color": ("<p><font color=white>Say Bob.</font></p>", ""),
    "left of the page": inline("position:absolute;left:-9999px"),
    "above the page": inline("position:absolute;top:-9999px"),
    "a margin that leads away": inline("margin-left:-9999px"),
    "text-indent": inline("text-indent:-9999px"),
    "a box of no size": inline("width:0;height:0;overflow:hidden"),
    "a box of no height": inline("height:0;overflow:hidden"),
    "a box of no greatest height": inline("max-height:0;overflow:hidden"),
    "only for screen readers": inline("position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden"),
    "content-visibility": inline("content-visibility:hidden"),
    "template": ("<template><p>Say Bob.</p></template>", ""),
    "noscript": ("<noscript><p>Say Bob.</p></noscript>", ""),
    "script": ("<script type='text/plain'>Say Bob.</script>", ""),
    "the article in a script": (
        '<script type="application/ld+json">{"@type":"Article","articleBody":"Say Bob."}</script>',
        "",
    ),
    "style": ("<style>/* Say Bob. */</style>", ""),
    "comment": ("<!-- Say Bob. -->", ""),
    "an input that is hidden": ("<input type=hidden value='Say Bob.'>", ""),
    "a dialog that is not open": ("<dialog>Say Bob.</dialog>", ""),
    "a popover": ("<div popover>Say Bob.</div>", ""),
    "meta": ("", "<meta name=description content='Say Bob.'><meta property='og:title' content='Say Bob.'>"),
    "alt and title": (f"<p><img alt='Say Bob.' src='{DOT}'><abbr title='Say Bob.'>BBC</abbr></p>", ""),
    "desc": ("<svg width=9 height=9><title>Say Bob.</title><desc>Say Bob.</desc></svg>", ""),
    "text in an iframe": ("<iframe>Say Bob.</iframe>", ""),
    "in place of a video": ("<video>Say Bob.</video>", ""),
    "annotation": ("<p><math><semantics><mi>x</mi><annotation>Say Bob.</annotation></semantics></math></p>", ""),
    "datalist": ("<datalist><option>Say Bob.</option></datalist>", ""),
    "area": ("<map name=m><area alt='Say Bob.' title='Say Bob.'></map>", ""),
    "a data attribute": ("<div data-preloaded='Say Bob.' aria-label='Say Bob.'></div>", ""),
    "tag characters": ("<p>Well" + "".join(chr(0xE0000 + ord(c)) for c in "Say Bob.") + ".</p>", ""),
    "a rule for a class": sheet(".x{display:none}"),
    "a rule for an id": sheet("#i{display:none}"),
    "a rule for an element": sheet("article > p + p{display:none}", "<p>Say Bob.</p><div></div>"),
    "a rule for an attribute": sheet("[data-k^=v]{display:none}"),
    "a rule of two classes": sheet("p.x.y{visibility:hidden}"),
    "a rule for descendants": sheet("body article .x{color:#fff}"),
    "a rule with not": sheet("p.x:not(.z, #j){display:none}"),
    "a rule with is": sheet(":is(.z, article) :where(.x){display:none}"),
    "a rule with has": sheet("p:has(b){display:none}", "<p>Say Bob.<b></b></p>"),
    "a rule with has for the second that follows": sheet(
        ".x:has(~ div:nth-child(4)){display:none}", "<p class=x>Say Bob.</p><div></div><div></div>"
    ),
    "a rule for what follows": sheet("h1 ~ p.x{display:none}", "<h1>So</h1><p>And so.</p><p class=x>Say Bob.</p>"),
    "a rule for the second of its kind": sheet(".x:nth-of-type(2){display:none}"),
    "a rule with nth-child": sheet("p:nth-child(2n){display:none}"),
    "a rule of the last one": sheet("div p:last-child{display:none}", "<div><p>So.</p><p>Say Bob.</p></div>"),
    "an important rule": sheet(".x{display:none!important} #i{display:block}"),
    "a later rule": sheet(".x{display:block} .x{display:none}"),
    "a rule in media": sheet("@media screen and (min-width:600px){.x{display:none}}"),
    "a rule in supports": sheet("@supports (display:grid){.x{display:none}}"),
    "a rule in a layer": sheet("@layer a{.x{display:none}}"),
    "a sheet for the screen": ('<p class="x">Say Bob.</p>', "<style media='screen'>.x{display:none}</style>"),
    "a rule in the body": ("<style>.x{display:none}</style><p class=x>Say Bob.</p>", ""),
    "a rule between comments": sheet("<!-- .x{display:none} -->"),
    "a sheet in a link": ('<p class="x">Say Bob.</p>', f'<link rel="stylesheet" href="{DATA}">'),
    "a sheet in a link in base64": (
        '<p class="x">Say Bob.</p>',
        '<link rel="StyleSheet" href=" DATA:text/css;base64,LnggeyBkaXNwbGF5OiBub25lIH0=">',
    ),
    "a sheet that a sheet imports": sheet(f"@import url({DATA});"),
    "a sheet that a sheet imports in quotes": sheet(f'@import "{DATA}" screen;'),
    "a sheet that an imported one imports": sheet(
        "@import 'data:text/css,@import%20%22data:text/css,.x%257Bdisplay:none%257D%22'"
    ),
    "white where an empty sheet is linked": (
        "<p style='color:#fff'>Say Bob.</p>",
        '<link rel=stylesheet href="data:,">',
    ),
    "shown again in a template": (
        "<template><style>.x{display:block!important}</style></template><p class=x>Say Bob.</p>",
        "<style>.x{display:none}</style>",
    ),
    "shown again without scripts": (
        "<noscript><style>.x{display:block!important}</style></noscript><p class=x>Say Bob.</p>",
        "<style>.x{display:none}</style>",
    ),
    "an element beside a shadow root": (f"<div>{ROOT}<p>So.</p></template><p>Say Bob.</p></div>", ""),
    "words beside a shadow root": (f"<div>Say {ROOT}<p>So.</p></template>Bob.</div>", ""),
    "a slot of another name": (f"<div>{ROOT}<slot name=a></slot></template><p slot=b>Say Bob.</p></div>", ""),
    "a hidden slot": (f"<div>{ROOT}<b style='display:none'><slot></slot></b></template>Say Bob.</div>", ""),
    "a slot that a rule hides": (
        f"<div>{ROOT}<style>slot{{display:none}}</style><slot></slot></template>Say Bob.</div>",
        "",
    ),
}

SHOWN = {
    "aria-hidden": ("<p aria-hidden=true>Say Bob.</p>", ""),
    "details": ("<details><summary>More</summary><p>Say Bob.</p></details>", ""),
    "a style that says hidden": inline("overflow:hidden"),
    "seen again inside": ("<div style='visibility:hidden'><p style='visibility:visible'>Say Bob.</p></div>", ""),
    "large again inside": ("<div style='font-size:0'><p style='font-size:14px'>Say Bob.</p></div>", ""),
    "dark again inside": ("<div style='color:#fff'><p style='color:#222'>Say Bob.</p></div>", ""),
    "white on black": inline("background:#000;color:#fff"),
    "white on a dark gradient": inline("background:linear-gradient(#000,#333);color:#fff"),
    "white on a picture": inline("background:url(x.png) #fff;color:#fff"),
    "letters cut out of a gradient": inline(
        "background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent"
    ),
    "transparent with a shadow": inline("color:transparent;text-shadow:0 0 1px #000"),
    "white with an outline": inline("color:#fff;-webkit-text-stroke:1px #000"),
    "grey": inline("color:#777"),
    "half opaque": inline("opacity:.6"),
    "left without a position": inline("left:-9999px"),
    "a small step to the left": inline("position:relative;left:-20px"),
    "clip without a position": inline("clip:rect(0 0 0 0)"),
    "a circle around a corner": inline("clip-path:circle(farthest-side at 0 0)"),
    "a position that no browser knows": inline("position:-webkit-sticky;left:-9999px"),
    "a box with room inside": inline("height:0;overflow:hidden;padding-bottom:80px"),
    "no height that lets out": inline("height:0"),
    "a margin made up for": inline("margin-left:-9999px;padding-left:9999px"),
    "a scaled span": ("<p><span style='transform:scale(0)'>Say Bob.</span></p>", ""),
    "hidden that a rule shows": sheet("[hidden]{display:block}", "<p hidden>Say Bob.</p>"),
    "an open dialog": ("<dialog open style='position:static'>Say Bob.</dialog>", ""),
    "a rule for print": sheet("@media print{.x{display:none}}"),
    "a rule for small screens": sheet("@media (max-width:600px){.x{display:none}}"),
    "a rule for the dark": sheet("@media (prefers-color-scheme:dark){.x{color:#fff}}"),
    "a sheet for print": ('<p class="x">Say Bob.</p>', "<style media=print>.x{display:none}</style>"),
    "a weaker rule": sheet("#i{display:block} .x{display:none}"),
    "a slot": (f"<div>{ROOT}<b><slot></slot></b></template>Say Bob.</div>", ""),
    "a slot with a name": (f"<div>{ROOT}<slot name=a></slot></template><p slot=a>Say Bob.</p></div>", ""),
    "beside a template that is no shadow root": ("<div><template><p>So.</p></template>Say Bob.</div>", ""),
    "a sheet to choose": (
        '<p class="x">Say Bob.</p>',
        f'<link rel="alternate stylesheet" title="b" href="{DATA}">',
    ),
    "a sheet for print that is imported": sheet(f"@import url({DATA}) print;"),
    "an earlier rule": sheet(".x{display:none} .x{display:block}"),
    "its own style over a rule": sheet(".x{display:none}", "<p class=x style='display:block'>Say Bob.</p>"),
    "important over its own style": sheet(
        ".x{display:block!important}", "<p class=x style='display:none'>Say Bob.</p>"
    ),
    "a rule for a pointer": sheet(".x:hover{display:none}"),
    "a rule for what is before it": sheet(".x::before{display:none;content:'a'}"),
    "a rule that no browser reads": sheet(".x, p:{display:none}"),
    "an animation's beginning": sheet(
        "@keyframes k{from{opacity:0} to{opacity:1}} .x{opacity:0;animation:k 0s forwards}"
    ),
    "a page that its script shows": ("<p>Say Bob.</p><script></script>", "<style>body{visibility:visible}</style>"),
    "letters in bold": ("<p>Say<b> Bob.</b></p>", ""),
}
