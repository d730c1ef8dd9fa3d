import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'
import { adminUser } from './admin.schema.ts'

export const user = kinds.record('AdminUser', () => adminUser)

export type AdminUser = ValueOf<typeof user>

export const olderAccount = kinds.record('OlderAccount', () => ({
  id: kinds.integer(),
  email: kinds.account,
  name: kinds.displayName,
  department: kinds.text(),
  institution: kinds.text(),
  is_staff: kinds.flag('Whether it is an administrator.'),
  is_active: kinds.flag('Whether it can sign in.'),
  create_time: kinds.integer('In microseconds since 1970.'),
  login_id: kinds.text('The login id, or empty.'),
  list_in_address_book: kinds.flag('Whether other users find it.'),
  total: kinds.integer('The quota in bytes. A negative number is no limit.'),
  usage: kinds.size,
}))

export type OlderAccount = ValueOf<typeof olderAccount>

export const account = {
  is_staff: { description: 'Makes it an administrator, or not any more.' },
  is_active: { description: 'Whether it can sign in.' },
  name: { description: 'The name to show.' },
  list_in_address_book: { description: 'Whether other users find it.' },
  login_id: { description: 'A second name to sign in with.' },
  department: { description: 'The department of the user.' },
  institution: { description: 'The institution of the user.' },
  password: { description: 'A new password. It signs the account out everywhere.' },
}

export const userFields = {
  ...account,
  role: { description: 'Guests cannot create libraries.' },
  quota_total: { description: 'The quota in MB. 0 is no limit of its own.' },
  login_id: { description: 'A second name to sign in with. An empty one removes it.' },
  contact_email: { description: 'The address for mail. It counts as verified.' },
}

export const done = (description: string) => ({ 200: json(kinds.successFlag, description) })
