import { unescapeHtml } from './character-references.ts'
import { decodeText } from './charset.ts'
import type { Document, Extraction } from './document.ts'
import type { TextSink } from './text-sink.ts'
import { Unreadable } from './unreadable.ts'

/** The text a page shows, and its title. */
export function readHtml(document: Document, extraction: Extraction): void {
  const decoded = decodeText(document.bytes, { cut: document.cut, declared: declaredCharset(document.bytes) })
  if (decoded === undefined) throw new Unreadable('is not text')
  extraction.out.truncated ||= document.cut
  addHtml(decoded.text, extraction.out)
}

// Raw text elements end at their own closing tag only; what they hold is nothing to read.
const raw = new Set(['script', 'style', 'template', 'noscript', 'svg', 'math', 'object', 'iframe'])
const inline =
  /^(a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|mark|q|rb|rp|rt|rtc|ruby|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr)$/

/** Adds the text of HTML: a line a block, a tab a cell. */
export function addHtml(html: string, out: TextSink): void {
  let at = 0
  while (at < html.length) {
    const tag = indexOrEnd(html, '<', at)
    out.add(unescapeHtml(html.slice(at, tag)).replace(/\s+/g, ' '))
    at = tag < html.length ? passTag(html, tag, out) : tag
  }
  out.endLine()
}

// Returns where the text goes on.
function passTag(html: string, tag: number, out: TextSink): number {
  if (html.startsWith('<!--', tag)) return indexOrEnd(html, '-->', tag + 4) + 3
  if (html.startsWith('<![CDATA[', tag)) return tag + '<![CDATA['.length
  const name = /^<\/?([a-z][\w:-]{0,30})/i.exec(html.slice(tag, tag + 34))?.[1]?.toLowerCase()
  if (name === undefined) {
    if (/[!?/]/.test(html[tag + 1] ?? '')) return indexOrEnd(html, '>', tag) + 1
    out.add('<')
    return tag + 1
  }
  const end = tagEnd(html, tag) + 1
  if (name === 'td' || name === 'th') out.add('\t')
  else if (!inline.test(name)) out.add('\n')
  const opens = html[tag + 1] !== '/' && html[end - 2] !== '/'
  return opens && raw.has(name) ? closingTag(html, name, end) : end
}

function tagEnd(html: string, tag: number): number {
  const stop = /[>"']/g
  stop.lastIndex = tag
  for (let found = stop.exec(html); found !== null; found = stop.exec(html)) {
    if (found[0] === '>') return found.index
    const quote = html.indexOf(found[0], stop.lastIndex)
    // A quote nobody closes is a typing mistake, not the end of the page.
    if (quote < 0) return indexOrEnd(html, '>', tag)
    stop.lastIndex = quote + 1
  }
  return html.length
}

function closingTag(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}\\b`, 'gi')
  closing.lastIndex = from
  const found = closing.exec(html)
  return found === null ? html.length : indexOrEnd(html, '>', found.index) + 1
}

function indexOrEnd(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from)
  return found < 0 ? text.length : found
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 2048)).toString('latin1')
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i.exec(start)?.[1]
}
