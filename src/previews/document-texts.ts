import { fail } from '../errors.ts'
import { ExtractorUnavailable, type TextExtractor } from '../extraction/index.ts'
import type { Library, LibraryCore } from '../library/index.ts'
import type { FileDirent } from '../objects/index.ts'
import type { Requester } from '../scheduling/index.ts'

/** What there is to read in a file, without its layout. */
export interface DocumentText {
  readonly text: string
  /** Whether there is more than was read. */
  readonly truncated: boolean
}

/**
 * The texts of documents, for who looks at one. Read anew each time, in the extractor's own process; nothing of them
 * is kept, so those of encrypted libraries rest nowhere in the clear.
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
    const key = core.keys.keyFor(library)
    const read = async function* () {
      const stored = await core.content.open(library.info.key, id, key)
      // A chunk is ours only until the next one is asked for.
      for await (const bytes of stored.read({ start: 0, end: stored.size })) yield Buffer.from(bytes)
    }
    const found = await this.#extractor.extract({ name, size, read }, requester).catch(unavailable)
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
