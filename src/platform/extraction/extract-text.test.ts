import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeAs, languages } from '../../../test/support/documents/languages.ts'
import { encodedWord, makeMail } from '../../../test/support/documents/mail.ts'
import {
  makeDocx,
  makeEpub,
  makeOdf,
  makePptx,
  makeXlsx,
  odfParagraphs,
  openDocumentBody,
  wordBody,
  wordParagraph,
  zipParts,
} from '../../../test/support/documents/packages.ts'
import { makePdf } from '../../../test/support/documents/pdf-writer.ts'
import { makeRtf, makeSamples } from '../../../test/support/documents/samples.ts'
import { extractText } from './extract-text.ts'
import { isExtractable } from './formats.ts'
import { defaultLimits } from './limits.ts'
import { lineText } from './pdf-line.ts'

const lines = Object.values(languages)

async function textOf(name: string, content: string | Buffer): Promise<string> {
  const extracted = await extractText({ name, bytes: Buffer.from(content), cut: false }, defaultLimits)
  assert.ok('text' in extracted, `${name} ${JSON.stringify(extracted)}`)
  assert.equal(extracted.truncated, false)
  return extracted.text
}

async function reasonOf(name: string, content: string | Buffer): Promise<string> {
  const extracted = await extractText({ name, bytes: Buffer.from(content), cut: false }, defaultLimits)
  assert.ok('reason' in extracted, `${name} gives text`)
  return extracted.reason
}

describe('what can be read', () => {
  it('is determined by the extension, case-insensitively', () => {
    const text = `ac am bat c cc cmake cpp cs css diff el h html htm java js json less make org php pl properties py rb
      scala script sh sql txt text tex vi vim xhtml xml log csv groovy rst patch go markdown md`
    for (const extension of text.split(/\s+/)) assert.ok(isExtractable(`a.${extension}`), extension)
    for (const extension of 'PDF docx pptx xlsx odt odp ods fodt fodp rtf epub eml'.split(' ')) {
      assert.ok(isExtractable(`a.b.${extension}`), extension)
    }
    for (const name of ['a', 'pdf', '.', 'a.png', 'a.pdf.zip', 'a.constructor', '']) {
      assert.ok(!isExtractable(name), name)
    }
  })
})

describe('the text of a file', () => {
  for (const [name, content] of Object.entries(makeSamples())) {
    it(`is found in ${name}, in every language`, async () => {
      const text = await textOf(name, content)
      const { arabic: _, hebrew: _too, thai: _either, ...leftToRight } = languages
      const expected =
        name === 'legacy.txt'
          ? [languages.chinese]
          : name.endsWith('.pdf')
            ? Object.values(leftToRight)
            : lines
      for (const line of expected)
        assert.ok(text.includes(line.normalize('NFKC')) || text.includes(line), line)
      assert.doesNotMatch(text, /let no|STYLE|PHONETIC|color: red|\ufffd/)
    })
  }

  it('contains no NUL and no lone surrogates', async () => {
    assert.equal(await textOf('a.txt', 'a\x01b \ud800'), 'a\x01b \ufffd')
    const word = makeDocx([], {
      'word/document.xml': wordBody('<w:p><w:r><w:t>a&#0;b&#xD800;c</w:t></w:r></w:p>'),
    })
    assert.equal(await textOf('a.docx', word), 'a&#0;b&#xD800;c')
    assert.equal(await textOf('a.rtf', '{\\rtf1 a\\u0 ?b\\u-10240 ?c}'), 'ab\ufffdc')
  })
})

describe('a plain text', () => {
  it('keeps its layout, with lines that end in one way', async () => {
    assert.equal(await textOf('a.py', 'if x:\r\n\tpass\r\n\r\n\r\n  y\r'), 'if x:\n\tpass\n\n\n  y\n')
  })

  it('is read in the charset its XML declaration names', async () => {
    const xml = encodeAs('<?xml version="1.0" encoding="windows-1251"?><a>ёж</a>', 'windows-1251')
    assert.match(await textOf('a.xml', xml), /<a>ёж<\/a>/)
  })

  it('is rejected if it is something else', async () => {
    assert.equal(await reasonOf('a.txt', makePdf(['x']).subarray(0, 200).fill(0, 50, 90)), 'is not text')
    assert.equal(await reasonOf('a.html', Buffer.alloc(64)), 'is not text')
  })
})

