import { decodeText } from './charset.ts'
import type { Document, Extraction } from './document.ts'
import { Unreadable } from './unreadable.ts'

/** The text of a file that is nothing but text. */
export function readPlainText(document: Document, extraction: Extraction): void {
  const xmlCharset = /^<\?xml[^>]{0,150}encoding\s*=\s*["']([\w-]{1,40})/
  const start = Buffer.from(document.bytes.subarray(0, 200)).toString('latin1')
  const decoded = decodeText(document.bytes, { cut: document.cut, declared: xmlCharset.exec(start)?.[1] })
  if (decoded === undefined) throw new Unreadable('is not text')
  extraction.out.truncated ||= document.cut
  extraction.out.add(decoded.text.replaceAll('\r\n', '\n').replaceAll('\r', '\n'))
}
