import { type CommitId, type LibraryId, parseCommitId, parseLibraryId } from '../../base/objects/index.ts'
import { ObjectStore } from '../../libraries/tree/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { BlockStore } from '../../platform/storage/index.ts'
import type { LinkSecrets } from '../../sharing/access/index.ts'
import { BlockCopier, type BlockCounts } from './block-copier.ts'
import { type ImportedLibrary, importLibrary, isImported } from './library-importer.ts'
import { type Problem, type ProblemKind, Problems } from './problems.ts'
import { SeafileLayout } from './seafile-layout.ts'
import { guessHead, guessOldHeads } from './source-history.ts'
import { openObjectThreads } from './source-objects.ts'
import { addMissingAccount, importPeople, type OnAdded, type People } from './source-people.ts'
import { type RelationCounts, SourceRelations, type SourceView, viewsIn } from './source-relations.ts'
import { numberIn, type SourceRow, SourceRows, textIn, timeIn } from './source-rows.ts'

/** Where to import from and to. */
interface SeafileImport {
  readonly folder: string
  /** The rows of its databases; undefined to import from the objects alone. */
  readonly rows: SourceRows | undefined
  /** Owns libraries whose owner is not known. */
  readonly owner: Account | undefined
  readonly db: Database
  /** Undefined for a dry run: blocks are only looked for, and `db` is a temporary database. */
  readonly blocks: BlockStore | undefined
  readonly secrets: LinkSecrets
  /** Copies blocks even where the file system could share their bytes. */
  readonly copy: boolean
  /** Limit of the cache of folders. */
  readonly dirCacheBytes: number
  /** For a dry run: whether the server, whose database is not `db`, has the library. */
  readonly isPresent: (id: LibraryId) => Promise<boolean>
  /** Only these libraries; all unless given. */
  readonly only: ReadonlySet<string> | undefined
  /** Unix seconds. */
  readonly now: number
  readonly onLibrary: (done: number, of: number, name: string) => void
  /** Called in the transaction that adds something, for the audit log. */
  readonly onAdded: OnAdded
}

/** What became of a library. */
interface LibraryReport {
  readonly id: string
  readonly state: 'imported' | 'present' | 'skipped'
  readonly name: string
  readonly owner: string
  readonly commits: number
  readonly files: number
  readonly bytes: number
  readonly isEncrypted: boolean
  readonly isDeleted: boolean
}

export interface ImportReport extends RelationCounts {
  readonly dryRun: boolean
  readonly libraries: readonly LibraryReport[]
  readonly accounts: number
  readonly groups: number
  readonly apiTokens: number
  readonly blocks: BlockCounts
  /** Up to a hundred of each kind and library. */
  readonly problems: readonly Problem[]
  readonly problemCounts: Partial<Record<ProblemKind, number>>
}

/** The name under which Seafile keeps the library whose content the first library of a user starts with. No account has it. */
const TEMPLATE_OWNER = 'System'

/** A library that the source has. */
interface Found {
  readonly id: LibraryId
  readonly head: CommitId
  readonly owner: string
  readonly deletedAt: number | null
}

