import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, openAsBlob, readFileSync, type Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Entry } from '../../sdk/src/index.ts'
import { Failures, inParallel } from './pool.ts'
import type { Progress } from './progress.ts'
import { joinRemote } from './remote-path.ts'
import type { Session } from './session.ts'
import { note } from './terminal.ts'

export interface TransferOptions {
  readonly parallel: number
  /** Skip files that are there with the same size and time. */
  readonly update: boolean
  /** Skip files that are there. */
  readonly noClobber: boolean
  readonly progress: Progress
}

/** What was transferred. */
export interface Transferred {
  files: number
  bytes: number
  skipped: number
}

/** A local file and the folder it goes to. */
interface LocalFile {
  readonly path: string
  readonly folder: string
  readonly name: string
  readonly size: number
  readonly modifiedAt: Date
}

/** Files up to this size are sent together. */
const SMALL_BYTES = 1_000_000
const BATCH_FILES = 200
const BATCH_BYTES = 8_000_000
const FOLDERS_PER_CALL = 500

/** Copies local files and folders into a library, small files many at a time. */
export class TreeUpload {
  readonly transferred: Transferred = { files: 0, bytes: 0, skipped: 0 }
  readonly failures = new Failures()
  readonly #session: Session
  readonly #library: string
  readonly #options: TransferOptions
  readonly #listed = new Map<string, Promise<Map<string, Entry>>>()
  readonly #emptyFolders: string[] = []

  constructor(session: Session, library: string, options: TransferOptions) {
    this.#session = session
    this.#library = library
    this.#options = options
  }

  /** Copies each source to its path in the library. */
  async run(sources: readonly { readonly local: string; readonly remote: string }[]): Promise<void> {
    await inParallel(this.#batches(sources), this.#options.parallel, (files) => this.#send(files))
    const { carrel, signal } = this.#session
    for (let at = 0; at < this.#emptyFolders.length; at += FOLDERS_PER_CALL) {
      const paths = this.#emptyFolders.slice(at, at + FOLDERS_PER_CALL)
      await carrel.createFolders(this.#library, paths, { signal })
    }
  }

  /** Files that are sent by one request. */
  async *#batches(sources: readonly { local: string; remote: string }[]): AsyncGenerator<LocalFile[]> {
    let batch: LocalFile[] = []
    let bytes = 0
    for (const { local, remote } of sources) {
      for await (const file of this.#files(local, path.posix.dirname(remote), path.posix.basename(remote))) {
        this.#session.signal.throwIfAborted()
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
    }
    if (batch.length > 0) yield batch
  }

  /** The files at and below a local path, all files of a folder before its folders. Links and special files are not followed. */
  async *#files(local: string, folder: string, name: string): AsyncGenerator<LocalFile> {
    let stats: Stats
    try {
      stats = lstatSync(local)
    } catch (error) {
      this.failures.add(local, error)
      return
    }
    if (stats.isFile()) {
      yield { path: local, folder, name, size: stats.size, modifiedAt: stats.mtime }
      return
    }
    if (!stats.isDirectory()) {
      note(`${local}: skipped, because it is neither a file nor a folder.`)
      return
    }
    const children = await readdir(local, { withFileTypes: true })
    const inside = joinRemote(folder, name)
    if (children.length === 0) this.#emptyFolders.push(inside)
    children.sort((a, b) => Number(a.isDirectory()) - Number(b.isDirectory()))
    for (const child of children) yield* this.#files(path.join(local, child.name), inside, child.name)
  }

  async #isThere(file: LocalFile): Promise<boolean> {
    const { update, noClobber } = this.#options
    if (!update && !noClobber) return false
    const found = (await this.#entriesOf(file.folder)).get(file.name.normalize())
    if (found?.kind !== 'file') return false
    const seconds = (date: Date) => Math.floor(date.getTime() / 1000)
    return noClobber || (found.size === file.size && seconds(found.modifiedAt) === seconds(file.modifiedAt))
  }

  #entriesOf(folder: string): Promise<Map<string, Entry>> {
    const known = this.#listed.get(folder) ?? this.#list(folder)
    this.#listed.set(folder, known)
    return known
  }

  async #list(folder: string): Promise<Map<string, Entry>> {
    const entries = new Map<string, Entry>()
    const { carrel, signal } = this.#session
    if ((await carrel.find(this.#library, folder, { signal }))?.kind !== 'dir') return entries
    for await (const entry of carrel.list(this.#library, folder, { signal })) {
      entries.set(entry.name.normalize(), entry)
    }
    return entries
  }

  async #send(files: readonly LocalFile[]): Promise<void> {
    const [first] = files
    if (first === undefined) return
    try {
      if (first.size > SMALL_BYTES) await this.#sendLarge(first)
      else await this.#sendSmall(first.folder, files)
    } catch (error) {
      // One file of a batch may be what the server refuses, so each is tried by itself.
      if (files.length > 1) for (const file of files) await this.#send([file])
      else this.failures.add(first.path, error)
    }
  }

  async #sendSmall(folder: string, files: readonly LocalFile[]): Promise<void> {
    const { carrel, signal } = this.#session
    const sent: { file: LocalFile; content: Uint8Array<ArrayBuffer> }[] = []
    for (const file of files) {
      try {
        // Synchronously: a small file is read faster than the thread pool takes to hand it over.
        sent.push({ file, content: readFileSync(file.path) })
      } catch (error) {
        this.failures.add(file.path, error)
      }
    }
    if (sent.length === 0) return
    const named = sent.map(({ file, content }) => ({ name: file.name, modifiedAt: file.modifiedAt, content }))
    await carrel.uploadMany({ library: this.#library, folder }, named, { signal })
    for (const { file } of sent) {
      this.#options.progress.add(file.size, file.name)
      this.#count(file)
    }
  }

  async #sendLarge(file: LocalFile): Promise<void> {
    const { carrel, signal } = this.#session
    let done = 0
    await carrel.upload(
      { library: this.#library, folder: file.folder },
      { name: file.name, content: await openAsBlob(file.path), modifiedAt: file.modifiedAt },
      {
        signal,
        sha256: () => sha256Of(file.path, signal),
        onProgress: (sent) => {
          this.#options.progress.add(sent - done, file.name)
          done = sent
        },
      },
    )
    this.#count(file)
  }

  #count({ size }: LocalFile): void {
    this.transferred.files += 1
    this.transferred.bytes += size
    this.#options.progress.fileDone()
  }
}

/** The SHA-256 of a local file. */
export async function sha256Of(file: string, signal: AbortSignal): Promise<Uint8Array> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash, { signal })
  return hash.digest()
}
