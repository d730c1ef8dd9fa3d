import type { Config } from '../src/base/config/index.ts'
import { createLogger } from '../src/base/logging.ts'
import { fileDirent } from '../src/base/objects/dirent.ts'
import { type FileObject, fileId } from '../src/base/objects/file.ts'
import { type BlockId, type LibraryId, sha1Hex } from '../src/base/objects/ids.ts'
import { type LibraryPath, ROOT } from '../src/base/paths/paths.ts'
import { insertHeldBlocks } from '../src/libraries/content/block-rows-store.ts'
import { storesOf } from '../src/libraries/library/for-server.ts'
import { createLibrary, getLibrary } from '../src/libraries/library/libraries.ts'
import { type EditableLibrary, Library } from '../src/libraries/library/library.ts'
import { insertObjects, prepareFile } from '../src/libraries/tree/object-store.ts'
import type { Account } from '../src/people/accounts/account.ts'
import { insertAccount } from '../src/people/accounts/account-store.ts'
import { ensureAdministrator } from '../src/people/passwords/first-run.ts'
import { Passwords } from '../src/people/passwords/passwords.ts'
import { ClusterNode } from '../src/platform/cluster/index.ts'
import type { Database } from '../src/platform/database/database.ts'
import { openDatabase } from '../src/platform/database/open.ts'
import { loadSecret } from '../src/platform/secret/secret.ts'
import { openCore, openSearchDatabase } from '../src/programs/assembly/stores.ts'
import { createServices } from '../src/programs/server/services.ts'
import type { ApiServices } from '../src/surfaces/api/services.ts'
import { MemoryBlockStore } from '../test/support/memory-block-store.ts'
import { digits } from './load/request-template.ts'

const now = () => Math.floor(Date.now() / 1000)

/** The name of a generated file or folder; equals `prefix-{n}` of a request template. */
export const numbered = (prefix: string, n: number) => `${prefix}-${digits(n)}`

/**
 * Builds large libraries through the core, much faster than over HTTP. Files have objects but no blocks: they can be
 * listed, renamed and moved, but not downloaded.
 */
export class LibraryBuilder implements AsyncDisposable {
  readonly services: ApiServices
  readonly #db: Database
  readonly #searchDb: Database
  readonly #owner: Account

  private constructor(
    { db, searchDb }: { db: Database; searchDb: Database },
    services: ApiServices,
    owner: Account,
  ) {
    this.#db = db
    this.#searchDb = searchDb
    this.services = services
    this.#owner = owner
  }

  static async open(config: Config): Promise<LibraryBuilder> {
    const onFatal = (error: unknown) => {
      throw error
    }
    const secret = await loadSecret(config.secret.file, config.secret.given)
    const db = await openDatabase(config.database, { onFatal, now })
    const logger = createLogger('error', { pretty: false })
    const blocks = new MemoryBlockStore()
    const core = openCore({ db, blocks, config, now, logger })
    const searchDb = openSearchDatabase(config, db)
    // Without a heartbeat: nothing that needs a lease is started.
    const node = new ClusterNode({
      db,
      id: 'bench',
      version: '',
      schemaVersion: 0,
      address: '',
      blocks: 'disk',
      onError: onFatal,
    })
    const services = createServices({ db, searchDb, core, blocks, config, secret, now, node, logger })
    await ensureAdministrator(services.accounts, config.administrator)
    return new LibraryBuilder(
      { db, searchDb },
      services,
      await services.accounts.get(config.administrator.email),
    )
  }

