import { fail } from '../../errors.ts'
import { type FaultResponse, rawText, required } from '../../http/index.ts'
import type { Library } from '../../library/index.ts'
import type { LibraryPath } from '../../objects/index.ts'
import { openSent } from '../batch/batch-selection.ts'
import { linkMade, noting } from '../common/audit.ts'
import { requiredPath, type SentPath, sentPath } from '../common/readers.ts'
import { route } from '../services.ts'
import { linkFields, readWish } from './link-input.ts'
import { byKindAndName, linkFaults, linkTokenParam, linkToWire, ownLinksToWire } from './link-management.ts'
import { changeFields, changeLink, ownLinkRoutes } from './own-links-v21.ts'

// Lower case here and nowhere else.
const folderNotFound = {
  'path-not-found': ({ path }: { path: string }): FaultResponse => [404, `folder ${path} not found.`],
}

export const uploadLinkRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/upload-links/',
    auth: 'user',
    summary: 'Lists the upload links the caller made, everywhere, in a library or at a folder.',
    query: { repo_id: rawText(), path: sentPath },
    faults: folderNotFound,
    async handle({ user, query, request }, services) {
      const { repo_id, path: sent } = query
      const library = repo_id ? await openSent(services, user, repo_id) : undefined
      const path = library && sent && (await folderOf(library, sent))
      const links = await services.links.listOwn(user, 'upload', library, path)
      return ownLinksToWire(services, request, user, links.sort(byKindAndName))
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/upload-links/',
    auth: 'user',
    summary: 'Makes the upload link of a folder, or gives the one there is.',
    body: { repo_id: required(), path: requiredPath(), ...linkFields },
    faults: folderNotFound,
    async handle({ user, body, request }, services) {
      const common = readWish(services, body)
      const library = await openSent(services, user, body.repo_id)
      const path = await folderOf(library, body.path)
      const wish = { ...common, kind: 'upload' as const, path }
      const also = noting(services, { user, request }, linkMade(library.info, wish))
      const link = await services.links.create(user, library, wish, { also })
      return linkToWire(services, request, link, library)
    },
  }),
  ...ownLinkRoutes('upload'),
  route({
    method: 'PUT',
    path: '/api/v2.1/upload-links/:token/',
    auth: 'user',
    summary: 'Changes when an upload link ends; switches it off and on.',
    params: { token: linkTokenParam },
    body: changeFields,
    faults: linkFaults,
    handle: ({ user, params, body, request }, services) =>
      changeLink(services, { user, request }, { token: params.token, kind: 'upload' }, body),
  }),
]

/** A folder of a library. Throws path-not-found, for a file too. */
async function folderOf(library: Library, { path, text }: SentPath): Promise<LibraryPath> {
  if (path !== undefined && (await library.tree.findDir(path)) !== undefined) return path
  return fail({ code: 'path-not-found', path: text, wanted: 'Folder' })
}
