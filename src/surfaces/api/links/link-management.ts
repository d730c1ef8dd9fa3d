import { fail } from '../../../base/errors.ts'
import { baseName, compareNames, type LibraryPath, ROOT } from '../../../base/paths/index.ts'
import { TimeSlicer } from '../../../base/scheduling/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { type Account, auditActor } from '../../../people/accounts/index.ts'
import type { FaultResponse, HttpRequest } from '../../../platform/http/index.ts'
import { accepting, type Reader } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import type { Link, LinkKind } from '../../../sharing/access/index.ts'
import { type AuditedCall } from '../common/audit.ts'
import type { SentPath } from '../common/readers.ts'
import { shareLinkToWire, uploadLinkToWire } from './link-wire.ts'
import type { LinkServices } from './services.ts'

/** The token of a link in the path of a URL. Anything else is answered with 404. */
export const linkTokenParam: Reader<string> = accepting(
  { type: 'string', pattern: '^[a-f0-9]+$', description: 'The token of a link.' },
  (fields, name) => {
    const sent = fields.text(name) ?? ''
    if (!/^[a-f0-9]+$/.test(sent)) throw errorMessage(404, 'Not found.')
    return sent
  },
)

/** Fault messages of the calls that manage links. */
export const linkFaults = {
  'link-not-found': ({ token }: { token: string }): FaultResponse => [404, `token ${token} not found.`],
}

export const direntNotFound = {
  'path-not-found': ({ path }: { path: string }): FaultResponse => [404, `Dirent ${path} not found.`],
}

/** The path of a new link. Throws path-not-found for an invalid path. */
export function linkPath({ path, text }: SentPath): LibraryPath {
  return path ?? fail({ code: 'path-not-found', path: text, wanted: 'Item' })
}

/** Links in listings. */
export async function linksToWire(
  services: LinkServices,
  request: HttpRequest,
  links: readonly Link[],
  libraryOf: (link: Link) => Library | undefined,
) {
  return links.map((link) => {
    const context = linkContextOf(services, request, link, libraryOf(link))
    const wire = link.kind === 'share' ? shareLinkToWire(link, context) : uploadLinkToWire(link, context)
    return link.kind === 'share' ? { ...wire, repo_folder_permission: context.permission ?? '' } : wire
  })
}

/** The caller's own links in listings. */
export async function ownLinksToWire(
  services: LinkServices,
  request: HttpRequest,
  user: Account,
  links: readonly Link[],
) {
  const ids = [...new Set(links.map((link) => link.libraryId))]
  const libraries = await services.access.openAll(user, ids)
  return linksToWire(services, request, links, (link) => libraries.get(link.libraryId))
}

export function byKindAndName(a: Link, b: Link): number {
  if (a.isDir !== b.isDir) return a.isDir ? -1 : 1
  return compareNames(nameKey(a), nameKey(b)) || a.createdAt - b.createdAt || a.key - b.key
}

/** One link with the object id of its target. `library` is undefined if the caller can no longer open it. */
export async function linkToWire(
  services: LinkServices,
  request: HttpRequest,
  link: Link,
  library: Library | undefined,
) {
  const context = linkContextOf(services, request, link, library)
  const entry = link.isGone || library === undefined ? undefined : await library.tree.find(link.path)
  const objId = link.path === ROOT ? library?.info.root : entry?.id
  const wire = link.kind === 'share' ? shareLinkToWire(link, context) : uploadLinkToWire(link, context)
  return { ...wire, obj_id: objId ?? '' }
}

/** As linkToWire, but opens the library first. */
export async function foundLinkToWire(
  services: LinkServices,
  request: HttpRequest,
  user: Account,
  link: Link,
) {
  const libraries = await services.access.openAll(user, [link.libraryId])
  return linkToWire(services, request, link, libraries.get(link.libraryId))
}

/** Deletes links one by one and returns the result of each. */
export async function deleteMany(
  services: LinkServices,
  call: AuditedCall,
  tokens: readonly string[],
  kind: LinkKind,
) {
  const success: { token: string }[] = []
  const failed: { token: string; error_msg: string }[] = []
  const slicer = new TimeSlicer()
  for (const token of tokens) {
    // A token of nobody is found in the row cache or not at all, without a wait.
    if (slicer.isDue) await slicer.rest()
    const error_msg = await deleteOne(services, call, token, kind)
    if (error_msg === undefined) success.push({ token })
    else failed.push({ token, error_msg })
  }
  return { failed, success }
}

async function deleteOne(services: LinkServices, call: AuditedCall, token: string, kind: LinkKind) {
  const { links } = services
  const own = await links.findOwn(call.user, token, kind)
  // No token is as long, and what is sent may be.
  if (own === 'unknown') return `token ${token.slice(0, 100)} not found.`
  if (own === 'foreign') return 'Permission denied.'
  await links.delete(call.user, token, kind, auditActor(call.user, call.request))
  return undefined
}

function linkContextOf(
  services: LinkServices,
  request: HttpRequest,
  link: Link,
  library: Library | undefined,
) {
  return {
    baseUrl: request.baseUrl,
    isExpired: services.links.isExpired(link),
    password: services.links.passwordOf(link),
    permission: library?.permissionAt(link.path),
  }
}

function nameKey({ path, libraryName }: Link): string {
  return (path === ROOT ? libraryName : baseName(path)).toLowerCase()
}
