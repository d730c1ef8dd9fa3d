import { baseName, ROOT } from '../../../base/paths/index.ts'
import { json } from '../../../base/schemas/index.ts'
import { originOf } from '../../../libraries/registry/index.ts'
import type { SharedLibrary } from '../../../sharing/access/index.ts'
import { type Parties, partiesOf, personIn } from '../common/parties.ts'
import { isoTime } from '../common/wire-formats.ts'
import { route, type ShareServices } from './services.ts'
import { expiryFields, recipientFields, shareTypes } from './share-wire.ts'
import { sharedFiles } from './shares.schema.ts'

export const sharedFileRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/shared-files/',
    auth: 'user',
    scope: 'none',
    summary: 'Lists the single files shared with the caller, and those the caller shares with others.',
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({ 200: json(sharedFiles, 'The files.') }),
    async handle({ user }, services) {
      const withMe: SharedLibrary[] = []
      for (const via of ['shared', 'group'] as const) {
        withMe.push(...(await services.access.listShared(user, via, { files: true })))
      }
      const byMe = await services.shares.sharedOutBy(user, { files: true })
      const owners = withMe.map(({ info }) => info.ownerKey)
      const parties = await partiesOf(services, [...withMe, ...byMe], owners)
      return {
        shared_with_me: withMe.map((share) => receivedFile(services, share, parties)),
        shared_by_me: byMe.map((share) => ({
          repo_id: originOf(share.info).id,
          repo_name: originOf(share.info).name,
          path: share.info.sub?.path ?? ROOT,
          file_name: share.info.name,
          share_type: shareTypes[share.grantee],
          share_permission: share.permission,
          ...recipientFields(share, parties),
          is_admin: false,
          ...expiryFields(share, services.now()),
        })),
      }
    },
  }),
]

/** A file as its recipients see it. Neither its library nor its folder is named. */
function receivedFile(services: ShareServices, share: SharedLibrary, parties: Parties) {
  const { info } = share
  const owner = personIn(parties, info.ownerKey)
  const sharer = personIn(parties, share.grantedBy)
  return {
    // The view that opens it: a library with this file as its only entry.
    repo_id: info.id,
    path: `/${baseName(info.sub?.path ?? ROOT)}`,
    file_name: info.name,
    size: info.size,
    last_modified: isoTime(info.updatedAt),
    permission: share.permission,
    share_type: shareTypes[share.grantee],
    ...(share.grantee === 'group' && {
      group_id: share.granteeKey,
      group_name: parties.groups.get(share.granteeKey)?.name ?? '',
    }),
    owner_email: owner.email,
    owner_name: owner.name,
    share_from: sharer.email,
    share_from_name: sharer.name,
    ...expiryFields(share, services.now()),
  }
}
