import type { Recipient, SharePermission } from '../../access/index.ts'
import { fail } from '../../errors.ts'
import { errorMessage, type Reader } from '../../http/index.ts'
import { parseEmail } from '../../identity/index.ts'
import type { ApiServices } from '../services.ts'

const permissions: readonly SharePermission[] = ['r', 'rw', 'admin']

/** `r`, `rw` or `admin`; reading, or what `usual` says, if nothing was sent. */
export function sharePermission(usual: SharePermission | undefined = 'r'): Reader<SharePermission> {
  return (fields, name) => {
    const sent = fields.text(name)
    const found = sent
      ? permissions.find((one) => one === sent.toLowerCase())
      : fields.has(name)
        ? undefined
        : usual
    if (found === undefined) throw errorMessage(400, `${name} invalid.`)
    return found
  }
}

/** The account that goes by an e-mail. Refuses with 400 what is none, and nobody. */
export async function registeredUser(
  { accounts }: ApiServices,
  sent: string | undefined,
): Promise<Recipient> {
  const email = parseEmail(sent ?? '')
  if (email === undefined) throw errorMessage(400, `Email ${sent ?? ''} invalid.`)
  const account = await accounts.find(email)
  if (account === undefined) throw errorMessage(400, 'Invalid user, should be registered')
  return { to: 'user', account }
}

/** The group of an id. Refuses with 400 what is no id. Throws group-not-found. */
export async function knownGroup({ groups }: ApiServices, sent: string | undefined): Promise<Recipient> {
  const id = parseGroupId(sent)
  if (id === undefined) throw errorMessage(400, `group_id ${sent ?? ''} invalid.`)
  const group = await groups.find(id)
  return { to: 'group', group: group ?? fail({ code: 'group-not-found', id }) }
}

export function parseGroupId(sent: string | undefined): number | undefined {
  return sent !== undefined && /^\d{1,15}$/.test(sent) ? Number(sent) : undefined
}
