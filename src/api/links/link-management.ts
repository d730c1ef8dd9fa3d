import type { Link, LinkKind } from '../../access/index.ts'
import { fail } from '../../errors.ts'
import { errorMessage, type FaultResponse, type HttpRequest, type Reader } from '../../http/index.ts'
import type { Account } from '../../identity/index.ts'
import type { Library } from '../../library/index.ts'
import { baseName, compareNames, type LibraryPath, ROOT } from '../../objects/index.ts'
import { type AuditedCall, linkEnded, noting } from '../common/audit.ts'
import type { SentPath } from '../common/readers.ts'
import type { ApiServices } from '../services.ts'
import { shareLinkToWire, uploadLinkToWire } from './link-wire.ts'

/** The token of a link in the path of a URL; what is none never reaches the handler. */
export const linkTokenParam: Reader<string> = (fields, name) => {
  const sent = fields.text(name) ?? ''
  if (!/^[a-f0-9]+$/.test(sent)) throw errorMessage(404, 'Not found.')
  return sent
}

/** Words of the calls that manage links. */
export const linkFaults = {
  'link-not-found': ({ token }: { token: string }): FaultResponse => [404, `token ${token} not found.`],
}

export const direntNotFound = {
  'path-not-found': ({ path }: { path: string }): FaultResponse => [404, `Dirent ${path} not found.`],
}

/** The path a link is to be bound to. Throws path-not-found for what cannot name anything. */
export function linkPath({ path, text }: SentPath): LibraryPath {
  return path ?? fail({ code: 'path-not-found', path: text, wanted: 'Item' })
}

/** Links as listings show them. */
export async function linksToWire(
  services: ApiServices,
  request: HttpRequest,
  links: readonly Link[],
  libraryOf: (link: Link) => Library | undefined,
) {
  return links.map((link) => {
    const around = aroundOf(services, request, link, libraryOf(link))
    const wire = link.kind === 'share' ? shareLinkToWire(link, around) : uploadLinkToWire(link, around)
    return link.kind === 'share' ? { ...wire, repo_folder_permission: around.permission ?? '' } : wire
  })
}

/** One's own links as listings show them, folders before files, each by name. */
export async function ownLinksToWire(
  services: ApiServices,
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

/** One link, with the id of what it leads to; the library is undefined if the caller cannot open it any more. */
export async function linkToWire(
  services: ApiServices,
  request: HttpRequest,
  link: Link,
  library: Library | undefined,
) {
  const around = aroundOf(services, request, link, library)
  const entry = link.isGone || library === undefined ? undefined : await library.tree.find(link.path)
  const objId = link.path === ROOT ? library?.info.root : entry?.id
  const wire = link.kind === 'share' ? shareLinkToWire(link, around) : uploadLinkToWire(link, around)
  return { ...wire, obj_id: objId ?? '' }
}

/** As linkToWire, for a caller whose library has to be opened first. */
export async function foundLinkToWire(
  services: ApiServices,
  request: HttpRequest,
  user: Account,
  link: Link,
) {
  const libraries = await services.access.openAll(user, [link.libraryId])
  return linkToWire(services, request, link, libraries.get(link.libraryId))
}

/** Deletes links one by one; says what came of each. */
export async function deleteMany(
  services: ApiServices,
  call: AuditedCall,
  tokens: readonly string[],
  kind: LinkKind,
) {
  const success: { token: string }[] = []
  const failed: { token: string; error_msg: string }[] = []
  for (const token of tokens) {
    const error_msg = await deleteOne(services, call, token, kind)
    if (error_msg === undefined) success.push({ token })
    else failed.push({ token, error_msg })
  }
  return { failed, success }
}

async function deleteOne(services: ApiServices, call: AuditedCall, token: string, kind: LinkKind) {
  const { links } = services
  const own = await links.findOwn(call.user, token, kind)
  if (own === 'unknown') return `token ${token} not found.`
  if (own === 'foreign') return 'Permission denied.'
  await links.delete(call.user, token, kind, notingEnd(services, call))
  return undefined
}

/** Puts down the end of a link, in the transaction that ends it. */
export function notingEnd(services: ApiServices, call: AuditedCall) {
  return (link: Link) => noting(services, call, linkEnded(link))
}

function aroundOf(services: ApiServices, request: HttpRequest, link: Link, library: Library | undefined) {
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
