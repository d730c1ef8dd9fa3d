import path from 'node:path'
import type { Entry } from '../../sdk/src/index.ts'
import { ClientError } from './client-error.ts'
import { localFiles, type SourceEvents, type SourceFile, type SourceItem } from './local-files.ts'
import { nameProblem } from './local-names.ts'
import { Failures, inParallel } from './pool.ts'
import type { Progress } from './progress.ts'
import type { Session } from './session.ts'
import { note } from './terminal.ts'

export interface TransferOptions {
  readonly parallel: number
  /** Skip files that are there with the same size and time. */
  readonly update: boolean
  /** Skip files that are there. */
  readonly noClobber: boolean
  /** Count what would be sent, and send nothing. */
  readonly dryRun?: boolean
  readonly progress: Progress
}

/** What was transferred. */
export interface Transferred {
  files: number
  bytes: number
  skipped: number
}

/** Files up to this size are sent together. */
const SMALL_BYTES = 1_000_000
const BATCH_FILES = 200
const BATCH_BYTES = 8_000_000
/** Small files of one batch that are read at a time, where reading takes a request. */
const READS_PER_BATCH = 4
const FOLDERS_PER_CALL = 500

/** Copies files and folders into a library, small files many at a time. */
export class TreeUpload {
  readonly transferred: Transferred = { files: 0, bytes: 0, skipped: 0 }
  readonly failures = new Failures()
  readonly #session: Session
  readonly #library: string | undefined
  readonly #options: TransferOptions
  readonly #listed = new Map<string, Promise<Map<string, Entry>>>()
  readonly #emptyFolders: string[] = []

  /** Only a dry run may do without a library, which does not exist yet. */
  constructor(session: Session, library: string | undefined, options: TransferOptions) {
    this.#session = session
    this.#library = library
    this.#options = options
  }

  /** Copies each local source to its path in the library. */
  async run(sources: readonly { readonly local: string; readonly remote: string }[]): Promise<void> {
    await this.runItems(this.#localItems(sources))
  }

  /** The library that is written to; undefined in a dry run. */
  get #written(): string | undefined {
    return this.#options.dryRun === true ? undefined : this.#library
  }

  /** Copies items of any source. */
  async runItems(items: AsyncIterable<SourceItem>): Promise<void> {
    await inParallel(this.#batches(items), this.#options.parallel, (files) => this.#send(files))
    const { carrel, signal } = this.#session
    const library = this.#written
    if (library === undefined) return
    for (let at = 0; at < this.#emptyFolders.length; at += FOLDERS_PER_CALL) {
      const paths = this.#emptyFolders.slice(at, at + FOLDERS_PER_CALL)
      await carrel.createFolders(library, paths, { signal })
    }
  }

  async *#localItems(
    sources: readonly { readonly local: string; readonly remote: string }[],
  ): AsyncGenerator<SourceItem> {
    const events: SourceEvents = {
      signal: this.#session.signal,
      onSkipped: (label, reason) => note(`${label}: skipped, because ${reason}.`),
      onFailed: (label, error) => this.failures.add(label, error),
    }
    for (const { local, remote } of sources) {
      yield* localFiles(local, path.posix.dirname(remote), path.posix.basename(remote), events)
    }
  }