describe('a page of HTML', () => {
  const cases: [html: string, text: string][] = [
    ['<p>one<p>two', 'one\ntwo'],
    ['<b>b</b>old <i>i</i>talic', 'bold italic'],
    ['a<br>b<BR/>c', 'a\nb\nc'],
    ['<table><tr><td>1<td>2<tr><td>3</table>', '1\t2\n3'],
    [
      '&lt;b&gt; &amp;amp; &uuml; &#x4e2d;&#25991; &nbsp;&euro; &unknown; &AElig &#xffffff;',
      '<b> &amp; ü 中文 € &unknown; Æ &#xffffff;',
    ],
    ['<!-- no <p>no</p> -->yes<!doctype html><?php no ?>', 'yes'],
    ['<script>if (a < b) "</p>"</script>yes<STYLE>p > a</STYLE >', 'yes'],
    ['<a href="x>y" title=\'a>b\'>link</a>', 'link'],
    ['1 < 2 and 3 > 2, a<3', '1 < 2 and 3 > 2, a<3'],
    ['<title>Title</title><body>x', 'Title\n\nx'],
    ['<p title="never closed>text</p> more <i>x</i>', 'text\nmore x'],
    ['never ends <p', 'never ends'],
    ['<script>never ends', ''],
    ['<!-- never ends', ''],
  ]
  for (const [html, text] of cases) {
    it(`shows ${JSON.stringify(text)} for ${html}`, async () =>
      assert.equal(await textOf('a.html', html), text))
  }

  it('is read in the charset it names', async () => {
    const html = encodeAs('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">ёж', 'koi8-r')
    assert.equal(await textOf('a.htm', html), 'ёж')
  })
})

describe('a word processing document', () => {
  it('yields the body, then headers, footers, notes and comments', async () => {
    const body = wordBody(
      `${wordParagraph('first')}<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>
      <w:p><w:del><w:r><w:delText>GONE</w:delText></w:r></w:del><w:r><w:instrText>FIELD</w:instrText></w:r></w:p>
      <w:tbl><w:tr><w:tc>${wordParagraph('cell 1')}</w:tc><w:tc>${wordParagraph('cell 2')}</w:tc></w:tr></w:tbl>
      <mc:AlternateContent><mc:Choice>${wordParagraph('box')}</mc:Choice><mc:Fallback>${wordParagraph('box')}</mc:Fallback></mc:AlternateContent>`,
    )
    const word = makeDocx([], {
      'word/document.xml': body,
      'word/header1.xml': wordBody(wordParagraph('header')),
      'word/footnotes.xml': wordBody(wordParagraph('note')),
      'word/comments.xml': wordBody(wordParagraph('comment')),
    })
    assert.equal(
      await textOf('a.docx', word),
      'first\na\tb\nc\n\ncell 1\ncell 2\n\nbox\ncomment\nnote\nheader',
    )
  })

  it('is found through the relationships of the package', async () => {
    const relation = '<Relationship Id="r" Type="x/officeDocument" Target="/word/other%20name.xml"/>'
    const word = zipParts({
      '_rels/.rels': relation,
      'word/other name.xml': wordBody(wordParagraph('there')),
    })
    assert.equal(await textOf('a.docx', word), 'there')
  })

  it('is rejected with a reason if it is something else', async () => {
    assert.match(await reasonOf('a.docx', 'plain text'), /not what its name says/)
    assert.match(await reasonOf('a.docx', zipParts({ 'a.txt': 'x' })), /not what its name says/)
    assert.match(
      await reasonOf('a.docx', Buffer.from('d0cf11e0a1b11ae100', 'hex')),
      /password or of an older/,
    )
    const word = makeDocx(['x'])
    assert.match(await reasonOf('a.docx', word.subarray(0, word.length - 30)), /damaged/)
  })
})

