import {
  type Content,
  PendingBlocks,
  SMALLEST_STORED_BLOCK,
  smallContent,
} from '../../libraries/content/index.ts'
import type { LibraryCore, Ready } from '../../libraries/library/index.ts'
import { STREAM_BYTES } from '../../platform/http/index.ts'
import type { StreamedPart } from '../../platform/input/index.ts'
import { AnnouncedDigest } from './upload-digest.ts'
import type { UploadSession } from './upload-session.ts'

/** The text parts of a form by name, the last of several winning. */
export type FormTexts = ReadonlyMap<string, string>

/** Limit of small blocks buffered per request; beyond it they are stored before the commit. */
const HELD_BYTES = 8 * 1024 * 1024
/** Step of memory reservations, in bytes. */
const STEP_BYTES = 64 * 1024

/**
 * Reads a form to its end. Text parts may precede and follow the files, so `takeFile` receives those
 * known so far. Parts with other names are skipped.
 */
export async function readForm<File>(
  session: UploadSession,
  textNames: ReadonlySet<string>,
  takeFile: (part: StreamedPart, texts: FormTexts) => Promise<File>,
): Promise<{ texts: FormTexts; files: File[] }> {
  const texts = new Map<string, string>()
  const files: File[] = []
  for (let part = await session.form.next(); part !== undefined; part = await session.form.next()) {
    if (textNames.has(part.name)) texts.set(part.name, await part.text())
    // A chunk is named by the request header, so its part may have no name.
    else if (part.name === 'file' && (part.filename ?? session.range) !== undefined)
      files.push(await takeFile(part, texts))
  }
  return { texts, files }
}

interface PartDigest {
  readonly digest: AnnouncedDigest
  /** Whether the digest is from a header of the part. */
  readonly isOfPart: boolean
}

/** Receives the files of one request. Digests are checked at the end, when the number of files is known. */
export class FileReceiver {
  readonly #core: LibraryCore
  readonly #session: UploadSession
  #held = 0
  /** Bytes reserved for content that goes to disk. */
  #streamed = 0
  #files = 0
  #pending: PendingBlocks | undefined

  constructor(core: LibraryCore, session: UploadSession) {
    this.#core = core
    this.#session = session
  }

  /** Throws a refusal on a digest mismatch. */
  async receive(part: StreamedPart): Promise<Content> {
    this.#files += 1
    const digests = this.#digestsOf(part)
    const isPlain = digests.length === 0 && this.#session.dataKey === undefined
    const whole = isPlain ? part.takeWhole(SMALLEST_STORED_BLOCK - 1) : undefined
    if (whole === undefined) return this.#receive(part, digests)
    this.#held += whole.length
    const content = smallContent(whole)
    return this.#mayHold() ? content : this.#putSmall(content)
  }

  /** Whether the small blocks fit in the memory limits of this request and of all requests. */
  #mayHold(): boolean {
    if (this.#held > HELD_BYTES) return false
    const steps = Math.ceil(this.#held / STEP_BYTES)
    return this.#session.request.bodyClaim.tryGrowTo(this.#streamed + steps * STEP_BYTES)
  }

  async #receive(part: StreamedPart, digests: readonly PartDigest[]): Promise<Content> {
    const onBytes = (bytes: Buffer) => {
      for (const { digest } of digests) digest.update(bytes)
    }
    this.#streamed = STREAM_BYTES
    await this.#session.request.bodyClaim.growTo(this.#streamed)
    const { dataKey: key } = this.#session
    const pending = this.#blocks()
    const content = await this.#core.incoming.receive(part.borrowed(), {
      key,
      pending,
      ...(digests.length > 0 && { onBytes }),
    })
    for (const { digest, isOfPart } of digests) if (isOfPart) digest.check()
    for (const bytes of content.small.values()) this.#held += bytes.length
    return this.#mayHold() ? content : this.#putSmall(content)
  }

  #putSmall(content: Content): Promise<Content> {
    for (const { length } of content.small.values()) this.#blocks().keptBytes += length
    return this.#core.incoming.putSmall(content)
  }

  #blocks(): PendingBlocks {
    this.#pending ??= this.#session.own(new PendingBlocks())
    return this.#pending
  }

  /** For the commit, which names the blocks when nothing refuses it, so that an aborted or rejected request leaves nothing behind. Undefined if there are none. */
  get ready(): Ready | undefined {
    const pending = this.#pending
    return pending === undefined || pending.isEmpty ? undefined : () => pending.keep()
  }

  /** The digests that cover a part. The one of the request header covers the first file. */
  #digestsOf(part: StreamedPart): PartDigest[] {
    const ofFile = this.#files === 1 ? this.#session.fileDigest : undefined
    const ofPart = AnnouncedDigest.read(part.headers.get('content-digest'))
    return [
      ...(ofFile === undefined ? [] : [{ digest: ofFile, isOfPart: false }]),
      ...(ofPart === undefined ? [] : [{ digest: ofPart, isOfPart: true }]),
    ]
  }

  /** Compares the digest of the request header with the only file. Throws a refusal. */
  checkDigest(): void {
    if (this.#files === 1) this.#session.fileDigest?.check()
  }
}

/** The base name of a sent file name, after the last slash or backslash. */
export function lastSegment(filename: string): string {
  return filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1)
}

/** Unix seconds of an RFC 3339 time; undefined if malformed or before 1970. */
export function parseLastModify(text: string | undefined): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text ?? '')
  const ms = isTime ? Date.parse((text ?? '').replace(' ', 'T').toUpperCase()) : Number.NaN
  return ms >= 0 ? Math.floor(ms / 1000) : undefined
}
