// Entry point of the text extraction worker process.
import { serveWorker } from '../workers/runtime/index.ts'
import { type Extracted, extractText } from './extract-text.ts'
import type { Limits } from './limits.ts'

/** A file to be read. */
export interface ExtractionTask {
  readonly name: string
  readonly limits: Limits
}

serveWorker<ExtractionTask, Extracted>(({ task: { name, limits }, bytes, cut }) =>
  extractText({ name, bytes, cut }, limits),
)
