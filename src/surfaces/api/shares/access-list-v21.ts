import { fail } from '../../../base/errors.ts'
import { ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { originOf } from '../../../libraries/registry/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { partiesOf, personIn } from '../common/parties.ts'
import { libraryIdParam, sentPathOrRoot } from '../common/readers.ts'
import { isoTime } from '../common/wire-formats.ts'
import { route } from './services.ts'
import { recipientFields, shareTypes } from './share-wire.ts'

const relation = kinds.oneOfWords(
  ['here', 'above', 'below'],
  'Whether it is on the item itself, on a folder above it, or on something in it.',
)

const sharedAccess = kinds.record('SharedAccess', () => ({
  share_type: kinds.oneOfWords(['personal', 'group', 'public']),
  user_name: kinds.optional(kinds.displayName),
  user_email: kinds.optional(kinds.account),
  contact_email: kinds.optional(kinds.contactEmail),
  group_id: kinds.optional(kinds.integer()),
  group_name: kinds.optional(kinds.text('The name of the group.')),
  path: kinds.path,
  relation,
  permission: kinds.permission,
  is_admin: kinds.flag('Whether the recipient may manage shares.'),
  is_held: kinds.flag('Whether it grants nothing until the recipient accepts it.'),
  since: kinds.isoTime,
  giver_name: kinds.displayName,
  expire_date: kinds.optional(kinds.isoTime),
}))

const linkAccess = kinds.record('LinkAccess', () => ({
  type: kinds.oneOfWords(['share', 'upload']),
  path: kinds.path,
  relation,
  is_dir: kinds.flag(),
  has_password: kinds.flag(),
  scope: kinds.oneOfWords(['all_users', 'specific_users', 'specific_emails']),
  can_download: kinds.flag(),
  can_upload: kinds.flag(),
  since: kinds.isoTime,
  creator_name: kinds.displayName,
  expire_date: kinds.optional(kinds.isoTime),
}))

/** By what an item can be seen, and by what each library of an account. */
export const accessListRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/access-list/',
    auth: 'user',
    scope: 'none',
    summary:
      'Lists the shares and links by which an item, or something in it, can be seen, with those of folders above; for those who manage shares.',
    params: { repo_id: libraryIdParam },
    query: { path: sentPathOrRoot },
    compatibility: 'addition',
    responses: () => ({
      200: json(
        kinds.record('AccessList', {
          owner: kinds.object({ email: kinds.account, name: kinds.displayName }),
          is_cut: kinds.flag('Whether some are left out because there are too many.'),
          shares: kinds.array(sharedAccess),
          links: kinds.array(linkAccess),
        }),
        'The shares and links that are in effect: on the item, then above it, then below.',
      ),
    }),
    async handle({ user, params, query }, services) {
      const library = await services.access.openAdministered(user, params.repo_id)
      const path = query.path.path ?? refusePath()
      if (path !== ROOT && (await library.tree.find(path)) === undefined) {
        fail({ code: 'path-not-found', path, wanted: 'File' })
      }
      const { shares, links, isCut } = await services.access.listAccess(library, path)
      const { ownerKey } = originOf(library.info)
      const creators = links.map(({ accountKey }) => accountKey)
      const parties = await partiesOf(services, shares, [ownerKey, ...creators])
      const owner = personIn(parties, ownerKey)
      return {
        owner: { email: owner.email, name: owner.name },
        is_cut: isCut,
        shares: shares.map((share) => ({
          share_type: shareTypes[share.grantee],
          ...recipientFields(share, parties),
          path: share.at,
          relation: share.relation,
          permission: share.permission,
          is_admin: share.isAdmin,
          is_held: share.isHeld === true,
          since: isoTime(share.createdAt),
          giver_name: personIn(parties, share.grantedBy).name,
          ...(share.expiresAt !== undefined && { expire_date: isoTime(share.expiresAt) }),
        })),
        links: links.map((link) => ({
          type: link.kind,
          path: link.at,
          relation: link.relation,
          is_dir: link.isDir,
          has_password: link.password !== undefined,
          scope: link.scope,
          can_download: link.rights.canDownload,
          can_upload: link.rights.canUpload,
          since: isoTime(link.createdAt),
          creator_name: personIn(parties, link.accountKey).name,
          ...(link.expiresAt !== undefined && { expire_date: isoTime(link.expiresAt) }),
        })),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/access-summary/',
    auth: 'user',
    scope: 'none',
    summary:
      'Counts the shares and links of each library of the caller that others can see, wholly or in part.',
    compatibility: 'addition',
    responses: () => ({
      200: json(
        kinds.record('AccessSummaries', {
          libraries: kinds.array(
            kinds.record('AccessSummary', {
              repo_id: kinds.libraryId,
              shares: kinds.count('Shares of the whole library.'),
              shares_inside: kinds.count('Shares of folders and files in it.'),
              links: kinds.count('Links that work, to it or to something in it, of any account.'),
            }),
          ),
        }),
        'The libraries. Those that only the caller can see are left out.',
      ),
    }),
    async handle({ user }, { access }) {
      const found = await access.summarizeAccess(user)
      return {
        libraries: found.map(({ id, shares, inside, links }) => ({
          repo_id: id,
          shares,
          shares_inside: inside,
          links,
        })),
      }
    },
  }),
]

function refusePath(): never {
  throw errorMessage(400, 'path invalid.')
}
