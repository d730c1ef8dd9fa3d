import { fail } from '../../base/errors.ts'
import type { FileDirent } from '../../base/objects/index.ts'
import { accountRequester, type Requester } from '../../base/scheduling/index.ts'
import type { Library, LibraryCore } from '../../libraries/library/index.ts'
import { ExtractorUnavailable, type TextExtractor } from '../../platform/extraction/index.ts'

/** The text of a file, without its layout. */
interface DocumentText {
  readonly text: string
  /** Whether the text was cut. */
  readonly truncated: boolean
}

/**
 * The texts of documents, for previews. Extracted on each request, in a worker process. Nothing
 * is cached, so texts of encrypted libraries are never stored in plaintext.
 */
export class DocumentTexts implements AsyncDisposable {
  readonly #core: LibraryCore
  readonly #extractor: TextExtractor

  constructor(options: { core: LibraryCore; extractor: TextExtractor }) {
    this.#core = options.core
    this.#extractor = options.extractor
  }

  /** Throws text-unreadable, text-unavailable, password-needed. The caller has shown a right to read the file (I7). */
  async get(library: Library, { id, name, size }: FileDirent, requester: Requester): Promise<DocumentText> {
    const core = this.#core
    const key = await core.keys.keyFor(library)
    const read = async function* () {
      const stored = await library.content.open(id, key)
      // A chunk is valid only until the next one is requested.
      for await (const bytes of stored.read({ start: 0, end: stored.size })) yield Buffer.from(bytes)
    }
    const owner = accountRequester(library.info.ownerKey)
    const found = await this.#extractor.extract({ name, size, owner, read }, requester).catch(unavailable)
    return 'reason' in found ? fail({ code: 'text-unreadable', reason: found.reason }) : found
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#extractor.close()
  }
}

function unavailable(error: unknown): never {
  if (error instanceof ExtractorUnavailable)
    fail({ code: 'text-unavailable', seconds: error.retryAfterSeconds })
  throw error
}
