import { constants, openAsBlob } from 'node:fs'
import { copyFile, lstat, open, readdir, readFile, rename, rm, rmdir, unlink } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Entry } from '../../sdk/src/index.ts'
import { parseOutsideJson } from '../../src/base/json.ts'
import { ClientError, EXIT, usageError } from './client-error.ts'
import { fetchFile } from './download-tree.ts'
import { sha256Of } from './local-files.ts'
import { LocalTree } from './local-names.ts'
import { Failures, inParallel } from './pool.ts'
import { Progress } from './progress.ts'
import { joinRemote, nameOfRemote, parentOfRemote, requireRemote } from './remote-path.ts'
import { getEntry } from './select.ts'
import { type CommonOptions, runClient, type Session } from './session.ts'
import {
  type Action,
  type BaseState,
  conflictName,
  type FileState,
  isSuspicious,
  planSync,
} from './sync-plan.ts'
import { note, print } from './terminal.ts'

export interface SyncOptions extends CommonOptions {
  readonly dryRun?: true
  /** Carry out deletions that look like a mistake. */
  readonly allowDeletes?: true
  readonly quiet?: true
}

const STATE_FILE = '.carrel-sync.json'
const PARALLEL = 4
/** Files of the client itself, which are not synced. */
const OWN_FILES = /^\.carrel-(?:sync\.json|part-)/

/** `carrel sync-once FOLDER LIBRARY:/path`: brings both sides to the same state, once. */
export function syncOnce(folder: string, target: string, options: SyncOptions): Promise<number> {
  return runClient(options, async (session) => {
    const entry = await getEntry(session, requireRemote(target))
    if (entry.kind !== 'dir') throw usageError(`${target} is not a folder.`)
    if (!(await lstat(folder)).isDirectory()) throw usageError(`${folder} is not a folder.`)
    using progress = new Progress({ quiet: options.quiet === true || options.json === true })
    const run = new SyncRun(session, folder, { library: entry.library, folder: entry.path }, progress)
    return await run.run(options)
  })
}

class SyncRun {
  readonly #session: Session
  readonly #root: string
  readonly #tree: LocalTree
  readonly #place: { readonly library: string; readonly folder: string }
  readonly #progress: Progress
  readonly #failures = new Failures()
  readonly #done: { action: string; path: string }[] = []
  readonly #remote = new Map<string, Entry>()
  #local = new Map<string, FileState>()
  #base = new Map<string, BaseState>()

  constructor(
    session: Session,
    root: string,
    place: { library: string; folder: string },
    progress: Progress,
  ) {
    this.#session = session
    this.#root = root
    this.#tree = new LocalTree(root)
    this.#place = place
    this.#progress = progress
  }

