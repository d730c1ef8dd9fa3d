import { type LibraryId, parseLibraryId } from '../../base/objects/index.ts'
import { toNfc } from '../../base/paths/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import { type Account, scopeReaches } from '../../people/accounts/index.ts'
import { type Database, type Transaction, writeIfSpace } from '../../platform/database/index.ts'
import type { Access } from './access.ts'
import type { Readable } from './readable.ts'
import {
  findWebdavName,
  foldName,
  insertWebdavNames,
  listWebdavNames,
  replaceWebdavName,
  type WebdavName,
} from './webdav-name-store.ts'

/** Names that are stored for an account. Further libraries are named by their whole id, which needs no row. */
const MAX_NAMES = 20_000
/** Names of one library for one account: the current one and former ones. */
const MAX_NAMES_OF_LIBRARY = 10
/** In UTF-8, because PostgreSQL limits the size of an index row. */
const MAX_NAME_BYTES = 1000
/** Requests of an account for unknown names that may look through all its libraries, in a minute and for each process. */
const MAX_SEARCHES = 10
const SEARCH_WINDOW_SECONDS = 60
/** Accounts whose searches are counted. */
const MAX_COUNTED_ACCOUNTS = 10_000

/** `Notes (4f0b3c12-…)`: the name of a library without a stored name. */
const WITH_ID = / \(([0-9a-f-]{36})\)$/

/**
 * The names of libraries and shared folders in the WebDAV root, as the web app shows them. A name is assigned to a library once for each
 * account and then kept: names are not identities, and a path that a client has stored must never come to mean another library, whatever
 * others rename and share. Of several libraries with one name, the first to be assigned has it, own ones before others and older ones
 * before newer ones. The rest get a part of their id: `Notes (4f0b3c)`. A renamed library gets a further name, and keeps the former ones.
 * Only a new library of the account itself may take over a name, and only from one that the account cannot read any more.
 */
export class LibraryNames {
  readonly #access: Access
  readonly #db: Database
  readonly #now: () => number
  readonly #isReserved: (name: string) => boolean
  readonly #searches = new Map<number, { since: number; count: number }>()

  constructor(parts: {
    readonly access: Access
    readonly db: Database
    /** Unix seconds. */
    readonly now: () => number
    /** Whether a name of the root has another meaning. */
    readonly isReserved: (name: string) => boolean
  }) {
    this.#access = parts.access
    this.#db = parts.db
    this.#now = parts.now
    this.#isReserved = parts.isReserved
  }

  /** All libraries and shared folders that the credential gives access to. Assigns names to those without one. */
  async list(user: Account): Promise<WebdavName[]> {
    const named = await this.#assign(user)
    if (user.scope === undefined) return named
    return named.filter(({ library: { libraryKey: key, folder } }) =>
      scopeReaches(user.scope, { key, sub: folder?.sub }),
    )
  }

