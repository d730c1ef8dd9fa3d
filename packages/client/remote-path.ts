import path from 'node:path'
import type { Carrel, Library } from '../../sdk/src/index.ts'
import { ClientError, EXIT, usageError } from './client-error.ts'

/** `LIBRARY:PATH` as written on the command line. */
export interface RemoteText {
  /** Name or id. */
  readonly library: string
  /** Normalized: with a leading slash and without a trailing one. */
  readonly path: string
  /** Written with a slash at its end, so that it can only mean a folder. */
  readonly isFolder: boolean
  /** Whether it ends with `/.`, which selects the entries of a folder without the folder itself. */
  readonly isContent: boolean
}

/**
 * Reads `LIBRARY:PATH`; undefined for a local path. A text with a slash before its first colon is local, as are the drive letters of
 * Windows and URLs.
 */
export function parseRemote(text: string): RemoteText | undefined {
  const colon = text.indexOf(':')
  const library = text.slice(0, colon)
  if (colon < 1 || /[/\\]/.test(library)) return undefined
  const rest = text.slice(colon + 1)
  if (rest.startsWith('//') || (process.platform === 'win32' && library.length === 1)) return undefined
  const normal = path.posix.normalize(`/${rest}`)
  return {
    library,
    path: normal === '/' ? '/' : normal.replace(/\/$/, ''),
    isFolder: /(?:^|\/)\.?$/.test(rest),
    isContent: /(?:^|\/)\.$/.test(rest),
  }
}

/** Reads `LIBRARY:PATH`. Throws a usage error for a local path. */
export function requireRemote(text: string): RemoteText {
  const remote = parseRemote(text)
  if (remote === undefined) throw usageError(`Write "${text}" as LIBRARY:/path.`)
  return remote
}

/** Finds libraries by name or id, with one request for all. */
export class Libraries {
  readonly #carrel: Carrel
  #all: Promise<Library[]> | undefined

  constructor(carrel: Carrel) {
    this.#carrel = carrel
  }

  /** An id wins over a name, then own libraries win over those of others. Throws if none or several have the name. */
  async get(wanted: string): Promise<Library> {
    this.#all ??= this.#carrel.libraries()
    const all = await this.#all
    const byId = all.find(({ id }) => id === wanted.toLowerCase())
    if (byId !== undefined) return byId
    const named = all.filter(({ name }) => name.normalize() === wanted.normalize())
    const own = named.filter(({ relation }) => relation === 'mine')
    const [first, second] = own.length > 0 ? own : named
    if (first === undefined) {
      throw new ClientError(`There is no library "${wanted}" that the token can open.`, EXIT.notFound)
    }
    if (second !== undefined) {
      throw usageError(`Several libraries are named "${wanted}": use the id.`)
    }
    return first
  }
}

export const joinRemote = (folder: string, name: string) =>
  folder === '/' ? `/${name}` : `${folder}/${name}`

export const parentOfRemote = (remote: string) => path.posix.dirname(remote)

export const nameOfRemote = (remote: string) => path.posix.basename(remote)
