import { DomainError, fail } from '../errors.ts'
import type { EditableLibrary, Library } from '../library/index.ts'
import { baseName, type FileDirent, type LibraryPath, ROOT } from '../objects/index.ts'
import type { StoredDir } from '../tree/index.ts'
import type { Link } from './link.ts'
import type { TicketLink } from './tickets.ts'

/** Pixels of the longer side of the largest picture that is made of an image for who may not download it. */
const PREVIEW_PIXELS = 1024

/**
 * A link whose holder was let in. It reaches what was shared and what is below; paths given to it begin at the
 * shared folder and cannot lead out of it. What is done by it is done as its maker.
 */
export class OpenLink {
  readonly link: Link
  /** As its maker may use it now. To send files from it as they are, take `originals`. */
  readonly library: Library
  /** The API token of the visitor, where a link is for named people only. */
  readonly #visitorTokenKey: number | undefined

  constructor(link: Link, library: Library, visitorTokenKey?: number) {
    this.link = link
    this.library = library
    this.#visitorTokenKey = visitorTokenKey
  }

  /** What tickets given out by it are bound to. */
  get ticketLink(): TicketLink {
    const { key, epoch, expiresAt } = this.link
    return { key, epoch, expiresAt, visitorTokenKey: this.#visitorTokenKey }
  }

  /** What the shared item is called. */
  get name(): string {
    return this.link.path === ROOT ? this.library.info.name : baseName(this.link.path)
  }

  /** Otherwise it shows names, and previews made by the server, and no byte of a file as it is. */
  get canDownload(): boolean {
    return this.link.kind === 'share' && this.link.rights.canDownload
  }

  /** The library, for whatever hands out the bytes of files. Throws permission-denied for a link that only shows. */
  get originals(): Library {
    return this.canDownload ? this.library : fail({ code: 'permission-denied' })
  }

  /** Pixels of the longer side of the largest picture it shows of an image. */
  get largestPreview(): number {
    return this.canDownload ? Number.POSITIVE_INFINITY : PREVIEW_PIXELS
  }

  /** Whether it lets files be added to its folder, and its maker may. */
  get canUpload(): boolean {
    const { kind, isDir, rights, path } = this.link
    if (!isDir || (kind === 'share' && !rights.canUpload)) return false
    return this.library.permissionAt(path) === 'rw' && this.library.info.encryption === undefined
  }

  /** The path in the library of one below the shared folder. */
  pathOf(below: LibraryPath): LibraryPath {
    if (below === ROOT) return this.link.path
    return this.link.path === ROOT ? below : ((this.link.path + below) as LibraryPath)
  }

  /** Does something with paths of the library. Faults that name one name it as it is seen from the shared folder. */
  async asSeen<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DomainError) || !('path' in error.fault)) throw error
      return fail({ ...error.fault, path: this.#below(error.fault.path) })
    }
  }

  /** A path of the library as a visitor may know it. What is not below the link keeps no more than its last name. */
  #below(path: string): string {
    const { path: top } = this.link
    if (top === ROOT) return path
    if (path === top) return ROOT
    return path.startsWith(`${top}/`) ? path.slice(top.length) : path.slice(path.lastIndexOf('/') + 1)
  }

  async findDir(below: LibraryPath): Promise<StoredDir | undefined> {
    return this.link.isDir ? this.library.tree.findDir(this.pathOf(below)) : undefined
  }

  /** A file of a shared folder; of a shared file, itself at the root. */
  async findFile(below: LibraryPath): Promise<{ path: LibraryPath; entry: FileDirent } | undefined> {
    if (!this.link.isDir && below !== ROOT) return undefined
    const path = this.pathOf(below)
    const entry = await this.library.tree.find(path)
    return entry?.kind === 'file' ? { path, entry } : undefined
  }

  /** The library to be added to. Throws permission-denied. */
  editable(below: LibraryPath): EditableLibrary {
    if (!this.canUpload) fail({ code: 'permission-denied' })
    return this.library.editable(this.pathOf(below))
  }
}