  /** Files that are sent by one request. */
  async *#batches(items: AsyncIterable<SourceItem>): AsyncGenerator<SourceFile[]> {
    let batch: SourceFile[] = []
    let bytes = 0
    for await (const file of items) {
      this.#session.signal.throwIfAborted()
      const problem = problemIn(file)
      if (problem !== undefined) {
        this.failures.add(file.label, problem)
        continue
      }
      if (file.kind === 'empty-folder') {
        this.#emptyFolders.push(file.path)
        continue
      }
      if (await this.#isThere(file)) {
        this.transferred.skipped += 1
        continue
      }
      this.#options.progress.expect(file.size)
      if (file.size > SMALL_BYTES) {
        yield [file]
        continue
      }
      const isFull = batch.length >= BATCH_FILES || bytes + file.size > BATCH_BYTES
      if (batch.length > 0 && (isFull || batch[0]?.folder !== file.folder)) {
        yield batch
        batch = []
        bytes = 0
      }
      batch.push(file)
      bytes += file.size
    }
    if (batch.length > 0) yield batch
  }

  async #isThere({ folder, name, size, modifiedAt }: SourceFile): Promise<boolean> {
    const { update, noClobber } = this.#options
    if (!update && !noClobber) return false
    const found = (await this.#entriesOf(folder)).get(name.normalize())
    if (found?.kind !== 'file') return false
    const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
    const isSameTime = modifiedAt === undefined || seconds(found.modifiedAt) === seconds(modifiedAt)
    return noClobber || (found.size === size && isSameTime)
  }

  #entriesOf(folder: string): Promise<Map<string, Entry>> {
    const known = this.#listed.get(folder) ?? this.#list(folder)
    this.#listed.set(folder, known)
    return known
  }

  async #list(folder: string): Promise<Map<string, Entry>> {
    const entries = new Map<string, Entry>()
    if (this.#library === undefined) return entries
    const { carrel, signal } = this.#session
    if ((await carrel.find(this.#library, folder, { signal }))?.kind !== 'dir') return entries
    for await (const entry of carrel.list(this.#library, folder, { signal })) {
      entries.set(entry.name.normalize(), entry)
    }
    return entries
  }

  async #send(files: readonly SourceFile[]): Promise<void> {
    const [first] = files
    if (first === undefined) return
    const library = this.#written
    if (library === undefined) return files.forEach((file) => this.#count(file))
    try {
      if (first.size > SMALL_BYTES) await this.#sendLarge(library, first)
      else await this.#sendSmall({ library, folder: first.folder }, files)
    } catch (error) {
      // One file of a batch may be what the server refuses, so each is tried by itself.
      if (files.length > 1) for (const file of files) await this.#send([file])
      else this.failures.add(first.label, error)
    }
  }

  async #sendSmall(
    to: { readonly library: string; readonly folder: string },
    files: readonly SourceFile[],
  ): Promise<void> {
    const { carrel, signal } = this.#session
    const sent: { file: SourceFile; content: Uint8Array<ArrayBuffer> }[] = []
    await inParallel(files, READS_PER_BATCH, async (file) => {
      try {
        sent.push({ file, content: await file.bytes() })
      } catch (error) {
        this.failures.add(file.label, error)
      }
    })
    if (sent.length === 0) return
    const named = sent.map(({ file, content }) => ({ ...nameAndTime(file), content }))
    await carrel.uploadMany(to, named, { signal })
    for (const { file } of sent) {
      this.#options.progress.add(file.size, file.name)
      this.#count(file)
    }
  }

  async #sendLarge(library: string, file: SourceFile): Promise<void> {
    const { carrel, signal } = this.#session
    await using opened = await file.open()
    let done = 0
    await carrel.upload(
      { library, folder: file.folder },
      { ...nameAndTime(file), content: opened.content },
      {
        signal,
        sha256: () => opened.sha256(),
        onProgress: (sent) => {
          this.#options.progress.add(sent - done, file.name)
          done = sent
        },
      },
    )
    this.#count(file)
  }

  #count({ size }: SourceFile): void {
    this.transferred.files += 1
    this.transferred.bytes += size
    this.#options.progress.fileDone()
  }
}

/** The server would take a name with a backslash for a path of Windows, and store the file under its last part. */
function problemIn(item: SourceItem): ClientError | undefined {
  const [folder, names] = item.kind === 'file' ? [item.folder, [item.name]] : [item.path, []]
  for (const segment of [...folder.split('/').filter((one) => one !== ''), ...names]) {
    const problem = nameProblem(segment, 'linux')
    if (problem !== undefined)
      return new ClientError(`"${segment}" cannot be a name on the server: ${problem}.`)
  }
  return undefined
}

function nameAndTime({ name, modifiedAt }: SourceFile): { name: string; modifiedAt?: Date } {
  return modifiedAt === undefined ? { name } : { name, modifiedAt }
}
