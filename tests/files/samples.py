"""Small hand-made files, one or more of every format, by their names."""

from __future__ import annotations

import io
import zipfile

PO = r"""# Head comment
msgid ""
msgstr ""
"Language: de\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#: a.c:1
#, c-format
msgid "Delete %s from %d files?"
msgstr ""

#  translator
#. extracted note
#: a.c:2
msgctxt "menu|File"
msgid "Open"
msgstr ""

msgid "One %d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

#, fuzzy, python-format
#| msgid "Old text %(x)s"
msgid "New text %(x)s"
msgstr "Alter Text %(x)s"

msgid ""
"A long text that is wrapped over \"several\" lines,\n"
"with a line break in it and {braces} and a tab\tinside.\n"
msgstr ""

msgid "Done"
msgstr "Fertig"

msgid "%s"
msgstr ""

#~ msgid "Obsolete"
#~ msgstr "Veraltet"
"""

XLIFF1 = """<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="a.txt" source-language="en-US" datatype="plaintext">
    <header><note>head &amp; note</note></header>
    <body>
      <group id="g1">
        <trans-unit id="1" maxwidth="40" size-unit="char">
          <source>Hello <g id="1">bold <x id="2"/> world</g> &amp; more</source>
          <note>Greets</note>
        </trans-unit>
        <trans-unit id="2" translate="no"><source>Do not touch</source></trans-unit>
        <trans-unit id="3" approved="yes"><source>Yes</source><target>Ja</target></trans-unit>
        <trans-unit id="4">
          <source>Name <bpt id="1">&lt;b&gt;</bpt>strong<ept id="1">&lt;/b&gt;</ept> {{x}} %s</source>
          <target state="new">Name <bpt id="1">&lt;b&gt;</bpt>strong<ept id="1">&lt;/b&gt;</ept> {{x}} %s</target>
        </trans-unit>
      </group>
      <group translate="no">
        <trans-unit id="5"><source>Locked here</source></trans-unit>
        <trans-unit id="6" translate="yes"><source>But not here</source><target/></trans-unit>
      </group>
      <trans-unit id="7">
        <source>First sentence. Second one.</source>
        <seg-source><mrk mtype="seg" mid="1">First sentence.</mrk> <mrk mtype="seg" mid="2">Second one.</mrk></seg-source>
        <target><mrk mtype="seg" mid="1"/> <mrk mtype="seg" mid="2"/></target>
      </trans-unit>
      <trans-unit id="8"><source><![CDATA[Raw <b>html</b> text]]></source></trans-unit>
      <trans-unit id="9"><source/></trans-unit>
      <trans-unit id="10"><source>Alt</source><target state="translated">Alt</target>
        <alt-trans><source>Alt x</source><target>Alt y</target></alt-trans></trans-unit>
      <trans-unit id="11"><source>Click <x id="START_LINK" ctype="x-a"/>here<x id="CLOSE_LINK" ctype="x-a"/> or <x id="INTERPOLATION"/><x id="LINE_BREAK" ctype="lb"/>now</source></trans-unit>
    </body>
  </file>
</xliff>
"""

XLIFF2 = """<?xml version="1.0"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en">
 <file id="f1">
  <notes><note id="n">A note</note></notes>
  <unit id="u1">
   <originalData><data id="d1">&lt;br/&gt;</data><data id="d2">{name}</data></originalData>
   <segment id="s1"><source>Hello <pc id="1">bold</pc> <ph id="2" dataRef="d2"/>!<ph id="3" dataRef="d1"/>Next</source></segment>
   <ignorable><source> </source></ignorable>
   <segment><source>Second <mrk id="m1" translate="no">Brand Name</mrk> <sc id="4"/>wide<ec startRef="4"/> text</source><target/></segment>
  </unit>
  <group id="g" translate="no">
   <unit id="u2"><segment><source>Locked</source></segment></unit>
   <unit id="u3" translate="yes"><segment state="initial"><source>Open again</source><target>old</target></segment></unit>
  </group>
  <unit id="u4"><segment state="translated"><source>Fine</source><target>Gut</target></segment></unit>
  <unit id="u5"><segment><source></source></segment></unit>
 </file>
</xliff>
"""

JSON = r"""{
  "title": "Hello {{name}}",
  "nested": {"deep": ["One item", "Two <b>bold</b> items", 3, null, true]},
  "item_one": "{{count}} item",
  "item_other": "{{count}} items",
  "url": "https://example.com/path",
  "escaped": "Line\nbreak \"quoted\" \u00e9 \/ slash",
  "empty": "",
  "icu": "{n, plural, =0 {No files} one {# file} other {# files in {folder}}} were found",
  "select": "{g, select, male {He said '{'x'}'} other {{n, plural, one {They have # <i>thing</i>} other {They have # things}}}}"
}
"""

WEBEXTENSION = """{
  "hello": {
    "message": "Hello $USER$, welcome",
    "description": "Shown at the start",
    "placeholders": {"user": {"content": "$1", "example": "Ann"}}
  }
}
"""

