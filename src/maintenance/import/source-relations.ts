import { type Commit, type LibraryId, parseLibraryId } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath, parsePath, ROOT, segmentsOf } from '../../base/paths/index.ts'
import { insertStar } from '../../libraries/attributes/index.ts'
import { type ObjectStore, Tree } from '../../libraries/tree/index.ts'
import { insertSubCommit, putSubLibrary, setPasswordCheck } from '../../libraries/views/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import { importSyncToken } from '../../people/credentials/index.ts'
import { parseImportedHash } from '../../people/passwords/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { importLink, type LinkSecrets, type Share, shareRows } from '../../sharing/access/index.ts'
import type { ImportedLibrary } from './library-importer.ts'
import type { Problems } from './problems.ts'
import type { SeafileLayout } from './seafile-layout.ts'
import { findSourceCommit } from './source-history.ts'
import type { People } from './source-people.ts'
import { numberIn, type SourceRow, type SourceRows, textIn, timeIn } from './source-rows.ts'

/** A virtual library: a folder of its origin. */
export interface SourceView {
  readonly id: LibraryId
  readonly path: LibraryPath
  readonly head: string | undefined
}

/** How many rows came over. */
export interface RelationCounts {
  shares: number
  links: number
  stars: number
  syncTokens: number
  views: number
}

interface RelationsOptions {
  readonly rows: SourceRows
  readonly people: People
  readonly secrets: LinkSecrets
  readonly objects: ObjectStore
  readonly layout: SeafileLayout
  readonly problems: Problems
  /** Unix seconds. */
  readonly now: number
}

/** A library, or a folder of it, as the rows of the source name it. */
interface Target {
  readonly id: LibraryId
  readonly base: LibraryPath
  readonly view: SourceView | undefined
  /** The head of a virtual library, if clients that have it may go on. */
  readonly head: Commit | undefined
  readonly syncs: boolean
  /** Of a virtual library of an encrypted one. */
  readonly passwordCheck?: string | undefined
}

/** A row to be written, and what to count or say afterwards. */
type Writer = (tx: Transaction, subKey: number | undefined) => Promise<boolean>
interface Planned {
  readonly count: keyof RelationCounts
  readonly write: Writer
  readonly refused: () => void
}

/** Shares, links, stars and sync tokens of libraries. */
export class SourceRelations {
  readonly counts: RelationCounts = { shares: 0, links: 0, stars: 0, syncTokens: 0, views: 0 }
  readonly #options: RelationsOptions
  readonly #byLibrary = new Map<string, Map<string, SourceRow[]>>()
  readonly #peers: Map<string, SourceRow>

