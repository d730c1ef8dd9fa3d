import { type Static, Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { device, token } from '../accounts/accounts.schema.ts'
import { adminUser, page } from './admin.schema.ts'

const user = kinds.record('AdminUser', adminUser)

export type AdminUser = Static<typeof user>

const olderAccount = kinds.record('OlderAccount', {
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
})

export type OlderAccount = Static<typeof olderAccount>

const account = {
  is_staff: { description: 'Makes it an administrator, or not any more.' },
  is_active: { description: 'Whether it can sign in.' },
  name: { description: 'The name to show.' },
  list_in_address_book: { description: 'Whether other users find it.' },
  login_id: { description: 'A second name to sign in with.' },
  department: { description: 'The department of the user.' },
  institution: { description: 'The institution of the user.' },
  password: { description: 'A new password. It signs the account out everywhere.' },
}

const userFields = {
  ...account,
  role: { description: 'Guests cannot create libraries.' },
  quota_total: { description: 'The quota in MB. 0 is no limit of its own.' },
  login_id: { description: 'A second name to sign in with. An empty one removes it.' },
  contact_email: { description: 'The address for mail. It counts as verified.' },
}

const done = (description: string) => ({ 200: json(kinds.successFlag, description) })

/** Accounts and devices, for administrators. */
export const adminAccountSchemas = [
  operation(
    'GET /api2/accounts/',
    {
      200: json(
        Type.Array(kinds.record('AccountId', { email: kinds.account, source: Type.Literal('DB') })),
        'The accounts. Empty for a `scope` other than `DB`.',
      ),
    },
    {
      parameters: {
        start: { description: 'The number of accounts to skip.' },
        limit: { description: 'The number of accounts to list.' },
        scope: { description: 'Where accounts come from. Default: `DB`, the only one here.' },
      },
    },
  ),
  operation('GET /api2/accounts/:email/', { 200: json(olderAccount, 'The account.') }),
  operation(
    'PUT /api2/accounts/:email/',
    {
      200: json(olderAccount, 'The changed account.'),
      201: json(olderAccount, 'The new account.', { Location: 'The path of the account in this API.' }),
      400: json(
        kinds.record('AccountFieldErrors', {
          error_msg: Type.Object({ password: Type.Array(kinds.text('What is wrong with it.')) }),
        }),
        'A field is invalid.',
      ),
    },
    {
      parameters: {
        ...account,
        password: { description: 'The password. Required for a new account.' },
        storage: { description: 'The quota in MB. 0 is no limit of its own.' },
      },
    },
  ),
  operation('POST /api2/accounts/:email/', done('The libraries were transferred.'), {
    errors: [443],
    parameters: {
      op: { required: true, description: 'Only `migrate`.' },
      to_user: { required: true, description: 'The account that gets the libraries.' },
    },
  }),
  operation('DELETE /api2/accounts/:email/', {
    ...done('The account was deleted.'),
    202: json(kinds.successFlag, 'There is no such account any more.'),
  }),
  operation(
    'GET /api/v2.1/admin/users/',
    {
      200: json(
        kinds.record('AdminUsers', {
          data: Type.Array(user),
          total_count: kinds.count('The number of accounts on all pages.'),
        }),
        'A page of accounts.',
      ),
    },
    {
      parameters: {
        source: { description: 'Where accounts come from. Only `DB` has some.' },
        order_by: { description: 'Sorts by this field.' },
        direction: { description: 'Of `order_by`.' },
        is_active: { description: 'Only accounts that can sign in, or only those that cannot.' },
        role: { description: 'Only accounts of this role.' },
      },
    },
  ),
  operation(
    'POST /api/v2.1/admin/users/',
    {
      200: json(
        kinds.record('CreatedUser', { ...adminUser, add_user_tip: kinds.text('A sentence to show.') }),
        'The new account.',
      ),
    },
    {
      parameters: {
        ...userFields,
        email: { description: 'The id of the account, in the form of an e-mail address.' },
        password: { description: 'Required without `invite`.' },
        invite: { description: 'Mails a link with which the user chooses a password.' },
      },
    },
  ),
  operation('GET /api/v2.1/admin/users/:email/', { 200: json(user, 'The account.') }),
  operation(
    'PUT /api/v2.1/admin/users/:email/',
    {
      200: json(
        kinds.record('ChangedUser', { ...adminUser, update_status_tip: kinds.text('A sentence to show.') }),
        'The changed account.',
      ),
    },
    { parameters: userFields },
  ),
  operation('DELETE /api/v2.1/admin/users/:email/', done('The account was deleted.')),
  operation('PUT /api/v2.1/admin/users/:email/reset-password/', {
    200: json(
      kinds.record('NewPassword', {
        new_password: kinds.text('The password. It is not shown again.'),
        reset_tip: kinds.text('A sentence to show, which names it too.'),
      }),
      'The new password.',
    ),
  }),
  operation(
    'GET /api/v2.1/admin/search-user/',
    {
      200: json(
        kinds.record('FoundAdminUsers', {
          user_list: Type.Array(user),
          page_info: Type.Object({ has_next_page: Type.Literal(''), current_page: Type.Literal('') }),
        }),
        'The accounts that match, up to 1,000.',
      ),
    },
    { parameters: { query: { description: 'A part of the id, name, address or login id.' } } },
  ),
  operation(
    'POST /api/v2.1/admin/generate-user-auth-token/',
    { 200: json(token, 'The API token.') },
    { parameters: { email: { description: 'The account.' } } },
  ),
  operation('GET /api/v2.1/admin/devices/', {
    200: json(
      kinds.record('AdminDevices', {
        page_info: page,
        devices: Type.Array(kinds.record('AdminDevice', { ...device, user_name: kinds.displayName })),
      }),
      'A page of devices, the most recently used first.',
    ),
  }),
  operation('DELETE /api/v2.1/admin/devices/', done('The device is unlinked.'), {
    parameters: {
      user: { description: 'The account.' },
      platform: { required: true, description: 'The platform of the device.' },
      device_id: { description: 'The id of the device.' },
      wipe_device: { description: 'Asks the device to delete its files.' },
    },
  }),
]