  /**
   * Undefined if there is none, or none that the account may read. One row and the check of one library, however many there are. Names
   * are assigned here too, because a script need not list the root first.
   */
  async open(user: Account, typed: string): Promise<Library | undefined> {
    const name = toNfc(typed)
    if (!isStorable(name)) return this.#openById(user, name)
    const known = await this.#openAssigned(user, name)
    if (known !== undefined) return known
    const byId = await this.#openById(user, name)
    if (byId !== undefined || !this.#maySearch(user)) return byId
    const found = (await this.#assign(user)).find((one) => one.name === name)
    if (found === undefined) this.#countSearch(user)
    return found && this.#openOne(user, found.libraryId)
  }

  async #openAssigned(user: Account, name: string): Promise<Library | undefined> {
    const assigned = await findWebdavName(this.#db, user.key, name)
    return assigned?.name === name ? this.#openOne(user, assigned.libraryId) : undefined
  }

  async #openById(user: Account, name: string): Promise<Library | undefined> {
    const id = parseLibraryId(WITH_ID.exec(name)?.[1] ?? '')
    return id && this.#openOne(user, id)
  }

  async #openOne(user: Account, id: LibraryId): Promise<Library | undefined> {
    const library = (await this.#access.openAll(user, [id])).get(id)
    // A single file is in no listing of libraries.
    return library?.info.sub?.isFile === true ? undefined : library
  }

  /**
   * Assigns names for the whole account, also with a credential for one library: what a name means does not depend on the credential. On
   * a disk that cannot be written the names are those that would be assigned.
   */
  async #assign(user: Account): Promise<NamedLibrary[]> {
    const libraries = inOrder(await this.#access.listReadable({ ...user, scope: undefined }))
    const assigned = await listWebdavNames(this.#db, user.key)
    const plan = new Naming(assigned, libraries, this.#isReserved)
    if (plan.added.length === 0 && plan.replaced.length === 0) return plan.named
    const isWritten = await writeIfSpace(this.#db, async (tx) => {
      await insertWebdavNames(tx, user.key, plan.added)
      for (const [before, after] of plan.replaced) await replaceWebdavName(tx, user.key, before, after)
    })
    if (!isWritten) return plan.named
    // Another node may have assigned a name first.
    return new Naming(await listWebdavNames(this.#db, user.key), libraries, this.#isReserved).named
  }

  /** Searches without a result are limited, because their cost grows with the number of libraries. A listing always finds new ones. */
  #maySearch({ key }: Account): boolean {
    const recent = this.#searches.get(key)
    if (recent === undefined || recent.count < MAX_SEARCHES) return true
    if (this.#now() - recent.since < SEARCH_WINDOW_SECONDS) return false
    return this.#searches.delete(key)
  }

  #countSearch({ key }: Account): void {
    const recent = this.#searches.get(key) ?? { since: this.#now(), count: 0 }
    this.#searches.delete(key)
    this.#searches.set(key, { ...recent, count: recent.count + 1 })
    const [oldest] = this.#searches.keys()
    if (this.#searches.size > MAX_COUNTED_ACCOUNTS && oldest !== undefined) this.#searches.delete(oldest)
  }
}

interface NamedLibrary extends WebdavName {
  readonly library: Readable
}

/** Which names libraries have, given those assigned before, and which of them are new. */
class Naming {
  readonly named: NamedLibrary[] = []
  readonly added: WebdavName[] = []
  readonly replaced: [before: WebdavName, after: WebdavName][] = []
  readonly #assigned: Map<string, WebdavName>
  /** How many names each library has. */
  readonly #counts = new Map<LibraryId, number>()
  readonly #readable: ReadonlySet<LibraryId>
  readonly #isReserved: (name: string) => boolean

  constructor(
    assigned: Map<string, WebdavName>,
    libraries: readonly Readable[],
    isReserved: (name: string) => boolean,
  ) {
    this.#assigned = assigned
    this.#isReserved = isReserved
    this.#readable = new Set(libraries.map(({ id }) => id))
    for (const { libraryId } of assigned.values()) this.#count(libraryId)
    for (const library of libraries) {
      this.named.push({ name: this.#name(library), libraryId: library.id, library })
    }
  }

  #name({ id, name: shown, via }: Readable): string {
    const plain = plainName(shown)
    const candidates = [plain, nameWithId(shown, id)].filter((name) => this.#isAssignable(name))
    if (candidates[0] === plain && via === 'mine' && this.#takeOver(plain, id)) return plain
    const own = candidates.find((name) => this.#find(name)?.libraryId === id)
    const free = own ?? candidates.find((name) => this.#find(name) === undefined)
    return free !== undefined && this.#assign(free, id) ? free : `${plain} (${id})`
  }

  /** False unless the library is new, and the name is that of one which the account cannot read any more. */
  #takeOver(name: string, libraryId: LibraryId): boolean {
    const before = this.#find(name)
    if (before === undefined || this.#readable.has(before.libraryId)) return false
    if (this.#counts.has(libraryId)) return false
    this.#replace(before, { name, libraryId })
    return true
  }

  /** False if there are too many names already. */
  #assign(name: string, libraryId: LibraryId): boolean {
    const before = this.#find(name)
    const after = { name, libraryId }
    // The library was renamed by case only.
    if (before !== undefined && before.name !== name) this.#replace(before, after)
    if (before !== undefined) return true
    const isFull = this.#assigned.size >= MAX_NAMES
    if (isFull || (this.#counts.get(libraryId) ?? 0) >= MAX_NAMES_OF_LIBRARY) return false
    this.#assigned.set(foldName(name), after)
    this.#count(libraryId)
    this.added.push(after)
    return true
  }

  #replace(before: WebdavName, after: WebdavName): void {
    this.#assigned.set(foldName(after.name), after)
    this.replaced.push([before, after])
  }

  #find(name: string): WebdavName | undefined {
    return this.#assigned.get(foldName(name))
  }

  #count(id: LibraryId): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
  }

  #isAssignable(name: string): boolean {
    return isStorable(name) && name !== '.' && name !== '..' && !this.#isReserved(name) && !WITH_ID.test(name)
  }
}

/** A library from a sync client may have any name, and a slash cannot be part of a URL segment. */
function plainName(shown: string): string {
  return toNfc(shown).replaceAll(/[/\0]/g, '_') || '_'
}

/** The name of a library whose plain name is taken. */
function nameWithId(shown: string, id: LibraryId): string {
  return `${plainName(shown)} (${id.slice(0, 6)})`
}

/**
 * Names libraries that an account receives from another owner by their ids, so that they take over no name: their links and shares with everyone
 * may still be in the hands of whoever gave them away.
 */
export async function nameReceived(
  tx: Transaction,
  accountKey: number,
  libraries: readonly { readonly id: LibraryId; readonly name: string }[],
): Promise<void> {
  const names = libraries.map(({ id, name }) => ({ name: nameWithId(name, id), libraryId: id }))
  const storable = names.filter(({ name }) => isStorable(name))
  if (storable.length > 0) await insertWebdavNames(tx, accountKey, storable)
}

function isStorable(name: string): boolean {
  return Buffer.byteLength(foldName(name)) <= MAX_NAME_BYTES && !name.includes('\0')
}

/** Each library once: own ones first, then the oldest. */
function inOrder(readable: readonly Readable[]): Readable[] {
  const once = new Map<LibraryId, Readable>()
  for (const one of readable) if (!once.has(one.id)) once.set(one.id, one)
  return [...once.values()].sort(
    (a, b) =>
      Number(b.via === 'mine') - Number(a.via === 'mine') ||
      a.libraryKey - b.libraryKey ||
      (a.id < b.id ? -1 : 1),
  )
}
