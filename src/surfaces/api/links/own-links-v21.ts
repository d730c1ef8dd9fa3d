import { json } from '../../../base/schemas/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { flag, list, optional, optionalText, type Values } from '../../../platform/input/index.ts'
import type { LinkChanges, LinkKind } from '../../../sharing/access/index.ts'
import { type AuditedCall } from '../common/audit.ts'
import { expiry, password, readExpiry, readNewPassword } from './link-input.ts'
import { deleteMany, foundLinkToWire, linkFaults, linkTokenParam } from './link-management.ts'
import { deleted, deletedMany, oneShareLink, oneUploadLink } from './own-links.schema.ts'
import { type LinkServices, route } from './services.ts'

const words = {
  share: { one: 'a share link', gone: 'what is gone' },
  upload: { one: 'an upload link', gone: 'folders that are gone' },
}

/** Routes that show and delete the caller's own links of either kind. */
export function ownLinkRoutes(kind: LinkKind) {
  const path = `/api/v2.1/${kind}-links/`
  const { one, gone } = words[kind]
  return [
    route({
      method: 'DELETE',
      path,
      auth: 'user',
      summary: `Deletes several of the caller’s ${kind} links.`,
      compatibility: 'supported',
      body: { tokens: list({ nonEmpty: true, message: 'token invalid.' }) },
      responses: () => deletedMany,
      handle: ({ user, body, request }, services) =>
        deleteMany(services, { user, request }, body.tokens, kind),
    }),
    route({
      method: 'DELETE',
      path: `${path}clean-invalid/`,
      auth: 'user',
      summary: `Deletes the caller’s ${kind} links to ${gone}.`,
      compatibility: 'supported',
      responses: () => deleted,
      async handle({ user, request }, services) {
        await services.links.cleanInvalid(user, kind, auditActor(user, request))
        return { success: true }
      },
    }),
    route({
      method: 'GET',
      path: `${path}:token/`,
      auth: 'user',
      summary: `Returns ${one}, for its creator and the owner of the library.`,
      compatibility:
        kind === 'share'
          ? {
              result: 'different',
              note: 'For the creator and the owner of the library: the response has the password.',
            }
          : 'supported',
      params: { token: linkTokenParam },
      faults: linkFaults,
      responses: () => ({ 200: json(kind === 'share' ? oneShareLink : oneUploadLink, 'The link.') }),
      async handle({ user, params, request }, services) {
        const link = await services.links.get(user, params.token, kind)
        return foundLinkToWire(services, request, user, link)
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}:token/`,
      auth: 'user',
      summary: `Deletes one of the caller’s ${kind} links. Idempotent.`,
      compatibility: 'supported',
      params: { token: linkTokenParam },
      responses: () => deleted,
      async handle({ user, params, request }, services) {
        await services.links.delete(user, params.token, kind, auditActor(user, request))
        return { success: true }
      },
    }),
  ]
}

/** Fields of a link of either kind that can be changed. */
export const changeFields = { password, ...expiry, description: optionalText(), is_active: optional(flag()) }

/** Changes a link of the caller and returns it. `others` holds the fields of one kind of link only. */
export async function changeLink(
  services: LinkServices,
  { user, request }: AuditedCall,
  { token, kind }: { token: string; kind: LinkKind },
  body: Values<typeof changeFields>,
  others: LinkChanges = {},
) {
  const changes = {
    ...others,
    password: readNewPassword(services, body.password),
    expiresAt: readExpiry(body, services.now()),
    description: body.description,
    active: body.is_active,
  }
  const link = await services.links.update(user, token, kind, changes, auditActor(user, request))
  return foundLinkToWire(services, request, user, link)
}
