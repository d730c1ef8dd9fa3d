import { type Document, type Extraction, Unreadable } from './document.ts'
import { lineText, type TextPiece } from './pdf-line.ts'
import { TextFull, type TextSink } from './text-sink.ts'

/** Loads PDF.js. On demand: it takes more time and memory than all other readers, and most files are not PDFs. */
export async function loadPdf(): Promise<void> {
  const { getResolvedPDFJS } = await import('unpdf')
  await getResolvedPDFJS()
}

/** Extracts the text of a PDF, page by page. */
export async function readPdf(document: Document, extraction: Extraction): Promise<void> {
  const { getDocumentProxy } = await import('unpdf')
  // A copy, because PDF.js takes ownership of the buffer.
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

/** Maximum pieces of a line. Longer lines are split. */
const MAX_LINE_PIECES = 10_000

// Streamed, so that reading a page with excessive text stops at the limit.
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
        else if (line.length >= MAX_LINE_PIECES) endLine('')
      }
    }
  } catch (error) {
    if (error instanceof TextFull) throw error
    // An unreadable page does not affect the others.
    out.truncated = true
  }
  endLine('\n\n')
}

function unreadable(error: unknown): Unreadable {
  const isProtected = error instanceof Error && error.name === 'PasswordException'
  const reason = isProtected ? 'is protected by a password' : 'is not what its name says, or damaged'
  return new Unreadable(reason, { cause: error })
}
