import type { Access, Readable } from '../access/index.ts'
import type { Account } from '../identity/index.ts'
import type { Library } from '../library/index.ts'
import { type LibraryId, toNfc } from '../objects/index.ts'
import { looksLikeSnapshot } from './snapshot-name.ts'

/** A library, or a shared folder, as a folder of the WebDAV root. */
interface NamedLibrary {
  /** Unique in the root of this account. */
  readonly name: string
  readonly id: LibraryId
}

/**
 * The names of the libraries in the WebDAV root, as the web app shows them. If several have one name, the oldest own library keeps it,
 * else the oldest of the others, and the rest get a part of their id: `Notes (4f0b3c)`. A library that is shared later therefore changes
 * no name that a client has stored.
 */
export class LibraryNames {
  readonly #access: Access

  constructor(access: Access) {
    this.#access = access
  }

  /** All libraries and shared folders the account may read. */
  async list(user: Account): Promise<NamedLibrary[]> {
    return [...named(await this.#access.listReadable(user))]
  }

  /**
   * Undefined if there is none, or none that the account may read. Looked up for each request, in mostly cached rows: a cached name
   * could be that of another library by now. Own libraries are named first, so their names do not depend on what is shared, and the
   * shares are read only for other names.
   */
  async open(user: Account, name: string): Promise<Library | undefined> {
    const wanted = toNfc(name)
    const own = await this.#access.listOwnedReadable(user)
    const id =
      findNamed(own, wanted) ?? findNamed([...own, ...(await this.#access.listGranted(user))], wanted)
    return id && (await this.#access.openAll(user, [id])).get(id)
  }
}

function findNamed(readable: readonly Readable[], wanted: string): LibraryId | undefined {
  for (const { name, id } of named(readable)) if (name === wanted) return id
  return undefined
}

/** Each library once, own ones first. */
function* named(readable: readonly Readable[]): Generator<NamedLibrary, void> {
  const once = new Map<LibraryId, Readable>()
  for (const one of readable) if (!once.has(one.id)) once.set(one.id, one)
  const ordered = [...once.values()].sort(
    (a, b) =>
      Number(b.via === 'mine') - Number(a.via === 'mine') ||
      a.libraryKey - b.libraryKey ||
      (a.id < b.id ? -1 : 1),
  )
  const taken = new Set<string>()
  for (const { id, name: shown } of ordered) {
    // A library from a sync client may have any name, and a slash cannot be part of a URL segment.
    const plain = toNfc(shown).replaceAll('/', '_') || '_'
    const isFree = (name: string) => !taken.has(name.toLowerCase()) && !looksLikeSnapshot(name)
    const name = isFree(plain) && plain !== '.' && plain !== '..' ? plain : `${plain} (${id.slice(0, 6)})`
    taken.add(name.toLowerCase())
    yield { name, id }
  }
}
