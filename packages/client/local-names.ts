import { lstat, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { ClientError, EXIT } from './client-error.ts'

// Reserved by Windows, with any extension.
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * Why a name of a server cannot be a local name; undefined if it can. A server may be hostile or hold names of other systems, so nothing
 * that leaves the folder, or that a terminal or file system interprets, is accepted.
 */
export function nameProblem(name: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (name === '' || name === '.' || name === '..') return 'it is not a name'
  if (name.includes('/') || name.includes('\\')) return 'it contains a path separator'
  if (/[\p{Cc}\p{Cs}]/u.test(name)) return 'it contains control characters'
  if (Buffer.byteLength(name) > 255) return 'it is too long'
  if (platform !== 'win32') return undefined
  if (/[<>:"|?*]/.test(name) || /[. ]$/.test(name) || DEVICES.test(name)) return 'Windows does not allow it'
  return undefined
}

/** Folders below a root that were seen to be real folders, so that nothing is written through a symbolic link. */
export class LocalTree {
  readonly root: string
  readonly #known = new Set<string>()

  constructor(root: string) {
    this.root = root
  }

  /** The path of an entry below the root. Throws ClientError for a name that cannot be local. */
  pathOf(segments: readonly string[]): string {
    for (const name of segments) {
      const problem = nameProblem(name)
      if (problem === undefined) continue
      throw new ClientError(`"${name}" cannot be a local name: ${problem}.`)
    }
    return path.join(this.root, ...segments)
  }

  /** Creates a folder below the root, and its parents. Throws ClientError where a link or a file is in its place. */
  async makeFolder(segments: readonly string[]): Promise<string> {
    const target = this.pathOf(segments)
    await mkdir(this.root, { recursive: true })
    for (let depth = 1; depth <= segments.length; depth += 1) {
      const folder = this.pathOf(segments.slice(0, depth))
      if (this.#known.has(folder)) continue
      await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      const stats = await lstat(folder)
      if (!stats.isDirectory()) {
        throw new ClientError(`${folder} is not a folder, so nothing is written into it.`, EXIT.conflict)
      }
      this.#known.add(folder)
    }
    return target
  }
}
