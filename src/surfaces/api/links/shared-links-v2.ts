import { DomainError } from '../../../base/errors.ts'
import { ROOT } from '../../../base/paths/index.ts'
import { TimeSlicer } from '../../../base/scheduling/index.ts'
import { empty, json, kinds } from '../../../base/schemas/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import type { FaultResponse } from '../../../platform/http/index.ts'
import { rawText, required, text } from '../../../platform/input/index.ts'
import { errorMessage, rawResponse } from '../../../platform/responses/index.ts'
import type { Link, LinkKind, LinkOptions } from '../../../sharing/access/index.ts'
import { type AuditedCall } from '../common/audit.ts'
import { libraryIdParam, type SentPath, sentPath } from '../common/readers.ts'
import { olderLibraryNotFound } from '../faults.ts'
import { password, readLinkOptions } from './link-input.ts'
import { linkTokenParam } from './link-management.ts'
import { downloadLinkToWire, linkUrl, olderLinkToWire, uploadLinkToOldWire } from './link-wire.ts'
import {
  deleted,
  mailed,
  mailParameters,
  olderDownloadLink,
  olderLink,
  olderUploadLink,
} from './links.schema.ts'
import { type LinkServices, route } from './services.ts'

const olderLinkNotFound = {
  'link-not-found': ({ token }: { token: string }): FaultResponse => [404, `Link ${token} not found.`],
}

