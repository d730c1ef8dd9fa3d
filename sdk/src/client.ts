import { type CallOptions, Connection, type ConnectionOptions, pause } from './connection.ts'
import { CarrelError } from './errors.ts'
import type { ResponseOf } from './response-of.ts'
import type { Records } from './responses.ts'
import type {
  Change,
  Commit,
  DeletedEntry,
  Entry,
  Library,
  Revision,
  SearchResult,
  Share,
  ShareLink,
  State,
  Uploaded,
} from './types.ts'
import {
  type Destination,
  type LargeUploadOptions,
  type NewFile,
  Uploader,
  type UploadOptions,
} from './upload.ts'

/** Options of every call. */
interface Cancelable {
  readonly signal?: AbortSignal
}

interface SignInOptions extends Omit<ConnectionOptions, 'token'>, Cancelable {
  readonly username: string
  readonly password: string
  /** One-time code of the second factor. */
  readonly otp?: string
  /** Makes the sign-in one of a device, which the account lists and can revoke by itself. */
  readonly device?: { readonly id: string; readonly name: string; readonly version: string }
}

interface DownloadOptions extends State, Cancelable {
  /** First byte. Default: 0. */
  readonly start?: number
  /** Byte after the last one. Default: the end of the file. */
  readonly end?: number
  /** The file id that is expected. Throws `conflict` if the file has another content. */
  readonly id?: string
}

/** The content of a file, from `start` on. */
interface Download {
  readonly id: string
  /** Bytes that follow. */
  readonly size: number
  readonly body: ReadableStream<Uint8Array>
}

/** Entries of one folder. */
interface Selection {
  readonly library: string
  readonly folder: string
  readonly names: readonly string[]
}

interface SearchOptions extends Cancelable {
  readonly library?: string
  /** Only below this folder of `library`. */
  readonly folder?: string
  /** Names only, not the text of documents. */
  readonly namesOnly?: boolean
}

type Dirent = ResponseOf<'GET', `api/v2.1/repos/${string}/dir/`>['dirent_list'][number]

const PAGE = 100
const FIRST_POLL_MS = 50
const MAX_POLL_MS = 2000

/** Signs in and resolves to a token, to be stored like a password. Throws `unauthorized` and `otp-needed`. */
export async function signIn(options: SignInOptions): Promise<string> {
  const { username, password, otp, device, signal } = options
  const connection = new Connection(options)
  try {
    const { token } = await connection.json('POST', 'api2/auth-token/', {
      form: {
        username,
        password,
        ...(device && {
          platform: 'linux',
          device_id: device.id,
          device_name: device.name,
          client_version: device.version,
          platform_version: '',
        }),
      },
      headers: otp === undefined ? {} : { 'X-Seafile-OTP': otp },
      signal,
    })
    return token
  } catch (error) {
    // The API answers 400 for a wrong password.
    if (error instanceof CarrelError && error.status === 400 && error.kind === 'invalid') {
      throw new CarrelError('unauthorized', 400, error.message, { cause: error })
    }
    throw error
  }
}

