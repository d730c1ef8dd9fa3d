import type { Document, Extraction } from './document.ts'
import { lineText, type TextPiece } from './pdf-line.ts'
import { TextFull, type TextSink } from './text-sink.ts'
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

/** Pieces of a line that are kept before it is written; one that is longer falls apart. */
const longestLine = 10_000

// The stream is read as it comes, so that a page of endless text is left as soon as there is enough of it.
async function addPage(stream: ReadableStream, out: TextSink): Promise<void> {
  let line: TextPiece[] = []
  const endLine = (end: string) => {
    out.add(lineText(line).normalize('NFKC') + end)
    line = []
  }
  try {
    for await (const { items } of stream as AsyncIterable<{ items: readonly TextPiece[] }>) {
      for (const piece of items) {
        line.push(piece)
        if (piece.hasEOL) endLine('\n')
        else if (line.length >= longestLine) endLine('')
      }
    }
  } catch (error) {
    if (error instanceof TextFull) throw error
    // A page that cannot be read leaves the others as they are.
    out.truncated = true
  }
  endLine('\n\n')
}

function unreadable(error: unknown): Unreadable {
  const isProtected = error instanceof Error && error.name === 'PasswordException'
  const reason = isProtected ? 'is protected by a password' : 'is not what its name says, or damaged'
  return new Unreadable(reason, { cause: error })
}
