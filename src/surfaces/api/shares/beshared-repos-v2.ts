import { json, kinds } from '../../../base/schemas/index.ts'
import { auditActor, isAdmin } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { partiesOf, personIn } from '../common/parties.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route } from './services.ts'
import { parseGroupId } from './share-input.ts'
import { shareRecord } from './share-wire.ts'
import { done, shareRecord as shareRecordSchema } from './shares.schema.ts'

export const besharedRepoRoutes = [
  route({
    method: 'GET',
    path: '/api2/beshared-repos/',
    auth: 'user',
    summary: 'Lists the libraries shared with the caller: personally, with groups, with everyone.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({
      200: json(kinds.array(shareRecordSchema), 'What was shared with the caller.'),
    }),
    async handle({ user }, services) {
      const shared = []
      for (const via of ['shared', 'group', 'public'] as const) {
        shared.push(...(await services.access.listShared(user, via)))
      }
      const parties = await partiesOf(services, shared)
      return shared.map((share) => shareRecord(share, personIn(parties, share.grantedBy).email))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/beshared-repos/:repo_id/',
    auth: 'user',
    summary: 'Leaves a library that is shared with the caller.',
    compatibility: 'supported',
    params: { repo_id: libraryIdParam },
    query: { share_type: rawText(), from: rawText(), group_id: rawText() },
    faults: {
      'library-not-found': () => [400, 'Library does not exist'],
      'permission-denied': () => [403, 'Permission denied'],
      'group-not-found': () => [400, 'Invalid argument'],
    },
    responses: () => done('The caller left the share.'),
    async handle({ user, params, query, request }, services) {
      const by = auditActor(user, request)
      const library = await services.access.open(user, params.repo_id)
      const type = query.share_type ?? 'personal'
      if (type === 'personal') {
        if (!(await services.shares.leave(library, by))) throw errorMessage(400, 'Invalid argument')
        return { success: true }
      }
      if (type === 'group') {
        const id = parseGroupId(query.group_id)
        if (id === undefined) throw errorMessage(400, 'Invalid argument')
        const { group, isAdmin: mayUnshare } = await services.groups.get(user, id)
        if (!mayUnshare) library.administered()
        await services.shares.revokeFromGroup(library, group, by)
        return { success: true }
      }
      if (type !== 'public') throw errorMessage(400, 'Invalid argument')
      if (!isAdmin(user)) library.owned()
      await services.shares.unpublish(library, by)
      return { success: true }
    },
  }),
]