describe('a presentation', () => {
  it('shows its slides in their order, each with its notes', async () => {
    const slides = makePptx([
      { text: 'one\n1', notes: 'say one' },
      { text: 'two' },
      { text: 'three', notes: 'say three' },
    ])
    assert.equal(await textOf('a.pptx', slides), 'one\n1\nsay one\ntwo\nthree\nsay three')
  })
})

describe('a workbook', () => {
  it('shows names of sheets, shared strings, strings in place and numbers', async () => {
    const book = makeXlsx([
      { name: 'Q&A', rows: [['shared', 1.5], ['<tag>'], ['in place', 42]] },
      { name: '表', rows: [['last']] },
    ])
    assert.equal(await textOf('a.xlsx', book), 'Q&A\nshared\t1.5\n<tag>\nin place\t42\n\n表\nlast')
  })
})

describe('an OpenDocument file', () => {
  it('shows paragraphs and headings, with the blanks written as elements', async () => {
    const body =
      '<text:tracked-changes><text:p>GONE</text:p></text:tracked-changes><text:h>Head</text:h><text:p>a<text:s/>b<text:tab/>c<text:line-break/>d <text:span>e</text:span></text:p>'
    assert.equal(await textOf('a.odt', makeOdf('text', body)), 'Head\na b\tc\nd e')
  })

  it('shows a sheet by its name', async () => {
    const cell = (text: string) => `<table:table-cell>${odfParagraphs([text])}</table:table-cell>`
    const row = `<table:table-row>${cell('a')}${cell('b')}</table:table-row>`
    assert.equal(
      await textOf('a.ods', makeOdf('spreadsheet', `<table:table table:name="S">${row}</table:table>`)),
      'S\na\nb',
    )
  })

  it('is read from a single file, too', async () => {
    const flat = openDocumentBody('presentation', odfParagraphs(['slide'])).replaceAll(
      'document-content',
      'document',
    )
    assert.equal(await textOf('a.fodp', flat), 'slide')
    assert.match(await reasonOf('a.fodp', '<svg/>'), /not what its name says/)
  })

  it('is rejected if it is password-protected', async () => {
    const manifest = '<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>'
    const file = zipParts({ 'META-INF/manifest.xml': manifest, 'content.xml': 'secret' })
    assert.equal(await reasonOf('a.odt', file), 'is protected by a password')
  })
})

describe('a book', () => {
  it('is read in the order of its spine', async () => {
    assert.equal(
      await textOf('a.epub', makeEpub('Title', ['one', 'two', 'three'])),
      'Title\nИван\n\none\n\ntwo\n\nthree',
    )
  })
})

describe('a document in the Rich Text Format', () => {
  const cases: [rtf: string, text: string][] = [
    ['{\\rtf1\\ansi a\\par b\\tab c\\line d}', 'a\nb\tc\nd'],
    ["{\\rtf1\\ansi\\ansicpg1251 \\'cf\\'f0\\'e8\\'e2\\'e5\\'f2}", 'Привет'],
    [
      "{\\rtf1\\ansi{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset134 S;}}\\f0 \\'fc \\f1\\'c4\\'e3\\'ba\\'c3}",
      'ü 你好',
    ],
    ["{\\rtf1\\ansi{\\fonttbl{\\f1\\fcharset128 M;}}{\\f1 \\'83\\'65\\'83X\\'83g} \\'e4}", 'テスト ä'],
    ['{\\rtf1\\uc1 \\u20320?\\u22909? \\uc2\\u20013ab!\\uc0\\u-10179\\u-8704}', '你好 中!😀'],
    [
      '{\\rtf1{\\*\\secret hidden}{\\info{\\title hidden}}{\\pict 00ff00}shown\\emdash\\lquote x\\rquote}',
      'shown—‘x’',
    ],
    ['{\\rtf1 \\{a\\}\\\\b\\~c\\_d}', '{a}\\b c-d'],
    ['{\\rtf1 a\\bin4 }{\\x b}', 'a b'],
    ['{\\rtf1 {\\f99999 a}}}}}b', 'ab'],
  ]
  for (const [rtf, text] of cases) {
    it(`shows ${JSON.stringify(text)} for ${rtf}`, async () => assert.equal(await textOf('a.rtf', rtf), text))
  }

  it('is rejected if it is something else', async () => {
    assert.equal(await reasonOf('a.rtf', 'plain'), 'is not what its name says')
    assert.equal(await textOf('a.rtf', makeRtf(['x'])), 'x')
  })
})

