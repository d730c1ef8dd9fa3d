// Entry point of the text extraction worker process.
import { serveWorker } from '../workers/runtime/index.ts'
import { type Extracted, extractText } from './extract-text.ts'
import { formatOf, mayContainPdf } from './formats.ts'
import type { Limits } from './limits.ts'
import { loadPdf } from './pdf.ts'

/** A file to be read. */
export interface ExtractionTask {
  readonly name: string
  readonly limits: Limits
}

serveWorker<ExtractionTask, Extracted>({
  prepare: async ({ name }) => mayContainPdf(formatOf(name)) && loadPdf(),
  work: ({ task: { name, limits }, bytes, cut }) => extractText({ name, bytes, cut }, limits),
})