/** Imports the libraries of a Seafile server with everything that belongs to them. Never writes to the source. Throws ImportError. */
export async function importSeafile(options: SeafileImport): Promise<ImportReport> {
  const { db, blocks, secrets, copy, now } = options
  const dryRun = blocks === undefined
  const problems = new Problems()
  const layout = await SeafileLayout.open(options.folder)
  const objects = new ObjectStore(db, options.dirCacheBytes)
  await using copier = new BlockCopier({ blocks, copy })
  await using threads = openObjectThreads()
  const rows = options.rows ?? new SourceRows()
  const people = await importPeople(rows, { db, problems, now, onAdded: options.onAdded })
  const relations = new SourceRelations({ rows, people, secrets, objects, layout, problems, now })
  const heads = new Map(rows.of('branch').map((row) => [textIn(row, 'repo_id'), textIn(row, 'commit_id')]))
  const views = viewsIn(rows, heads)
  const found =
    options.rows === undefined
      ? await listObjectsAlone(layout, problems)
      : await listKnown(layout, rows, heads, problems)
  const wanted = found.filter(({ id }) => options.only === undefined || options.only.has(id))
  const context = { options, rows, people, relations, views, objects, layout, threads, copier, problems }
  const libraries: LibraryReport[] = []
  for (const [index, library] of wanted.entries()) {
    const report = await importOne(library, context)
    libraries.push(report)
    options.onLibrary(index + 1, wanted.length, report.name)
  }
  if (options.rows !== undefined && options.only === undefined) {
    const imported = libraries
      .filter(({ state }) => state !== 'skipped')
      .flatMap(({ id }) => [id, ...(views.get(id) ?? []).map((view) => view.id)])
    relations.reportOrphans(new Set<string>(imported))
  }
  return {
    dryRun,
    libraries,
    accounts: people.counts.accounts,
    groups: people.counts.groups,
    apiTokens: people.counts.apiTokens,
    ...relations.counts,
    blocks: copier.counts,
    problems: problems.list,
    problemCounts: problems.counts,
  }
}

interface ImportContext
  extends Pick<
    Parameters<typeof importLibrary>[1],
    'objects' | 'layout' | 'threads' | 'copier' | 'problems'
  > {
  readonly options: SeafileImport
  readonly rows: SourceRows
  readonly people: People
  readonly relations: SourceRelations
  readonly views: ReadonlyMap<string, readonly SourceView[]>
}

async function importOne(
  { id, head, owner: email, deletedAt }: Found,
  { options, rows, people, relations, views, objects, layout, threads, copier, problems }: ImportContext,
): Promise<LibraryReport> {
  const { db, now } = options
  const report = {
    id,
    name: '',
    owner: email,
    commits: 0,
    files: 0,
    bytes: 0,
    isEncrypted: false,
    isDeleted: deletedAt !== null,
  }
  if ((await isImported(db, id)) || (await options.isPresent(id))) return { ...report, state: 'present' }
  const owner = await ownerOf(id, email, people, options, problems)
  if (owner === undefined) return { ...report, state: 'skipped' }
  const own = deletedAt === null ? (views.get(id) ?? []) : []
  let settle = () => {}
  const imported = await importLibrary(
    {
      id,
      head,
      ownerKey: owner.key,
      validSince: numberOf(rows.of('repovalidsince'), id, 'timestamp', -1),
      historyDays: historyDaysOf(rows, id),
      isReadOnly: numberOf(rows.of('repoinfo'), id, 'status', 0) === 1,
      deletedAt,
      views: own.flatMap((view) => headOf(view)),
    },
    {
      db,
      objects,
      layout,
      threads,
      copier,
      problems,
      now,
      async onComplete(library: ImportedLibrary) {
        const plan = await relations.plan(library, owner.key, own)
        settle = plan.settle
        const { name, commits } = library
        return async (tx) => {
          await plan.write(tx)
          await options.onAdded(tx, { kind: 'library', id, detail: { name, owner: owner.email, commits } })
        }
      },
    },
  )
  if (imported === undefined) return { ...report, state: 'skipped' }
  settle()
  const { name, commits, files, bytes, isEncrypted } = imported
  return { ...report, state: 'imported', name, owner: owner.email, commits, files, bytes, isEncrypted }
}

function headOf({ id, head }: SourceView) {
  const commit = head === undefined ? undefined : parseCommitId(head)
  return commit === undefined ? [] : [{ id, head: commit }]
}