  constructor(options: RelationsOptions) {
    this.#options = options
    for (const table of TABLES) {
      this.#byLibrary.set(
        table,
        Map.groupBy(options.rows.of(table), (row) => textIn(row, 'repo_id')),
      )
    }
    this.#peers = new Map(options.rows.of('repotokenpeerinfo').map((row) => [textIn(row, 'token'), row]))
  }

  /** Rows of libraries that are not imported. */
  reportOrphans(imported: ReadonlySet<string>): void {
    const { problems } = this.#options
    for (const [table, libraries] of this.#byLibrary) {
      for (const [id, rows] of libraries) {
        if (imported.has(id)) continue
        problems.add(
          KINDS[table] ?? 'share-skipped',
          `${rows.length} rows of ${table} are of a library that is not imported.`,
          id,
        )
      }
    }
  }

  /** Reads everything that is needed, and returns what writes the rows. */
  async plan(library: ImportedLibrary, ownerKey: number, views: readonly SourceView[]) {
    const whole: Target = {
      id: library.id,
      base: ROOT,
      view: undefined,
      head: undefined,
      syncs: library.isExact,
    }
    const plans = [{ target: whole, planned: await this.#planTarget(library, ownerKey, whole) }]
    for (const view of views) {
      const target = await this.#viewOf(library, view)
      if (target !== undefined)
        plans.push({ target, planned: await this.#planTarget(library, ownerKey, target) })
    }
    const outcome: { planned: Planned; isWritten: boolean }[] = []
    const write = async (tx: Transaction) => {
      outcome.length = 0
      for (const { target, planned } of plans) {
        const subKey = await this.#putView(tx, library, target)
        for (const one of planned) outcome.push({ planned: one, isWritten: await one.write(tx, subKey) })
      }
    }
    const settle = () => {
      this.counts.views += plans.length - 1
      for (const { planned, isWritten } of outcome) {
        if (isWritten) this.counts[planned.count] += 1
        else planned.refused()
      }
    }
    return { write, settle }
  }

  async #putView(
    tx: Transaction,
    library: ImportedLibrary,
    { view, head, base, passwordCheck }: Target,
  ): Promise<number | undefined> {
    if (view === undefined) return undefined
    const sub = await putSubLibrary(tx, library.key, base, library.headSeq, { isFile: false, id: view.id })
    if (passwordCheck !== undefined) await setPasswordCheck(tx, sub.key, passwordCheck)
    if (head !== undefined) await insertSubCommit(tx, sub.key, head, { seq: library.headSeq })
    return sub.key
  }

  async #viewOf(library: ImportedLibrary, view: SourceView): Promise<Target | undefined> {
    const { problems, layout } = this.#options
    const refuse = (reason: string) =>
      problems.add('view-skipped', `The folder ${view.path} of ${library.id}: ${reason}.`, view.id)
    const entry = await this.#treeOf(library).find(view.path)
    if (entry?.kind !== 'dir' || view.path === ROOT) {
      refuse('it does not exist')
      return undefined
    }
    const found = view.head === undefined ? undefined : await findSourceCommit(layout, view.id, view.head)
    const commit = found?.commit
    const { encryption } = found?.library ?? {}
    // The source copies the wrapped key into the view, and does not change the copy with the password of the library.
    if (library.isEncrypted && encryption?.key !== library.wrappedKey) {
      refuse('its password is not that of its library')
      return undefined
    }
    const isCurrent = commit !== undefined && commit.rootId === entry.id
    if (!isCurrent) refuse('it was not merged with its library, so clients have to sync it again')
    return {
      id: view.id,
      base: view.path,
      view,
      head: isCurrent ? commit : undefined,
      syncs: isCurrent && library.isExact,
      passwordCheck: encryption?.pwdHash ?? encryption?.magic,
    }
  }

  #treeOf({ key, root }: ImportedLibrary): Tree {
    return new Tree(this.#options.objects, key, root)
  }

  async #planTarget(library: ImportedLibrary, ownerKey: number, target: Target): Promise<Planned[]> {
    return [
      ...(target.passwordCheck === undefined ? this.#shares(library, ownerKey, target) : []),
      ...(await this.#links(library, target)),
      ...(await this.#stars(library, target)),
      ...this.#syncTokens(library, target),
    ]
  }

  #rowsOf(table: string, { id }: Target): readonly SourceRow[] {
    return this.#byLibrary.get(table)?.get(id) ?? []
  }

  #account(row: SourceRow, column: string): Account | undefined {
    return this.#options.people.accounts.get(textIn(row, column).toLowerCase())
  }

  #shares(library: ImportedLibrary, ownerKey: number, target: Target): Planned[] {
    const { people, problems, now } = this.#options
    const planned: Planned[] = []
    const add = (
      row: SourceRow,
      to: Pick<Share, 'grantee' | 'granteeKey'> | undefined,
      name: string,
      byColumn: string,
    ) => {
      const refused = (reason: string) =>
        problems.add('share-skipped', `The share with ${name}: ${reason}.`, target.id)
      const permission = PERMISSIONS[textIn(row, 'permission')]
      if (to === undefined) return refused('it is not imported')
      if (permission === undefined) return refused(`there is no permission like ${textIn(row, 'permission')}`)
      const grantedBy = this.#account(row, byColumn)?.key ?? ownerKey
      const share: Share = { ...to, ...permission, grantedBy, expiresAt: undefined }
      planned.push({
        count: 'shares',
        write: (tx, subKey) => shareRows.insert(tx, { libraryKey: library.key, subKey }, share, now),
        refused: () => refused('there is one'),
      })
    }
    for (const row of this.#rowsOf('sharedrepo', target)) {
      const account = this.#account(row, 'to_email')
      add(row, account && { grantee: 'user', granteeKey: account.key }, textIn(row, 'to_email'), 'from_email')
    }
    for (const row of this.#rowsOf('repogroup', target)) {
      const group = people.groups.get(numberIn(row, 'group_id'))
      add(
        row,
        group && { grantee: 'group', granteeKey: group.key },
        `the group ${numberIn(row, 'group_id')}`,
        'user_name',
      )
    }
    for (const row of this.#rowsOf('innerpubrepo', target))
      add(row, { grantee: 'everyone', granteeKey: 0 }, 'everyone', '')
    return planned
  }

  async #links(library: ImportedLibrary, target: Target): Promise<Planned[]> {
    const { problems, secrets, now } = this.#options
    const planned: Planned[] = []
    for (const [table, kind] of [
      ['share_fileshare', 'share'],
      ['share_uploadlinkshare', 'upload'],
    ] as const) {
      for (const row of this.#rowsOf(table, target)) {
        const token = textIn(row, 'token')
        const refused = (reason: string) =>
          problems.add('link-skipped', `The link ${token.slice(0, 6)}…: ${reason}.`, target.id)
        const account = this.#account(row, 'username')
        const item = await this.#item(library, target, textIn(row, 'path'))
        if (account === undefined) refused('its creator is not imported')
        else if (item === undefined) refused('its file or folder does not exist')
        else {
          const link = {
            token,
            kind,
            accountKey: account.key,
            libraryKey: library.key,
            place: item.path,
            isDir: item.isDir,
            password: passwordOf(textIn(row, 'password')),
            expiresAt: timeIn(row, 'expire_date'),
            rights: rightsOf(kind, textIn(row, 'permission')),
            views: numberIn(row, 'view_cnt'),
            createdAt: timeIn(row, 'ctime') ?? now,
          }
          planned.push({
            count: 'links',
            write: (tx, subKey) => importLink(tx, secrets, { ...link, subKey }),
            refused: () => refused('its token is taken, or of another form'),
          })
        }
      }
    }
    return planned
  }

  async #stars(library: ImportedLibrary, target: Target): Promise<Planned[]> {
    const { problems, now } = this.#options
    const planned: Planned[] = []
    for (const row of this.#rowsOf('base_userstarredfiles', target)) {
      const refused = (reason: string) =>
        problems.add(
          'star-skipped',
          `The star of ${textIn(row, 'email')} at ${textIn(row, 'path')}: ${reason}.`,
          target.id,
        )
      const account = this.#account(row, 'email')
      const item = await this.#item(library, target, textIn(row, 'path'))
      if (account === undefined) refused('the account is not imported')
      else if (item === undefined) refused('there is no such file or folder')
      else {
        const star = {
          accountKey: account.key,
          libraryKey: library.key,
          path: item.path,
          isDir: item.isDir,
          createdAt: now,
        }
        planned.push({
          count: 'stars',
          write: async (tx, subKey) => {
            await insertStar(tx, { ...star, subKey })
            return true
          },
          refused: () => {},
        })
      }
    }
    return planned
  }

  #syncTokens(library: ImportedLibrary, target: Target): Planned[] {
    const { problems, now } = this.#options
    const planned: Planned[] = []
    for (const row of this.#rowsOf('repousertoken', target)) {
      const token = textIn(row, 'token')
      const refused = (reason: string) =>
        problems.add('token-skipped', `A sync token of ${textIn(row, 'email')}: ${reason}.`, target.id)
      const account = this.#account(row, 'email')
      if (account === undefined) refused('the account is not imported')
      else if (!target.syncs) refused('the content differs, so the client has to sync again')
      else {
        const wanted = { token, account, libraryKey: library.key, device: deviceOf(this.#peers.get(token)) }
        planned.push({
          count: 'syncTokens',
          write: (tx, subKey) => importSyncToken(tx, { ...wanted, subKey }, now),
          refused: () => refused('it is taken, or of another form'),
        })
      }
    }
    return planned
  }

  /** The item at a path of the source, as a path of the library. */
  async #item(library: ImportedLibrary, target: Target, text: string) {
    const parsed = parsePath(text)
    if (parsed === undefined) return undefined
    let path = target.base
    for (const segment of segmentsOf(parsed)) path = joinPath(path, segment)
    if (path === ROOT) return { path, isDir: true }
    const entry = await this.#treeOf(library).find(path)
    return entry && { path, isDir: entry.kind === 'dir' }
  }
}

