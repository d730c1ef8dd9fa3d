import { type Content, SMALLEST_STORED_BLOCK, smallContent, UnkeptBlocks } from '../content/index.ts'
import { STREAM_BYTES, type StreamedPart } from '../http/index.ts'
import type { LibraryCore } from '../library/index.ts'
import { AnnouncedDigest } from './upload-digest.ts'
import type { UploadSession } from './upload-session.ts'

/** The text parts of a form by name, the last of several winning. */
export type FormTexts = ReadonlyMap<string, string>

/** Small blocks held in memory for one request; beyond it they are stored ahead of the commit. */
const HELD_BYTES = 8 * 1024 * 1024
/** Memory for them is reserved in steps of so many bytes. */
const STEP_BYTES = 64 * 1024

/**
 * Reads a form to its end. Texts may come before and after the files, so `takeFile` is told what is
 * known so far. Parts of other names are skipped.
 */
export async function readForm<File>(
  session: UploadSession,
  textNames: ReadonlySet<string>,
  takeFile: (part: StreamedPart, texts: FormTexts) => File | Promise<File>,
): Promise<{ texts: FormTexts; files: File[] }> {
  const texts = new Map<string, string>()
  const files: File[] = []
  for (;;) {
    // What is there already is not waited for: a form of many small files is a loop without a turn.
    const next = session.form.next()
    const part = next instanceof Promise ? await next : next
    if (part === undefined) return { texts, files }
    if (textNames.has(part.name)) {
      const text = part.text()
      texts.set(part.name, typeof text === 'string' ? text : await text)
    } else if (part.name === 'file' && (part.filename ?? session.range) !== undefined) {
      // A chunk is named by the head of its request, so its part may have no name of its own.
      const file = takeFile(part, texts)
      files.push(file instanceof Promise ? await file : file)
    }
  }
}

interface PartDigest {
  readonly digest: AnnouncedDigest
  /** Whether the part announced it itself. */
  readonly isOfPart: boolean
}

/** Receives the files of one request. Their digests are checked once it is known how many they are. */
export class FileReceiver {
  readonly #core: LibraryCore
  readonly #session: UploadSession
  #held = 0
  /** Bytes reserved for content that goes to disk. */
  #streamed = 0
  #files = 0
  #unkept: UnkeptBlocks | undefined

  constructor(core: LibraryCore, session: UploadSession) {
    this.#core = core
    this.#session = session
  }

  /** Throws a refusal if the part announced another digest. Not a promise if the content is there and small. */
  receive(part: StreamedPart): Content | Promise<Content> {
    this.#files += 1
    const digests = this.#digestsOf(part)
    const isPlain = digests.length === 0 && this.#session.dataKey === undefined
    const whole = isPlain ? part.takeWhole(SMALLEST_STORED_BLOCK - 1) : undefined
    if (whole === undefined) return this.#receive(part, digests)
    this.#held += whole.length
    const content = smallContent(whole)
    return this.#mayHold() ? content : this.#core.content.putSmall(content)
  }

  /** Whether the small blocks fit in memory, that of this request and that of all. */
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
    this.#unkept ??= this.#session.own(new UnkeptBlocks())
    const content = await this.#core.content.receive(part.lent(), {
      key,
      unkept: this.#unkept,
      ...(digests.length > 0 && { onBytes }),
    })
    for (const { digest, isOfPart } of digests) if (isOfPart) digest.check()
    for (const bytes of content.small.values()) this.#held += bytes.length
    if (this.#mayHold()) return content
    return this.#core.content.putSmall(content)
  }

  /**
   * To be called when nothing more can be refused but by the commit: only then does a request that is cut off or refused
   * leave nothing behind. Not a promise when there is nothing to keep.
   */
  keep(): Promise<void> | undefined {
    return this.#unkept?.keep()
  }

  /** Those that see the bytes of a part: that of the request's head is about its first file. */
  #digestsOf(part: StreamedPart): PartDigest[] {
    const ofFile = this.#files === 1 ? this.#session.fileDigest : undefined
    const ofPart = AnnouncedDigest.read(part.headers.get('content-digest'))
    return [
      ...(ofFile === undefined ? [] : [{ digest: ofFile, isOfPart: false }]),
      ...(ofPart === undefined ? [] : [{ digest: ofPart, isOfPart: true }]),
    ]
  }

  /** Compares the digest of the request's head, which is about its one file. Throws a refusal. */
  checkDigest(): void {
    if (this.#files === 1) this.#session.fileDigest?.check()
  }
}

/** The name in a file name as sent: what comes after the last slash of either kind. */
export function lastSegment(filename: string): string {
  return filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1)
}

/** Unix seconds of an RFC 3339 time; undefined for what is none, or before 1970. */
export function parseLastModify(text: string | undefined): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text ?? '')
  const ms = isTime ? Date.parse((text ?? '').replace(' ', 'T').toUpperCase()) : Number.NaN
  return ms >= 0 ? Math.floor(ms / 1000) : undefined
}
