import { createWriteStream } from 'node:fs'
import { chmod, lstat, mkdir, rename, rm, utimes } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { DirId, FileDirent } from '../../base/objects/index.ts'
import { freeName } from '../../base/paths/index.ts'
import type { ExportReport } from './export-report.ts'
import { type ExportSource, findDir, lossIn } from './export-source.ts'

/**
 * The file being written, in the root of the export. It gets its name when it is complete, so that an interrupted export leaves no file that
 * is cut short.
 */
const UNFINISHED = '.carrel-unfinished'

/** What is exported, and where to. */
interface TreeExport {
  readonly source: ExportSource
  readonly folder: string
  readonly report: ExportReport
  /** Why an entry of this name is left out; undefined to write it. */
  readonly leftOut: (name: string) => string | undefined
}

/**
 * Writes the tree of a root as plain files with their times. A file that is there with the same size and time is not written again, so that an
 * interrupted export goes on. Other files of the folder are left as they are.
 */
export async function exportTree(root: DirId, options: TreeExport): Promise<void> {
  await mkdir(options.folder, { recursive: true })
  const entries = (await findDir(options.source, root))?.entries ?? []
  const names = new Set(entries.map(({ name }) => name))
  const unfinished = path.join(
    options.folder,
    freeName(UNFINISHED, (name) => names.has(name)),
  )
  await rm(unfinished, { force: true })
  await new TreeWriter(options, unfinished).writeDir(root, '')
}

class TreeWriter {
  readonly #options: TreeExport
  readonly #unfinished: string

  constructor(options: TreeExport, unfinished: string) {
    this.#options = options
    this.#unfinished = unfinished
  }

  /** `at` is the path in the library; empty for the root. */
  async writeDir(id: DirId, at: string): Promise<void> {
    const { source, folder, report, leftOut } = this.#options
    const dir = await findDir(source, id)
    if (dir === undefined) return report.skip(at || '/', 'the server has lost it')
    for (const entry of dir.entries) {
      const place = `${at}/${entry.name}`
      const target = path.join(folder, place)
      const reason = leftOut(entry.name)
      if (reason !== undefined) report.skip(place, reason)
      else if (entry.kind === 'file') await this.#writeFile(entry, place, target)
      else if (await this.#hasFolder(place, target)) {
        await this.writeDir(entry.id, place)
        await utimes(target, entry.mtime, entry.mtime)
      }
    }
  }

  /** Creates a folder. Nothing is written through a symbolic link, which may lead out of the export. */
  async #hasFolder(place: string, target: string): Promise<boolean> {
    try {
      await mkdir(target)
      return true
    } catch (error) {
      if (!isRefused(error)) throw error
      if (error.code === 'EEXIST' && (await lstat(target)).isDirectory()) return true
      this.#options.report.skip(place, reasonOf(error))
      return false
    }
  }

  async #writeFile({ id, size, mtime, mode }: FileDirent, place: string, target: string): Promise<void> {
    const { source, report } = this.#options
    const found = await lstat(target).catch(() => undefined)
    if (found?.isFile() && found.size === size && Math.floor(found.mtimeMs / 1000) === mtime) {
      report.unchanged += 1
      return
    }
    const { objects, content, libraryKey, key } = source
    try {
      const file = await objects.getFile(libraryKey, id)
      const bytes = content.read(libraryKey, file, undefined, key)
      await pipeline(bytes, createWriteStream(this.#unfinished, { flags: 'wx' }))
      await chmod(this.#unfinished, (mode & 0o100) === 0 ? 0o644 : 0o755)
      await utimes(this.#unfinished, mtime, mtime)
      await rename(this.#unfinished, target)
      report.files += 1
      report.bytes += size
    } catch (error) {
      const reason = lossIn(error) ?? (isRefused(error) ? reasonOf(error) : undefined)
      if (reason === undefined) throw error
      await rm(this.#unfinished, { force: true })
      report.skip(place, reason)
    }
  }
}

/** Whether the file system refuses this item, and may accept the next one. */
function isRefused(error: unknown): error is NodeJS.ErrnoException {
  const codes = ['EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'ENAMETOOLONG', 'EINVAL', 'EILSEQ', 'EFBIG']
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? '')
}

function reasonOf({ code = '' }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENAMETOOLONG':
      return 'its path is too long here'
    case 'EINVAL':
    case 'EILSEQ':
      return 'the file system does not accept its name'
    case 'EFBIG':
      return 'it is too large for the file system'
    default:
      return 'something else is in its place'
  }
}
