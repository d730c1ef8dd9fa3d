import { json, kinds } from '../../../base/schemas/index.ts'
import type { UsageBytes } from '../../../libraries/usage/index.ts'
import { emailAsShown, isAdmin, unknownPerson } from '../../../people/accounts/index.ts'
import { flag, integer } from '../../../platform/input/index.ts'
import { jsonResponse } from '../../../platform/responses/index.ts'
import { asAdministrator } from '../../../sharing/access/index.ts'
import { page as pageDescribed, storedOnDisk } from '../admin/admin.schema.ts'
import { pageInfo } from '../admin/admin-wire.ts'
import { pageQuery } from '../common/paging.ts'
import { libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { folderAt, folderPathText } from '../common/resolve-path.ts'
import { isoTime } from '../common/wire-formats.ts'
import { route } from './services.ts'

const MAX_WAIT_MS = 5000

const usageDescribed = {
  current: kinds.count('Bytes of the current content.'),
  trash: kinds.count('Bytes that only the trash needs.'),
  history: kinds.count('Bytes that only the history needs.'),
  unreferenced: kinds.count('Bytes that nothing needs any more. Garbage collection frees them.'),
  shared: kinds.count('Bytes of those above that other libraries need too.'),
  total: kinds.count('The sum of the first four.'),
}

const MAX_LARGEST = 500

export const usageRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/account/usage/',
    auth: 'user',
    scope: 'none',
    summary:
      'Returns the stored bytes of the libraries of the caller by purpose, largest first, and counts stale ones again in the background.',
    compatibility: 'addition',
    callers: 'every account',
    query: pageQuery(100),
    responses: () => ({
      200: json(
        kinds.record('OwnUsage', {
          page_info: pageDescribed,
          repos_count: kinds.count('The number of libraries.'),
          file_size: kinds.count('The size of their files in bytes, as quotas count it.'),
          ...usageDescribed,
          deleted: kinds.count('Bytes of deleted libraries.'),
          uncounted_repos: kinds.count('The number of libraries that were not counted yet.'),
          libraries: kinds.array(
            kinds.record('OwnLibraryUsage', {
              repo_id: kinds.libraryId,
              repo_name: kinds.text('The name of the library.'),
              file_size: kinds.count('The size of its files in bytes, always current.'),
              is_current: kinds.flag('Whether nothing changed since it was counted.'),
              usage: kinds.optional(kinds.object({ ...usageDescribed, computed_at: kinds.isoTime })),
            }),
          ),
        }),
        'The sums over all libraries, and a page of them. `usage` is missing until a library is counted for the first time.',
      ),
    }),
    async handle({ user, query }, { usage }) {
      const { page, per_page: perPage } = query
      const { sum, libraries, more } = await usage.ofOwner(user.key, { page, perPage })
      return {
        page_info: pageInfo(page, more),
        repos_count: sum.libraries,
        file_size: sum.fileSize,
        ...bytesToWire(sum),
        deleted: sum.deleted,
        uncounted_repos: sum.uncounted,
        libraries: libraries.map(({ id, name, fileSize, counted, isCurrent }) => ({
          repo_id: id,
          repo_name: name,
          file_size: fileSize,
          is_current: isCurrent,
          usage: counted && { ...bytesToWire(counted), computed_at: isoTime(counted.computedAt) },
        })),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/dir/largest/',
    auth: 'user',
    summary: 'Returns the largest files and folders of a folder, or the largest files anywhere below it.',
    compatibility: 'addition',
    callers: 'readers',
    sample: { query: { path: '/docs' } },
    params: { repo_id: libraryIdParam },
    query: {
      path: sentPathOrRoot,
      below: flag(),
      limit: integer({ default: 100, min: 1, max: MAX_LARGEST, lenient: true }),
    },
    responses: () => ({
      200: json(
        kinds.record('LargestEntries', {
          path: kinds.folderPath,
          size: kinds.size,
          file_count: kinds.count('The number of files below.'),
          is_complete: kinds.flag(
            'Whether none can be larger. False in libraries with more folders than a request looks at.',
          ),
          entries: kinds.array(
            kinds.record('LargeEntry', {
              type: kinds.oneOfWords(['file', 'dir']),
              path: kinds.path,
              name: kinds.name,
              size: kinds.size,
              file_count: kinds.count('The number of files below; 1 for a file.'),
              mtime: kinds.isoTime,
            }),
          ),
        }),
        'The entries, largest first.',
      ),
    }),
    details: () => ({
      parameters: { below: { description: 'Files below all folders of it, no folders.' } },
    }),
    async handle({ user, params, query }, { access, usage }) {
      const library = await access.open(user, params.repo_id)
      const folder = await folderAt(library, query.path)
      const { entries, isComplete } = await usage.largest(library, folder, query)
      return {
        path: folderPathText(query.path),
        size: folder.stored.size,
        file_count: folder.stored.fileCount,
        is_complete: isComplete,
        entries: entries.map(({ path, entry, size, fileCount }) => ({
          type: entry.kind,
          path,
          name: entry.name,
          size,
          file_count: fileCount,
          mtime: isoTime(entry.mtime),
        })),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/usage/',
    auth: 'user',
    scope: 'none',
    summary:
      'Returns the stored bytes of a library by purpose; 202 while they are counted for the first time.',
    compatibility: 'addition',
    params: { repo_id: libraryIdParam },
    responses: () => ({
      200: json(
        kinds.record('LibraryUsage', {
          repo_id: kinds.libraryId,
          is_current: kinds.flag('Whether nothing changed since they were counted.'),
          ...usageDescribed,
          blocks: kinds.count('The number of blocks.'),
          computed_at: kinds.isoTime,
        }),
        'The stored bytes.',
      ),
      202: json(
        kinds.record('UncountedLibrary', { repo_id: kinds.libraryId, is_current: kinds.flag() }),
        'They are being counted for the first time.',
        { 'Retry-After': 'Seconds after which to ask again.' },
      ),
    }),
    async handle({ user, params }, { access, core, usage }) {
      const { info } = isAdmin(user)
        ? await asAdministrator.open(core, user, params.repo_id)
        : await access.openOwned(user, params.repo_id)
      const known = await usage.of(info, { waitMs: MAX_WAIT_MS })
      const shown = { repo_id: info.id, is_current: known.isCurrent }
      if (known.usage === undefined) return jsonResponse(202, shown, { 'Retry-After': '5' })
      const { blocks, computedAt } = known.usage
      return { ...shown, ...bytesToWire(known.usage), blocks, computed_at: isoTime(computedAt) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/admin/usage/',
    auth: 'admin',
    summary: 'Returns the stored bytes of all accounts by purpose, largest first.',
    compatibility: 'addition',
    callers: 'administrators',
    query: pageQuery(100),
    responses: () => ({
      200: json(
        kinds.record('AccountUsages', {
          page_info: pageDescribed,
          stored: kinds.optional(storedOnDisk),
          accounts: kinds.array(
            kinds.record('AccountUsage', {
              email: kinds.account,
              name: kinds.displayName,
              repos_count: kinds.count('The number of libraries.'),
              file_size: kinds.count('The size of their files in bytes, as quotas count it.'),
              ...usageDescribed,
              deleted: kinds.count('Bytes of deleted libraries.'),
              uncounted_repos: kinds.count('The number of libraries that were not counted yet.'),
            }),
          ),
        }),
        'A page of accounts, largest first.',
      ),
    }),
    async handle({ query }, { directory, statistics, usage }) {
      const { page, per_page: perPage } = query
      const { accounts, more } = await usage.accounts({ page, perPage })
      const people = await directory.people(accounts.map(({ email }) => emailAsShown(email)))
      const [bytes, blocks] = await Promise.all([
        statistics.latest('stored-bytes'),
        statistics.latest('stored-blocks'),
      ])
      return {
        page_info: pageInfo(page, more),
        stored: bytes && { bytes: bytes.value, blocks: blocks?.value ?? 0, day: isoTime(bytes.day) },
        accounts: accounts.map((account) => {
          const email = emailAsShown(account.email)
          return {
            email,
            name: (people.get(email) ?? unknownPerson(email)).name,
            repos_count: account.libraries,
            file_size: account.fileSize,
            ...bytesToWire(account),
            deleted: account.deleted,
            uncounted_repos: account.uncounted,
          }
        }),
      }
    },
  }),
]

function bytesToWire({ current, trash, history, unreferenced, shared }: UsageBytes) {
  const total = current + trash + history + unreferenced
  return { current, trash, history, unreferenced, shared, total }
}