/** One account at one server. Paths are absolute in their library. Every method throws CarrelError. */
export class Carrel {
  readonly #connection: Connection
  readonly #uploader: Uploader

  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options)
    this.#uploader = new Uploader(this.#connection)
  }

  get url(): string {
    return this.#connection.url
  }

  /** E-mail of the account of the token. */
  async account(options?: Cancelable): Promise<string> {
    return (await this.#get('api2/account/info/', {}, options)).email
  }

  /** Whether the token is restricted to some operations or to one library. False at servers without such tokens. */
  async isScoped(options?: Cancelable): Promise<boolean> {
    try {
      // No restricted token may list the tokens of its account.
      await this.#get('api/v2.1/personal-tokens/', {}, options)
      return false
    } catch (error) {
      if (!(error instanceof CarrelError)) throw error
      if (error.kind !== 'forbidden' && error.kind !== 'not-found') throw error
      return error.kind === 'forbidden'
    }
  }

  /** Revokes the token. */
  async signOut(options: Cancelable = {}): Promise<void> {
    await this.#connection.json('POST', 'api2/logout-device/', options)
  }

  /**
   * Records in the audit log that a tool is about to be called. Resolves to false at a server that has no such record. Throws
   * if the server has, but did not write it.
   */
  async recordToolCall(
    call: {
      readonly tool: string
      readonly library?: string | undefined
      readonly path?: string | undefined
    },
    options: Cancelable = {},
  ): Promise<boolean> {
    const form = { tool: call.tool, repo_id: call.library, path: call.path }
    const recorded = await orNothing(
      this.#connection.json('POST', 'api/v2.1/tool-calls/', { form, ...options }),
    )
    return recorded !== undefined
  }

  /** All libraries that the token can open, each once. */
  async libraries(options?: Cancelable): Promise<Library[]> {
    const { repos } = await this.#get('api/v2.1/repos/', {}, options)
    const byId = new Map<string, Library>()
    for (const repo of repos) {
      const known = byId.get(repo.repo_id)
      // One that is shared in several ways is listed for each.
      if (known !== undefined && known.permission === 'rw') continue
      byId.set(repo.repo_id, {
        id: repo.repo_id,
        name: repo.repo_name,
        relation: repo.type,
        owner: 'owner_email' in repo ? repo.owner_email : repo.group_name,
        permission: repo.permission,
        encrypted: repo.encrypted,
        size: repo.size,
        modifiedAt: new Date(repo.last_modified),
      })
    }
    return [...byId.values()]
  }

  /** Creates a library and resolves to its id. */
  async createLibrary(name: string, options: Cancelable = {}): Promise<string> {
    const call = { form: { name }, ...options }
    return (await this.#connection.json('POST', 'api2/repos/', call)).repo_id
  }

  /** Unlocks an encrypted library for this token, for an hour. */
  async unlock(library: string, password: string): Promise<void> {
    await this.#connection.json('POST', `api/v2.1/repos/${library}/set-password/`, { form: { password } })
  }

  /** The id of the latest commit. */
  async head(library: string, options?: Cancelable): Promise<string> {
    return (await this.#get(`api2/repos/${library}/`, {}, options)).head_commit_id
  }

  /** The entries of a folder. */
  async *list(library: string, folder: string, options: State & Cancelable = {}): AsyncGenerator<Entry> {
    const listed = await this.#get(
      `api/v2.1/repos/${library}/dir/`,
      { p: folder, commit_id: options.commit, at: options.at },
      options,
    )
    for (const dirent of listed.dirent_list) yield entryOf(folder, dirent)
  }

  /** Everything below a folder, a folder before its content. One folder at a time is in memory. */
  async *walk(library: string, folder: string, options: State & Cancelable = {}): AsyncGenerator<Entry> {
    for await (const entry of this.list(library, folder, options)) {
      yield entry
      if (entry.kind === 'dir') yield* this.walk(library, entry.path, options)
    }
  }

  /** A file or folder; undefined if there is none. */
  async find(library: string, path: string, options: State & Cancelable = {}): Promise<Entry | undefined> {
    if (path === '/') return { path, name: '', kind: 'dir', id: '', size: 0, modifiedAt: new Date(0) }
    const when = { commit_id: options.commit, at: options.at }
    const file = await orNothing(this.#get(`api/v2.1/repos/${library}/file/`, { p: path, ...when }, options))
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (file !== undefined) {
      const { obj_id: id, size, mtime } = file
      return { path, name, kind: 'file', id, size, modifiedAt: new Date(mtime) }
    }
    const folder = await orNothing(
      this.#get(`api/v2.1/repos/${library}/dir/detail/`, { path, ...when }, options),
    )
    if (folder === undefined) return undefined
    return { path, name, kind: 'dir', id: '', size: 0, modifiedAt: new Date(folder.mtime) }
  }

  /** Creates folders with their missing parents, in one commit. Those that exist are left as they are. */
  async createFolders(library: string, paths: readonly string[], options: Cancelable = {}): Promise<void> {
    if (paths.length === 0) return
    const path = 'api/v2.1/repos/batch-create-dir/'
    const { failed } = await this.#connection.json('POST', path, {
      json: { repo_id: library, paths },
      ...options,
    })
    const refused = failed.find(({ error_msg }) => !/exists/i.test(error_msg))
    if (refused !== undefined) {
      const kind = /permission/i.test(refused.error_msg) ? 'forbidden' : 'invalid'
      throw new CarrelError(kind, 200, `${refused.path}: ${refused.error_msg}`)
    }
  }

  /** Uploads one file, a large one in chunks. Missing folders are created. */
  upload(to: Destination, file: NewFile, options?: LargeUploadOptions): Promise<Uploaded> {
    return this.#uploader.one(to, file, options)
  }

  /** Uploads several small files of one folder in one commit. Missing folders are created. */
  uploadMany(
    to: Destination,
    files: readonly NewFile[],
    options?: UploadOptions,
  ): Promise<readonly Uploaded[]> {
    return this.#uploader.many(to, files, options)
  }

  /** Reads a file, or a range of it. */
  async download(library: string, path: string, options: DownloadOptions = {}): Promise<Download> {
    const { start = 0, end, signal } = options
    const { url, id } = await this.#downloadLink(library, path, options)
    if (options.id !== undefined && options.id !== id) {
      throw new CarrelError('conflict', 412, `${path} has changed.`)
    }
    const range = `bytes=${start}-${end === undefined ? '' : end - 1}`
    const isPart = start > 0 || end !== undefined
    const response = await this.#connection.send(url, {
      method: 'GET',
      isIdempotent: true,
      signal,
      ...(isPart && { headers: { Range: range } }),
    })
    if (isPart && response.status !== 206) {
      throw new CarrelError('server', response.status, 'The server ignored the range of a download.')
    }
    return { id, ...downloadOf(response) }
  }

  /** A zip archive of entries of a folder, once the server has packed it. */
  async archive(
    library: string,
    folder: string,
    names: readonly string[],
    options: State & Cancelable = {},
  ): Promise<Pick<Download, 'size' | 'body'>> {
    const { commit: commit_id, at, signal } = options
    const { zip_token: token } = await this.#connection.json('POST', `api/v2.1/repos/${library}/zip-task/`, {
      json: { parent_dir: folder, dirents: names, commit_id, at },
      signal,
    })
    for (let delayMs = 10; ; delayMs = Math.min(delayMs * 2, 1000)) {
      await pause(delayMs, signal)
      const progress = await this.#get('api/v2.1/query-zip-progress/', { token }, options)
      const { zipped, total, failed, canceled, failed_reason: reason } = progress
      if (failed || canceled) throw new CarrelError('server', 200, reason || 'The archive was not packed.')
      if (zipped >= total) break
    }
    const url = `${this.#connection.url}/seafhttp/zip/${token}`
    return downloadOf(await this.#connection.send(url, { method: 'GET', isIdempotent: true, signal }))
  }

  /** The SHA-256 of a file, as the server computes it; undefined if it does not. */
  async sha256(library: string, path: string, options: State & Cancelable = {}): Promise<string | undefined> {
    const { url } = await this.#downloadLink(library, path, options)
    const response = await this.#connection.send(url, {
      method: 'HEAD',
      isIdempotent: true,
      signal: options.signal,
      headers: { 'Want-Repr-Digest': 'sha-256=1' },
    })
    return /\bsha-256=:([^:]+):/.exec(response.headers.get('Repr-Digest') ?? '')?.[1]
  }

  async #downloadLink(library: string, path: string, options: State & Cancelable) {
    const response = await this.#connection.call('GET', `api2/repos/${library}/file/`, {
      query: { p: path, reuse: 1, commit_id: options.commit, at: options.at },
      signal: options.signal,
    })
    const url: unknown = await response.json()
    if (typeof url !== 'string') throw new CarrelError('server', response.status, 'The server sent no link.')
    return { url, id: response.headers.get('oid') ?? '' }
  }

  /** Renames a file or folder within its folder. */
  async rename(library: string, entry: Pick<Entry, 'path' | 'kind'>, name: string): Promise<void> {
    const path = `api/v2.1/repos/${library}/${entry.kind === 'dir' ? 'dir' : 'file'}/` as const
    await this.#connection.json('POST', path, {
      query: { p: entry.path },
      form: { operation: 'rename', newname: name },
    })
  }

  /** Moves entries in one commit for each library. An entry whose name is taken gets a free name. */
  move(from: Selection, to: Destination, options?: Cancelable): Promise<void> {
    return this.#transfer('move', from, to, options)
  }

  /** Copies entries in one commit. An entry whose name is taken gets a free name. */
  copy(from: Selection, to: Destination, options?: Cancelable): Promise<void> {
    return this.#transfer('copy', from, to, options)
  }

  /** Copies one file and resolves to the name that the copy got. */
  async copyFile(library: string, path: string, to: Destination): Promise<string> {
    const copied = await this.#connection.json('POST', `api/v2.1/repos/${library}/file/`, {
      query: { p: path },
      form: { operation: 'copy', dst_repo: to.library, dst_dir: to.folder },
    })
    if (!('obj_name' in copied)) throw new CarrelError('server', 200, 'The server did not name the copy.')
    return copied.obj_name
  }

  /** Between libraries the server works in the background. A scoped token may not start that, so it waits for one long request. */
  async #transfer(
    verb: 'move' | 'copy',
    from: Selection,
    to: Destination,
    options: Cancelable = {},
  ): Promise<void> {
    const call = {
      json: {
        src_repo_id: from.library,
        src_parent_dir: from.folder,
        src_dirents: from.names,
        dst_repo_id: to.library,
        dst_parent_dir: to.folder,
      },
      ...options,
    }
    let task: string
    try {
      const path = `api/v2.1/repos/async-batch-${verb}-item/` as const
      task = (await this.#connection.json('POST', path, call)).task_id
    } catch (error) {
      if (!(error instanceof CarrelError) || error.kind !== 'forbidden') throw error
      await this.#connection.json('POST', `api/v2.1/repos/sync-batch-${verb}-item/`, call)
      return
    }
    if (task !== '') await this.#finished(task, options)
  }

  async #finished(task: string, { signal }: Cancelable): Promise<void> {
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 1.5, MAX_POLL_MS)) {
      const path = 'api/v2.1/query-copy-move-progress/'
      const progress = await this.#get(path, { task_id: task }, signal ? { signal } : {})
      if (progress.successful) return
      if (progress.failed || progress.canceled) {
        throw new CarrelError('server', 200, progress.failed_reason || 'The server stopped the task.')
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  /** Deletes entries of one folder in one commit; missing ones are ignored. Resolves to the commit before. */
  async remove({ library, folder, names }: Selection, options: Cancelable = {}): Promise<string> {
    const path = 'api/v2.1/repos/batch-delete-item/'
    const removed = await this.#connection.json('DELETE', path, {
      json: { repo_id: library, parent_dir: folder, dirents: names },
      ...options,
    })
    return removed.commit_id
  }

  /** Searches names and texts, best results first. */
  async *search(text: string, options: SearchOptions = {}): AsyncGenerator<SearchResult> {
    for (let page = 1; ; page += 1) {
      const query = {
        q: text,
        page,
        per_page: PAGE,
        search_repo: options.library ?? 'all',
        search_path: options.folder,
        search_filename_only: options.namesOnly,
      }
      const { results, has_more } = await this.#get('api2/search/', query, options)
      for (const found of results) {
        yield {
          libraryId: found.repo_id,
          libraryName: found.repo_name,
          path: found.fullpath,
          kind: found.is_dir ? 'dir' : 'file',
          size: found.size,
          modifiedAt: new Date(found.last_modified * 1000),
          excerpt: found.content_highlight,
        }
      }
      if (!has_more || results.length === 0) return
    }
  }

  /** The commits of a library, newest first. */
  async *history(library: string, options?: Cancelable): AsyncGenerator<Commit> {
    for (let page = 1; ; page += 1) {
      const path = `api/v2.1/repos/${library}/history/` as const
      const { data, more } = await this.#get(path, { page, per_page: PAGE }, options)
      for (const commit of data) {
        const { commit_id: id, email: author, description } = commit
        yield { id, time: new Date(commit.time), author, description }
      }
      if (!more || data.length === 0) return
    }
  }

  /** The paths that a commit changed. */
  async changes(library: string, commit: string, options?: Cancelable): Promise<Change[]> {
    const path = `api/v2.1/repos/${library}/commits/${commit}/` as const
    const { commit_diffs } = await this.#get(path, {}, options)
    return commit_diffs.map(({ op_type, path, new_path }) => ({
      operation: op_type,
      path,
      newPath: new_path,
    }))
  }

  /** The revisions of a file, newest first, also those under its earlier names. */
  async *revisions(library: string, path: string, options?: Cancelable): AsyncGenerator<Revision> {
    let start: string | undefined
    do {
      const query = { path, limit: PAGE, commit_id: start }
      const route = `api/v2.1/repos/${library}/file/history/` as const
      const page: Records['FileHistory'] = await this.#get(route, query, options)
      for (const revision of page.data) {
        yield {
          commit: revision.commit_id,
          time: new Date(revision.ctime),
          author: revision.creator_email,
          fileId: revision.rev_file_id,
          path: revision.path,
          size: revision.size,
        }
      }
      start = page.next_start_commit === false ? undefined : page.next_start_commit
    } while (start !== undefined)
  }

  /** Gives a file or folder the content it had in a commit, as a new commit. `/` reverts the whole library. */
  async revert(library: string, entry: Pick<Entry, 'path' | 'kind'>, commit: string): Promise<void> {
    if (entry.path === '/') {
      await this.#connection.json('POST', `api/v2.1/repos/${library}/commits/${commit}/revert/`)
      return
    }
    const path = `api/v2.1/repos/${library}/${entry.kind}/` as const
    const form = { operation: 'revert', commit_id: commit }
    await this.#connection.json('POST', path, { query: { p: entry.path }, form })
  }

  /** Deleted entries, latest first. */
  async *trash(library: string, options?: Cancelable): AsyncGenerator<DeletedEntry> {
    for (let page = 1; ; page += 1) {
      const route = `api/v2.1/repos/${library}/trash2/` as const
      const { items } = await this.#get(route, { page, per_page: PAGE }, options)
      for (const item of items) {
        yield {
          path: item.parent_dir + item.obj_name,
          kind: item.is_dir ? 'dir' : 'file',
          deletedAt: new Date(item.deleted_time),
          commit: item.commit_id,
          size: item.size,
        }
      }
      if (items.length < PAGE) return
    }
  }

  /** Restores a deleted entry from the commit that `trash` names. */
  async restore(library: string, { path, commit }: Pick<DeletedEntry, 'path' | 'commit'>): Promise<void> {
    const route = `api/v2.1/repos/${library}/trash/revert-dirents/` as const
    const call = { json: { commit_id: commit, path: [path] } }
    const { failed } = await this.#connection.json('POST', route, call)
    const [first] = failed
    if (first === undefined) return
    throw new CarrelError(/not found/.test(first.error_msg) ? 'not-found' : 'invalid', 200, first.error_msg)
  }

  /** The users and groups that a file or folder is shared with. */
  async shares(library: string, entry: Pick<Entry, 'path' | 'kind'>): Promise<Share[]> {
    const items = await this.#get(sharesRoute(library, entry), { p: entry.path })
    return items.map((item) => ({
      to: item.share_type,
      recipient: item.share_type === 'user' ? item.user_info.name : String(item.group_info.id),
      permission: item.permission,
    }))
  }

  async share(
    library: string,
    entry: Pick<Entry, 'path' | 'kind'>,
    { to, recipient, permission, days }: Share & { days?: number },
  ): Promise<void> {
    const { failed } = await this.#connection.json('PUT', sharesRoute(library, entry), {
      query: { p: entry.path },
      form: {
        share_type: to,
        [to === 'user' ? 'username' : 'group_id']: recipient,
        permission,
        expire_days: days,
      },
    })
    const [first] = failed
    if (first === undefined) return
    throw new CarrelError(/not found/.test(first.error_msg) ? 'not-found' : 'invalid', 200, first.error_msg)
  }

  async unshare(
    library: string,
    entry: Pick<Entry, 'path' | 'kind'>,
    { to, recipient }: Pick<Share, 'to' | 'recipient'>,
  ): Promise<void> {
    await this.#connection.json('DELETE', sharesRoute(library, entry), {
      query: { p: entry.path, share_type: to, [to === 'user' ? 'username' : 'group_id']: recipient },
    })
  }

  async createLink(
    library: string,
    path: string,
    options: { password?: string; days?: number },
  ): Promise<ShareLink> {
    const form = { repo_id: library, path, password: options.password, expire_days: options.days }
    return linkOf(await this.#connection.json('POST', 'api/v2.1/multi-share-links/', { form }))
  }

  /** The links of this account to a file or folder. */
  async links(library: string, path: string): Promise<ShareLink[]> {
    const query = { repo_id: library, path, per_page: 1000 }
    return (await this.#get('api/v2.1/share-links/', query)).map(linkOf)
  }

  async deleteLink(token: string): Promise<void> {
    await this.#connection.json('DELETE', `api/v2.1/share-links/${encodeURIComponent(token)}/`)
  }

  #get<Path extends string>(
    path: Path,
    query: CallOptions['query'] = {},
    { signal }: Cancelable = {},
  ): Promise<ResponseOf<'GET', Path>> {
    return this.#connection.json('GET', path, { query, signal })
  }
}

function sharesRoute(library: string, { kind }: Pick<Entry, 'kind'>) {
  return kind === 'dir'
    ? (`api2/repos/${library}/dir/shared_items/` as const)
    : (`api/v2.1/repos/${library}/file/shared-items/` as const)
}

function linkOf({
  token,
  link: url,
  path,
  expire_date,
}: Pick<Records['ShareLink'], 'token' | 'link' | 'path' | 'expire_date'>): ShareLink {
  return { token, url, path, expiresAt: expire_date ? new Date(expire_date) : undefined }
}

function entryOf(folder: string, entry: Dirent): Entry {
  const { type: kind, id, name, mtime } = entry
  const size = entry.type === 'file' ? entry.size : 0
  const path = `${folder === '/' ? '' : folder.replace(/\/+$/, '')}/${name}`
  return { path, name, kind, id, size, modifiedAt: new Date(mtime * 1000) }
}

function downloadOf({ headers, body }: Response): Pick<Download, 'size' | 'body'> {
  const size = Number(headers.get('Content-Length') ?? 0)
  return { size, body: body ?? new ReadableStream({ start: (stream) => stream.close() }) }
}

async function orNothing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof CarrelError && error.kind === 'not-found') return undefined
    throw error
  }
}