const KINDS: Readonly<Record<string, 'share-skipped' | 'link-skipped' | 'star-skipped' | 'token-skipped'>> = {
  sharedrepo: 'share-skipped',
  repogroup: 'share-skipped',
  innerpubrepo: 'share-skipped',
  share_fileshare: 'link-skipped',
  share_uploadlinkshare: 'link-skipped',
  base_userstarredfiles: 'star-skipped',
  repousertoken: 'token-skipped',
}
const TABLES: readonly string[] = Object.keys(KINDS)

/** Others, such as `preview`, would grant more here than there. */
const PERMISSIONS: Readonly<Record<string, Pick<Share, 'permission' | 'isAdmin'>>> = {
  r: { permission: 'r', isAdmin: false },
  rw: { permission: 'rw', isAdmin: false },
  admin: { permission: 'rw', isAdmin: true },
}

function passwordOf(stored: string): { hash: string } | { text: string } | undefined {
  if (stored === '') return undefined
  return parseImportedHash(stored) === undefined ? { text: stored } : { hash: stored }
}

function rightsOf(kind: 'share' | 'upload', stored: string) {
  if (kind === 'upload') return { canEdit: false, canDownload: false, canUpload: true }
  const has = (name: string, otherwise: boolean) => {
    const found = new RegExp(`"?${name}"?\\s*[:=]\\s*(true|false)`, 'i').exec(stored)?.[1]
    return found === undefined ? otherwise : found.toLowerCase() === 'true'
  }
  if (stored === 'view_only') return { canEdit: false, canDownload: false, canUpload: false }
  return {
    canEdit: has('can_edit', false),
    canDownload: has('can_download', true),
    canUpload: has('can_upload', false),
  }
}

function deviceOf(row: SourceRow | undefined) {
  if (row === undefined) return undefined
  const [id, name, clientVersion] = [
    textIn(row, 'peer_id'),
    textIn(row, 'peer_name'),
    textIn(row, 'client_ver'),
  ]
  return id === '' ? undefined : { id, name, clientVersion, usedAt: timeIn(row, 'sync_time') ?? 0 }
}

/** The virtual libraries of an origin. */
export function viewsIn(rows: SourceRows, heads: ReadonlyMap<string, string>): Map<string, SourceView[]> {
  const views = new Map<string, SourceView[]>()
  for (const row of rows.of('virtualrepo')) {
    const [id, path] = [parseLibraryId(textIn(row, 'repo_id')), parsePath(textIn(row, 'path'))]
    if (id === undefined || path === undefined) continue
    const origin = textIn(row, 'origin_repo')
    views.set(origin, [...(views.get(origin) ?? []), { id, path, head: heads.get(id) }])
  }
  return views
}