ARB = """{
  "@@locale": "en",
  "pageTitle": "Home page of {name}",
  "@pageTitle": {"description": "The title", "placeholders": {"name": {"example": "Bob"}}},
  "count": "{n, plural, =1{one message} other{{n} messages}}"
}
"""

MARKDOWN = """---
title: "My page"
date: 2020-01-01
draft: false
---

# Heading with `code`

Some *emphasised* and **strong** text with a [link](http://x.y "Title"),
an image ![alt text](a.png), a [reference][ref] and snake_case_name.
2 * 3 and a footnote[^1]. Escaped \\*stars\\* &amp; <kbd>Ctrl</kbd>.

> Quoted line one
> goes on here.

- item one
- [ ] task
  1. nested number

| A | B column |
|---|:--------:|
| one cell | two `x` |

    indented code

```python
code = "never"
```

[ref]: http://example.com "Example"
[^1]: The footnote text

<div class="x">
  <p>Html text</p>
</div>

Setext
======

!!! note "A title"
    Inside the note.
"""

TEXT = """First paragraph of a text
that was wrapped over two lines, the first of which is short.

This line is long enough to be taken for one that was wrapped by an
editor, and so this one belongs to it.

* a bullet with %s
1. a number

-----
"""

ANDROID = """<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
    <!-- comment -->
    <string name="app" translatable="false">My App</string>
    <string name="hello">Hello <b>%1$s</b>, you\\'ve <xliff:g id="n" example="5">%2$d</xliff:g> mails</string>
    <string name="ref">@string/hello</string>
    <string name="quoted">"  Kept   spaces  "</string>
    <string name="html"><![CDATA[Read <a href="x">this</a> page]]></string>
    <string-array name="days"><item>Monday</item><item>Tuesday</item></string-array>
    <plurals name="files">
        <item quantity="one">%d file</item>
        <item quantity="other">%d files &amp; more</item>
    </plurals>
    <string name="lines">First line\\nSecond line</string>
    <string name="empty"></string>
</resources>
"""

QT = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" sourcelanguage="en">
<context>
    <name>MainWindow</name>
    <message>
        <location filename="a.cpp" line="1"/>
        <source>&amp;File %1</source>
        <comment>menu</comment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) found</source>
        <translation type="unfinished"><numerusform></numerusform><numerusform></numerusform></translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Gone</source>
        <translation type="vanished">Weg</translation>
    </message>
</context>
</TS>
"""

PROPERTIES = r"""# A comment
! Another
plain=Simple text
spaced : With   spaces
message=It''s {0}''s file
long=A long text that \
    goes on here \
    and here
escaped=Caf\u00e9 open\: yes\ttab
lead=\ leading space
empty=
key\ with\ space = Value here
"""

STRINGS = """/* A comment */
"key" = "Hello \\"you\\"\\n%@";
// another
unquoted = "Plain text";
"lines" = "Two
lines";
"""

STRINGSDICT = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>files</key>
    <dict>
        <key>NSStringLocalizedFormatKey</key>
        <string>Found %#@n@ here</string>
        <key>n</key>
        <dict>
            <key>NSStringFormatSpecTypeKey</key>
            <string>NSStringPluralRuleType</string>
            <key>NSStringFormatValueTypeKey</key>
            <string>d</string>
            <key>one</key>
            <string>%d file</string>
            <key>other</key>
            <string>%d files</string>
        </dict>
    </dict>
</dict>
</plist>
"""

XCSTRINGS = """{
  "sourceLanguage" : "en",
  "strings" : {
    "" : {

    },
    "Hello %@" : {

    },
    "files" : {
      "comment" : "A count",
      "localizations" : {
        "en" : {
          "variations" : {
            "plural" : {
              "one" : {
                "stringUnit" : {
                  "state" : "translated",
                  "value" : "%lld file"
                }
              },
              "other" : {
                "stringUnit" : {
                  "state" : "translated",
                  "value" : "%lld files"
                }
              }
            }
          }
        }
      }
    },
    "Brand" : {
      "shouldTranslate" : false
    },
    "Old" : {
      "localizations" : {
        "de" : {
          "stringUnit" : {
            "state" : "translated",
            "value" : "Alt"
          }
        }
      }
    }
  },
  "version" : "1.0"
}
"""

RESX = """<?xml version="1.0" encoding="utf-8"?>
<root>
  <resheader name="version"><value>2.0</value></resheader>
  <data name="Greeting" xml:space="preserve">
    <value>Hello {0} &amp; welcome</value>
    <comment>A note</comment>
  </data>
  <data name="Icon" type="System.Drawing.Icon" mimetype="x"><value>AAAA</value></data>
  <data name="&gt;&gt;button1.Name" xml:space="preserve"><value>button1</value></data>
</root>
"""

TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
  <header srclang="en" adminlang="en" creationtool="x" creationtoolversion="1" segtype="sentence" datatype="plaintext" o-tmf="x"/>
  <body>
    <tu tuid="1">
      <tuv xml:lang="en"><seg>Hello <bpt i="1">&lt;b&gt;</bpt>world<ept i="1">&lt;/b&gt;</ept></seg></tuv>
    </tu>
    <tu tuid="2">
      <tuv xml:lang="en-US"><seg>Good morning</seg></tuv>
      <tuv xml:lang="de-DE"><seg>Guten Morgen</seg></tuv>
    </tu>
  </body>
</tmx>
"""

CSV = """key,en,es
HELLO,Hello!,Hola!
INTRO,"Hello, ""friend"" of {name}.","Hola, amigo."
EMPTY,,
"""

SRT = """1
00:00:01,000 --> 00:00:02,500
Hello <i>there</i>,
my old friend

2
00:00:03,000 --> 00:00:04,000 X1:1
- Who is it?
- Me.

3
00:00:05,000 --> 00:00:06,000
{\\an8}On top &amp; bold
"""

VTT = """WEBVTT - Title here

NOTE
This is not shown

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.000 align:start position:10%
<v Ann>Hello &amp; <b>welcome</b></v>

00:03.000 --> 00:04.000
Second cue
over two lines
"""

HTML = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>My page</title>
<meta name="description" content="A page about things">
<script>var x = "Never translate";</script>
<style>p { color: red }</style></head>
<body>
<!-- a comment -->
<h1>Welcome</h1>
<p>Read <a href="x" title="Go there">the <b>docs</b></a> &amp; <code>run()</code> it.<br>Second line</p>
<p translate="no">Leave me</p>
<p>Mind <span translate="no">BrandName</span> here</p>
<img src="a.png" alt="A picture">
<input type="text" placeholder="Your name"><input type="submit" value="Send">
<pre>Keep  this</pre>
<ul><li>One<li>Two</ul>
<textarea>Typed</textarea>
</body></html>
"""


def docx() -> bytes:
    """Return a Word document with formats, a link, a note and a header."""
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    body = (
        "<w:p><w:pPr><w:jc/></w:pPr><w:r><w:t>Hello </w:t></w:r>"
        '<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">bold words</w:t></w:r>'
        '<w:r><w:t xml:space="preserve"> in a line.</w:t></w:r></w:p>'
        '<w:p><w:r><w:t xml:space="preserve">See </w:t></w:r><w:hyperlink r:id="rId9">'
        "<w:r><w:t>the site</w:t></w:r></w:hyperlink><w:r><w:t> now</w:t></w:r>"
        '<w:r><w:tab/><w:t>After tab</w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        "<w:r><w:instrText>PAGE</w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc>"
        "<w:p><w:r><w:t>Cell text</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<w:p/><w:sectPr/>"
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kind}.document.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Type="{relations}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="rId9" Type="{relations}/hyperlink" Target="http://x.y" '
        'TargetMode="External"/></Relationships>',
        "word/document.xml": f'<w:document {word} xmlns:r="{relations}"><w:body>{body}</w:body>'
        "</w:document>",
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), declaration + text)
    return data.getvalue()


SAMPLES: dict[str, bytes] = {
    "sample.po": PO.encode(),
    "crlf.po": PO.replace("\n", "\r\n").encode(),
    "template.pot": PO.replace('"Language: de\\n"\n', "")
    .replace('"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n', "")
    .encode(),
    "headless.po": b'msgid "Hello"\nmsgstr ""\n',
    "sample.xlf": XLIFF1.encode(),
    "utf16.xlf": XLIFF1.replace("UTF-8", "UTF-16").encode("utf-16"),
    "crlf.xliff": b"\xef\xbb\xbf" + XLIFF1.replace("\n", "\r\n").encode(),
    "two.xlf": XLIFF2.encode(),
    "sample.json": JSON.encode(),
    "messages.json": WEBEXTENSION.encode(),
    "app.arb": ARB.encode(),
    "sample.md": MARKDOWN.encode(),
    "crlf.md": MARKDOWN.replace("\n", "\r\n").encode(),
    "sample.txt": TEXT.encode(),
    "strings.xml": ANDROID.encode(),
    "sample.ts": QT.encode(),
    "sample.properties": PROPERTIES.encode(),
    "latin1.properties": "key=Café au lait\n".encode("latin-1"),
    "sample.strings": STRINGS.encode(),
    "utf16.strings": STRINGS.encode("utf-16"),
    "sample.stringsdict": STRINGSDICT.encode(),
    "sample.xcstrings": XCSTRINGS.encode(),
    "sample.resx": RESX.encode(),
    "sample.tmx": TMX.encode(),
    "sample.csv": CSV.encode(),
    "sample.srt": SRT.encode(),
    "crlf.srt": SRT.replace("\n", "\r\n").encode(),
    "sample.vtt": VTT.encode(),
    "sample.html": HTML.encode(),
    "sample.docx": docx(),
}
