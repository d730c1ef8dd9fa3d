import { fail } from '../../../base/errors.ts'
import { parseEmail } from '../../../people/accounts/index.ts'
import { accepting, type Reader } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import type { Recipient, SharePermission } from '../../../sharing/access/index.ts'
import { expiry, readExpiry } from '../links/link-input.ts'
import type { ShareServices } from './services.ts'

/** An account or a group. */
export type NamedRecipient = Exclude<Recipient, { to: 'everyone' }>

const permissions: readonly SharePermission[] = ['r', 'rw', 'admin']

/** `r`, `rw` or `admin`; `usual` if absent. */
export function sharePermission(usual: SharePermission | undefined = 'r'): Reader<SharePermission> {
  return accepting({ type: 'string', enum: permissions }, (fields, name) => {
    const sent = fields.text(name)
    const found = sent
      ? permissions.find((one) => one === sent.toLowerCase())
      : fields.has(name)
        ? undefined
        : usual
    if (found === undefined) throw errorMessage(400, `${name} invalid.`)
    return found
  })
}

/** Expiry fields of a share, as those of a link. */
export const shareExpiry = expiry

/** As readExpiry. Rejects a time that has passed, because the share would never be in effect. */
export function readShareExpiry(sent: Parameters<typeof readExpiry>[0], now: number) {
  const expiresAt = readExpiry(sent, now)
  if (expiresAt && expiresAt <= now) throw errorMessage(400, 'expiration_time invalid.')
  return expiresAt
}

/** The account with this e-mail, or the group with this id; undefined if there is none. Rejects malformed ones with 400. */
export async function sentRecipient(
  { accounts, groups }: ShareServices,
  type: 'user' | 'group',
  sent = '',
): Promise<NamedRecipient | undefined> {
  if (type === 'user') {
    if (parseEmail(sent) === undefined) throw errorMessage(400, `Email ${sent} invalid.`)
    const account = await accounts.find(sent)
    return account && { to: 'user', account }
  }
  const id = parseGroupId(sent)
  if (id === undefined) throw errorMessage(400, `group_id ${sent} invalid.`)
  const group = await groups.find(id)
  return group && { to: 'group', group }
}

/** As sentRecipient. Rejects an unknown account with 400. Throws group-not-found. */
export async function getRecipient(
  services: ShareServices,
  type: 'user' | 'group',
  sent: string | undefined,
): Promise<NamedRecipient> {
  const found = await sentRecipient(services, type, sent)
  if (found !== undefined) return found
  if (type === 'user') throw errorMessage(400, 'Invalid user, should be registered')
  return fail({ code: 'group-not-found', id: Number(sent) })
}

/** The recipient, or the error message for a request in which each recipient fails alone. */
export async function findRecipient(
  { accounts, groups }: ShareServices,
  type: 'user' | 'group',
  sent: string,
): Promise<Recipient | string> {
  if (type === 'user') {
    if (parseEmail(sent) === undefined) return 'username invalid.'
    const account = await accounts.find(sent)
    return account === undefined ? `User ${sent} not found.` : { to: 'user', account }
  }
  const id = parseGroupId(sent)
  if (id === undefined) return `group_id ${sent} invalid.`
  const group = await groups.find(id)
  return group === undefined ? `Group ${sent} not found` : { to: 'group', group }
}

export function parseGroupId(sent: string | undefined): number | undefined {
  return sent !== undefined && /^\d{1,15}$/.test(sent) ? Number(sent) : undefined
}
