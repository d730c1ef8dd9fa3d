import { fail } from '../../../base/errors.ts'
import { createLibrary } from '../../../libraries/library/index.ts'
import type { LibraryInfo } from '../../../libraries/registry/index.ts'
import { type Account, auditActor, type Group, roleAllows } from '../../../people/accounts/index.ts'
import { accepting, type Reader } from '../../../platform/input/index.ts'
import { notFound } from '../../../platform/responses/index.ts'
import type { AuditedCall } from '../common/audit.ts'
import { optionsWithPassword } from '../libraries/new-library.ts'
import { parseGroupId } from '../shares/share-input.ts'
import type { GroupServices } from './services.ts'

/** A group's id in the path of a URL. Anything else is answered with 404. */
export const groupIdParam: Reader<number> = accepting({ type: 'integer', minimum: 1 }, (fields, name) => {
  const id = parseGroupId(fields.text(name))
  if (id === undefined) throw notFound()
  return id
})

/** A page of a listing, counted from 1. A malformed number counts as absent. */
export const page: Reader<number> = accepting(
  { type: 'integer', default: 1, lenient: true },
  (fields, name) => positive(fields.text(name), 1),
)

export function perPage(usual: number): Reader<number> {
  return accepting({ type: 'integer', default: usual, lenient: true }, (fields, name) =>
    Math.min(positive(fields.text(name), usual), 1000),
  )
}

function positive(sent: string | undefined, usual: number): number {
  const value = sent !== undefined && /^\d{1,9}$/.test(sent) ? Number(sent) : usual
  return value < 1 ? usual : value
}

/** The account with this e-mail. Answers 404 with the message of the group calls. */
export async function getUser(
  { accounts }: Pick<GroupServices, 'accounts'>,
  sent: string | undefined,
): Promise<Account> {
  const email = (sent ?? '').trim().toLowerCase()
  return (await accounts.find(email)) ?? fail({ code: 'account-not-found', email })
}

/** Creates a library and shares it with a group, in one transaction. Throws role-forbids. */
export async function createGroupLibrary(
  services: GroupServices,
  call: AuditedCall,
  group: Group,
  options: { name: string; description: string; password: string; permission: 'r' | 'rw' | 'admin' },
): Promise<LibraryInfo> {
  const { user } = call
  if (!roleAllows(user.role, 'add-library')) fail({ code: 'role-forbids', action: 'add-library' })
  const library = await optionsWithPassword(options.name, options.description, options.password)
  const recipient = { to: 'group', group } as const
  const by = auditActor(user, call.request)
  return createLibrary(services.core, user, library, by, (tx, made) =>
    services.shares.shareNew(tx, made, user, { recipient, permission: options.permission }, by),
  )
}
