import { DomainError, fail } from '../../base/errors.ts'
import type { FileDirent } from '../../base/objects/index.ts'
import { baseName, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import type { EditableLibrary, Library } from '../../libraries/library/index.ts'
import type { StoredDir } from '../../libraries/tree/index.ts'
import type { Link } from './link.ts'
import type { TicketLink } from './tickets.ts'

/** Longer side in pixels of the largest preview for visitors who may not download. */
const PREVIEW_PIXELS = 1024

/**
 * A link opened for a visitor. Paths given to it start at the shared folder and cannot leave it. Changes are
 * made in the name of its creator.
 */
export class OpenLink {
  readonly link: Link
  /** With the current permission of its creator. Use `originals` to send file bytes. */
  readonly library: Library
  /** Whether the deadline of its file request has passed. It accepts no more files then. */
  readonly isClosed: boolean
  /** The API token of the visitor, if the link is for named people. */
  readonly #visitorTokenKey: number | undefined

  constructor(link: Link, library: Library, now: number, visitorTokenKey?: number) {
    this.link = link
    this.library = library
    this.isClosed = (link.request?.deadline ?? Number.MAX_SAFE_INTEGER) <= now
    this.#visitorTokenKey = visitorTokenKey
  }

  /** Binds tickets to this link. */
  get ticketLink(): TicketLink {
    const { key, epoch, expiresAt, request } = this.link
    const ends = [expiresAt, request?.deadline].filter((time) => time !== undefined)
    return {
      key,
      epoch,
      expiresAt: ends.length > 0 ? Math.min(...ends) : undefined,
      visitorTokenKey: this.#visitorTokenKey,
    }
  }

  /** The name of the shared item. */
  get name(): string {
    return this.link.path === ROOT ? this.library.info.name : baseName(this.link.path)
  }

  /** If false, visitors see names and server-rendered previews, but no file bytes. */
  get canDownload(): boolean {
    return this.link.kind === 'share' && this.link.rights.canDownload
  }

  /** The library for callers that send file bytes. Throws permission-denied for a preview-only link. */
  get originals(): Library {
    return this.canDownload ? this.library : fail({ code: 'permission-denied' })
  }

  /** Longer side in pixels of the largest preview of an image. */
  get largestPreview(): number {
    return this.canDownload ? Number.POSITIVE_INFINITY : PREVIEW_PIXELS
  }

  /** Whether visitors may add files: the link and the permission of its creator both allow it, and no deadline has passed. */
  get canUpload(): boolean {
    const { kind, isDir, rights, path } = this.link
    if (!isDir || this.isClosed || (kind === 'share' && !rights.canUpload)) return false
    return this.library.permissionAt(path) === 'rw' && this.library.info.encryption === undefined
  }

  /** The path in the library for a path below the shared folder. */
  pathOf(below: LibraryPath): LibraryPath {
    if (below === ROOT) return this.link.path
    return this.link.path === ROOT ? below : ((this.link.path + below) as LibraryPath)
  }

  /**
   * Runs `work` on paths of the library. Paths in its faults are converted to those below the shared folder.
   */
  async asSeen<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DomainError) || !('path' in error.fault)) throw error
      return fail({ ...error.fault, path: this.#below(error.fault.path) })
    }
  }

  /** A library path as a visitor may see it. For a path outside the shared folder, only the last segment. */
  #below(path: string): string {
    const { path: top } = this.link
    if (top === ROOT) return path
    if (path === top) return ROOT
    return path.startsWith(`${top}/`) ? path.slice(top.length) : path.slice(path.lastIndexOf('/') + 1)
  }

  async findDir(below: LibraryPath): Promise<StoredDir | undefined> {
    return this.link.isDir ? this.library.tree.findDir(this.pathOf(below)) : undefined
  }

  /** A file in a shared folder; a shared file is at the root. */
  async findFile(below: LibraryPath): Promise<{ path: LibraryPath; entry: FileDirent } | undefined> {
    if (!this.link.isDir && below !== ROOT) return undefined
    const path = this.pathOf(below)
    const entry = await this.library.tree.find(path)
    return entry?.kind === 'file' ? { path, entry } : undefined
  }

  /** The library for adding files. Throws permission-denied. */
  editable(below: LibraryPath): EditableLibrary {
    if (!this.canUpload) fail({ code: 'permission-denied' })
    return this.library.editable(this.pathOf(below))
  }
}
