import { Tokenizer } from 'htmlparser2'
import { decodeText } from './charset.ts'
import { type Document, type Extraction, Unreadable } from './document.ts'
import type { TextSink } from './text-sink.ts'
import { ignoredTokens, referencedText } from './xml-reader.ts'

/** The text a page shows, and its title. */
export function readHtml(document: Document, extraction: Extraction): void {
  const decoded = decodeText(document.bytes, { cut: document.cut, declared: declaredCharset(document.bytes) })
  if (decoded === undefined) throw new Unreadable('is not text')
  extraction.out.truncated ||= document.cut
  addHtml(decoded.text, extraction.out)
}

/** Elements whose content is not text of the page. */
const hidden = new Set(['script', 'style', 'template', 'noscript', 'svg', 'math', 'object', 'iframe'])
const inline =
  /^(a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|mark|q|rb|rp|rt|rtc|ruby|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr)$/

/** Adds the text of HTML: one line per block, a tab per cell. */
export function addHtml(html: string, out: TextSink): void {
  // A quote that is never closed hides the rest. Each of the two quote characters can do so only once.
  for (let rest: string | undefined = html; rest !== undefined; ) rest = addMarkup(rest, out)
  out.endLine()
}

/** Returns what follows the tag in which the markup ended, if any: a quote was probably forgotten there. */
function addMarkup(html: string, out: TextSink): string | undefined {
  let text = ''
  let tag = ''
  let unfinishedTag = -1
  let hiddenBy: string | undefined
  const addText = (start: number, end: number) => {
    // What follows "<" is the name of a tag that the document ends in.
    if (hiddenBy === undefined && html[start - 1] !== '<') text += html.slice(start, end)
  }
  const flush = () => {
    out.add(text.replace(/\s+/g, ' '))
    text = ''
  }
  const separate = (name: string) => {
    if (hiddenBy !== undefined) return
    flush()
    if (name === 'td' || name === 'th') out.add('\t')
    else if (!inline.test(name)) out.add('\n')
  }
  const tokenizer = new Tokenizer(
    // XHTML chapters of e-books close empty elements themselves.
    { recognizeSelfClosing: true },
    {
      ...ignoredTokens,
      ontext: addText,
      ontextentity: (code, end) => {
        if (hiddenBy === undefined) text += referencedText(html, code, end)
      },
      oncdata: (start, end, endOffset) => addText(start, end - endOffset),
      onopentagname: (start, end) => {
        unfinishedTag = start
        tag = html.slice(start, end).toLowerCase()
        separate(tag)
      },
      onselfclosingtag: () => {
        unfinishedTag = -1
      },
      onopentagend: () => {
        unfinishedTag = -1
        if (hidden.has(tag)) hiddenBy ??= tag
      },
      onclosetag: (start, end) => {
        const name = html.slice(start, end).toLowerCase()
        if (name === hiddenBy) hiddenBy = undefined
        separate(name)
      },
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  flush()
  const tagEnd = unfinishedTag < 0 ? -1 : html.indexOf('>', unfinishedTag)
  return tagEnd < 0 ? undefined : html.slice(tagEnd + 1)
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 2048)).toString('latin1')
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i.exec(start)?.[1]
}