  issueApiToken(): Promise<string> {
    return this.services.apiTokens.issue(this.#owner, undefined)
  }

  async newLibrary(name: string): Promise<EditableLibrary> {
    const { core } = this.services
    const { id } = await createLibrary(core, this.#owner, { name, description: '' }, undefined)
    return this.openLibrary(id)
  }

  async openLibrary(id: LibraryId): Promise<EditableLibrary> {
    const { core } = this.services
    return new Library(core, await getLibrary(core, id), this.#owner, 'rw').editable(ROOT)
  }

  /**
   * Adds `count` files named `prefix-00000000` and so on to a folder, in one commit, and creates the folder.
   * @param options.bytes the size of each; the library has a row for its block, without the bytes
   * @param options.first the number of the first file
   */
  async addFiles(
    library: EditableLibrary,
    folder: LibraryPath,
    count: number,
    prefix: string,
    { bytes, first = 0 }: { readonly bytes?: number; readonly first?: number } = {},
  ): Promise<void> {
    const nameOf = (n: number) => numbered(prefix, first + n)
    const files = Array.from({ length: count }, (_, n) => fileObjectFor(`${folder}/${nameOf(n)}`, bytes))
    await library.commit(async (tree) => {
      await tree.makeDirs(folder)
      for (const [n, { id, object }] of files.entries()) {
        const name = nameOf(n)
        const { size } = object
        await tree.put(folder, fileDirent({ id, name, mtime: tree.now, size, modifier: this.#owner.email }))
      }
      return {
        description: `Added ${count} files`,
        result: undefined,
        also: async (tx) => {
          const blocks = files.flatMap(({ object: { blockIds, size } }) =>
            blockIds.map((id) => ({ id, size })),
          )
          if (bytes !== undefined) await insertHeldBlocks(tx, library.info.key, blocks)
          const rows = files.map(({ id, object }) => prepareFile(id, object))
          await insertObjects(tx, library.info.key, rows)
        },
      }
    })
  }

  /** Adds named files to folders in one commit, and creates the folders. */
  async addNamed(
    library: EditableLibrary,
    files: readonly { folder: LibraryPath; name: string; mtime: number }[],
  ): Promise<void> {
    const made = files.map(({ folder, name }) => fileObjectFor(`${library.info.id}${folder}/${name}`))
    await library.commit(async (tree) => {
      for (const folder of new Set(files.map((file) => file.folder))) await tree.makeDirs(folder)
      for (const [n, { folder, name, mtime }] of files.entries()) {
        const file = made[n]
        if (file === undefined) continue
        const { id, object } = file
        await tree.put(
          folder,
          fileDirent({ id, name, mtime, size: object.size, modifier: this.#owner.email }),
        )
      }
      return {
        description: `Added ${files.length} files`,
        result: undefined,
        also: (tx) =>
          insertObjects(
            tx,
            library.info.key,
            made.map(({ id, object }) => prepareFile(id, object)),
          ),
      }
    })
  }

  /** Adds the accounts `prefix-00000000@example.org` and so on, all with one password, whose hash is computed once. */
  async addAccounts(from: number, to: number, prefix: string, password: string): Promise<void> {
    const password_hash = await new Passwords().hash(password, '')
    await this.#db.write(async (tx) => {
      for (let n = from; n < to; n += 1) {
        const name = numbered(prefix, n)
        await insertAccount(tx, {
          email: `${name}@example.org`,
          name,
          password_hash,
          role: 'default',
          active: 1,
          created_at: now(),
        })
      }
    })
  }

  /** Length of the JSON whose hash is the folder's id. */
  async encodedBytes(library: EditableLibrary, folder: LibraryPath): Promise<number> {
    const { tree } = await this.openLibrary(library.info.id)
    return (await tree.getDir(folder)).dir.encoded().length
  }

  /** Resolves once the indexes of paths and names have processed the commits of a library. */
  async catchUp(library: EditableLibrary): Promise<void> {
    const { info } = await this.openLibrary(library.info.id)
    await storesOf(this.services.core).pathIndex.catchUp(info)
    await this.services.search.index.catchUp(info)
  }

  /** Resolves once all consumers have processed the commits of a library, so that a server that starts has nothing to do. */
  async settle(library: EditableLibrary): Promise<void> {
    await this.catchUp(library)
    await this.services.activity.consumer.catchUp([library.info.key])
    await this.services.photos.rebuildLibrary((await this.openLibrary(library.info.id)).info)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.services.activity[Symbol.asyncDispose]()
    await this.services.search[Symbol.asyncDispose]()
    await this.services.core[Symbol.asyncDispose]()
    if (this.#searchDb !== this.#db) await this.#searchDb[Symbol.asyncDispose]()
    await this.#db[Symbol.asyncDispose]()
  }
}

/** A file with one unique block. */
function fileObjectFor(seed: string, bytes?: number) {
  const hash = sha1Hex(Buffer.from(seed))
  const object: FileObject = {
    blockIds: [hash as BlockId],
    size: bytes ?? 1 + (Number.parseInt(hash.slice(0, 5), 16) % 900_000),
  }
  return { id: fileId(object), object }
}
