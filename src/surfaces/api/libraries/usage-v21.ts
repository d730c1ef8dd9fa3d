import { json, kinds } from '../../../base/schemas/index.ts'
import type { UsageBytes } from '../../../libraries/usage/index.ts'
import { emailAsShown, isAdmin, unknownPerson } from '../../../people/accounts/index.ts'
import { jsonResponse } from '../../../platform/responses/index.ts'
import { asAdministrator } from '../../../sharing/access/index.ts'
import { page as pageDescribed, storedOnDisk } from '../admin/admin.schema.ts'
import { pageInfo } from '../admin/admin-wire.ts'
import { pageQuery } from '../common/paging.ts'
import { libraryIdParam } from '../common/readers.ts'
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

export const usageRoutes = [
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
