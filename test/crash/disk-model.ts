import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Present, Recorded } from './recording.ts'

/** A change of a file that no sync covers yet. */
export type FileChange =
  | { readonly at: number; readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly at: number; readonly kind: 'truncate'; readonly size: number }

interface FileNode {
  readonly kind: 'file'
  /** What readers see. */
  readonly cached: Image
  readonly durable: Image
  pending: FileChange[]
}

/** A change of a folder entry that no sync covers yet. */
interface EntryChange {
  readonly at: number
  readonly name: string
  readonly path: string
  /** Undefined: the entry is removed. */
  readonly node: Node | undefined
  /** The change of the same entry before this one. */
  readonly before: EntryChange | undefined
  /** For the removal that belongs to a rename: the entry that replaces it. */
  readonly replacement: EntryChange | undefined
  /** A sync covers it, or the removal of the old name of a rename is durable and this is the new one. */
  isDurable: boolean
}

interface FolderNode {
  readonly kind: 'folder'
  readonly live: Map<string, Node>
  readonly durable: Map<string, Node>
  pending: EntryChange[]
}

type Node = FileNode | FolderNode

/** What becomes of the changes that no sync covers when the power fails. */
export interface PowerFailure {
  readonly name: string
  /** The changes of a file that reach the disk, in any part and order. */
  file(filePath: string, pending: readonly FileChange[]): readonly FileChange[]
  /** Whether a change of a folder entry reaches the disk. */
  entry(entryPath: string): boolean
  /** The content of the shared memory of SQLite, which is never synced. */
  sharedMemory(): Buffer
}

/**
 * A disk on which a recording is replayed, and from which the power may be cut at any time.
 *
 * - The bytes of a file are durable once an fsync or fdatasync ended that began after the write. Other writes may be lost, torn and reordered.
 * - The entry of a folder is durable once an fsync of the folder ended that began after the change. An fsync of the file does not suffice.
 * - Changes of different entries and files are independent of each other. Changes of one entry keep their order.
 * - A failed sync of a file loses the writes before it for good, though readers still see them: the kernel drops the pages or calls them clean.
 * - A rename never loses both names. It may leave both, until the folder of the old one is synced.
 */
export class DiskModel {
  readonly #root: FolderNode = newFolder()
  readonly #inodes = new Map<bigint, Node>()
  readonly #syncs = new Map<string, { readonly node: Node; readonly at: number }>()
  #now = 0

  /** Everything that is present at the beginning is durable. */
  constructor(present: readonly Present[]) {
    for (const { path: name, inode, bytes } of present) {
      if (name === '') {
        this.#inodes.set(inode, this.#root)
        continue
      }
      const node: Node = bytes === undefined ? newFolder() : newFile(bytes)
      this.#inodes.set(inode, node)
      const { folder, base } = this.#placeOf(name)
      folder.live.set(base, node)
      folder.durable.set(base, node)
    }
  }

  apply(record: Recorded): void {
    this.#now += 1
    switch (record.kind) {
      case 'mark':
        return
      case 'created':
      case 'made-folder': {
        const node = record.kind === 'created' ? newFile() : newFolder()
        this.#inodes.set(record.inode, node)
        this.#change(record.path, node)
        return
      }
      case 'wrote': {
        const { offset, bytes, synced } = record
        const node = this.#fileOf(record.inode, record.path)
        const change = { at: this.#now, kind: 'write', offset, bytes } as const
        node.cached.apply(change)
        if (synced) node.durable.apply(change)
        else node.pending.push(change)
        return
      }
      case 'truncated': {
        const node = this.#fileOf(record.inode, record.path)
        const change = { at: this.#now, kind: 'truncate', size: record.size } as const
        node.cached.apply(change)
        node.pending.push(change)
        return
      }
      case 'sync-began':
        this.#syncs.set(record.number, { node: this.#nodeOf(record.inode, record.path), at: this.#now })
        return
      case 'sync-ended':
      case 'sync-failed':
        this.#synced(record.number, record.kind === 'sync-ended')
        return
      case 'renamed':
      case 'linked': {
        const node = this.#find(record.path)
        if (record.kind === 'linked') this.#change(record.to, node)
        else if (record.path === '') throw new Error(`${record.to} was renamed from outside.`)
        else if (record.to === '') this.#change(record.path, undefined)
        else this.#change(record.path, undefined, this.#change(record.to, node))
        return
      }
      default:
        this.#change(record.path, undefined)
    }
  }

  /** Writes the folder as it is after a power failure now. */
  write(folder: string, failure: PowerFailure): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const decided = new Map<EntryChange, boolean>()
    const reaches = (change: EntryChange | undefined): boolean => {
      if (change === undefined || change.isDurable) return true
      const known = decided.get(change)
      if (known !== undefined) return known
      const answer = failure.entry(change.path) && reaches(change.before) && reaches(change.replacement)
      decided.set(change, answer)
      return answer
    }
    this.#writeFolder(folder, '', this.#root, failure, reaches)
  }

  /** What is on the disk if nothing fails, for a comparison with the real one. */
  *live(
    node: FolderNode = this.#root,
    prefix = '',
  ): Generator<{ path: string; bytes: Buffer | undefined }, void> {
    for (const [name, child] of node.live) {
      if (child.kind === 'folder') {
        yield { path: prefix + name, bytes: undefined }
        yield* this.live(child, `${prefix}${name}/`)
      } else {
        yield { path: prefix + name, bytes: child.cached.bytes() }
      }
    }
  }

  #writeFolder(
    folder: string,
    prefix: string,
    node: FolderNode,
    failure: PowerFailure,
    reaches: (change: EntryChange) => boolean,
  ): void {
    const entries = new Map(node.durable)
    for (const change of node.pending) if (reaches(change)) applyEntry(entries, change)
    for (const [name, child] of entries) {
      const target = path.join(folder, name)
      const below = prefix + name
      if (child.kind === 'folder') {
        mkdirSync(target, { mode: 0o700 })
        this.#writeFolder(target, `${below}/`, child, failure, reaches)
      } else if (name.endsWith('-shm')) {
        writeFileSync(target, failure.sharedMemory(), { mode: 0o600 })
      } else {
        const bytes = imageWith(child, failure.file(below, child.pending))
        writeFileSync(target, bytes, { mode: 0o600 })
      }
    }
  }