  async run(options: SyncOptions): Promise<number> {
    this.#base = await this.#readBase()
    this.#local = await this.#scan([])
    await this.#list()
    const remote = new Map(
      [...this.#remote].map(([name, { size, id }]): [string, FileState] => [name, { size, stamp: id }]),
    )
    const actions = planSync(this.#local, remote, this.#base)
    if (options.dryRun) {
      print(
        options.json === true,
        actions,
        actions.map(({ kind, path }) => `${kind} ${path}`),
      )
      return this.#failures.exitCode
    }
    if (!options.allowDeletes && isSuspicious(actions, this.#base.size)) {
      throw new ClientError(
        'More than half of all files would be deleted on one side: see --dry-run, then add --allow-deletes if that is right.',
        EXIT.conflict,
      )
    }
    try {
      await inParallel(actions, PARALLEL, (action) => this.#carryOut(action))
    } finally {
      await this.#writeBase()
    }
    const { list: failed } = this.#failures
    const lines = options.quiet ? [] : this.#done.map(({ action, path }) => `${action} ${path}`)
    print(options.json === true, { done: this.#done, failed }, lines)
    return this.#failures.exitCode
  }

  async #carryOut({ kind, path: name }: Action): Promise<void> {
    try {
      if (kind === 'forget') this.#base.delete(name)
      else await this.#steps[kind](name)
    } catch (error) {
      this.#failures.add(name, error)
    }
  }

  readonly #steps = {
    upload: (name: string) => this.#upload(name),
    download: (name: string) => this.#download(name),
    compare: (name: string) => this.#compare(name),
    'delete-local': (name: string) => this.#deleteLocal(name),
    'delete-remote': (name: string) => this.#deleteRemote(name),
  }

  async #upload(name: string): Promise<void> {
    const here = this.#localPath(name)
    const before = await this.#stampNow(name)
    await this.#expectRemote(name)
    const { carrel, signal } = this.#session
    const content = await openAsBlob(here)
    this.#progress.expect(content.size)
    const remote = this.#remotePath(name)
    const stored = await carrel.upload(
      { library: this.#place.library, folder: parentOfRemote(remote) },
      { name: nameOfRemote(remote), content, modifiedAt: (await lstat(here)).mtime },
      { signal, sha256: () => sha256Of(here, signal) },
    )
    this.#progress.add(content.size, name)
    // A file that changed while it was sent is sent again by the next run.
    this.#settle(name, before, stored)
    this.#report('uploaded', name)
  }

  async #download(name: string): Promise<void> {
    const entry = this.#remote.get(name)
    if (entry === undefined) return
    const segments = name.split('/')
    const target = this.#tree.pathOf(segments)
    await this.#tree.makeFolder(segments.slice(0, -1))
    this.#progress.expect(entry.size)
    const onBytes = (bytes: number) => this.#progress.add(bytes, name)
    await fetchFile(this.#session, this.#place.library, entry, target, onBytes, () => this.#expectLocal(name))
    this.#settle(name, await this.#stampNow(name), entry)
    this.#report('downloaded', name)
  }

  /** Equal contents are only noted. Otherwise the server's file gets the name, and the local one is kept as a conflict file. */
  async #compare(name: string): Promise<void> {
    const entry = this.#remote.get(name)
    const here = this.#local.get(name)
    if (entry === undefined || here === undefined) return
    const { carrel, signal } = this.#session
    if (entry.size === here.size) {
      const [ours, theirs] = [
        Buffer.from(await sha256Of(this.#localPath(name), signal)).toString('base64'),
        await carrel.sha256(this.#place.library, entry.path, { signal }),
      ]
      if (ours === theirs) return this.#settle(name, here.stamp, entry)
    }
    const slash = name.lastIndexOf('/') + 1
    const kept = name.slice(0, slash) + conflictName(name.slice(slash), os.hostname(), new Date())
    await copyFile(this.#localPath(name), this.#localPath(kept), constants.COPYFILE_EXCL)
    await this.#upload(kept)
    await this.#download(name)
    note(`${name}: changed on both sides; the local content is in ${kept}.`)
    this.#report('conflict', kept)
  }

  async #deleteLocal(name: string): Promise<void> {
    await this.#expectLocal(name)
    await unlink(this.#localPath(name))
    this.#base.delete(name)
    await this.#removeEmptyFolders(name)
    this.#report('deleted locally', name)
  }

  async #deleteRemote(name: string): Promise<void> {
    await this.#expectRemote(name)
    const remote = this.#remotePath(name)
    const { library } = this.#place
    const selection = { library, folder: parentOfRemote(remote), names: [nameOfRemote(remote)] }
    await this.#session.carrel.remove(selection, { signal: this.#session.signal })
    this.#base.delete(name)
    this.#report('deleted on the server', name)
  }

  /** Folders that the last deletion has left empty, up to the root. */
  async #removeEmptyFolders(name: string): Promise<void> {
    for (let folder = path.posix.dirname(name); folder !== '.'; folder = path.posix.dirname(folder)) {
      try {
        await rmdir(this.#localPath(folder))
      } catch {
        return
      }
    }
  }

  /** Throws if the local file changed since the scan. The next run compares it again. */
  async #expectLocal(name: string): Promise<void> {
    const now = await this.#stampNow(name).catch(() => undefined)
    if (now !== this.#local.get(name)?.stamp) throw changed(name)
  }

  async #expectRemote(name: string): Promise<void> {
    const { carrel, signal } = this.#session
    const now = await carrel.find(this.#place.library, this.#remotePath(name), { signal })
    if (now?.id !== this.#remote.get(name)?.id) throw changed(name)
  }

  #settle(name: string, local: string, remote: { id: string; size: number }): void {
    this.#base.set(name, { size: remote.size, local, remote: remote.id })
  }

  #report(action: string, name: string): void {
    this.#done.push({ action, path: name })
    this.#progress.fileDone()
  }

  #localPath(name: string): string {
    return this.#tree.pathOf(name.split('/'))
  }

  #remotePath(name: string): string {
    return joinRemote(this.#place.folder, name)
  }

  async #stampNow(name: string): Promise<string> {
    return stampOf(await lstat(this.#localPath(name)))
  }

  async #scan(
    segments: readonly string[],
    found = new Map<string, FileState>(),
  ): Promise<Map<string, FileState>> {
    for (const child of await readdir(path.join(this.#root, ...segments), { withFileTypes: true })) {
      this.#session.signal.throwIfAborted()
      if (OWN_FILES.test(child.name)) continue
      const inside = [...segments, child.name]
      if (child.isDirectory()) await this.#scan(inside, found)
      else if (child.isFile()) {
        if (!this.#canBeLocal(inside.join('/'))) continue
        const stats = await lstat(path.join(this.#root, ...inside))
        found.set(inside.join('/'), { size: stats.size, stamp: stampOf(stats) })
      } else note(`${inside.join('/')}: skipped, because it is neither a file nor a folder.`)
    }
    return found
  }

  async #list(): Promise<void> {
    const { carrel, signal } = this.#session
    const { library, folder } = this.#place
    const prefix = folder === '/' ? 1 : folder.length + 1
    for await (const entry of carrel.walk(library, folder, { signal })) {
      if (entry.kind !== 'file') continue
      const name = entry.path.slice(prefix)
      if (this.#canBeLocal(name) && !OWN_FILES.test(entry.name)) this.#remote.set(name, entry)
    }
  }

  /** A name that cannot be used on both sides is reported, and left alone on the side that has it. */
  #canBeLocal(name: string): boolean {
    try {
      this.#localPath(name)
      return true
    } catch (error) {
      this.#failures.add(name, error)
      return false
    }
  }

  /** The state of the last run with this folder of the server; empty after none. */
  async #readBase(): Promise<Map<string, BaseState>> {
    let stored: { place?: string; files?: Record<string, BaseState> }
    try {
      const text = await readFile(path.join(this.#root, STATE_FILE), 'utf8')
      stored = parseOutsideJson(text, {
        values: 20_000_000,
        differentNames: Number.POSITIVE_INFINITY,
      }) as typeof stored
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
      throw new ClientError(
        `${STATE_FILE} cannot be read: remove it to compare all files again.`,
        EXIT.failed,
        {
          cause: error,
        },
      )
    }
    if (stored.place !== this.#placeText()) {
      throw new ClientError(
        `${this.#root} is synced with another folder: remove its ${STATE_FILE} first.`,
        EXIT.conflict,
      )
    }
    return new Map(Object.entries(stored.files ?? {}))
  }

  /** Stores the state file, also after an interruption, so that the next run does not repeat completed transfers. */
  async #writeBase(): Promise<void> {
    const target = path.join(this.#root, STATE_FILE)
    const aside = `${target}.${process.pid}`
    await rm(aside, { force: true })
    {
      await using handle = await open(aside, 'wx', 0o600)
      const files = Object.fromEntries(this.#base)
      await handle.writeFile(`${JSON.stringify({ place: this.#placeText(), files })}\n`)
      await handle.sync()
    }
    await rename(aside, target)
  }

  #placeText(): string {
    return `${this.#session.url} ${this.#place.library} ${this.#place.folder}`
  }
}

const stampOf = ({ size, mtimeMs, ino }: { size: number; mtimeMs: number; ino: number }) =>
  `${size} ${mtimeMs} ${ino}`

const changed = (name: string) => new ClientError(`${name} has just changed: run again.`, EXIT.conflict)