/** The owner of a library: its account, that of its department, the one that the operator named, or a new one that is not active. */
async function ownerOf(
  id: LibraryId,
  email: string,
  people: People,
  { db, owner, now, onAdded }: Pick<SeafileImport, 'db' | 'owner' | 'now' | 'onAdded'>,
  problems: Problems,
): Promise<Account | undefined> {
  const known = people.accounts.get(email.toLowerCase())
  if (known !== undefined) return known
  const department = /^(\d+)@seafile_group$/.exec(email)?.[1]
  const key = department === undefined ? undefined : people.groups.get(Number(department))?.ownerKey
  const ofDepartment = [...people.accounts.values()].find((account) => account.key === key)
  if (ofDepartment !== undefined) return ofDepartment
  if (owner !== undefined) return owner
  if (email === TEMPLATE_OWNER) {
    problems.add(
      'template-skipped',
      'It is the template of the source for first libraries, which belongs to nobody: name an account with --owner to have it, too.',
      id,
    )
    return undefined
  }
  const added = email === '' ? undefined : await addMissingAccount(email, { db, problems, now, onAdded })
  if (added === undefined) {
    problems.add('library-skipped', 'Its owner is not known: name one with --owner.', id)
  }
  return added
}

/** The libraries that the databases of the source know. */
async function listKnown(
  layout: SeafileLayout,
  rows: SourceRows,
  heads: ReadonlyMap<string, string>,
  problems: Problems,
): Promise<Found[]> {
  const owners = new Map(rows.of('repoowner').map((row) => [textIn(row, 'repo_id'), textIn(row, 'owner_id')]))
  const virtual = new Set(rows.of('virtualrepo').map((row) => textIn(row, 'repo_id')))
  const garbage = new Set(rows.of('garbagerepos').map((row) => textIn(row, 'repo_id')))
  const named = new Set<string>()
  const found: Found[] = []
  const add = (text: string, headText: string | undefined, owner: string, deletedAt: number | null) => {
    if (named.has(text)) return
    named.add(text)
    if (virtual.has(text)) return
    const [id, head] = [parseLibraryId(text), headText === undefined ? undefined : parseCommitId(headText)]
    if (id !== undefined && head !== undefined) found.push({ id, head, owner, deletedAt })
    else problems.add('library-skipped', 'The source has no head of it: it was half deleted.', text)
  }
  for (const row of rows.of('repo')) {
    const id = textIn(row, 'repo_id')
    add(id, heads.get(id), owners.get(id) ?? '', null)
  }
  for (const row of rows.of('repotrash')) {
    add(textIn(row, 'repo_id'), textIn(row, 'head_id'), textIn(row, 'owner_id'), timeIn(row, 'del_time') ?? 1)
  }
  for (const id of await layout.listLibraries()) {
    if (named.has(id) || virtual.has(id)) continue
    const why = garbage.has(id) ? 'it was deleted and waits for garbage collection' : 'no database names them'
    problems.add('orphaned-objects', `Its objects are not imported: ${why}.`, id)
  }
  return found
}

/** The libraries that have objects. A virtual library has none of its own, and its files are in its origin. */
async function listObjectsAlone(layout: SeafileLayout, problems: Problems): Promise<Found[]> {
  const found: Found[] = []
  for (const id of await layout.listLibraries()) {
    const head = await guessHead(layout, id)
    if (head === undefined) problems.add('library-skipped', 'None of its commits can be read.', id)
    else if (await layout.hasObjects(id)) found.push({ id, head, owner: '', deletedAt: null })
    else
      problems.add(
        'view-skipped',
        'It has no folders of its own: it is empty, or a virtual library, whose files are in another one.',
        id,
      )
  }
  for (const [id, head] of await guessOldHeads(layout)) found.push({ id, head, owner: '', deletedAt: null })
  return found
}

function numberOf(rows: readonly SourceRow[], id: string, column: string, otherwise: number): number {
  const row = rows.find((one) => textIn(one, 'repo_id') === id)
  return row === undefined ? otherwise : numberIn(row, column, otherwise)
}

/** Null if the library has the default of the server. */
function historyDaysOf(rows: SourceRows, id: string): number | null {
  const row = rows.of('repohistorylimit').find((one) => textIn(one, 'repo_id') === id)
  return row === undefined ? null : numberIn(row, 'days', -1)
}
