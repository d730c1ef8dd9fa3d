import { allLanguages, encodeAs, languages } from './languages.ts'
import { encodedWord, makeMail } from './mail.ts'
import {
  makeDocx,
  makeEpub,
  makeOdf,
  makePptx,
  makeXlsx,
  odfParagraphs,
  openDocumentBody,
} from './packages.ts'
import { makePdf } from './pdf-writer.ts'

/** A file of each kind that can be read, with every language in it. Right-to-left text has no fixed order in a PDF. */
export function makeSamples(): { readonly [name: string]: Buffer } {
  const lines = Object.values(languages)
  const { arabic: _, hebrew: _too, thai: _either, ...leftToRight } = languages
  return {
    'sample.txt': Buffer.from(allLanguages),
    'legacy.txt': encodeAs(languages.chinese, 'gb18030'),
    'sample.md': Buffer.from(`# Title\n\n${lines.join('\n\n')}`),
    'sample.html': Buffer.from(
      `<!doctype html><html><head><meta charset="utf-8"><style>p{}</style><script>let no = "<p>no</p>"</script></head><body>${lines.map((line) => `<p>${line}</p>`).join('')}</body></html>`,
    ),
    'sample.pdf': makePdf([Object.values(leftToRight).join('\n'), languages.chinese]),
    'sample.docx': makeDocx(lines),
    'sample.pptx': makePptx(lines.map((text) => ({ text, notes: `notes ${text}` }))),
    'sample.xlsx': makeXlsx([
      { name: 'Übersicht', rows: [...lines.map((line) => [line, 42]), ['last', 4711]] },
    ]),
    'sample.odt': makeOdf('text', odfParagraphs(lines)),
    'sample.ods': makeOdf(
      'spreadsheet',
      `<table:table table:name="表">${lines.map((line) => `<table:table-row><table:table-cell>${odfParagraphs([line])}</table:table-cell></table:table-row>`).join('')}</table:table>`,
    ),
    'sample.odp': makeOdf(
      'presentation',
      `<draw:page><draw:text-box>${odfParagraphs(lines)}</draw:text-box></draw:page>`,
    ),
    'sample.fodt': Buffer.from(
      openDocumentBody('text', odfParagraphs(lines)).replaceAll('document-content', 'document'),
    ),
    'sample.rtf': makeRtf(lines),
    'sample.epub': makeEpub('本', lines),
    'sample.eml': makeMail(
      [
        `Subject: ${encodedWord(languages.japanese)}`,
        `From: ${encodedWord('Jürgen')} <j@example.org>`,
        'To: k@example.org',
      ],
      [
        { type: 'text/plain; charset=utf-8', body: lines.join('\n'), encoding: 'quoted-printable' },
        {
          type: 'application/octet-stream',
          body: makeDocx(['attached']),
          encoding: 'base64',
          filename: 'Grüße.docx',
        },
      ],
    ),
  }
}

export function makeRtf(lines: readonly string[]): Buffer {
  const escaped = lines.map((line) =>
    [...Array(line.length).keys()]
      .map((at) => {
        const code = line.charCodeAt(at)
        return code < 128 ? line.charAt(at).replace(/[\\{}]/, '\\$&') : `\\u${(code << 16) >> 16}?`
      })
      .join(''),
  )
  return Buffer.from(
    `{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fnil Arial;}}{\\*\\generator no;}\\uc1\n${escaped.join('\\par\n')}}`,
  )
}