describe('a message', () => {
  it('yields sender, recipients, subject and the plain text body', async () => {
    const mail = makeMail(
      [
        `Subject: ${encodedWord('日本', 'iso-2022-jp', Buffer.from('\x1b$BF|K\\\x1b(B'))}`,
        ` ${encodedWord('x')}`,
        'From: =?iso-8859-1?Q?J=FCrgen_M?= <j@example.org>',
        'To: a@example.org,',
        ' b@example.org',
      ],
      [
        { type: 'text/plain; charset=gb2312', body: encodeAs('你好', 'gb18030'), encoding: 'base64' },
        { type: 'text/html; charset=utf-8', body: '<p>html</p>' },
      ],
      'alternative',
    )
    assert.equal(
      await textOf('a.eml', mail),
      'Subject: 日本x\nFrom: Jürgen M <j@example.org>\nTo: a@example.org, b@example.org\n\n你好',
    )
  })

  it('reads attached files by their names, and attached messages', async () => {
    const inner = makeMail(
      ['Subject: inner'],
      [{ type: 'application/pdf', body: makePdf(['in a pdf']), encoding: 'base64', filename: 'a.pdf' }],
    )
    const mail = makeMail(
      ['Subject: outer'],
      [
        { type: 'text/html', body: '<p>body</p>' },
        { type: 'image/png', body: 'no', filename: '画.png' },
        {
          type: 'application/zip',
          body: makeDocx(['in a docx']),
          encoding: 'base64',
          filename: 'Grüße.docx',
        },
        { type: 'application/pdf', body: 'broken', filename: 'broken.pdf' },
        { type: 'message/rfc822', body: inner },
      ],
    )
    assert.equal(
      await textOf('a.eml', mail),
      'Subject: outer\n\nbody\n\n画.png\n\nGrüße.docx\nin a docx\n\nbroken.pdf\nSubject: inner\n\na.pdf\nin a pdf',
    )
  })

  it('is read without parts, without a charset, and with continued parameters (RFC 2231)', async () => {
    assert.equal(
      await textOf(
        'a.eml',
        Buffer.concat([Buffer.from('From: x\n\n'), encodeAs(languages.russian, 'koi8-r')]),
      ),
      `From: x\n\n${languages.russian}`,
    )
    const pieces = `From: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: attachment; filename*0*=utf-8''%E4%BD; filename*1*=%A0;\n filename*2=".txt"\n\nhi\n--b--`
    assert.equal(await textOf('a.eml', pieces), 'From: x\n\n你.txt\nhi')
  })

  it('is rejected if it is something else', async () => {
    assert.equal(await reasonOf('a.eml', '<html>'), 'is not what its name says')
  })
})

describe('a PDF', () => {
  it('shows its pages in order, with compatibility characters made plain', async () => {
    assert.equal(await textOf('a.pdf', makePdf(['ﬁrst ＡＢＣ', 'second'])), 'first ABC\n\nsecond')
  })

  it('reverses right-to-left text that is drawn letter by letter from left to right', () => {
    const drawn = (text: string) =>
      Array.from(text, (str, x) => ({
        str,
        dir: /[a-z .]/.test(str) ? 'ltr' : 'rtl',
        transform: [1, 0, 0, 1, x, 0],
      }))
    assert.equal(lineText(drawn('םלוע םולש abc')), 'שלום עולם abc')
    assert.equal(lineText(drawn('ב .א')), 'א. ב')
    assert.equal(lineText(drawn('abc')), 'abc')
    assert.equal(
      lineText(drawn('שלום').map((piece, x) => ({ ...piece, transform: [1, 0, 0, 1, -x, 0] }))),
      'שלום',
    )
  })

  it('is rejected if it is something else', async () => {
    assert.match(await reasonOf('a.pdf', makeDocx(['x'])), /not what its name says/)
  })
})