/** The `/api2/` calls on links, and the deprecated ones for those who manage a library's shares. */
export const sharedLinkRoutes = [
  route({
    method: 'PUT',
    path: '/api2/repos/:repo_id/file/shared-link/',
    auth: 'user',
    scope: 'none',
    summary:
      'Creates a share link, or the upload link of a folder, or returns the existing one. The URL is in `Location`.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { form: { p: '/docs' } },
    params: { repo_id: libraryIdParam },
    body: { p: sentPath, share_type: rawText(), password, expire: text() },
    faults: olderLibraryNotFound,
    responses: () => ({ 201: empty('The link.', { Location: 'The URL of the link.' }) }),
    details: () => ({
      parameters: {
        p: { required: true, description: 'The path of the item.' },
        share_type: { description: '`upload` for an upload link.' },
        password: { description: 'The password of the link.' },
        expire: { description: 'The days after which it ends.' },
      },
    }),
    async handle({ user, params, body, request }, services) {
      const kind: LinkKind = body.share_type === 'upload' ? 'upload' : 'share'
      const fields = { ...body, expire_days: body.expire, expiration_time: undefined, description: '' }
      const options = { ...readLinkOptions(services, fields), kind }
      const library = await services.access.open(user, params.repo_id)
      const path = await checkedPath(library, body.p, kind)
      const link = await madeOrThere(services, { user, request }, library, { ...options, path })
      return rawResponse({ status: 201, headers: { Location: linkUrl(request.baseUrl, link) }, body: '' })
    },
  }),
  route({
    method: 'GET',
    path: '/api2/shared-links/',
    auth: 'user',
    summary: 'Lists the share links the caller created, for older clients.',
    compatibility: 'supported',
    callers: 'every account',
    responses: () => ({
      200: json(kinds.record('OlderShareLinks', { fileshares: kinds.array(olderLink) }), 'The links.'),
    }),
    async handle({ user }, { links }) {
      return { fileshares: (await links.listOwn(user, 'share')).map(olderLinkToWire) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/shared-links/',
    auth: 'user',
    summary: 'Deletes one of the caller’s share links, for older clients.',
    compatibility: 'supported',
    query: { t: rawText() },
    responses: () => ({ 200: json(kinds.object({}), 'The link was deleted.') }),
    details: () => ({ parameters: { t: { required: true, description: 'The token of the link.' } } }),
    async handle({ user, query, request }, services) {
      const { links } = services
      if (!query.t) throw errorMessage(400, 'Token is missing')
      if ((await links.findOwn(user, query.t, 'share')) !== 'own') throw errorMessage(400, 'Invalid token')
      await links.delete(user, query.t, 'share', auditActor(user, request))
      return {}
    },
  }),
  ...(['share', 'upload'] as const).map((kind) =>
    route({
      method: 'POST',
      path: `/api2/send-${kind}-link/`,
      auth: 'user',
      summary: `Mails ${kind === 'share' ? 'a share link' : 'an upload link'} of the caller to addresses, and says for which of them that is not possible.`,
      compatibility: 'supported',
      body: { email: required(), token: required(), extra_msg: text() },
      faults: olderLinkNotFound,
      responses: () => mailed,
      details: () => ({ parameters: mailParameters }),
      handle: ({ user, body }, { linkMails }) =>
        linkMails.send(user, { token: body.token, kind, message: body.extra_msg }, body.email.split(',')),
    }),
  ),
  ...administeredRoutes('download', 'share'),
  ...administeredRoutes('upload', 'upload'),
]

/** The links of a library, for those who manage its shares. */
function administeredRoutes(name: string, kind: LinkKind) {
  const path = `/api2/repos/:repo_id/${name}-shared-links/`
  return [
    route({
      method: 'GET',
      path,
      auth: 'user',
      scope: 'none',
      summary: `Lists the ${kind} links of a library whose target exists, for those who manage its shares. Deprecated.`,
      compatibility:
        kind === 'share' ? { result: 'different', note: 'Only links whose target exists.' } : 'supported',
      params: { repo_id: libraryIdParam },
      responses: () => ({
        200:
          kind === 'share'
            ? json(kinds.array(olderDownloadLink), 'The share links.')
            : json(kinds.array(olderUploadLink), 'The upload links.'),
      }),
      details: () => ({ deprecated: true }),
      async handle({ user, params }, services) {
        const library = await services.access.openAdministered(user, params.repo_id)
        const found = await leading(library, await services.links.listIn(library, kind))
        const people = await services.directory.people(found.map(({ link }) => link.creator))
        return found.map(({ link, entry }) => {
          const person = personOf(people, link)
          return kind === 'share'
            ? downloadLinkToWire(link, person, entry)
            : uploadLinkToOldWire(link, person)
        })
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}:token/`,
      auth: 'user',
      scope: 'none',
      summary: `Deletes any ${kind} link of a library, for those who manage its shares. Deprecated.`,
      compatibility:
        kind === 'share' ? { result: 'different', note: 'Only links of this library.' } : 'supported',
      params: { repo_id: libraryIdParam, token: linkTokenParam },
      faults: olderLinkNotFound,
      responses: () => deleted,
      details: () => ({ deprecated: true }),
      async handle({ user, params, request }, services) {
        const library = await services.access.openAdministered(user, params.repo_id)
        await services.links.deleteIn(library, params.token, kind, auditActor(user, request))
        return { success: true }
      },
    }),
  ]
}

async function checkedPath(library: Library, sent: SentPath | undefined, kind: LinkKind) {
  if (sent === undefined) throw errorMessage(400, 'Path is missing')
  const { path } = sent
  const entry = path && (await library.tree.find(path))
  const isThere = entry !== undefined || path === ROOT
  if (path === undefined || !isThere || (kind === 'upload' && entry?.kind === 'file')) {
    throw errorMessage(400, 'Invalid path')
  }
  return path
}

/** The caller's link to a path, created if there is none. */
async function madeOrThere(
  services: LinkServices,
  call: AuditedCall,
  library: Library,
  options: LinkOptions,
): Promise<Link> {
  const { links } = services
  const { user } = call
  try {
    return await links.create(user, library, options, auditActor(user, call.request))
  } catch (error) {
    if (!(error instanceof DomainError) || error.fault.code !== 'link-exists') throw error
    return links.get(user, error.fault.token, options.kind)
  }
}

/** The links whose target exists, each with its entry. The root has none. */
async function leading(library: Library, links: readonly Link[]) {
  const slicer = new TimeSlicer()
  const found = []
  for (const link of links) {
    if (slicer.isDue) await slicer.rest()
    const entry = link.isGone ? undefined : await library.tree.find(link.path)
    const isRoot = link.path === ROOT && !link.isGone
    if (isRoot || (entry !== undefined && (entry.kind === 'dir') === link.isDir)) found.push({ link, entry })
  }
  return found
}

function personOf<Person>(people: ReadonlyMap<string, Person>, { creator }: Link): Person {
  const person = people.get(creator)
  if (person === undefined) throw new Error('the directory knows everyone it is asked for')
  return person
}
