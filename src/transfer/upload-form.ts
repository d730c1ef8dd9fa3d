import type { StreamedPart } from '../http/multipart-stream.ts'
import type { Content } from '../library/content.ts'
import type { LibraryCore } from '../library/core.ts'
import { AnnouncedDigest } from './upload-digest.ts'
import type { UploadSession } from './upload-session.ts'

/** The text parts of a form by name, the last of several winning. */
export type FormTexts = ReadonlyMap<string, string>

/** Small blocks held in memory for one request; beyond it they are stored ahead of the commit. */
const HELD_BYTES = 8 * 1024 * 1024

/**
 * Reads a form to its end. Texts may come before and after the files, so `takeFile` is told what is
 * known so far. Parts of other names are skipped.
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
    // A chunk is named by the head of its request, so its part may have no name of its own.
    else if (part.name === 'file' && (part.filename ?? session.range) !== undefined) {
      files.push(await takeFile(part, texts))
    }
  }
  return { texts, files }
}

/** Receives the files of one request. Their digests are checked once it is known how many they are. */
export class FileReceiver {
  readonly #core: LibraryCore
  readonly #session: UploadSession
  #held = 0
  #files = 0

  constructor(core: LibraryCore, session: UploadSession) {
    this.#core = core
    this.#session = session
  }

  /** Throws a refusal if the part announced another digest. */
  async receive(part: StreamedPart): Promise<Content> {
    this.#files += 1
    const fileDigest = this.#files === 1 ? this.#session.fileDigest : undefined
    const partDigest = AnnouncedDigest.read(part.headers.get('content-digest'))
    const digests = [fileDigest, partDigest].filter((digest) => digest !== undefined)
    const onBytes = (bytes: Buffer) => {
      for (const digest of digests) digest.update(bytes)
    }
    const { dataKey: key } = this.#session
    const content = await this.#core.content.receive(part.content, {
      key,
      ...(digests.length > 0 && { onBytes }),
    })
    partDigest?.check()
    for (const bytes of content.small.values()) this.#held += bytes.length
    if (this.#held <= HELD_BYTES) return content
    return this.#core.content.putSmall(content)
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
