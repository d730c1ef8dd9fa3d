import type { Document, Extraction } from './document.ts'
import type { TextSink } from './text-sink.ts'
import { Unreadable } from './unreadable.ts'

/** The text of a PDF, page by page. */
export async function readPdf(document: Document, extraction: Extraction): Promise<void> {
  // Importing it takes longer and more memory than all else here, and most files are no PDF.
  const { getDocumentProxy } = await import('unpdf')
  // A copy, because it takes the memory behind the bytes for its own.
  const pdf = await getDocumentProxy(new Uint8Array(document.bytes), {
    verbosity: 0,
    useSystemFonts: false,
    disableFontFace: true,
  }).catch((error: unknown) => {
    throw unreadable(error)
  })
  try {
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const page = await pdf.getPage(number).catch(() => undefined)
      if (page !== undefined) await addPage(page.streamTextContent(), extraction.out)
      page?.cleanup()
    }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

interface TextPiece {
  readonly str?: string
  readonly hasEOL?: boolean
}

// The stream is read as it comes, so that a page of endless text is left as soon as there is enough of it.
async function addPage(stream: ReadableStream, out: TextSink): Promise<void> {
  try {
    for await (const { items } of stream as AsyncIterable<{ items: readonly TextPiece[] }>) {
      for (const { str = '', hasEOL } of items) out.add(str.normalize('NFKC') + (hasEOL ? '\n' : ''))
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'TextFull') throw error
    // A page that cannot be read leaves the others as they are.
    out.truncated = true
  }
  out.add('\n\n')
}

function unreadable(error: unknown): Unreadable {
  const isProtected = error instanceof Error && error.name === 'PasswordException'
  const reason = isProtected ? 'is protected by a password' : 'is not what its name says, or damaged'
  return new Unreadable(reason, { cause: error })
}