  #synced(number: string, isSuccess: boolean): void {
    const sync = this.#syncs.get(number)
    if (sync === undefined) throw new Error(`Sync ${number} ended before it began.`)
    this.#syncs.delete(number)
    const { node, at } = sync
    if (node.kind === 'file') {
      for (const change of node.pending) if (change.at < at && isSuccess) node.durable.apply(change)
      node.pending = node.pending.filter((change) => change.at >= at)
    } else if (isSuccess) {
      for (const change of node.pending) {
        if (change.at >= at) continue
        applyEntry(node.durable, change)
        change.isDurable = true
        if (change.replacement !== undefined) change.replacement.isDurable = true
      }
      node.pending = node.pending.filter((change) => change.at >= at)
    }
  }

  #change(name: string, node: Node | undefined, replacement?: EntryChange): EntryChange {
    const { folder, base } = this.#placeOf(name)
    const change: EntryChange = {
      at: this.#now,
      name: base,
      path: name,
      node,
      before: folder.pending.findLast((earlier) => earlier.name === base),
      replacement,
      isDurable: false,
    }
    folder.pending.push(change)
    if (node === undefined) folder.live.delete(base)
    else folder.live.set(base, node)
    return change
  }

  #placeOf(name: string): { folder: FolderNode; base: string } {
    const parts = name.split('/')
    const base = parts.pop() ?? ''
    let folder = this.#root
    for (const part of parts) {
      const next = folder.live.get(part)
      if (next?.kind !== 'folder') throw new Error(`${name} is in no folder of the model.`)
      folder = next
    }
    return { folder, base }
  }

  #find(name: string): Node {
    const { folder, base } = this.#placeOf(name)
    const node = folder.live.get(base)
    if (node === undefined) throw new Error(`${name} is not in the model.`)
    return node
  }

  #nodeOf(inode: bigint, name: string): Node {
    const node = this.#inodes.get(inode)
    if (node === undefined) throw new Error(`${name} was never created in the model.`)
    return node
  }

  #fileOf(inode: bigint, name: string): FileNode {
    const node = this.#nodeOf(inode, name)
    if (node.kind !== 'file') throw new Error(`${name} is a folder in the model.`)
    return node
  }
}

/** The bytes of a file, grown in place. */
class Image {
  #bytes: Buffer
  #length: number

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = Buffer.from(bytes)
    this.#length = bytes.length
  }

  apply(change: FileChange): void {
    if (change.kind === 'truncate') {
      if (change.size > this.#length) this.#reserve(change.size)
      else this.#bytes.fill(0, change.size, this.#length)
      this.#length = change.size
      return
    }
    const end = change.offset + change.bytes.length
    this.#reserve(end)
    change.bytes.copy(this.#bytes, change.offset)
    this.#length = Math.max(this.#length, end)
  }

  copy(): Image {
    return new Image(this.bytes())
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return
    const larger = Buffer.alloc(Math.max(size, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

function imageWith(node: FileNode, changes: readonly FileChange[]): Buffer {
  if (changes.length === 0) return node.durable.bytes()
  const image = node.durable.copy()
  for (const change of changes) image.apply(change)
  return image.bytes()
}

function applyEntry(entries: Map<string, Node>, { name, node }: EntryChange): void {
  if (node === undefined) entries.delete(name)
  else entries.set(name, node)
}

function newFile(bytes?: Buffer): FileNode {
  return { kind: 'file', cached: new Image(bytes), durable: new Image(bytes), pending: [] }
}

function newFolder(): FolderNode {
  return { kind: 'folder', live: new Map(), durable: new Map(), pending: [] }
}
