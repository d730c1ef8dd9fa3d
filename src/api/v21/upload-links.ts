import type { Link } from '../../access/link.ts'
import { fail } from '../../errors.ts'
import { flag, list, optional, optionalText, rawText, required } from '../../http/readers.ts'
import type { FaultAnswer } from '../../http/route.ts'
import type { Library } from '../../library/library.ts'
import type { LibraryPath } from '../../objects/paths.ts'
import { linkChanged, linkMade, noting } from '../audited.ts'
import { expiry, linkFields, readExpiry, readWish } from '../link-readers.ts'
import {
  byKindAndName,
  deleteMany,
  foundLinkToWire,
  linkFaults,
  linkTokenParam,
  linkToWire,
  notingEnd,
  ownLinksToWire,
} from '../links.ts'
import { requiredPath, type SentPath, sentPath } from '../readers.ts'
import { route } from '../services.ts'
import { openSent } from './batch-selection.ts'

// Lower case here and nowhere else.
const folderNotFound = {
  'path-not-found': ({ path }: { path: string }): FaultAnswer => [404, `folder ${path} not found.`],
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
  route({
    method: 'DELETE',
    path: '/api/v2.1/upload-links/',
    auth: 'user',
    summary: 'Deletes several of the caller’s upload links.',
    body: { tokens: list({ nonEmpty: true, message: 'token invalid.' }) },
    handle: ({ user, body, request }, services) =>
      deleteMany(services, { user, request }, body.tokens, 'upload'),
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/upload-links/clean-invalid/',
    auth: 'user',
    summary: 'Deletes the caller’s upload links to folders that are gone.',
    async handle({ user, request }, services) {
      await services.links.cleanInvalid(user, 'upload', notingEnd(services, { user, request }))
      return { success: true }
    },
  }),
  route({
    method: 'GET',
    path: '/api/v2.1/upload-links/:token/',
    auth: 'user',
    summary: 'Shows an upload link to who made it and to the owner of its library.',
    params: { token: linkTokenParam },
    faults: linkFaults,
    async handle({ user, params, request }, services) {
      const link = await services.links.get(user, params.token, 'upload')
      return foundLinkToWire(services, request, user, link)
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v2.1/upload-links/:token/',
    auth: 'user',
    summary: 'Changes when an upload link ends; switches it off and on.',
    params: { token: linkTokenParam },
    body: { ...expiry, description: optionalText(), is_active: optional(flag()) },
    faults: linkFaults,
    async handle({ user, params, body, request }, services) {
      const changes = {
        expiresAt: readExpiry(body, services.now()),
        description: body.description,
        active: body.is_active,
      }
      const also = (changed: Link) => noting(services, { user, request }, linkChanged(changed))
      const link = await services.links.update(user, params.token, 'upload', changes, also)
      return foundLinkToWire(services, request, user, link)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/upload-links/:token/',
    auth: 'user',
    summary: 'Deletes one of the caller’s upload links; one that is unknown is no error.',
    params: { token: linkTokenParam },
    async handle({ user, params, request }, services) {
      await services.links.delete(user, params.token, 'upload', notingEnd(services, { user, request }))
      return { success: true }
    },
  }),
]

/** A folder of a library. Throws path-not-found, for a file too. */
async function folderOf(library: Library, { path, text }: SentPath): Promise<LibraryPath> {
  if (path !== undefined && (await library.tree.findDir(path)) !== undefined) return path
  return fail({ code: 'path-not-found', path: text, wanted: 'Folder' })
}
