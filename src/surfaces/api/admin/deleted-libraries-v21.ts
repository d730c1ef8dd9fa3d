import { json, kinds } from '../../../base/schemas/index.ts'
import { libraryTrash, listLibraryPage } from '../../../libraries/library/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { optionalText } from '../../../platform/input/index.ts'
import { asAdministrator } from '../../../sharing/access/index.ts'
import { pageQuery } from '../common/paging.ts'
import { libraryIdParam } from '../common/readers.ts'
import { page as pageDescribed } from './admin.schema.ts'
import { adminTrashToWire, pageInfo } from './admin-wire.ts'
import { deletedLibrary, done, ofAccount } from './libraries.schema.ts'
import { type AdministrationServices, adminRoute as route } from './services.ts'

const path = '/api/v2.1/admin/trash-libraries/'
const pathOfOne = '/api/v2.1/admin/trash-libraries/:repo_id/'
const params = { repo_id: libraryIdParam }
const faults = { 'not-in-trash': (): [number, string] => [404, 'Library does not exist in trash.'] }

export const adminTrashLibraryRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'admin',
    summary: 'Lists deleted libraries of all accounts, or of one, newest first.',
    compatibility: 'supported',
    callers: 'administrators',
    query: { ...pageQuery(100), owner: optionalText() },
    responses: () => ({
      200: json(
        kinds.record('AdminDeletedLibraries', {
          page_info: pageDescribed,
          repos: kinds.array(deletedLibrary),
        }),
        'A page of deleted libraries, newest first.',
      ),
    }),
    details: () => ({ parameters: ofAccount }),
    async handle({ query }, services) {
      const { page, per_page: perPage } = query
      const owner = await ownerKey(services, query.owner)
      const wanted = { deleted: true, orderBy: 'deleted', ownerKey: owner } as const
      const { libraries, more } = await listLibraryPage(services.core, wanted, { page, perPage })
      return { page_info: pageInfo(page, more), repos: await adminTrashToWire(services, libraries) }
    },
  }),
  route({
    method: 'DELETE',
    path,
    auth: 'admin',
    summary: 'Purges the deleted libraries of all accounts, or of one, permanently.',
    compatibility: 'supported',
    body: { owner: optionalText() },
    responses: () => done('The libraries were purged.'),
    details: () => ({
      parameters: ofAccount,
    }),
    async handle({ user, body, request }, services) {
      const by = auditActor(user, request)
      await libraryTrash.purgeAll(services.core, await ownerKey(services, body.owner), by)
      return { success: true }
    },
  }),
  route({
    method: 'PUT',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Restores a deleted library; the caller becomes the owner if the owner was deleted.',
    compatibility: 'supported',
    params,
    faults,
    responses: () => done('The library was restored.'),
    details: () => ({
      errors: [443],
    }),
    async handle({ user, params, request }, services) {
      const { accounts, core } = services
      const library = await asAdministrator.getDeleted(core, user, params.repo_id)
      const owner = await accounts.findByKey(library.ownerKey)
      const by = auditActor(user, request)
      await libraryTrash.restoreTo(core, user, library, owner === undefined ? user : undefined, by)
      return { success: true }
    },
  }),
  route({
    method: 'DELETE',
    path: pathOfOne,
    auth: 'admin',
    summary: 'Purges a deleted library permanently.',
    compatibility: 'supported',
    params,
    faults,
    responses: () => done('The library was purged.'),
    async handle({ user, params, request }, services) {
      const library = await asAdministrator.getDeleted(services.core, user, params.repo_id)
      await libraryTrash.purgeOf(services.core, library, auditActor(user, request))
      return { success: true }
    },
  }),
]

/** An unknown account owns nothing. */
async function ownerKey(
  { accounts }: AdministrationServices,
  email: string | undefined,
): Promise<number | undefined> {
  return email ? ((await accounts.find(email))?.key ?? -1) : undefined
}
