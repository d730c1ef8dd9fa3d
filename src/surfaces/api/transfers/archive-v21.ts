import { setImmediate } from 'node:timers/promises'
import { fail } from '../../../base/errors.ts'
import type { Dirent, LibraryId } from '../../../base/objects/index.ts'
import { parsePath, withSlash } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { ArchiveProgress } from '../../../libraries/archives/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import type { FaultResponse } from '../../../platform/http/index.ts'
import { accepting, list, type Reader, required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { libraryAt, type PointInTime, pointInTime } from '../common/point-in-time.ts'
import { libraryIdParam, requiredPath, type SentPath } from '../common/readers.ts'
import { type FoundFolder, folderAt } from '../common/resolve-path.ts'
import { route, type TransferServices } from './services.ts'
import { archiveProgress, archiveTask } from './transfers.schema.ts'

/** Names as sent, without leading and trailing slashes. Each may be a relative path. */
export const sentNames: Reader<string[]> = accepting(
  { type: 'array', required: true, description: 'Names in the folder. A form repeats the field.' },
  (fields, name) => {
    const names = list({ nonEmpty: true })(fields, name).map((sent) => sent.replace(/^\/+|\/+$/g, ''))
    if (names.includes('')) throw errorMessage(400, `${name} invalid.`)
    return [...new Set(names)]
  },
)

const options = { parent_dir: requiredPath(), dirents: sentNames, ...pointInTime }

// Clients of encrypted libraries expect the messages of the file server here.
const faults = {
  'password-needed': (): FaultResponse => [400, 'Repo is encrypted. Please provide password to view it.'],
}

const LOOKUPS_PER_TURN = 200

export const archiveRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/zip-task/',
    auth: 'user',
    scope: 'read',
    summary: 'Starts an archive of files and folders; as of `commit_id` or `at` if given.',
    compatibility: { result: 'different', note: 'Accepts a single file too. A missing name is 404.' },
    callers: 'readers',
    sample: { form: { parent_dir: '/', dirents: 'in.txt' } },
    params: { repo_id: libraryIdParam },
    body: options,
    faults,
    responses: () => ({ 200: json(archiveTask, 'The archive.') }),
    handle: ({ user, params, body }, services) => start(services, user, params.repo_id, body),
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/zip-task/',
    auth: 'user',
    summary: 'Starts an archive, for older clients.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { parent_dir: '/', dirents: 'in.txt' } },
    params: { repo_id: libraryIdParam },
    query: options,
    faults,
    responses: () => ({ 200: json(archiveTask, 'The archive.') }),
    handle: ({ user, params, query }, services) => start(services, user, params.repo_id, query),
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/query-zip-progress/',
    auth: 'none',
    summary: 'Returns the progress of an archive, for anyone with its token.',
    compatibility: { result: 'different', note: 'A record stays readable as long as its token is valid.' },
    query: { token: required() },
    responses: () => ({ 200: json(archiveProgress, 'The progress.') }),
    async handle({ query }, { archives }) {
      const archive = await archives.find(query.token)
      if (archive === undefined) throw errorMessage(404, 'progress not found.')
      return progressToWire(archive.progress)
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/cancel-zip-task/',
    auth: 'none',
    summary: 'Cancels an archive, for anyone with its token.',
    compatibility: 'supported',
    body: { token: required() },
    responses: () => ({ 200: json(kinds.successFlag, 'The archive is canceled.') }),
    async handle({ body }, { archives }) {
      await archives.cancel(body.token)
      return { success: true }
    },
  }),
]

async function start(
  services: TransferServices,
  user: Account,
  id: LibraryId,
  sent: { parent_dir: SentPath; dirents: readonly string[] } & PointInTime,
): Promise<{ zip_token: string }> {
  const { access, archives, now } = services
  const library = await libraryAt(await access.open(user, id), sent)
  const parent = await folderAt(library, sent.parent_dir)
  const roots = await rootsOf(library, parent, sent.dirents)
  return { zip_token: await archives.start(library, { roots, name: archiveName(roots, now()) }) }
}

/** The name of an archive: that of its only entry, if it has one. `now` is in Unix seconds. */
export function archiveName(roots: readonly Dirent[], now: number): string {
  const [only, ...others] = roots
  const name = only !== undefined && others.length === 0 ? only.name : `documents-export-${dateOf(now)}`
  return `${name}.zip`
}

/** The entries with these names below a folder. Throws path-not-found. */
export async function rootsOf(
  library: Library,
  parent: FoundFolder,
  names: readonly string[],
): Promise<Dirent[]> {
  const roots: Dirent[] = []
  for (const [index, name] of names.entries()) {
    // Lookups of cached dirs never wait, so yield to other requests (I10).
    if (index % LOOKUPS_PER_TURN === LOOKUPS_PER_TURN - 1) await setImmediate()
    const text = withSlash(parent.path) + name
    const path = parsePath(text)
    const isDeeper = name.includes('/')
    const found = path && (isDeeper ? await library.tree.find(path) : parent.stored.dir.resolve(name))
    roots.push(
      found ??
        failNotFound(names.length === 1 ? { path: text, wanted: 'Folder' } : { path: name, wanted: 'Item' }),
    )
  }
  return roots
}

function failNotFound(missing: { path: string; wanted: 'Folder' | 'Item' }): never {
  fail({ code: 'path-not-found', ...missing })
}

function progressToWire({ zipped, total, failure, canceled }: ArchiveProgress) {
  return {
    zipped,
    total,
    failed: failure === undefined ? 0 : 1,
    failed_reason: failure ?? '',
    canceled: canceled ? 1 : 0,
  }
}

function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10)
}
