import { DomainError } from '../../../base/errors.ts'
import type { LibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { inOrigin, originOf } from '../../../libraries/registry/index.ts'
import { type Account, isAdmin } from '../../../people/accounts/index.ts'
import { required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import type { Explanation } from '../../../sharing/access/index.ts'
import { userItem } from '../accounts/account-wire.ts'
import { person } from '../accounts/accounts.schema.ts'
import { libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { folderAt, folderPathText } from '../common/resolve-path.ts'
import { route, type ShareServices } from './services.ts'
import { shareTypes } from './share-wire.ts'
import { explanation } from './shares.schema.ts'

const params = { repo_id: libraryIdParam }

export const librarySharingRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/share-info/',
    auth: 'user',
    scope: 'none',
    summary: 'Returns the users and groups a library or a folder is shared with.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { path: '/' } },
    params,
    query: { path: sentPathOrRoot },
    responses: () => ({
      200: json(
        kinds.record('ShareInfo', {
          shared_user_emails: kinds.array(kinds.account),
          shared_group_ids: kinds.array(kinds.integer()),
        }),
        'Whom the library is shared with.',
      ),
    }),
    async handle({ user, params, query }, services) {
      const library = await services.access.open(user, params.repo_id)
      const { path } = await folderAt(library, query.path, folderPathText(query.path))
      const shares = await services.shares.on(library, path)
      const keysOf = (grantee: 'user' | 'group') =>
        shares.filter((share) => share.grantee === grantee).map(({ granteeKey }) => granteeKey)
      const accounts = await services.accounts.findManyByKey(keysOf('user'))
      return {
        shared_user_emails: [...accounts.values()].map(({ email }) => email),
        shared_group_ids: keysOf('group'),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/shared-entries/',
    auth: 'user',
    scope: 'none',
    summary:
      'Lists the paths in a folder that are shared with people or by links, for those who manage shares.',
    compatibility: 'addition',
    callers: 'managers',
    sample: { query: { path: '/' } },
    params,
    query: { path: sentPathOrRoot },
    responses: () => ({
      200: json(
        kinds.record('SharedEntries', {
          shared: kinds.array(kinds.path, { description: 'Those that are shared with users or groups.' }),
          linked: kinds.array(kinds.path, { description: 'Those that have links.' }),
        }),
        'The paths.',
      ),
    }),
    async handle({ user, params, query }, services) {
      const library = await services.access.openAdministered(user, params.repo_id)
      const { path } = await folderAt(library, query.path, folderPathText(query.path))
      return {
        shared: await services.shares.sharedEntries(library, path),
        linked: await services.links.linkedEntries(library, path),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/custom-share-permissions/',
    auth: 'user',
    scope: 'none',
    summary: 'Lists the custom permissions of a library. Always empty.',
    compatibility: { result: 'different', note: 'Always empty: permissions are `r`, `rw` and `admin`.' },
    callers: 'readers',
    params,
    responses: () => ({
      200: json(
        kinds.record('CustomPermissions', {
          permission_list: kinds.array(kinds.text(), { description: 'Always empty.', maxItems: 0 }),
        }),
        'An empty list.',
      ),
    }),
    async handle({ user, params }, { access }) {
      await access.open(user, params.repo_id)
      return { permission_list: [] }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/related-users/',
    auth: 'user',
    scope: 'none',
    summary: 'Lists the users who can read a library: the owner and those it is shared with.',
    compatibility: 'supported',
    callers: 'readers',
    params,
    responses: () => ({
      200: json(kinds.record('RelatedUsers', { user_list: kinds.array(person) }), 'The users.'),
    }),
    async handle({ user, params, request }, { access, accounts, shares }) {
      const library = await access.open(user, params.repo_id)
      const readers = await accounts.findManyByKey(await shares.readersOf(library))
      const active = [...readers.values()].filter((account) => account.active)
      return { user_list: active.map((account) => userItem(account, request.baseUrl)) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/access-explanation/',
    auth: 'user',
    scope: 'none',
    summary: 'Explains why a user may or may not read and write at a path; for those who manage the library.',
    compatibility: 'addition',
    params,
    query: { email: required(), path: sentPathOrRoot },
    responses: () => ({ 200: json(explanation, 'The permission and the shares that it follows from.') }),
    details: () => ({ parameters: { email: { description: 'The account.' } } }),
    async handle({ user, params, query }, services) {
      const library = await openToExplain(services, user, params.repo_id)
      if (query.path.path === undefined) throw errorMessage(400, 'path invalid.')
      const account = await services.accounts.get(query.email)
      const { info } = library
      const { path } = query.path
      // A manager of a shared folder gets no information about the rest of the library.
      const knowsAll = library.isOwner || isAdmin(user)
      const found = knowsAll
        ? await services.access.explain(originOf(info), account, inOrigin(info, path))
        : await services.access.explain(info, account, path)
      return {
        email: found.email,
        repo_id: found.libraryId,
        repo_name: found.libraryName,
        path: found.path,
        permission: found.permission ?? null,
        is_admin: found.isAdmin,
        is_owner: found.isOwner,
        is_active: found.active,
        status: found.status,
        open_as: found.openAs ?? null,
        reason: found.reason,
        grants: found.grants.map(grantToWire),
      }
    },
  }),
]

/** Administrators of the server may ask about libraries they cannot open. */
async function openToExplain({ access }: ShareServices, user: Account, id: LibraryId): Promise<Library> {
  try {
    return await access.openAdministered(user, id)
  } catch (error) {
    const isDenied = error instanceof DomainError && error.fault.code === 'permission-denied'
    if (!isDenied || !isAdmin(user)) throw error
    return access.openForServer(user, id)
  }
}

function grantToWire(grant: Explanation['grants'][number]) {
  return {
    share_type: shareTypes[grant.grantee],
    ...(grant.group && { group_id: grant.group.key, group_name: grant.group.name }),
    path: grant.path,
    permission: grant.permission,
    is_admin: grant.isAdmin,
    reaches: grant.reaches,
    decides: grant.decides,
  }
}
