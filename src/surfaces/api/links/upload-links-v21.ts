import { fail } from '../../../base/errors.ts'
import type { LibraryPath } from '../../../base/paths/index.ts'
import { json } from '../../../base/schemas/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import type { FaultResponse } from '../../../platform/http/index.ts'
import { rawText, required } from '../../../platform/input/index.ts'
import { openSent } from '../batch/batch-selection.ts'
import { requiredPath, type SentPath, sentPath } from '../common/readers.ts'
import { fileRequest } from './file-request.ts'
import { linkFields, readLinkOptions } from './link-input.ts'
import { byKindAndName, linkFaults, linkTokenParam, linkToWire, ownLinksToWire } from './link-management.ts'
import { newUploadLink, oneUploadLink, uploadLinks } from './own-links.schema.ts'
import { changeFields, changeLink, ownLinkRoutes } from './own-links-v21.ts'
import { route } from './services.ts'

// Only this message is in lower case.
const folderNotFound = {
  'path-not-found': ({ path }: { path: string }): FaultResponse => [404, `folder ${path} not found.`],
}

export const uploadLinkRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/upload-links/',
    auth: 'user',
    summary: 'Lists the upload links the caller created: all, in a library, or at a folder.',
    compatibility: 'supported',
    callers: 'every account',
    query: { repo_id: rawText(), path: sentPath },
    faults: folderNotFound,
    responses: () => ({ 200: json(uploadLinks, 'The links.') }),
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
    summary: 'Creates the upload link of a folder, or returns the existing one.',
    compatibility: 'supported',
    body: { repo_id: required(), path: requiredPath(), ...linkFields, request: fileRequest },
    faults: folderNotFound,
    responses: () => ({ 200: json(oneUploadLink, 'The link.') }),
    details: () => ({ parameters: newUploadLink }),
    async handle({ user, body, request }, services) {
      const common = readLinkOptions(services, body)
      const library = await openSent(services, user, body.repo_id)
      const path = await folderOf(library, body.path)
      const asked = body.request ?? undefined
      const options = { ...common, kind: 'upload' as const, path, request: asked }
      const link = await services.links.create(user, library, options, auditActor(user, request))
      return linkToWire(services, request, link, library)
    },
  }),
  ...ownLinkRoutes('upload'),
  route({
    method: 'PUT',
    path: '/api/v2.1/upload-links/:token/',
    auth: 'user',
    summary:
      'Changes the expiry of an upload link, and what it asks of its visitors; disables or enables it.',
    compatibility: 'supported',
    params: { token: linkTokenParam },
    body: { ...changeFields, request: fileRequest },
    faults: linkFaults,
    responses: () => ({ 200: json(oneUploadLink, 'The changed link.') }),
    handle: ({ user, params, body, request }, services) =>
      changeLink(services, { user, request }, { token: params.token, kind: 'upload' }, body, {
        request: body.request,
      }),
  }),
]

/** A folder of a library. Throws path-not-found, also for a file. */
async function folderOf(library: Library, { path, text }: SentPath): Promise<LibraryPath> {
  if (path !== undefined && (await library.tree.findDir(path)) !== undefined) return path
  return fail({ code: 'path-not-found', path: text, wanted: 'Folder' })
}
