import { extensionOf } from './categories.ts'
import type { Extracted, ExtractInput, TextExtractor } from './text-extractor.ts'

const MOST_BYTES = 4 * 2 ** 20

const endings = new Set(
  `ac am bat c cc cmake cpp cs css csv diff el go groovy h htm html java js json less log make markdown md org patch php pl
   properties py rb rst scala script sh sql svg tex text ts txt vi vim xhtml xml yaml yml`.split(/\s+/),
)

export function isPlainText(name: string): boolean {
  return endings.has(extensionOf(name))
}

/** Reads files that are text as they are, in UTF-8. */
export class PlainTextExtractor implements TextExtractor {
  async extract({ read }: ExtractInput, { signal }: { signal?: AbortSignal } = {}): Promise<Extracted> {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    let text = ''
    let left = MOST_BYTES
    try {
      for await (const bytes of read()) {
        signal?.throwIfAborted()
        text += decoder.decode(bytes.subarray(0, left), { stream: true })
        left -= bytes.length
        if (left <= 0) return { text, truncated: true }
      }
      return { text: text + decoder.decode(), truncated: false }
    } catch (error) {
      if (error instanceof TypeError) return { reason: 'It is not UTF-8 text.' }
      throw error
    }
  }

  async close(): Promise<void> {}
}
