import { fail } from '../../../base/errors.ts'
import { ROOT } from '../../../base/paths/index.ts'
import { json } from '../../../base/schemas/index.ts'
import { type Account, auditActor } from '../../../people/accounts/index.ts'
import type { HttpRequest } from '../../../platform/http/index.ts'
import { rawText, required, type Values } from '../../../platform/input/index.ts'
import type { Link } from '../../../sharing/access/index.ts'
import { openSent } from '../batch/batch-selection.ts'
import { readPage } from '../common/paging.ts'
import { requiredPath, type SentPath, sentPath } from '../common/readers.ts'
import { linkFields, readLinkOptions, shareFields } from './link-input.ts'
import {
  byKindAndName,
  direntNotFound,
  linkFaults,
  linkPath,
  linkTokenParam,
  linkToWire,
  ownLinksToWire,
} from './link-management.ts'
import { newShareLink, oneShareLink, shareLinks } from './own-links.schema.ts'
import { changeFields, changeLink, ownLinkRoutes } from './own-links-v21.ts'
import { type LinkServices, route } from './services.ts'

const newLink = { repo_id: required(), path: requiredPath(), ...linkFields, ...shareFields }
const whichLinks = { repo_id: rawText(), path: sentPath, page: rawText(), per_page: rawText() }

const DEFAULT_PAGE = 25

export const shareLinkRoutes = [
  ...listAndCreate('share-links', {
    list: 'Lists the share links the caller created: all, in a library, or at a path.',
    create: 'Creates the share link of a file or folder.',
    more: false,
  }),
  ...ownLinkRoutes('share'),
  route({
    method: 'PUT',
    path: '/api/v2.1/share-links/:token/',
    auth: 'user',
    summary:
      'Changes the rights, the audience, the password and the expiry of a share link; disables or enables it.',
    compatibility: 'supported',
    params: { token: linkTokenParam },
    body: { ...changeFields, ...shareFields },
    faults: linkFaults,
    responses: () => ({ 200: json(oneShareLink, 'The changed link.') }),
    handle({ user, params, body, request }, services) {
      const { permissions: rights, user_scope: scope, emails } = body
      const link = { token: params.token, kind: 'share' } as const
      return changeLink(services, { user, request }, link, body, { rights, scope, emails })
    },
  }),
  ...listAndCreate('multi-share-links', {
    list: 'Lists share links as `share-links` does.',
    create: 'Creates another share link of a file or folder.',
    more: true,
  }),
]

/** `more` for calls that create a link beside those that are there. */
function listAndCreate(
  name: string,
  {
    list,
    create: creation,
    more,
  }: { readonly list: string; readonly create: string; readonly more: boolean },
) {
  const path = `/api/v2.1/${name}/`
  return [
    route({
      method: 'GET',
      path,
      auth: 'user',
      summary: list,
      compatibility: 'supported',
      callers: 'every account',
      query: whichLinks,
      faults: direntNotFound,
      responses: () => ({ 200: json(shareLinks, 'The links.') }),
      handle: ({ user, query, request }, services) => listPage(services, request, user, query),
    }),
    route({
      method: 'POST',
      path,
      auth: 'user',
      summary: creation,
      compatibility: 'supported',
      body: newLink,
      faults: direntNotFound,
      responses: () => ({ 200: json(oneShareLink, 'The new link.') }),
      details: () => ({ parameters: newShareLink }),
      handle: ({ user, body, request }, services) => create(services, request, user, body, more),
    }),
  ]
}

async function create(
  services: LinkServices,
  request: HttpRequest,
  user: Account,
  body: Values<typeof newLink>,
  several: boolean,
) {
  const common = readLinkOptions(services, body)
  const library = await openSent(services, user, body.repo_id)
  const options = {
    ...common,
    kind: 'share' as const,
    path: linkPath(body.path),
    ...(body.permissions && { rights: body.permissions }),
    ...(body.user_scope && { scope: body.user_scope }),
    ...(body.emails && { emails: body.emails }),
  }
  const link = await services.links.create(user, library, options, auditActor(user, request), { several })
  return linkToWire(services, request, link, library)
}

async function listPage(
  services: LinkServices,
  request: HttpRequest,
  user: Account,
  query: Values<typeof whichLinks>,
) {
  const { page, perPage } = readPage(query, DEFAULT_PAGE, { lenient: true })
  const links = (await ownLinks(services, user, query)).sort(byKindAndName)
  const shown = links.slice((page - 1) * perPage, page * perPage)
  return ownLinksToWire(services, request, user, shown)
}

async function ownLinks(
  services: LinkServices,
  user: Account,
  { repo_id, path: sent }: { repo_id: string | undefined; path: SentPath | undefined },
): Promise<Link[]> {
  if (!repo_id) return services.links.listOwn(user, 'share')
  const library = await openSent(services, user, repo_id)
  if (sent === undefined) return services.links.listOwn(user, 'share', library)
  const path = linkPath(sent)
  if (path !== ROOT && (await library.tree.find(path)) === undefined) {
    fail({ code: 'path-not-found', path: sent.text, wanted: 'Item' })
  }
  return services.links.listOwn(user, 'share', library, path)
}
